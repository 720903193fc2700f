"""What the interpreter saw and a rule may care about."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Literal

from exportlint.analysis.domain.trails import Route, Site, Trail
from exportlint.analysis.domain.values import (
    Scalar,
    Tensor,
    Value,
)
from exportlint.findings import Mode

Construct = Literal[
    "if", "elif", "while", "ternary", "and", "or", "not", "assert", "match", "bool()", "in", "in list", "traced in",
    "comparison", "any()", "all()", "max()", "min()", "sorted()", "filter()", "comprehension", "list method",
    "is_nonzero", "groupby()", "takewhile()", "dropwhile()", "filterfalse()", "nsmallest()", "nlargest()", "heapify()",
]  # fmt: skip
"""Python constructs that ask a value for its truth. "traced in" is what strict mode turns into a symbol,
"in list" looks for a number in a list of numbers that were read."""


Place = tuple[object, Site, str | None]
"""What is met where: a kind of fact, the site, and what tells several of the kind at one site apart."""


def written_at(site: Site) -> Place:
    """The place of a write to state that outlives the call."""
    return "write", site, None


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that happens at `site`, in the function with the qualified name `symbol`.

    `guarded` says that an `except` around it would swallow the error of torch.export. `mode` is how the code is
    traced, where that is not what the settings say. `trail` says where its value comes from: a Route where it is told.
    """

    site: Site
    symbol: str
    guarded: bool
    trail: Trail | Route | None
    mode: Mode | None = field(default=None, kw_only=True)

    @property
    def key(self) -> Place:
        """The kind of fact and its place: rules give one verdict on all facts of one key."""
        labels = (getattr(self, name, None) for name in ("api", "name", "target", "construct"))
        return type(self), self.site, next((label for label in labels if isinstance(label, str)), None)

    @property
    def identity(self) -> tuple[object, ...]:
        """What makes it another fact than others: all that a rule looks at, but not how its value came about."""
        found = (type(self), *[_told(getattr(self, name)) for name in _compared(type(self))])
        try:
            hash(found)
        except TypeError:
            return (*self.key, self.guarded, self.mode)
        return found

    @property
    def met_at(self) -> Place:
        """Where the interpreter comes by when it happens: what a probe for its fix watches."""
        return self.key

    @property
    def rank(self) -> int:
        """Which of several facts of one key says most, where they are equally grave: the one with the lowest rank."""
        return 0

    @property
    def inner(self) -> tuple[Fact, ...]:
        """Other facts that it is made of."""
        return ()


_COMPARED: dict[type[Fact], tuple[str, ...]] = {}


def _compared(kind: type[Fact]) -> tuple[str, ...]:
    """The fields that tell facts of a kind apart."""
    found = _COMPARED.get(kind)
    if found is None:
        names = (one.name for one in fields(kind) if one.compare)
        found = _COMPARED[kind] = tuple(name for name in names if name != "trail")
    return found


def _told(value: object) -> object:
    """A value and what messages call it."""
    return (value, value.name) if isinstance(value, Tensor) else value


@dataclass(frozen=True, slots=True)
class Branch(Fact):
    """Python asks tensor data for its truth. `raises`: all that hangs on it is a `raise`.

    For an `assert`: `message` is the kind of message it has, `negated` that it is `assert not …`, `reads` that it reads
    the tensor itself (`assert x.item() > 0`).
    """

    construct: Construct
    condition: Tensor | Scalar
    raises: bool = False
    message: Literal["none", "constant", "computed"] = "none"
    negated: bool = False
    reads: bool = False


@dataclass(frozen=True, slots=True)
class Conversion(Fact):
    """Python needs the number behind tensor data: `int(t)`, `math.sqrt(t)`, `range(n)`, a list index, a hash.

    `target` is what needs it, as the user knows it: "int()", "math.sqrt()", "range()", "list index", "dict key",
    "list repetition", "format", "iteration", "len()".
    """

    target: str
    operand: Tensor | Scalar


@dataclass(frozen=True, slots=True)
class HostRead(Fact):
    """An API that brings tensor data to Python: `item`, `tolist`, `numpy`, `data_ptr`, `torch.equal`, `np.exp`.

    `described`: it is a function of which people say so.
    """

    api: str
    operand: Tensor
    described: bool = False


@dataclass(frozen=True, slots=True)
class DataRead(Fact):
    """The tensor that `.data` gave reaches an operator or the output. `operation` is the operator."""

    operand: Tensor
    operation: str
    mutates: bool = False

    @property
    def rank(self) -> int:
        """A write says more than that it is read."""
        return 0 if self.mutates else 1


@dataclass(frozen=True, slots=True)
class DataWrite(Fact):
    """`tensor.data = assigned`."""

    target: Tensor
    assigned: Value


@dataclass(frozen=True, slots=True)
class Mutation(Fact):
    """A tensor is changed in place. `api` is `add_`, `[…] =`, `+=`, `out=`. `metadata`: only its sizes change.

    `operands` is what it is changed with.
    """

    api: str
    target: Tensor
    metadata: bool = False
    operands: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class ContainerMutation(Fact):
    """A list or dict that was passed to `forward` as `name` is changed: in its code, or in what that calls.

    `api` as for Mutation.
    """

    api: str
    name: str
    in_forward: bool = True


@dataclass(frozen=True, slots=True)
class Identity(Fact):
    """The identity of a tensor is used as a value: `id(x)`, `hash(x)`, `x is y`."""

    operator: Literal["id()", "hash()", "is", "is not"]
    operand: Tensor
    other: Value | None = None


@dataclass(frozen=True, slots=True)
class TypeTest(Fact):
    """`type(x)` of a tensor is compared: `expected` is with what, where it is known."""

    operand: Tensor
    test: str
    expected: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeviceMove(Fact):
    """`x.cuda()`, `x.to("cuda")`: a traced tensor is moved to a device that the code names."""

    api: str
    device: str
    operand: Tensor


@dataclass(frozen=True, slots=True)
class Creation(Fact):
    """A tensor is made. `device` is the literal that the code gives, None for the default."""

    api: str
    device: str | None


@dataclass(frozen=True, slots=True)
class ModuleChange(Fact):
    """A module with parameters is moved or cast during tracing. `casts`: surely to another dtype than float32."""

    api: str
    casts: bool


@dataclass(frozen=True, slots=True)
class Copy(Fact):
    """`copy.deepcopy`, `copy.copy`, `pickle.dumps`, `torch.save` of something that holds a tensor.

    `of_module`: of a module with parameters.
    """

    api: str
    operand: Tensor
    of_module: bool = False


@dataclass(frozen=True, slots=True)
class Call(Fact):
    """A call of something that is not of the project, by its qualified name."""

    name: str
    positional: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]

    def keyword(self, name: str) -> Value | None:
        """The value of a keyword argument."""
        return next((value for key, value in self.keywords if key == name), None)
