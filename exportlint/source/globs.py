"""Regular expressions of file patterns that no file name can keep busy for long, however many `*` there are."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

CLASS = re.compile(r"\[(!?)(\]?[^\]]*)\]")
"""One of several characters, or none of them."""

_numbers = itertools.count()


class Part(NamedTuple):
    """A piece of a pattern as a regular expression: a wildcard, which takes as little as it can, or one character."""

    expression: str
    is_wildcard: bool = False


def assembled(parts: Iterable[Part]) -> str:
    """The expression of all parts one after the other.

    Each wildcard with the characters behind it is matched once, where that is possible first, and not tried again:
    what comes then begins with a wildcard itself, which takes all that an earlier match leaves. Only the last one has
    to reach the end. Trying all places for all of them takes time that is exponential in their number.
    """
    runs: list[list[str]] = [[]]
    for part in parts:
        if part.is_wildcard:
            runs.append([])
        runs[-1].append(part.expression)
    first, *others = map("".join, runs)
    return first + "".join(map(_atomic, others[:-1])) + "".join(others[-1:])


def _atomic(expression: str) -> str:
    if sys.version_info >= (3, 11):
        return f"(?>{expression})"
    name = f"run{next(_numbers)}"
    return f"(?=(?P<{name}>{expression}))(?P={name})"


def alternatives(pattern: str, most: int) -> list[str] | None:
    """The patterns that one with `{a,b}` stands for; None if they are more than `most`. Unclosed braces stay."""
    found: list[str] = []
    waiting = [pattern]
    while waiting:
        one = waiting.pop()
        braces = next(_braces(one), None)
        if braces is None:
            found.append(one)
        else:
            start, commas, end = braces
            cuts = [start, *commas, end]
            waiting += [one[:start] + one[a + 1 : b] + one[end + 1 :] for a, b in itertools.pairwise(cuts)]
        if len(found) + len(waiting) > most:
            return None
    return found


def _braces(pattern: str) -> Iterator[tuple[int, list[int], int]]:
    """Pairs of braces, inner ones first: where they open, their commas, and where they close."""
    open_at: list[tuple[int, list[int]]] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
        elif char == "[" and (chars := CLASS.match(pattern, at)):
            at = chars.end() - 1
        elif char == "{":
            open_at.append((at, []))
        elif char == "," and open_at:
            open_at[-1][1].append(at)
        elif char == "}" and open_at:
            yield (*open_at.pop(), at)
        at += 1
