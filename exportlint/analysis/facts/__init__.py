"""Facts: events in traced code that the interpreter records and that rules turn into findings."""

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
    "traced max()", "traced min()", "number",
]  # fmt: skip
"""Python constructs that need the truth of a value. "traced in" is an `in` that strict mode turns into a symbol,
"traced max()" a `max` that torch.export turns into an operator; "in list" searches a list of numbers read from
tensors; "number" is a comparison of sizes of which Python wants 0 or 1."""


Place = tuple[object, Site, str | None]
"""A kind of fact, its site, and what distinguishes several facts of that kind at one site."""


def written_at(site: Site) -> Place:
    """The place of a write to state that outlives the call."""
    return "write", site, None


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that happens at `site`, in the function with the qualified name `symbol`.

    `guarded`: an `except` around it would swallow torch.export's error. `mode` is the mode in which the code is traced,
    if it differs from the settings. `trail` is the path of its value to this place, a Route if it is shown to the user.
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
        """What distinguishes it from other facts: everything a rule looks at, but not the trail of its value."""
        found = (type(self), *[_told(getattr(self, name)) for name in _compared(type(self))])
        try:
            hash(found)
        except TypeError:
            return (*self.key, self.guarded, self.mode)
        return found

    @property
    def met_at(self) -> Place:
        """The place that the interpreter passes when the fact happens, which a probe for its fix watches."""
        return self.key

    @property
    def rank(self) -> int:
        """The rank among facts of one key and severity: the fact with the lowest rank is reported."""
        return 0

    @property
    def inner(self) -> tuple[Fact, ...]:
        """Other facts that it is made of."""
        return ()


_COMPARED: dict[type[Fact], tuple[str, ...]] = {}


def _compared(kind: type[Fact]) -> tuple[str, ...]:
    """The fields that distinguish facts of one kind."""
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
    """Python needs the truth of tensor data. `raises`: the branch only raises.

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
    """Python needs the concrete value of tensor data: `int(t)`, `math.sqrt(t)`, `range(n)`, a list index, a hash.

    `target` is what needs it, as the user knows it: "int()", "math.sqrt()", "range()", "list index", "dict key",
    "list repetition", "format", "iteration", "len()".
    """

    target: str
    operand: Tensor | Scalar


@dataclass(frozen=True, slots=True)
class HostRead(Fact):
    """An API that brings tensor data to Python: `item`, `tolist`, `numpy`, `data_ptr`, `torch.equal`, `np.exp`.

    `described`: the setting `functions` says that the function reads data.
    """

    api: str
    operand: Tensor
    described: bool = False


@dataclass(frozen=True, slots=True)
class DataRead(Fact):
    """The result of `.data` reaches an operator or the output. `operation` is the operator."""

    operand: Tensor
    operation: str
    mutates: bool = False

    @property
    def rank(self) -> int:
        """A write takes precedence over a read."""
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
    """The identity of a tensor, or of a bool read from one, is used as a value: `id(x)`, `x is y`, `b is True`."""

    operator: Literal["id()", "hash()", "is", "is not"]
    operand: Tensor | Scalar
    other: Value | None = None


@dataclass(frozen=True, slots=True)
class TypeTest(Fact):
    """`type(x)` of a tensor is compared: `expected` is what it is compared with, if known."""

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
    """A tensor is created. `device` is the literal in the code, None for the default."""

    api: str
    device: str | None


@dataclass(frozen=True, slots=True)
class ModuleChange(Fact):
    """A module with parameters is moved or cast during tracing. `casts`: certainly to a dtype other than float32."""

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
    """A call of a function from outside the project, by its qualified name."""

    name: str
    positional: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]

    def keyword(self, name: str) -> Value | None:
        """The value of a keyword argument."""
        return next((value for key, value in self.keywords if key == name), None)
