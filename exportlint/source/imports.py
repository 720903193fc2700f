"""The import statements of a text, found without parsing it, which is what searching a whole tree has time for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FROM = re.compile(rb"(?:^|[;:])\s*from\s+([.\s]*)([\w.\x80-\xff]*)\s*$")
_PLAIN = re.compile(rb"(?:^|[;:])\s*$")
_COMMENT = re.compile(rb"#[^\n]*")
_ALIAS = re.compile(r"\s+as\s+")


@dataclass(frozen=True, slots=True)
class ImportedName:
    """What an import brings: `name` of `module`, which is that many packages up as `level` has dots, called `bound`.

    `name` is `*` for all names, and empty where the module itself is imported.
    """

    level: int
    module: str
    name: str
    bound: str


def imported_names(data: bytes) -> Iterator[ImportedName]:
    """What the statements of a Python file import, wherever they stand. What only looks like one is given as well."""
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    at = data.find(b"import")
    while at >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        before = data[start:at]
        while start > 1 and data[start - 2 : start - 1] == b"\\":  # the statement began on the line before
            start, end = data.rfind(b"\n", 0, start - 2) + 1, start - 2
            before = data[start:end] + b" " + before
        stop = _end(data, at + 6)
        if data[at + 6 : at + 7] in (b" ", b"\t", b"(", b"\\", b"*"):
            yield from _statement(before, data[at + 6 : stop])
        at = data.find(b"import", max(stop, at + 6))


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


def _statement(before: bytes, names: bytes) -> Iterator[ImportedName]:
    source = _FROM.search(before)
    if source is None and not _PLAIN.search(before):
        return
    text = _COMMENT.sub(b"", names).replace(b"\\\n", b" ").decode("utf-8", "replace")
    for part in text.strip(" \t\n()").split(","):
        name, *alias = _ALIAS.split(part.strip())
        if not name:
            continue
        bound = alias[0] if alias else name
        if source is None:
            yield ImportedName(0, name, "", bound)
        else:
            module = source[2].decode("utf-8", "replace")
            level = source[1].count(b".") + len(module) - len(module.lstrip("."))
            yield ImportedName(level, module.lstrip("."), name, bound)
