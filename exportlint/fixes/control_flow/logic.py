"""The truth of tensor data as a tensor, and the logic of such truths.

`Condition` is such a tensor, with what is known of it; `negated`, `both` and `either` combine them. A `Predicate` says
when code takes effect that is run in any case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportlint.fixes.edit.template import binary, call, expression, method

if TYPE_CHECKING:
    from exportlint.fixes.edit.code import Code
    from exportlint.fixes.edit.template import Expression


@dataclass(frozen=True, slots=True)
class Condition:
    """A tensor that holds the truth of a Python condition.

    `safe`: it holds exactly that, and refuses what Python's `bool` refused. `scalar`: it surely has no dimensions;
    else `tensor` makes it so, and refuses tensors of several elements as `bool` does.
    """

    source: Expression
    safe: bool = True
    scalar: bool = True

    @property
    def tensor(self) -> Expression:
        """A 0-d bool tensor."""
        return self.source if self.scalar else method(self.source, "reshape", expression("()"))


def negated(condition: Condition) -> Condition:
    """The opposite of a condition."""
    return Condition(expression("~{condition}", condition=condition.tensor), condition.safe)


def both(one: Condition, other: Condition) -> Condition:
    """Whether two conditions hold."""
    return Condition(binary("&", one.tensor, other.tensor), one.safe and other.safe)


def either(one: Condition, other: Condition) -> Condition:
    """Whether one of two conditions holds."""
    return Condition(binary("|", one.tensor, other.tensor), one.safe and other.safe)


@dataclass(frozen=True, slots=True)
class Predicate:
    """When statements take effect: where a 0-d bool tensor is true, or, unless it `holds`, where it is false."""

    condition: Expression
    holds: bool = True

    def choose(self, code: Code, new: Expression | int, old: Expression | int) -> Expression:
        """A new value, or the old one."""
        one, other = (new, old) if self.holds else (old, new)
        return call(code.name("torch.where"), self.condition, one, other)

    def within(self, condition: Condition, *, holds: bool = True) -> Predicate:
        """When statements take effect that hang on one more condition."""
        inner = condition if holds else negated(condition)
        return Predicate(binary("&", self.truth, inner.tensor))

    @property
    def truth(self) -> Expression:
        """A tensor that is true where the statements take effect."""
        return self.condition if self.holds else expression("~{condition}", condition=self.condition)
