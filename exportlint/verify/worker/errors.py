"""What errors say of the inputs that led to them."""

from __future__ import annotations

import inspect
import itertools
import linecache
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .candidates import DTYPES
from .entry import entry_of
from .lazily import torch
from .texts import is_of_memory, text_of
from .trees import Place
from .watching import marks_of, tensors_in

BLIND = 10  # what a mending costs to which nothing points


# What messages say of sizes that are found and wanted, of numbers of dimensions, dtypes and kinds of values.
MESSAGES = tuple(
    re.compile(pattern)
    for pattern in (
        r"cannot be multiplied \(\d+x(?P<found>\d+) and (?P<want>\d+)x\d+\)",
        r"to have (?P<want>\d+) channels, but got (?P<found>\d+) channels",
        r"contain (?P<found>\d+) elements not (?P<want>\d+)",
        r"tensor a \((?P<found>\d+)\) must match the size of tensor b \((?P<want>\d+)\)",
        r"tensor a \((?P<want>\d+)\) must match the size of tensor b \((?P<found>\d+)\)",
        r"tensor \((?P<want>\d+)\) must match the existing size \((?P<found>\d+)\)",
        r"shape '?\[.*?(?P<want>\d+)\]'?,? (?:but got|and|expected) input of (?:size|shape) ?\[.*?(?P<found>\d+)\]",
        r"shape \[(?P<want>\d+)\] and input of shape \[\d+, (?P<found>\d+)",
        r"(?:[Ee]xpected|must be equal to) (?:[a-z_]+ )*?(?P<want>\d+),? (?:but )?got (?:[a-z_]+ )*?(?P<found>\d+)",
        r"(?P<found>\d+) ?(?:!=|vs\.?) ?(?P<want>\d+)",
        r"index (?P<index>\d+) is out of bounds for dimension \d+ with size (?P<size>\d+)",
        r"\b(?P<rank>\d) ?-?[dD]\b",
        r"\b(?P<rank>\d)[ -]dim",
        r"is not equal to len\(dims\) = (?P<rank>\d)",
        r"values to unpack \(expected (?P<rank>\d)\b",
        r"range of \[-\d+, \d+\], but got (?P<last>-?\d)",
        r"indices for tensor of dimension (?P<last>\d)",
        r"(?P<deeper>tuple index out of range)",
        r"(?P<matrix>matri(?:x|ces))",
        r"(?P<vector>vector)",
        r"(?P<scalar>scalar tensor)",
        r"(?<!weight of )[Ss]ize\(?(?: '|:? )?\[(?P<shape>\d+(?:, \d+)*)\]",
        r"(?:types?:?|be|of|to|only|supports?|with|,) (?=(?:torch\.)?(?P<dtype>[A-Za-z]+))",
        r"dtype (?P<dtype>[a-z]+\d+)",
        r"got:? (?P<other>[\w:<>]+) != (?P<dtype>[\w:<>]+)",
        r"(?P<dtype>[A-Za-z]+?)(?:Tensor)?,? (?:and|but)\b",
        r"not implemented for '(?P<other>\w+)'",
        r"(?P<other>[A-Za-z]+)Tensor",
        r"(?:as an?|be an?|be|to an?|type|real|are|of) '?(?P<kind>[a-z]+)\b",
        r"values to unpack \(expected (?P<count>\d)",
        r"(?P<more>list index out of range|tuple index out of range|Tensors?, not Tensor|(?:tuple|list) of)",
        r"object has no attribute '(?P<attribute>\w+)'",
    )
)


TOO_SMALL = re.compile(
    r"small|more than|greater than|bigger|larger|at least|out of (?:range|bounds)|less than|exceed|empty|negative"
)


GONE = re.compile(r"Legacy autograd|(?:now|been) removed|CUDA|cuda device|NVIDIA")


OF_VALUES = re.compile(
    r"between 0 and 1|constraint|out of (?:range|bounds)|positive|negative|greater|less|smaller|class"
)


@dataclass(frozen=True)
class Trial:
    """The outcome of a candidate: how far it got, what went wrong, and which of its values seem to be to blame.

    `sizes` are those of parameters in the operation that failed, `layers` those that were given an input as it is.
    """

    depth: int
    error: BaseException | None = None
    blamed: frozenset[Place] = frozenset()
    words: frozenset[str] = frozenset()
    sizes: tuple[int, ...] = ()
    layers: Mapping[Place, Any] = field(default_factory=dict)


class Said:
    """What a message says, as far as it can be put to use."""

    def __init__(self, error: BaseException | None) -> None:
        text = str(error)[:2000]
        matches = [match for pattern in MESSAGES for match in pattern.finditer(text)]
        groups = [match.groupdict() for match in matches]
        self.pairs = list(dict.fromkeys((int(g["found"]), int(g["want"])) for g in groups if "found" in g))
        self.ranks = list(dict.fromkeys(int(g["rank"]) for g in groups if "rank" in g))
        self.ranks += [last + 1 if (last := int(g["last"])) >= 0 else -last for g in groups if "last" in g]
        self.ranks += [2 for g in groups if "matrix" in g] + [1 for g in groups if "vector" in g]
        self.ranks += [0 for g in groups if "scalar" in g]
        self.shapes = [[int(size) for size in g["shape"].split(",")] for g in groups if "shape" in g]
        self.ranks += [len(shape) for shape in self.shapes]
        self.deeper = any("deeper" in g for g in groups)
        self.dtypes = {dtype for g in groups if (dtype := DTYPES.get(kind_of(g.get("dtype"))))}
        self.others = {dtype for g in groups if (dtype := DTYPES.get(kind_of(g.get("other"))))}
        self.kinds = {g["kind"] for g in groups if "kind" in g}
        self.counts = {int(g["count"]) for g in groups if "count" in g}
        self.more = any("more" in g for g in groups)
        self.attribute = next((g["attribute"] for g in groups if "attribute" in g), None)
        self.pairs += [(int(g["size"]), int(g["index"]) + 1) for g in groups if "index" in g]
        if total := re.search(r"shape '\[(.*)\]' is invalid for input of size (\d+)", text):
            # `reshape(())` has no sizes: one number.
            product = abs(math.prod(int(size) for size in total.group(1).split(",") if size.strip()))
            self.pairs.append((int(total.group(2)), product))
        self.numbers = list(dict.fromkeys(numbers_in(text)))
        self.too_small = bool(TOO_SMALL.search(text))
        self.of_values = bool(OF_VALUES.search(text))
        self.type_error = isinstance(error, TypeError)
        self.none = "NoneType" in text or isinstance(error, (AssertionError, ValueError))
        self.missing_key = (
            error.args[0] if isinstance(error, KeyError) and error.args and isinstance(error.args[0], str) else None
        )

    def cost_of_rank(self, rank: int, now: int) -> int:
        """How far-fetched another number of dimensions is."""
        if rank in self.ranks:
            return 1 if rank == max(self.ranks) else 2
        if self.deeper and rank > now:
            return rank - now
        return BLIND - 3 + abs(rank - now)

    def cost_of_dtype(self, dtype: str, now: str) -> int:
        """How far-fetched another dtype is."""
        if dtype in self.dtypes:
            return 1
        return 2 if now in self.others or now in self.dtypes else BLIND + 2

    def cost_of_kind(self, kind: str) -> int:
        """How far-fetched a number, a text or a truth value is."""
        return 1 if kind in self.kinds else 6 if self.type_error else BLIND + 4


def kind_of(word: str | None) -> str:
    """What a message means by `LongTensor`, `Long` or `long`, and by `c10::complex<float>` or `ComplexFloat`."""
    return re.sub(r"^c10::|tensor|[<:>]", "", (word or "").lower())


_TRIED = (int, float, str, bool, list, tuple, dict)


def is_hopeless(error: BaseException) -> bool:
    """Whether the model is to blame, whatever its inputs are: something that it uses is not there, or it uses it up."""
    if isinstance(error, AttributeError):
        said = re.search(r"'(\w+)' object has no attribute '(\w+)'", str(error))
        if said is None or said.group(1) not in {"Tensor", "NoneType", *(kind.__name__ for kind in _TRIED)}:
            return True
        # An object of the project's own is wanted, which nothing that is tried becomes.
        return not any(hasattr(kind, said.group(2)) for kind in (torch.Tensor, *_TRIED))
    if isinstance(error, UnboundLocalError):
        return False
    if isinstance(error, (NameError, ImportError, NotImplementedError)) or is_of_memory(error):
        return True
    return bool(GONE.search(str(error)))


def numbers_in(text: str) -> Iterator[int]:
    """The sizes that a message mentions, and what lists of them come to."""
    text = re.sub(r"(\d)x(?=\d)", r"\1 x ", text)
    for match in re.finditer(r"(?<![\w.])\d{1,6}(?![\w.]*[A-Za-z_])", text):
        yield int(match.group())
    for match in re.finditer(r"[\[(](\d+(?:, \d+)+)[\])]", text):
        sizes = [int(size) for size in match.group(1).split(",")]
        yield math.prod(sizes)
        yield sum(sizes)


def blamed_by(error: BaseException, model: Any) -> tuple[set[str], set[Place]]:
    """The names on the line of `forward` that failed, and the inputs that the variables there come from."""
    code = getattr(inspect.unwrap(entry_of(model)), "__code__", None)
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code is code:
            line = linecache.getline(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
            words = set(re.findall(r"[A-Za-z_]\w*", line))
            variables = trace.tb_frame.f_locals
            held = [variables[word] for word in words if word in variables and word != "self"]
            return words, {path for value in held for tensor in tensors_in(value) for path in marks_of(tensor)}
        trace = trace.tb_next
    return set(re.findall(r"'(\w+)'", str(error))), set()


def exception_line(error: BaseException | None) -> str:
    """The first line of a message, with what follows its colon."""
    lines = [line.strip() for line in text_of(error).splitlines() if line.strip()] if error is not None else []
    said = itertools.takewhile(lambda i: i == 0 or lines[i - 1].endswith(":"), range(len(lines)))
    return " ".join(lines[i] for i in said)[:300] or "without a message"
