"""What fixes would change, as differences that `patch` and `git apply` take."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from exportlint.fixer import Fixed
from exportlint.report import Context
from exportlint.report.context import printable

_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_STYLES = {"+": "added", "-": "removed", "@": "frame"}


def difference(fixed: Fixed, context: Context) -> bytes:
    """The unified difference of a file, with its own bytes. In colour it is for people, and made printable."""
    name = context.shown(fixed.task.filename)
    # Without the tab, names would end at a space.
    lines = _lines(fixed, os.fsencode(name + "\t" if " " in name else name))
    if not context.color:
        return b"".join(lines)
    return "".join(_colored(line.decode(errors="replace"), context) for line in lines).encode()


def _lines(fixed: Fixed, name: bytes) -> Iterator[bytes]:
    from difflib import diff_bytes, unified_diff

    for line in diff_bytes(unified_diff, _LINE.findall(fixed.before), _LINE.findall(fixed.data), name, name):
        yield line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"
    yield b"\n"


def _colored(line: str, context: Context) -> str:
    text = line.rstrip("\r\n")
    style = "bold" if text.startswith(("---", "+++")) else _STYLES.get(text[:1])
    return (printable(text) if style is None else context.style(style, printable(text))) + "\n"
