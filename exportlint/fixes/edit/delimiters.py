"""Where a line within brackets is best broken: Black's order of what binds least.

`delimiters` finds what stands between the parts of a line and how tightly it binds, `pairs` the outermost brackets.
"""

from __future__ import annotations

import keyword
import tokenize
from collections.abc import Iterator, Sequence
from enum import IntEnum

from exportlint.fixes.edit.text import Token

OPENING, CLOSING = frozenset("([{"), frozenset(")]}")


class Delimiter(IntEnum):
    """What stands between parts of a line; the greatest one there is breaks it."""

    CALL = 0
    TERM = 1
    SUM = 2
    SHIFT = 3
    BIT_AND = 4
    BIT_XOR = 5
    BIT_OR = 6
    COMPARISON = 7
    STRING = 8
    LOGIC = 9
    TERNARY = 10
    COMMA = 11
    COMPREHENSION = 12


_OPERATORS = {
    **dict.fromkeys(("*", "/", "//", "%", "@"), Delimiter.TERM),
    **dict.fromkeys(("+", "-"), Delimiter.SUM),
    **dict.fromkeys(("<<", ">>"), Delimiter.SHIFT),
    "&": Delimiter.BIT_AND,
    "^": Delimiter.BIT_XOR,
    "|": Delimiter.BIT_OR,
    **dict.fromkeys(("<", ">", "<=", ">=", "==", "!=", "in", "is"), Delimiter.COMPARISON),
    **dict.fromkeys(("and", "or"), Delimiter.LOGIC),
    **dict.fromkeys(("if", "else"), Delimiter.TERNARY),
}


def delimiters(line: Sequence[Token]) -> dict[int, Delimiter]:
    """The delimiters of a line outside of its brackets, by the index of the token before which it would be broken."""
    found: dict[int, Delimiter] = {}
    depth = waiting = 0
    """`waiting`: how many `lambda`s wait for their `:`, and `for`s for their `in`."""
    is_comprehension = False
    for index, token in enumerate(line):
        if token.text in CLOSING and token.kind == tokenize.OP:
            depth -= 1
        if depth == 0 and index and token.text not in CLOSING:
            before = line[index - 1]
            is_word = token.kind == tokenize.NAME
            kind = _OPERATORS.get(token.text) if token.kind in {tokenize.OP, tokenize.NAME} else None
            if is_word and token.text == "for":
                kind, is_comprehension = Delimiter.COMPREHENSION, True
                if before.text == "async":
                    found[index - 1], kind = Delimiter.COMPREHENSION, None
            elif is_word and token.text == "if" and is_comprehension and not _has_else(line, index):
                kind = Delimiter.COMPREHENSION
            elif is_word and token.text == "in" and waiting:
                kind = None
            elif is_word and token.text == "not":
                kind = Delimiter.COMPARISON if _ends(before) and before.text != "is" else None
            elif token.text in {"in", "is"} and before.text == "not":
                kind = None
            elif token.kind == before.kind == tokenize.STRING:
                kind = Delimiter.STRING
            elif token.text == "." and before.text in CLOSING:
                kind = Delimiter.CALL  # `x.sum(0).relu()`
            elif token.kind == tokenize.OP and not _ends(before):
                kind = None  # `-x`, `*x`
            if kind is not None and not waiting:
                found[index] = kind
            if before.text == "," and before.kind == tokenize.OP and not waiting:
                found[index] = Delimiter.COMMA
        if depth == 0 and token.kind == tokenize.NAME and token.text in {"for", "lambda"}:
            waiting += 1
        elif waiting and depth == 0 and token.text in {"in", ":"}:
            waiting -= 1
        if token.text in OPENING and token.kind == tokenize.OP:
            depth += 1
    if list(found.values()).count(Delimiter.CALL) == 1:  # a single call looks wrong on a line without what it is of
        found = {index: kind for index, kind in found.items() if kind is not Delimiter.CALL}
    return found


def pairs(line: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """The brackets of a line that stand in no others and hold something, as indices, the last one first."""
    found: list[tuple[int, int]] = []
    opened: list[int] = []
    for index, token in enumerate(line):
        if token.kind != tokenize.OP:
            continue
        if token.text in OPENING:
            opened.append(index)
        elif token.text in CLOSING and opened:
            start = opened.pop()
            if not opened and index > start + 1:
                found.append((start, index))
    yield from reversed(found)


def _has_else(line: Sequence[Token], start: int) -> bool:
    depth = 0
    for token in line[start + 1 :]:
        depth += (token.text in OPENING) - (token.text in CLOSING) if token.kind == tokenize.OP else 0
        if depth == 0 and token.kind == tokenize.NAME and token.text in {"for", "else"}:
            return token.text == "else"
    return False


def _ends(token: Token) -> bool:
    if token.kind == tokenize.NAME:
        return not keyword.iskeyword(token.text) or token.text in {"None", "True", "False"}
    return token.text in CLOSING or token.kind in {tokenize.NUMBER, tokenize.STRING} or token.text == "..."
