"""What happens in and around operators that run functions: `torch.cond`, `while_loop`, `scan`, `map`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from exportlint.analysis.domain.values import Scalar, Tensor, Value
from exportlint.analysis.facts import Fact

Operator = Literal["torch.cond", "while_loop", "scan", "map"]


@dataclass(frozen=True, slots=True)
class OuterWrite(Fact):
    """In a function that an operator runs, Python state from outside of it is changed.

    `api` is what changes it, as the user knows it: "append", "[…] =", "=".
    """

    api: str
    name: str


@dataclass(frozen=True, slots=True)
class OuterRead(Fact):
    """In a function that an operator runs, a number that was read from a tensor outside of it is used."""

    name: str
    operand: Scalar


@dataclass(frozen=True, slots=True)
class BodyWrite(Fact):
    """A function (`role` is the operator's parameter) changes something that it does not own.

    `what` is what, as the user knows it; `is_tensor`: that is a tensor, and not Python state.
    """

    operator: Operator
    role: str
    api: str
    what: str
    is_tensor: bool


@dataclass(frozen=True, slots=True)
class BodyAlias(Fact):
    """A function returns a tensor that is not its own; with `is_own`, one tensor of its own twice.

    `what` is what, as the user knows it.
    """

    operator: Operator
    role: str
    what: str
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class BodyMismatch(Fact):
    """What functions return does not fit together, or not with what the operator takes.

    `what` is the property that does not fit; `problem` says so in words. `compared` are the tensors and numbers that
    two branches return, or that are carried into and out of a step, pair by pair.
    """

    operator: Operator
    what: Literal["structure", "type", "size", "dtype", "rank", "carry dtype", "carry shape", "condition"]
    problem: str
    compared: tuple[tuple[Value, Value], ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class OperandMismatch(Fact):
    """What an operator is given is not what it takes.

    `what`: "container" (operands not in a tuple), "number" (a Python number or None among them), "symbol" (a number
    read from a tensor among them), "object" (any other object among them), "alias" (two views of the same tensor),
    "count" (not as many as the function has parameters), "predicate" (a condition with several elements).
    """

    operator: Operator
    what: Literal["container", "number", "symbol", "object", "alias", "count", "predicate"]
    problem: str
    operand: Tensor | Scalar | None = None


@dataclass(frozen=True, slots=True)
class BodyCapture(Fact):
    """A function uses a number that was read from a tensor outside of it."""

    operator: Operator
    role: str
    name: str
    operand: Scalar
