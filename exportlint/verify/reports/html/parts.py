"""Small pieces of the page."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from exportlint.report.context import printable


def text(value: str) -> str:
    """Something of the project's, as HTML: whatever it holds is shown and never obeyed."""
    return "\n".join(escape(printable(line)) for line in value.split("\n"))


def prose(value: str) -> str:
    """A message as HTML, with what it has between backquotes as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", text(value))


def badge(verdict: str) -> str:
    """A verdict, in its colour."""
    return f'<span class="badge {verdict.replace(" ", "-")}">{text(verdict)}</span>'


def shown(file: Path, root: Path) -> str:
    """A file name as people read it."""
    return file.relative_to(root).as_posix() if file.is_relative_to(root) else str(file)
