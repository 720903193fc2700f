"""What the interpreter saw and a rule may care about."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from exportlint.analysis.trail import Site, Trail
from exportlint.analysis.values import (
    Scalar,
    Tensor,
    Value,
)
from exportlint.findings import Mode

if TYPE_CHECKING:
    from collections.abc import Callable

    from exportlint.analysis.interpreter.call_graph import Caller
    from exportlint.analysis.interpreter.frame import Frame
    from exportlint.analysis.interpreter.snapshot import Snapshot

Construct = Literal[
    "if", "elif", "while", "ternary", "and", "or", "not", "assert", "match", "bool()", "in", "comparison",
    "any()", "all()", "max()", "min()", "sorted()", "filter()", "comprehension", "list method", "is_nonzero",
    "groupby()",
]  # fmt: skip
"""Python constructs that ask a value for its truth."""


MAX_MOMENTS = 4


class Moments:
    """The variables at each time that a fact was met, one for each way in which its function is called.

    Where they are `complete`, what holds in all of them is true.
    """

    __slots__ = ("_are_all", "_calls", "_frames", "snapshots")

    def __init__(self) -> None:
        self.snapshots: list[Snapshot] = []
        self._are_all = True
        self._frames: set[int] = set()
        self._calls: Callable[[], int] = int

    @property
    def complete(self) -> bool:
        """Whether all of them are kept, and the fact was met in each call of the function."""
        return self._are_all and self._calls() <= len(self._frames)

    @property
    def is_kept(self) -> bool:
        """Whether the variables of any time are kept, if there was one."""
        return bool(self.snapshots) or self._are_all

    def add(self, frame: Frame) -> None:
        """Keep the variables of a frame."""
        from exportlint.analysis.interpreter.snapshot import Snapshot

        if len(self.snapshots) < MAX_MOMENTS and frame.engine.may_keep(frame.env):
            self.snapshots.append(Snapshot(frame))
            self._frames.add(id(frame))
            self._calls = frame.engine.counter()
        else:
            self._are_all = False

    def later(self, snapshots: list[Snapshot]) -> Moments:
        """The same times with the variables of a place behind."""
        other = copy(self)
        other.snapshots = snapshots
        return other


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that happens at `site`, in the function with the qualified name `symbol`.

    `guarded` says that an `except` around it would swallow the error of torch.export. `mode` is how the code is
    traced, where that is not what the settings say. `moments` are the times it was met, for fixes to ask about.
    `callers` gives the exported classes that reach it from outside.
    """

    site: Site
    symbol: str
    guarded: bool
    trail: Trail | None
    mode: Mode | None = field(default=None, kw_only=True)
    moments: Moments = field(default_factory=Moments, kw_only=True, compare=False, repr=False)
    callers: Callable[[], tuple[Caller, ...]] = field(default=tuple, kw_only=True, compare=False, repr=False)


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
    """An API that brings tensor data to Python: `item`, `tolist`, `numpy`, `data_ptr`, `torch.equal`, `np.exp`."""

    api: str
    operand: Tensor


@dataclass(frozen=True, slots=True)
class DataRead(Fact):
    """The tensor that `.data` gave reaches an operator or the output. `operation` is the operator."""

    operand: Tensor
    operation: str
    mutates: bool = False


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
    """A list or dict that was passed to `forward` is changed. `api` as for Mutation."""

    api: str
    name: str


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
    """`copy.deepcopy`, `copy.copy`, `pickle.dumps`, `torch.save` of something that holds a tensor."""

    api: str
    operand: Tensor


@dataclass(frozen=True, slots=True)
class Call(Fact):
    """A call of something that is not of the project, by its qualified name."""

    name: str
    positional: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]

    def keyword(self, name: str) -> Value | None:
        """The value of a keyword argument."""
        return next((value for key, value in self.keywords if key == name), None)
