"""Pieces of new source code that know how tightly they bind."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from exportlint.fixes.code import Code
from exportlint.fixes.precedence import Precedence, precedence


@dataclass(frozen=True, slots=True)
class Piece:
    """The source of an expression, and the precedence of its outermost operator."""

    text: str
    precedence: Precedence = Precedence.ATOM

    def at(self, place: Precedence) -> str:
        """The source as an operand at a place: in parentheses if it needs them there."""
        return f"({self.text})" if self.precedence < place else self.text


def piece(code: Code, node: ast.expr) -> Piece:
    """An expression as it stands in the file. One of several lines gets parentheses where brackets are missing."""
    text = code.operand(node, Precedence.TERNARY)
    if text != code.text(node):
        return Piece(text)
    return Piece(text, precedence(node))


def call(function: str, *arguments: str) -> Piece:
    """`function(argument, …)`."""
    return Piece(f"{function}({', '.join(arguments)})")


def method(receiver: Piece, name: str, *arguments: str) -> Piece:
    """`receiver.name(argument, …)`."""
    return call(f"{receiver.at(Precedence.ATOM)}.{name}", *arguments)


def joined(operator: str, place: Precedence, left: Piece, right: Piece) -> Piece:
    """`left operator right`, of an operator that is left-associative."""
    return Piece(f"{left.at(place)} {operator} {right.at(Precedence(place + 1))}", place)
