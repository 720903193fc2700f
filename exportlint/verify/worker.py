"""Runs torch.export on a model, under the interpreter of the project that the model belongs to.

One file that needs nothing but the standard library and torch, 2.4 or newer: whatever else is installed there,
exportlint is not. Jobs come in as lines of JSON on standard input, events go out as lines of JSON on what was standard
output; user code gets neither. See `exportlint.verify.protocol` for both.
"""

from __future__ import annotations

import copy
import functools
import heapq
import inspect
import itertools
import json
import linecache
import math
import os
import random
import re
import sys
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Job = Mapping[str, Any]
Emit = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True)
class Example:
    """What a model is called with. `dynamic` is as `dynamic_shapes` of `torch.export.export`, or None.

    `sizes` are the dimensions that vary by name, with their sizes here; `remake` gives other inputs: for other sizes,
    or for another seed of their numbers, where the example can be made anew, else None.
    """

    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]
    dynamic: Any = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    remake: Callable[[Mapping[str, int], int], tuple[tuple[Any, ...], dict[str, Any]]] | None = None


# -- the host: jobs, limits, and what user code must not get hold of ---------------------------------------------------


def main() -> None:
    """Work on the jobs that come in until there are no more."""
    for line in sys.stdin:
        job = json.loads(line)
        examine(job, lambda event: print(json.dumps({"id": job["id"], **event}), flush=True))


# -- building models and inputs ----------------------------------------------------------------------------------------


# -- finding inputs that nobody wrote down -----------------------------------------------------------------------------
#
# A candidate gives each argument a spec as JSON, whose sizes are names, and each name a size. It is called in eager:
# how far the call gets says how good it is, and what goes wrong says how it may be mended, by another size, rank, dtype
# or kind of one of its values. What got farthest is mended first. No model is known by its name here, nor any layer.

Spec = Mapping[str, Any]
Place = tuple[Any, ...]  # an argument, then the indices and keys inside of it

DIMENSIONS: Mapping[int, tuple[str, ...]] = {
    0: (),
    1: ("length",),
    2: ("batch", "features"),
    3: ("batch", "length", "features"),
    4: ("batch", "channels", "height", "width"),
    5: ("batch", "channels", "depth", "height", "width"),
}
SIZES = {"batch": 2, "length": 8, "features": 16, "channels": 3, "depth": 8, "height": 32, "width": 32}
LETTERS = {"b": 2, "n": 2, "c": 3, "d": 16, "h": 32, "w": 32}
USUAL = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 28, 32, 48, 64, 96, 112, 128, 160, 192, 224, 227, 256, 299, 384, 512)
LARGEST = 1 << 22  # numbers in one tensor
BLIND = 10  # what a mending costs to which nothing points
HOPELESS = 4  # after how many errors of the model itself, that no input mends, it is given up

DTYPES = {
    "float": "float32", "floating": "float32", "double": "float64", "half": "float16", "long": "int64", "int": "int64",
    "integer": "int64", "integral": "int64", "bool": "bool", "byte": "uint8", "complexfloat": "complex64", "boolean": "bool", "int32": "int64", "int64": "int64", "float32": "float32",
}  # fmt: skip
KINDS: Mapping[str, tuple[Any, ...]] = {
    "index": (1, 2), "integer": (1, 2), "integers": (1, 2), "int": (1, 2), "ints": (1, 2), "float": (0.5,), "number": (0.5, 1),
    "str": ("",), "string": ("",), "bool": (True, False),
}  # fmt: skip

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
        r"size '?\[(?P<shape>\d+(?:, \d+)*)\]",
        r"(?:types?:?|be|of|to|only|supports?|with|,) (?:torch\.)?(?P<dtype>[A-Za-z]+)",
        r"dtype (?P<dtype>[a-z]+\d+)",
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
GONE = re.compile(r"deprecated|[Ll]egacy|has been removed|CUDA|cuda device|NVIDIA")
OF_VALUES = re.compile(
    r"between 0 and 1|constraint|out of (?:range|bounds)|positive|negative|greater|less|smaller|class"
)


@dataclass(frozen=True)
class Candidate:
    """What may be tried: a spec for each argument, and the size of each name in them."""

    specs: Mapping[str, Spec]
    sizes: Mapping[str, int]

    def key(self) -> str:
        """The same for candidates that are the same."""
        used = {dim: self.sizes[dim] for _, leaf in leaves(self.specs) for dim in dims_of(leaf) if dim in self.sizes}
        return json.dumps([self.specs, used], sort_keys=True)

    def put(self, path: Place, spec: Spec) -> Candidate:
        """Another value at a place."""
        return Candidate(replaced(self.specs, path, spec), self.sizes)

    def sized(self, names: Iterable[str], size: int) -> Candidate:
        """Another size for some names."""
        return Candidate(self.specs, {**self.sizes, **dict.fromkeys(names, size)})

    def apart(self, path: Place, index: int, size: int) -> Candidate:
        """Another size for one dimension of one tensor, whatever others of the same name have."""
        tensor = at(self.specs, path)["tensor"]
        name = next(
            f"{DIMENSIONS[1][0]}_{i}" for i in itertools.count(2) if f"{DIMENSIONS[1][0]}_{i}" not in self.sizes
        )
        shape = [name if i == index else dim for i, dim in enumerate(tensor["shape"])]
        return Candidate(replaced(self.specs, path, {"tensor": {**tensor, "shape": shape}}), {**self.sizes, name: size})

    def renamed(self, names: Mapping[str, str]) -> Candidate:
        """Other names for some sizes."""
        specs = self.specs
        for path, leaf in leaves(self.specs):
            shape = [names.get(str(dim), dim) for dim in dims_of(leaf)]
            if "tensor" in leaf:
                specs = replaced(specs, path, {"tensor": {**leaf["tensor"], "shape": shape}})
        return Candidate(specs, {**self.sizes, **{new: self.sizes[old] for old, new in names.items()}})

    def weight(self) -> int:
        """What it costs that the tensors are large."""
        numbers = sum(math.prod(map(self.size, dims_of(leaf))) for _, leaf in leaves(self.specs))
        return max(0, numbers.bit_length() - 15) // 2

    def size(self, dim: int | str) -> int:
        """The size of a dimension."""
        return size_of(dim, self.sizes)


@dataclass(frozen=True)
class Trial:
    """What came of a candidate: how far it got, what went wrong, and which of its values seem to be to blame.

    `sizes` are those of parameters in the operation that failed, `layers` those that were given an input as it is.
    """

    depth: int
    error: BaseException | None = None
    blamed: frozenset[Place] = frozenset()
    words: frozenset[str] = frozenset()
    sizes: tuple[int, ...] = ()
    layers: Mapping[Place, Any] = field(default_factory=dict)


class OutOfTimeError(BaseException):
    """Ends a call that takes too long; no model catches it by catching `Exception`."""


def infer(
    model: Any,
    hints: Mapping[str, Sequence[Any]],
    vary: Sequence[int],
    device: str,
    *,
    seconds: float = 10.0,
    tries: int = 200,
) -> Example:
    """Inputs with which the model runs in eager.

    `hints` are specs for arguments of `forward`, the likeliest first; a size `...` stands for any number of dimensions.
    `vary` are the dimensions that may vary: they do where all the tensors that share a size can have another one.

    Raises:
        LookupError: none were found; the message says what was tried and what was the matter with the best of it.
    """
    import torch

    search = Search(model, hints, device, time.monotonic() + seconds, tries)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return search.example(search.run(), vary)


class Search:
    """Finds inputs of one model within a deadline and a number of tries."""

    def __init__(
        self, model: Any, hints: Mapping[str, Sequence[Any]], device: str, deadline: float, tries: int
    ) -> None:
        self.model = duplicate(model)
        self.parameters = parameters_of(model)
        self.device = device
        self.deadline = deadline
        self.tries = tries
        self.tried = 0
        self.wish = next((wish for layer in model.modules() if (wish := wish_of(layer))), None)
        self.options = {name: [as_json(spec) for spec in hints.get(name, ())] for name in self.parameters}

    def run(self) -> Candidate:
        """The first candidate that runs."""
        queue: list[tuple[int, int, int, int, Candidate]] = []  # what got farthest comes first
        cheap: list[tuple[int, int, int, Candidate]] = []  # what is least far-fetched comes first, however far it got
        order = itertools.count()
        seen: set[str] = set()

        def push(depth: int, cost: int, candidate: Candidate) -> None:
            cost += candidate.weight()
            if cost < 3 * BLIND:
                number = next(order)
                heapq.heappush(queue, (cost // BLIND, -depth, cost, number, candidate))
                heapq.heappush(cheap, (cost, number, depth, candidate))

        for cost, start in enumerate(self.starts()):
            push(0, cost, start)
        best: tuple[int, Candidate | None, Trial] = (-1, None, Trial(0))
        hopeless = 0
        while queue and self.tried < self.tries and time.monotonic() < self.deadline:
            if self.tried % 4 == 3 and cheap:
                cost, _, reached, candidate = heapq.heappop(cheap)
            else:
                _, reached, cost, _, candidate = heapq.heappop(queue)
                reached = -reached
            key = candidate.key()
            if key in seen or not fits(candidate):
                continue
            seen.add(key)
            trial = self.attempt(candidate)
            if trial.error is None:
                return candidate
            if trial.depth > best[0]:
                best = (trial.depth, candidate, trial)
            if is_hopeless(trial.error):
                hopeless += trial.depth >= best[0]
                if hopeless >= HOPELESS:
                    break
                continue
            spent = 0 if trial.depth > reached else cost
            for more, mended in self.mend(candidate, trial):
                push(trial.depth, spent + more, mended)
        said = f"{type(best[2].error).__name__}: {first_line(best[2].error)}" if best[1] else "no time was left"
        shown = f" with {', '.join(describe(best[1]))}" if best[1] else ""
        raise LookupError(f"no inputs were found in {self.tried} tries; the one that got farthest{shown}: {said}")

    def starts(self) -> Iterator[Candidate]:
        """What is tried first: what the code says, and for the rest what suits the first layer, or images, or others."""
        shapes = [("float32", DIMENSIONS[rank], {}, None) for rank in (4, 3, 2, 5, 1)]
        if self.wish is not None:
            shapes.insert(0, self.wish)
        needed = [name for name, parameter in self.parameters.items() if is_needed(parameter)]
        if not needed:
            needed = [name for name, parameter in self.parameters.items() if parameter.kind == parameter.VAR_POSITIONAL]
        most = max([len(shapes), *(len(self.options[name]) for name in needed)])
        for turn in range(most if needed else 1):
            dtype, dims, sizes, high = shapes[min(turn, len(shapes) - 1)]
            plain = tensor_spec(dtype, dims, high)
            specs = {}
            for name in needed:
                options = self.options[name] or [plain]
                spec = filled(options[min(turn, len(options) - 1)], dims)
                specs[name] = (
                    {"tuple": [spec]} if self.parameters[name].kind == inspect.Parameter.VAR_POSITIONAL else spec
                )
            yield with_sizes(Candidate(specs, {**SIZES, **sizes}))

    # -- trying

    def call(self, candidate: Candidate, seed: int = 0) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments that a candidate stands for."""
        import torch

        generator = torch.Generator().manual_seed(seed)
        values = {
            name: make_value(spec, candidate.sizes, generator, self.device) for name, spec in candidate.specs.items()
        }
        return arranged(self.parameters, values)

    def attempt(self, candidate: Candidate) -> Trial:
        """Call the model."""
        import torch

        self.tried += 1
        model = duplicate(self.model, share=True)
        layers: dict[Place, Any] = {}
        try:
            arguments, keywords = self.call(candidate)
        except Exception as error:
            return Trial(-1, error)
        mark(candidate, self.parameters, arguments, keywords)

        def entered(layer: Any, inputs: tuple[Any, ...]) -> None:
            if layer is not model and (wish := wish_of(layer)):
                for value in inputs:
                    if (path := getattr(value, "_exportlint_path", None)) is not None:
                        layers.setdefault(path, wish)

        spy = spy_class()(self.deadline)
        hook = torch.nn.modules.module.register_module_forward_pre_hook(entered)
        torch.manual_seed(0)
        random.seed(0)
        try:
            with spy:
                model(*arguments, **keywords)
        except OutOfTimeError:
            return Trial(spy.depth, TimeoutError("the call took too long"))
        except (Exception, SystemExit) as error:
            words, marks = blamed_by(error, self.model)
            marks |= spy.marks
            blamed = frozenset(path for path, _ in leaves(candidate.specs) if path in marks)
            return Trial(spy.depth, error, blamed, frozenset(words), spy.sizes, layers)
        finally:
            hook.remove()
        return Trial(spy.depth) if self.runs(candidate) else Trial(spy.depth, RuntimeError("it runs only sometimes"))

    def runs(self, candidate: Candidate, seed: int = 0) -> bool:
        """Whether the model can be called so, with nobody looking."""
        try:
            arguments, keywords = self.call(candidate, seed)
            duplicate(self.model)(*arguments, **keywords)
        except (Exception, SystemExit):
            return False
        return True

    # -- mending

    def mend(self, candidate: Candidate, trial: Trial) -> Iterator[tuple[int, Candidate]]:
        """Candidates that may get farther, each with its cost: the less the error points to it the more."""
        said = Said(trial.error)
        everything = list(leaves(candidate.specs))
        for path, leaf in everything:
            innocent = 0 if not trial.blamed or path in trial.blamed else 3
            for cost, mended in self.mend_leaf(candidate, path, leaf, trial, said):
                yield cost + innocent, mended
        yield from mend_sizes(candidate, trial, said)
        yield from self.mend_arguments(candidate, trial, said)

    def mend_leaf(
        self, candidate: Candidate, path: Place, leaf: Spec, trial: Trial, said: Said
    ) -> Iterator[tuple[int, Candidate]]:
        """Another rank, dtype, range, or kind of one value."""
        tensor = leaf.get("tensor")
        if tensor is not None and path in trial.layers:
            dtype, dims, sizes, high = trial.layers[path]
            wished = Candidate(replaced(candidate.specs, path, tensor_spec(dtype, dims, high)), candidate.sizes)
            yield 0, with_sizes(Candidate(wished.specs, {**wished.sizes, **sizes}))
            alone = {dim: f"{path[0]}_{dim}" for dim in sizes}
            shape = tuple(alone.get(dim, dim) for dim in dims)
            renamed = {alone[dim]: size for dim, size in sizes.items()}
            yield (
                1,
                with_sizes(
                    Candidate(
                        replaced(candidate.specs, path, tensor_spec(dtype, shape, high)), {**candidate.sizes, **renamed}
                    )
                ),
            )
        if tensor is not None:
            shape = tensor["shape"]
            for other in reshaped(shape):
                cost = said.cost_of_rank(len(other), len(shape))
                yield cost + 1, with_sizes(candidate.put(path, {"tensor": {**tensor, "shape": other}}))
                alike = [place for place, spec in leaves(candidate.specs) if dims_of(spec) == shape]
                if len(alike) > 1:
                    specs = candidate.specs
                    for place in alike:
                        specs = replaced(specs, place, {"tensor": {**at(specs, place)["tensor"], "shape": other}})
                    yield cost, with_sizes(Candidate(specs, candidate.sizes))
            for sizes in said.shapes:
                if sizes != [candidate.size(dim) for dim in shape]:
                    listed = {f"{path[0]}_{i}": size for i, size in enumerate(sizes)}
                    changed = candidate.put(path, {"tensor": {**tensor, "shape": list(listed)}})
                    yield 2, Candidate(changed.specs, {**candidate.sizes, **listed})
            for dtype in ("int64", "float32", "bool", "uint8", "float64", "complex64"):
                if dtype != tensor["dtype"]:
                    yield said.cost_of_dtype(dtype, tensor["dtype"]), candidate.put(path, tensor_spec(dtype, shape))
            cost = 2 if said.of_values else BLIND + 2
            for low, high in ((0, 2), (0, 1), (1, 2)):
                if tensor["dtype"] != "bool" and (tensor.get("low"), tensor.get("high")) != (low, high):
                    yield cost, candidate.put(path, {"tensor": {**tensor, "low": low, "high": high}})
        yield from self.mend_kind(candidate, path, leaf, trial, said)

    def mend_kind(
        self, candidate: Candidate, path: Place, leaf: Spec, trial: Trial, said: Said
    ) -> Iterator[tuple[int, Candidate]]:
        """Something else in place of one value."""
        tensor = leaf if "tensor" in leaf else tensor_spec("float32", self.wish[1] if self.wish else DIMENSIONS[4])
        for cost, option in enumerate(self.options[path[0]] if len(path) == 1 else ()):
            if option != leaf:
                yield 3 + cost, with_sizes(candidate.put(path, filled(option, DIMENSIONS[4])))
        named = path[-1] in trial.words or said.type_error
        for kind, values in KINDS.items():
            for value in values:
                if leaf != {"value": value}:
                    yield said.cost_of_kind(kind) + (0 if named else 1), candidate.put(path, {"value": value})
        for number in said.numbers:
            if "value" in leaf and isinstance(leaf["value"], int):
                yield 3, candidate.put(path, {"value": number})
        yield BLIND + 4, candidate.put(path, {"value": None})
        if "tensor" not in leaf:
            yield 2 if said.attribute or said.type_error else BLIND, with_sizes(candidate.put(path, tensor))
        for count in sorted({*said.counts, 1, 2, 3, 4}):
            cost = 2 if count in said.counts else 3 + count if said.more else BLIND + count
            yield cost, with_sizes(candidate.put(path, {"list": [tensor] * count}))
        if said.attribute in dir(dict) or said.missing_key is not None:
            keys = [said.missing_key] if said.missing_key else []
            yield 1, with_sizes(candidate.put(path, {"dict": dict.fromkeys(keys, tensor)}))
        if said.attribute is not None and said.attribute in dir(str):
            yield 1, candidate.put(path, {"value": "a"})

    def mend_arguments(self, candidate: Candidate, trial: Trial, said: Said) -> Iterator[tuple[int, Candidate]]:
        """More arguments, longer lists, and dictionaries with more keys."""
        plain = tensor_spec("float32", self.wish[1] if self.wish else DIMENSIONS[4])
        first = next((leaf for _, leaf in leaves(candidate.specs) if "tensor" in leaf), plain)
        for name, parameter in self.parameters.items():
            if name in candidate.specs or parameter.kind == parameter.VAR_KEYWORD:
                continue
            cost = 1 if name in trial.words else 3
            for index, option in enumerate([*self.options[name], first]):
                if option != {"value": None}:
                    put = {"tuple": [option]} if parameter.kind == parameter.VAR_POSITIONAL else option
                    filled_in = {**candidate.specs, name: filled(put, DIMENSIONS[4])}
                    yield cost + index + (0 if said.none else BLIND), with_sizes(Candidate(filled_in, candidate.sizes))
        for path, spec in containers(candidate.specs):
            kind = next(iter(spec))
            if kind == "dict":
                if said.missing_key is not None and said.missing_key not in spec["dict"]:
                    yield 0, with_sizes(candidate.put(path, {"dict": {**spec["dict"], said.missing_key: first}}))
                continue
            items = spec[kind]
            starred = len(path) == 1 and self.parameters[path[0]].kind == inspect.Parameter.VAR_POSITIONAL
            for count in sorted({*said.counts, len(items) + 1, len(items) - 1}):
                if 0 <= count <= 8 and count != len(items):
                    cost = 1 if count in said.counts or (said.more or starred) and count > len(items) else BLIND
                    more = [*items, *[items[-1] if items else first] * count][:count]
                    yield cost, with_sizes(candidate.put(path, {kind: more}))
            if not starred:
                yield 3 if said.type_error or said.attribute else BLIND, with_sizes(candidate.put(path, first))

    # -- what was found

    def example(self, found: Candidate, vary: Sequence[int]) -> Example:
        """A candidate as inputs, with the dimensions that can vary."""
        found, names = self.varying(found, vary)
        arguments, keywords = self.call(found)

        def remake(sizes: Mapping[str, int], seed: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
            return self.call(Candidate(found.specs, {**found.sizes, **sizes}), seed)

        dynamic = {name: dynamic_of(spec, names) for name, spec in found.specs.items()}
        return Example(arguments, keywords, dynamic, {name: found.sizes[name] for name in names}, remake)

    def varying(self, found: Candidate, vary: Sequence[int]) -> tuple[Candidate, list[str]]:
        """The candidate with one name for all that varies together, and these names.

        Together vary the given dimensions of all tensors if they have the same size, or else all that have it.
        """
        names = []
        for size in dict.fromkeys(found.size(dim) for dim in dims_at(found, vary)):
            here = {dim for dim in dims_at(found, vary) if found.size(dim) == size}
            alike = {dim for dim in every_dim(found) if found.size(dim) == size}
            for group in (here, alike):
                if any(self.runs(found.sized(group, other)) for other in (size + 1, 2 * size)):
                    name = "batch" if "batch" in group else min(group)
                    found = found.renamed(dict.fromkeys(group, name))
                    names.append(name)
                    break
        return found, names


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
        self.shapes = [[int(size) for size in g["shape"].split(",")] for g in groups if "shape" in g]
        self.deeper = any("deeper" in g for g in groups)
        self.dtypes = {DTYPES[g["dtype"].lower()] for g in groups if g.get("dtype", "").lower() in DTYPES}
        self.others = {DTYPES[g["other"].lower()] for g in groups if g.get("other", "").lower() in DTYPES}
        self.kinds = {g["kind"] for g in groups if "kind" in g}
        self.counts = {int(g["count"]) for g in groups if "count" in g}
        self.more = any("more" in g for g in groups)
        self.attribute = next((g["attribute"] for g in groups if "attribute" in g), None)
        self.pairs += [(int(g["size"]), int(g["index"]) + 1) for g in groups if "index" in g]
        if total := re.search(r"shape '\[(.*)\]' is invalid for input of size (\d+)", text):
            product = abs(math.prod(int(size) for size in total.group(1).split(",")))
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


def mend_sizes(candidate: Candidate, trial: Trial, said: Said) -> Iterator[tuple[int, Candidate]]:
    """Other sizes: of all dimensions that have the same, of those with one name, and of a single one."""
    places = [
        (path, index, dim)
        for path, leaf in leaves(candidate.specs)
        if not trial.blamed or path in trial.blamed
        for index, dim in enumerate(dims_of(leaf))
    ]
    groups: dict[int, dict[str, None]] = {}
    for _, _, dim in places:
        if dim in candidate.sizes:
            groups.setdefault(candidate.size(dim), {})[dim] = None
    known = {size for _, _, dim in places if (size := candidate.size(dim))}  # nothing comes of a size of 0
    wanted = {size: wanted_instead(size, known, trial, said) for size in known}
    for size, names in groups.items():
        late = 2 if "batch" in names else 0
        for want, cost in wanted.get(size, {}).items():
            yield cost + late, candidate.sized(names, want)
            if len(names) > 1:
                for name in names:
                    yield cost + late + 1, candidate.sized([name], want)
    for path, index, dim in places:
        size = candidate.size(dim)
        for want, cost in wanted.get(size, {}).items():
            if cost < BLIND:
                yield cost + 2 + (2 if index == 0 else 0), candidate.apart(path, index, want)


def wanted_instead(size: int, known: set[int], trial: Trial, said: Said) -> dict[int, int]:
    """Sizes that may be meant instead of one, with their costs."""
    wanted: dict[int, int] = {}

    def want(other: float, cost: int) -> None:
        number = round(other)
        if number != size and 0 < number < 1 << 16 and abs(other - number) < 1e-6:
            wanted[number] = min(cost, wanted.get(number, cost))

    for found, other in said.pairs:
        if found == size:
            want(other, 0)
        elif found not in known:
            # a size that comes of this one: in proportion, as the square of it, or less a constant
            want(size * other / found if found else 0, 3)
            for usual in USUAL:
                near = min(abs(math.log(usual / (size * ratio))) for ratio in ratios(found, other))
                want(usual, 4 + int(near * 6))
    for number in said.numbers:
        if size in said.numbers or not known.intersection(said.numbers):
            want(number, 2 if size in said.numbers else 5)
        if size in said.numbers and number % size == 0:
            want(number // size, 4)
    for number in trial.sizes:
        want(number, 3 if size in said.numbers else 6)
    want(size * 2, 2 if said.too_small else BLIND)
    want(size * 4, 3 if said.too_small else BLIND + 2)
    want(1, BLIND)
    for usual in USUAL:
        want(usual, BLIND + 2 + int(3 * abs(math.log(usual / size))))
    return wanted


def ratios(found: int, want: int) -> tuple[float, ...]:
    """By what a size may have to grow for one that comes of it to be what is wanted."""
    ratio = max(want, 1) / max(found, 1)
    return (ratio, math.sqrt(ratio))


def is_hopeless(error: BaseException) -> bool:
    """Whether the model is to blame, whatever its inputs are: something that it uses is not there."""
    if isinstance(error, AttributeError):
        kind = re.search(r"'(\w+)' object has no attribute", str(error))
        return kind is None or kind.group(1) not in (
            "Tensor",
            "int",
            "float",
            "str",
            "bool",
            "list",
            "tuple",
            "dict",
            "NoneType",
        )
    if isinstance(error, UnboundLocalError):
        return False
    return isinstance(error, (NameError, ImportError, NotImplementedError)) or bool(GONE.search(str(error)))


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
    code = getattr(inspect.unwrap(type(model).forward), "__code__", None)
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


@functools.cache
def spy_class() -> Any:
    """The class that looks at each operation of torch; made when torch is there."""
    from torch import nn
    from torch.overrides import TorchFunctionMode

    class Spy(TorchFunctionMode):  # type: ignore[misc]  # a class of torch
        """Counts what a call gets done, and follows the inputs to the operation that fails."""

        def __init__(self, deadline: float) -> None:
            super().__init__()
            self.deadline = deadline
            self.done: set[Any] = set()
            self.marks: set[Place] = set()
            self.sizes: tuple[int, ...] = ()

        @property
        def depth(self) -> int:
            return len(self.done)

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if time.monotonic() > self.deadline:
                raise OutOfTimeError
            given = list(tensors_in([args, kwargs or {}]))
            sources = {path for tensor in given for path in marks_of(tensor)}
            weights = [tensor for tensor in given if isinstance(tensor, nn.Parameter)]
            try:
                result = func(*args, **(kwargs or {}))
            except Exception:
                self.marks = sources
                self.sizes = tuple(size for weight in weights for size in weight.shape)
                raise
            frame = user_frame()
            self.done.add((frame, getattr(func, "__name__", ""), *map(id, weights)))
            if sources:
                for tensor in tensors_in(result):
                    if not hasattr(tensor, "_exportlint_path"):
                        tensor._exportlint_from = sources | marks_of(tensor)
            return result

    return Spy


def user_frame() -> tuple[str, int]:
    """The place in the code of others than torch that is being run."""
    import torch

    inside = (os.path.dirname(torch.__file__), __file__)
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(inside):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def marks_of(tensor: Any) -> frozenset[Place] | set[Place]:
    """The inputs that a tensor was computed from."""
    path = getattr(tensor, "_exportlint_path", None)
    marks: frozenset[Place] | set[Place] = getattr(tensor, "_exportlint_from", frozenset())
    return marks if path is None else marks | {path}


def tensors_in(value: Any) -> Iterator[Any]:
    """The tensors in lists, tuples and dictionaries."""
    import torch

    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))


def mark(
    candidate: Candidate,
    parameters: Mapping[str, inspect.Parameter],
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
) -> None:
    """Write on each tensor which input it is."""
    starred = next((name for name, parameter in parameters.items() if parameter.kind == parameter.VAR_POSITIONAL), None)
    names = [name for name in candidate.specs if name not in keywords and name != starred]
    given = {**dict(zip(names, arguments, strict=False)), **keywords}
    if starred is not None:
        given[starred] = arguments[len(names) :]
    for path, leaf in leaves(candidate.specs):
        value = given[path[0]]
        for step in path[1:]:
            value = value[step]
        if "tensor" in leaf:
            value._exportlint_path = path


def wish_of(layer: Any) -> tuple[str, tuple[str, ...], dict[str, int], int | None] | None:
    """The dtype, dimensions, sizes and bound of the input of a layer, by what its attributes are called."""

    def number(name: str) -> int | None:
        value = layer.__dict__.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None

    weight: Any = getattr(layer, "weight", None)
    rank = weight.dim() if callable(getattr(weight, "dim", None)) else 0
    if entries := number("num_embeddings"):
        return "int64", ("batch", "length"), {}, min(entries, 100)
    if (channels := number("in_channels")) and rank in (3, 4, 5):
        return (
            "float32",
            ("batch", "channels", "length") if rank == 3 else DIMENSIONS[rank],
            {"channels": channels},
            None,
        )
    if (channels := number("num_features")) and (digit := re.search(r"([123])d$", type(layer).__name__)):
        rank = {"1": 2, "2": 4, "3": 5}[digit.group(1)]
        dims = ("batch", "channels") if rank == 2 else DIMENSIONS[rank]
        return "float32", dims, {"channels": channels}, None
    for name, rank in (("in_features", 2), ("in1_features", 2), ("input_size", 3), ("embed_dim", 3), ("d_model", 3)):
        if features := number(name):
            return "float32", DIMENSIONS[rank], {"features": features}, None
    shape = layer.__dict__.get("normalized_shape")
    if isinstance(shape, (tuple, list)) and len(shape) == 1 and isinstance(shape[0], int):
        return "float32", DIMENSIONS[3], {"features": shape[0]}, None
    return None


def duplicate(model: Any, *, share: bool = False) -> Any:
    """A copy, so that no call changes what the next one sees; `share` leaves the parameters as they are, to be fast."""
    memo = {id(parameter): parameter for parameter in model.parameters()} if share else {}
    try:
        return copy.deepcopy(model, memo)
    except Exception:
        return model


def parameters_of(model: Any) -> dict[str, inspect.Parameter]:
    """What `forward` takes."""
    try:
        return dict(inspect.signature(model.forward).parameters)
    except (TypeError, ValueError) as error:
        raise LookupError(f"`forward` does not say what it takes: {error}") from None


def is_needed(parameter: inspect.Parameter) -> bool:
    """Whether a call must give it."""
    return parameter.default is parameter.empty and parameter.kind not in (
        parameter.VAR_KEYWORD,
        parameter.VAR_POSITIONAL,
    )


def arranged(
    parameters: Mapping[str, inspect.Parameter], values: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Values as a call gives them: by position as long as none is left out."""
    arguments: list[Any] = []
    keywords: dict[str, Any] = {}
    for name, parameter in parameters.items():
        if name not in values:
            continue
        if parameter.kind == parameter.VAR_POSITIONAL:
            arguments += values[name]
        elif parameter.kind == parameter.KEYWORD_ONLY or len(arguments) < list(parameters).index(name):
            keywords[name] = values[name]
        else:
            arguments.append(values[name])
    return tuple(arguments), keywords


def tensor_spec(dtype: str, shape: Sequence[int | str], high: float | None = None) -> dict[str, Any]:
    """The spec of a tensor; whole numbers are 0 and 1 unless told."""
    whole = dtype.startswith(("int", "uint"))
    bound = high if high is not None else 2 if whole else None
    return {"tensor": {"dtype": dtype, "shape": list(shape), "low": 0 if whole else None, "high": bound}}


def filled(spec: Spec, dims: Sequence[str]) -> dict[str, Any]:
    """A spec with names for the dimensions that it leaves open."""
    kind, held = next(iter(spec.items()))
    if kind == "dict":
        return {kind: {key: filled(item, dims) for key, item in held.items()}}
    if kind in ("list", "tuple"):
        return {kind: [filled(item, dims) for item in held]}
    if kind == "tensor" and "..." in held["shape"]:
        given = [dim for dim in held["shape"] if dim != "..."]
        at_ = list(held["shape"]).index("...")
        rest = [dim for dim in dims if dim not in given][: max(len(dims) - len(given), 0)]
        held = {**held, "shape": [*given[:at_], *rest, *given[at_:]]}
    if kind == "tensor":
        spec = tensor_spec(held["dtype"], held["shape"], held.get("high"))
        spec["tensor"].update({key: held[key] for key in ("low", "high") if held.get(key) is not None})
    return dict(spec)


def reshaped(shape: Sequence[int | str]) -> Iterator[list[int | str]]:
    """Dimensions of another number: the usual ones, or these without one, or with one of a single entry."""
    yield from ([*dims] for rank, dims in DIMENSIONS.items() if rank != len(shape))
    for index in {1, len(shape) - 1}:
        if 0 < index < len(shape):
            yield [*shape[:index], *shape[index + 1 :]]
    yield [*shape[:1], 1, *shape[1:]]
    yield [*shape, 1]


def as_json(spec: Any) -> Any:
    """A spec as JSON has it, for it is compared with others."""
    return json.loads(json.dumps(spec))


def leaves(specs: Mapping[str, Spec]) -> Iterator[tuple[Place, Spec]]:
    """The tensors and constants, each with its place."""
    for path, spec in walk(specs):
        if "tensor" in spec or "value" in spec:
            yield path, spec


def containers(specs: Mapping[str, Spec]) -> Iterator[tuple[Place, Spec]]:
    """The lists, tuples and dictionaries, each with its place."""
    for path, spec in walk(specs):
        if "tensor" not in spec and "value" not in spec:
            yield path, spec


def walk(specs: Mapping[Any, Spec], above: Place = ()) -> Iterator[tuple[Place, Spec]]:
    """All specs, also those inside of others."""
    for name, spec in specs.items():
        yield (*above, name), spec
        held = next(iter(spec.values()))
        if "dict" in spec:
            yield from walk(held, (*above, name))
        elif "list" in spec or "tuple" in spec:
            yield from walk(dict(enumerate(held)), (*above, name))


def at(specs: Mapping[Any, Spec], path: Place) -> Spec:
    """The spec at a place."""
    return next(spec for place, spec in walk(specs) if place == path)


def replaced(specs: Mapping[Any, Spec], path: Place, new: Spec) -> dict[Any, Spec]:
    """The specs with another one at a place."""
    head, rest = path[0], path[1:]
    if not rest:
        return {**specs, head: new}
    kind, held = next(iter(specs[head].items()))
    inner = replaced(held if kind == "dict" else dict(enumerate(held)), rest, new)
    return {**specs, head: {kind: inner if kind == "dict" else [inner[index] for index in sorted(inner)]}}


def dims_of(leaf: Spec) -> Sequence[int | str]:
    """The dimensions of a tensor; those of anything else are none."""
    return leaf["tensor"]["shape"] if "tensor" in leaf else ()


def with_sizes(candidate: Candidate) -> Candidate:
    """A candidate in which every name has a size."""
    sizes = dict(candidate.sizes)
    for _, leaf in leaves(candidate.specs):
        for dim in dims_of(leaf):
            for name in re.findall(r"[A-Za-z_]\w*", dim) if isinstance(dim, str) else ():
                if name not in sizes:
                    known = next((size for letter, size in LETTERS.items() if name.lower().startswith(letter)), None)
                    sizes[name] = known or 4 + 2 * (len(sizes) % 8)
    return Candidate(candidate.specs, sizes)


def size_of(dim: int | str, sizes: Mapping[str, int]) -> int:
    """The size of a dimension that is a number, a name, or an expression of names."""
    return (
        dim
        if isinstance(dim, int)
        else sizes[dim]
        if dim in sizes
        else int(eval(dim, {"__builtins__": {}}, dict(sizes)))
    )  # noqa: S307


def fits(candidate: Candidate) -> bool:
    """Whether its tensors are of a reasonable size."""
    shapes = [[candidate.size(dim) for dim in dims_of(leaf)] for _, leaf in leaves(candidate.specs)]
    return all(math.prod(shape) <= LARGEST and min(shape, default=0) >= 0 for shape in shapes)


def every_dim(candidate: Candidate) -> list[str]:
    """The dimensions that have names."""
    return [str(dim) for _, leaf in leaves(candidate.specs) for dim in dims_of(leaf) if dim in candidate.sizes]


def dims_at(candidate: Candidate, indices: Sequence[int]) -> list[str]:
    """The dimensions at some indices that have names."""
    shapes = [dims_of(leaf) for _, leaf in leaves(candidate.specs)]
    dims = [shape[index] for shape in shapes for index in indices if -len(shape) <= index < len(shape)]
    return [str(dim) for dim in dims if dim in candidate.sizes]


def dynamic_of(spec: Spec, names: Collection[str]) -> Any:
    """The names of what varies of a value."""
    kind, held = next(iter(spec.items()))
    if kind == "dict":
        return {key: dynamic_of(item, names) for key, item in held.items()}
    if kind in ("list", "tuple"):
        return [dynamic_of(item, names) for item in held]
    return {i: dim for i, dim in enumerate(held["shape"]) if dim in names} if kind == "tensor" else None


def describe(candidate: Candidate) -> list[str]:
    """A candidate for people."""
    return [f"{name} = {described(spec, candidate.sizes)}" for name, spec in candidate.specs.items()]


def described(spec: Spec, sizes: Mapping[str, int]) -> str:
    kind, held = next(iter(spec.items()))
    if kind == "tensor":
        return f"{held['dtype']}{[size_of(dim, sizes) for dim in held['shape']]}"
    if kind == "value":
        return repr(held)
    if kind == "dict":
        return "{" + ", ".join(f"{key!r}: {described(item, sizes)}" for key, item in held.items()) + "}"
    inner = ", ".join(described(item, sizes) for item in held)
    return f"[{inner}]" if kind == "list" else f"({inner})"


def first_line(error: BaseException | None) -> str:
    """The first line of a message."""
    return (str(error).strip() or "without a message").splitlines()[0][:300]


def make_value(spec: Spec, sizes: Mapping[str, int], generator: Any, device: str) -> Any:
    """A spec as JSON becomes a value."""
    import torch

    kind, held = next(iter(spec.items()))
    if kind == "value":
        return held
    if kind == "dict":
        return {key: make_value(item, sizes, generator, device) for key, item in held.items()}
    if kind in ("list", "tuple"):
        return (list if kind == "list" else tuple)(make_value(item, sizes, generator, device) for item in held)
    shape = [size_of(dim, sizes) for dim in held["shape"]]
    dtype = getattr(torch, held["dtype"])
    low, high = held.get("low"), held.get("high")
    if dtype == torch.bool:
        value = torch.rand(shape, generator=generator) < 0.5
    elif not (dtype.is_floating_point or dtype.is_complex):
        value = torch.randint(int(low or 0), int(high if high is not None else 10), shape, generator=generator).to(
            dtype
        )
    elif low is None and high is None:
        value = torch.randn(shape, generator=generator).to(dtype)
    else:
        value = (
            torch.rand(shape, generator=generator) * ((high if high is not None else low + 1) - (low or 0)) + (low or 0)
        ).to(dtype)
    return value.to(device)


# -- exporting and comparing -------------------------------------------------------------------------------------------


def examine(job: Job, emit: Emit) -> None:
    """Build the model of a job, export it, and compare the program with it."""
    raise NotImplementedError


# -- what ran ----------------------------------------------------------------------------------------------------------


def lines_of_run(function: Callable[[], Any], wanted: Callable[[str], bool]) -> Iterator[tuple[str, set[int]]]:
    """The rows of each wanted file that run while a function is called."""
    raise NotImplementedError


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    main()
