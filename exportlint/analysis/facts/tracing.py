"""What Python does that tracing cannot see, or sees otherwise: text, classes, gradients, borders of the compiler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from exportlint.analysis.domain.values import Scalar, Tensor, Value
from exportlint.analysis.facts import Branch, Conversion, Fact


@dataclass(frozen=True, slots=True)
class Text(Fact):
    """Text is made of tensor data without a format: `str(x)`, `repr([x])`, `f"{x!r}"`, `"%s" % x`."""

    api: Literal["str()", "repr()", "format()", "!r", "!s", "%s"]
    operand: Tensor | Scalar


@dataclass(frozen=True, slots=True)
class DataIndex(Fact):
    """Tensor data stands in the index of a tensor, as a bound of a slice or as a number.

    stored: the bound, a tensor, of an assignment. unchecked: a bound that nothing can have been asserted about, since
    it is read where it is used. number: read by `.item()`, in an index that is read. moved: a bound where a slice
    starts, and a later index moves the start on. written: a view that begins or ends there is written while gradients
    are recorded, and torch.export does not know whether it is negative.
    """

    place: Literal["stored", "unchecked", "number", "moved", "written"]
    operand: Tensor | Scalar


@dataclass(frozen=True, slots=True)
class MethodTest(Fact):
    """`callable(x.sum)`, where `x` is a tensor."""

    method: str


@dataclass(frozen=True, slots=True)
class ClassText(Fact):
    """`type(self.weight).__name__`, or another text of the class of a parameter, is read by a method or by `in`."""

    text: str
    operation: str


@dataclass(frozen=True, slots=True)
class ClassStatement(Fact):
    """A `class` statement is run."""

    name: str


@dataclass(frozen=True, slots=True)
class HookedCall(Fact):
    """A module is called with which a constructor has registered a hook on its gradients by the method `name`."""

    name: str


@dataclass(frozen=True, slots=True)
class AliasSubscript(Fact):
    """A type is subscripted with `alias`, a variable of a module that holds a type such as `dict[str, int]`."""

    alias: str


@dataclass(frozen=True, slots=True)
class CachedRead(Fact):
    """A `functools.cached_property` is read; `computed` is what it gives."""

    name: str
    computed: Value


@dataclass(frozen=True, slots=True)
class GradFlag(Fact):
    """The `requires_grad` of a tensor is set. `enabled` is to what, None if that is not known."""

    api: Literal["requires_grad_()", "requires_grad ="]
    target: Tensor
    enabled: bool | None


@dataclass(frozen=True, slots=True)
class ModuleGradFlag(Fact):
    """`module.requires_grad_(…)`."""


@dataclass(frozen=True, slots=True)
class FunctionApplied(Fact):
    """`Class.apply(…)` of a `torch.autograd.Function` that has a `backward` of its own."""

    name: str


Problem = Literal[
    "no function", "a function", "a function defined elsewhere", "a method", "captures", "of numbers read"
]
"""Why some torch refuses a message: what it is, that it captures what is not a constant, or that the check compares
numbers read from tensors.
"""


@dataclass(frozen=True, slots=True)
class CheckMessage(Fact):
    """`torch._check(…, message)`: `problem` is what the message is, "a function" if it is one of constants."""

    problem: Problem
    captured: str = ""


@dataclass(frozen=True, slots=True)
class WrappedCall(Fact):
    """A function or module under a wrapper of torch is called: `torch.jit.script`, `torch.compiler.disable`.

    `inside` is the first thing in it that asks for tensor data; `recursive` is whether the wrapper is about what the
    function calls too.
    """

    wrapper: str
    name: str
    inside: Branch | Conversion | None = None
    recursive: bool = True
    is_module: bool = False

    @property
    def inner(self) -> tuple[Fact, ...]:
        """What needs tensor data inside."""
        return () if self.inside is None else (self.inside,)


@dataclass(frozen=True, slots=True)
class CertainRaise(Fact):
    """A `raise` that every call of the module reaches. `name` is the module, `exception` the class of the exception."""

    name: str
    exception: str


@dataclass(frozen=True, slots=True)
class MisfitCall(Fact):
    """A module is called with an argument that its `forward` does not take, where an `except` catches the TypeError.

    `name` is the class of the module, `argument` a keyword, or None where there are too many positional ones.
    """

    name: str
    argument: str | None


@dataclass(frozen=True, slots=True)
class CaughtOperator(Fact):
    """An `except` stands around operators on tensors and goes on without them where they fail."""


@dataclass(frozen=True, slots=True)
class CompilerBranch(Fact):
    """Python goes another way while torch compiles or exports, and computes something else there.

    `api` is what asks, `taken` whether export goes the way for the compiler.
    """

    api: str
    taken: bool


@dataclass(frozen=True, slots=True)
class StackedContext(Fact):
    """A `contextlib.ExitStack` enters a context that `context` makes."""

    context: str


@dataclass(frozen=True, slots=True)
class UntracedOrder(Fact):
    """Python puts in an order what is no constant to TorchDynamo, by what `api` does.

    `of` is what: tuples or lists, one of which holds a tensor, a module or another object; such objects themselves; or
    anything by a key, if that takes more than constants.
    """

    api: str
    of: Literal["rows", "objects", "key"]
