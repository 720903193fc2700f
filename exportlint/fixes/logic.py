"""The truth of tensor data as a tensor, and the logic of such truths."""

from __future__ import annotations

from dataclasses import dataclass

from exportlint.fixes.precedence import Precedence
from exportlint.fixes.source_text import Piece, joined, method


@dataclass(frozen=True, slots=True)
class Condition:
    """A tensor that holds the truth of a Python condition.

    `safe`: it holds exactly that, and refuses what Python's `bool` refused. `scalar`: it surely has no dimensions;
    else `operand` makes it so, and refuses tensors of several elements as `bool` does.
    """

    source: Piece
    safe: bool = True
    scalar: bool = True

    @property
    def text(self) -> str:
        """The source of a 0-d bool tensor."""
        return self.piece.text

    @property
    def piece(self) -> Piece:
        """The same, to put in front of operators."""
        return self.source if self.scalar else method(self.source, "reshape", "()")


def negated(condition: Condition) -> Condition:
    """The opposite of a condition."""
    return Condition(Piece(f"~{condition.piece.at(Precedence.UNARY)}", Precedence.UNARY), condition.safe)


def both(one: Condition, other: Condition) -> Condition:
    """Whether two conditions hold."""
    return _joined("&", Precedence.BIT_AND, one, other)


def either(one: Condition, other: Condition) -> Condition:
    """Whether one of two conditions holds."""
    return _joined("|", Precedence.BIT_OR, one, other)


def _joined(operator: str, place: Precedence, one: Condition, other: Condition) -> Condition:
    return Condition(joined(operator, place, one.piece, other.piece), one.safe and other.safe)
