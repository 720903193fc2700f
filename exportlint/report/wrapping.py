"""Text in lines that are no wider than a terminal."""

from __future__ import annotations

import re

_ESCAPE = re.compile(r"\x1b\[[\d;]*m")
_LEAST = 24
"""Columns that text is given however narrow the terminal is."""


def wrapped(text: str, width: int | None, indent: str) -> list[str]:
    """The lines of a text, broken between words, all but the first with an indent. One line if `width` is None."""
    if width is None:
        return [text]
    lines: list[str] = []
    room = max(width, len(indent) + _LEAST)
    for word in text.split(" "):
        if lines and width_of(lines[-1]) + 1 + width_of(word) <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(indent + word if lines else word)
    return lines


def width_of(text: str) -> int:
    """How many columns of a terminal a text takes; its escape sequences take none."""
    if text.isascii() and "\x1b" not in text:
        return len(text)
    return sum(map(char_width, _ESCAPE.sub("", text)))


def char_width(char: str) -> int:
    """How many columns of a terminal a character takes."""
    if char < "\u0300":
        return 1
    import unicodedata

    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
