"""The import statements of a text, found without parsing it, which is what searching a whole tree has time for."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

_FROM = re.compile(rb"(?:^|[;:])\s*from\s+([.\s]*)([\w.\x80-\xff]*)\s*$")
_PLAIN = re.compile(rb"(?:^|[;:])\s*$")
_UNINDENTED = re.compile(rb"\n(?=[^\s#)\]}])")
_DEFINES = re.compile(rb"(?:async\s+def|def|class)\b")
_COMMENT = re.compile(rb"#[^\n]*")


class Import(NamedTuple):
    """What a statement imports: `names` of `module`, which is that many packages up as `level` has dots.

    Each name is with what it is bound to. It is `*` for all names, and empty where the module itself is imported.
    """

    level: int
    module: str
    names: tuple[tuple[str, str], ...]


def imports(data: bytes, *, is_run: bool = False) -> Iterator[Import]:
    """What the statements of a Python file import, wherever they stand. What only looks like one is given as well.

    With `is_run`, only what importing the file runs: nothing in functions and classes.
    """
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    below = _Below(data) if is_run else None
    at = data.find(b"import")
    while at >= 0:
        if _is_word(data[at - 1 : at]):  # `from ._lazy_import import onnx`
            at = data.find(b"import", at + 6)
            continue
        start = data.rfind(b"\n", 0, at) + 1
        before = data[start:at]
        while start > 1 and data[start - 2 : start - 1] == b"\\":  # the statement began on the line before
            start, end = data.rfind(b"\n", 0, start - 2) + 1, start - 2
            before = data[start:end] + b" " + before
        stop = _end(data, at + 6)
        is_skipped = below is not None and below.definition(start)
        if not is_skipped and data[at + 6 : at + 7] in (b" ", b"\t", b"(", b"\\", b"*"):
            yield from _statement(before, data[at + 6 : stop])
        at = data.find(b"import", max(stop, at + 6))


class _Below:
    """Which lines of a text stand below a definition, as their indentation tells."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._starts = [0, *(found.end() for found in _UNINDENTED.finditer(data))]

    def definition(self, start: int) -> bool:
        """Whether the line that starts there is indented, and the last one that is not begins a definition."""
        if self._data[start : start + 1] not in (b" ", b"\t"):
            return False
        return _DEFINES.match(self._data, self._starts[bisect_right(self._starts, start) - 1]) is not None


def _is_word(letter: bytes) -> bool:
    return letter.isalnum() or letter in (b"_", b".")


def _end(data: bytes, at: int) -> int:
    """Where the names end that start at `at`."""
    stop = data.find(b"\n", at)
    stop = len(data) if stop < 0 else stop
    if b"(" in data[at:stop]:
        closed = data.find(b")", at)
        return len(data) if closed < 0 else closed
    while data[stop - 1 : stop] == b"\\":
        following = data.find(b"\n", stop + 1)
        stop = len(data) if following < 0 else following
    another = data.find(b";", at, stop)
    return stop if another < 0 else another


def _statement(before: bytes, text: bytes) -> Iterator[Import]:
    source = _FROM.search(before)
    if source is None and not _PLAIN.search(before):
        return
    if b"#" in text:
        text = _COMMENT.sub(b"", text)
    parts = text.replace(b"\\\n", b" ").decode("utf-8", "replace").strip(" \t\n()").split(",")
    names = tuple((words[0], words[-1]) for part in parts if len(words := part.split()) == 1 or words[1:-1] == ["as"])
    if source is None:
        yield from (Import(0, name, (("", bound),)) for name, bound in names)
    else:
        module = source[2].decode("utf-8", "replace")
        level = source[1].count(b".") + len(module) - len(module.lstrip("."))
        yield Import(level, module.lstrip("."), names)
