"""The Python in a project's documents: a README shows what a model is made with and called with."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from exportlint.source import SourceFile, from_text

_MOST_DOCUMENTS = 50
_MOST_CHARACTERS = 1 << 20
_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>```+|~~~+) *(?P<language>\w*)[^\n]*\n", re.MULTILINE)
_LANGUAGES = frozenset(("python", "py", "python3"))


def documents(root: Path) -> Iterator[SourceFile]:
    """The examples in what is beside the code, and in `docs` and `examples`: each as a file of Python, with its rows.

    The name of each file is the document's; its path is its own, and there is nothing there.
    """
    places = [*sorted(root.glob("*.md")), *sorted(root.glob("docs/**/*.md")), *sorted(root.glob("examples/**/*.md"))]
    for place in places[:_MOST_DOCUMENTS]:
        try:
            text = place.read_text(encoding="utf-8") if place.stat().st_size <= _MOST_CHARACTERS else ""
        except (OSError, ValueError):
            continue
        for i, code in enumerate(examples(text)):
            yield from_text(code, place.with_name(f"{place.stem}-{i}{place.suffix}"), str(place))


def examples(text: str) -> Iterator[str]:
    """The fenced blocks of Python in Markdown that can be parsed, with empty lines before them.

    A block that imports nothing goes on with the one before.
    """
    code, rows = "", 0
    for row, block in _blocks(text):
        tree = _parsed(block)
        if tree is None:
            continue
        if code and any(isinstance(statement, ast.Import | ast.ImportFrom) for statement in tree.body):
            yield code
            code, rows = "", 0
        code += "\n" * (row - rows) + block + "\n"
        rows = row + block.count("\n") + 1
    if code:
        yield code


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Each with the number of rows before it."""
    position = 0
    while found := _FENCE.search(text, position):
        end = re.compile(rf"^ *{re.escape(found['fence'])}+ *$", re.MULTILINE).search(text, found.end())
        stop = end.start() - 1 if end else len(text)
        position = end.end() if end else len(text)
        if found["language"].lower() in _LANGUAGES and stop > found.end():
            lines = text[found.end() : stop].split("\n")
            yield text.count("\n", 0, found.end()), "\n".join(line.removeprefix(found["indent"]) for line in lines)


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
