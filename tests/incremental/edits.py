"""Random edits of Python text, as people make them: each kind changes something else of what analysis depends on."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable, Sequence

from exportlint.source.parsing import tree_of

LINES = (
    "x = x + 1", "x.item()", "if x.sum() > 0: pass", "", "# text", "pass", "x = 1", "x = 1; y = 2", "self.count = x",
    "from torch import *", "import torch as nn", "return x", "print(x)", "y = [x]", "global x", "x: int = 3",
    "\f", "# exportlint: ignore", "if x.shape[0] == 3:  # noqa", "del x", "raise NotImplementedError",
    "torch.export.export(Net(), (torch.ones(2),))", "torch.export.register_dataclass(Block)", "__all__ = ['flip']",
    "from typing import TYPE_CHECKING", "def flip(x): return x.item()", "Block = None", "flip.forward = flip",
    "import torch.library", "torch.library.define('a::b', '(Tensor x) -> Tensor')", "lambda x: (y := x)",
)  # fmt: skip
"""What is typed somewhere."""
DECORATORS = (
    "@torch.no_grad()", "@staticmethod", "@property", "@torch.jit.ignore", "@functools.wraps", "@dataclass", "@flip",
    "@torch.library.custom_op('a::b', mutates_args=())", "@abstractmethod", "@register",
)  # fmt: skip
HEADS = ("if True:", "if x is not None:", "with torch.no_grad():", "try:", "for i in range(3):", "while x.any():")
PIECES = ("(", ")", "'''", '"""', "\\", "@", ":", "[", "#", " ", "\t", ".", "=", "1", "ﬁ", "é")
_WORD = re.compile(r"[^\W\d]\w*")
_NUMBER = re.compile(r"\b\d+(?:\.\d+)?\b")


def parses(text: str) -> bool:
    """Whether a text is Python."""
    try:
        tree_of(text.removeprefix("\ufeff"))
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def edited(text: str, others: Sequence[str], rng: random.Random, *, may_break: bool = False) -> str:
    """The text after an edit, which may come from one of the `others`; one that can be parsed unless it `may_break`."""
    for _ in range(100):
        new = rng.choice(KINDS)(text, others, rng)
        if new is not None and new != text and (may_break or parses(new)):
            return new
    return text


def _line_added(text: str, others: Sequence[str], rng: random.Random) -> str:
    lines = text.splitlines(keepends=True) or ["\n"]
    at = rng.randrange(len(lines))
    lines.insert(at, f"{_indent(lines[at])}{rng.choice(LINES)}\n")
    return "".join(lines)


def _lines_cut(text: str, others: Sequence[str], rng: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    at = rng.randrange(len(lines) or 1)
    del lines[at : at + rng.choice((1, 1, 1, 4))]
    return "".join(lines)


def _statement_removed(text: str, others: Sequence[str], rng: random.Random) -> str | None:
    found = _statement(text, rng)
    if found is None:
        return None
    lines, first, last = found
    return "".join([*lines[:first], *lines[last:]])


def _statement_copied(text: str, others: Sequence[str], rng: random.Random) -> str | None:
    return _put_elsewhere(text, rng, is_moved=False)


def _statement_moved(text: str, others: Sequence[str], rng: random.Random) -> str | None:
    return _put_elsewhere(text, rng, is_moved=True)


def _put_elsewhere(text: str, rng: random.Random, *, is_moved: bool) -> str | None:
    found = _statement(text, rng)
    if found is None:
        return None
    lines, first, last = found
    block = lines[first:last]
    if not block:  # a lone `\r`, which earlier edits can leave, ends lines for Python alone
        return None
    rest = [*lines[:first], *lines[last:]] if is_moved else list(lines)
    places = [at for at, line in enumerate(rest) if line.strip() and _indent(line) == _indent(block[0])]
    at = rng.choice([*places, len(rest)])
    return "".join([*rest[:at], *block, *rest[at:]])


def _pasted(text: str, others: Sequence[str], rng: random.Random) -> str | None:
    """A function or class of another file."""
    other = rng.choice([*others, text])
    found = _statement(other, rng, top=True)
    if found is None:
        return None
    lines, first, last = found
    mine = text.splitlines(keepends=True)
    places = [at for at, line in enumerate(mine) if line.strip() and not _indent(line)]
    at = rng.choice([*places, len(mine)])
    return "".join([*mine[:at], *lines[first:last], *mine[at:]])


def _renamed(text: str, others: Sequence[str], rng: random.Random) -> str | None:
    """A name that is another one from here on, in one place or in all."""
    words: list[str] = _WORD.findall(text)
    if not words:
        return None
    old = rng.choice(words)
    new: str = rng.choice([*words, *_WORD.findall(rng.choice([*others, text])), "fresh"])
    places = [found.start() for found in re.finditer(rf"\b{re.escape(old)}\b", text)]
    if not places or rng.random() < 0.3:
        return re.sub(rf"\b{re.escape(old)}\b", new, text)
    at = rng.choice(places)
    return text[:at] + new + text[at + len(old) :]


def _value_changed(text: str, others: Sequence[str], rng: random.Random) -> str | None:
    places = [(found.start(), found.end()) for found in _NUMBER.finditer(text)]
    places += [(f.start(), f.end()) for f in re.finditer(r"\b(?:True|False|None)\b", text)]
    if not places:
        return None
    start, end = rng.choice(places)
    value = rng.choice(("0", "1", "2", "True", "False", "None", "1.5", "'text'"))
    return text[:start] + value + text[end:]


def _decorated(text: str, others: Sequence[str], rng: random.Random) -> str | None:
    lines = text.splitlines(keepends=True)
    places = [at for at, line in enumerate(lines) if re.match(r"\s*(?:class|def|async def)\b", line)]
    if not places:
        return None
    at = rng.choice(places)
    lines.insert(at, f"{_indent(lines[at])}{rng.choice(DECORATORS)}\n")
    return "".join(lines)


def _indented(text: str, others: Sequence[str], rng: random.Random) -> str | None:
    """A statement that stands in another one now."""
    found = _statement(text, rng)
    if found is None:
        return None
    lines, first, last = found
    head = rng.choice(HEADS)
    indent = _indent(lines[first])
    tail = [f"{indent}finally:\n", f"{indent}    pass\n"] if head == "try:" else []
    inner = ["    " + line if line.strip() else line for line in lines[first:last]]
    return "".join([*lines[:first], f"{indent}{head}\n", *inner, *tail, *lines[last:]])


def _joined(text: str, others: Sequence[str], rng: random.Random) -> str | None:
    """Two lines that are one, by a semicolon or a backslash."""
    lines = text.splitlines(keepends=True)
    places = [at for at in range(len(lines) - 1) if lines[at].strip() and _indent(lines[at]) == _indent(lines[at + 1])]
    if not places:
        return None
    at = rng.choice(places)
    lines[at : at + 2] = [lines[at].rstrip() + rng.choice(("; ", " \\\n")) + lines[at + 1].lstrip(" ")]
    return "".join(lines)


def _piece_added(text: str, others: Sequence[str], rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(PIECES) + text[at:]


def _piece_cut(text: str, others: Sequence[str], rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + text[at + rng.choice((1, 1, 3)) :]


def _spaced(text: str, others: Sequence[str], rng: random.Random) -> str:
    """Other line ends, a byte order mark, blank lines, or no line end at the end."""
    how = rng.randrange(5)
    if how == 0:
        return text.replace("\r\n", "\n") if "\r\n" in text else text.replace("\n", "\r\n")
    if how == 1:
        return text.removeprefix("\ufeff") if text.startswith("\ufeff") else "\ufeff" + text
    if how == 2:
        return text.rstrip("\n") if text.endswith("\n") else text + "\n"
    lines = text.splitlines(keepends=True)
    at = rng.randrange(len(lines) + 1)
    return "".join([*lines[:at], *["\n"] * rng.randrange(1, 4), *lines[at:]])


def _ignored(text: str, others: Sequence[str], rng: random.Random) -> str | None:
    """A comment behind a line, or none any more."""
    lines = text.splitlines(keepends=True)
    places = [at for at, line in enumerate(lines) if line.strip()]
    if not places:
        return None
    at = rng.choice(places)
    body, _, _ = lines[at].rstrip("\r\n").partition("  # exportlint")
    end = lines[at][len(lines[at].rstrip("\r\n")) :]
    has_comment = body != lines[at].rstrip("\r\n")
    lines[at] = body + ("" if has_comment else rng.choice(("  # exportlint: ignore", "  # noqa", "  # text"))) + end
    return "".join(lines)


Kind = Callable[[str, Sequence[str], random.Random], str | None]
KINDS: tuple[Kind, ...] = (
    _line_added, _line_added, _line_added, _lines_cut, _statement_removed, _statement_removed, _statement_copied,
    _statement_moved, _statement_moved, _pasted, _renamed, _renamed, _renamed, _value_changed, _value_changed,
    _decorated, _indented, _joined, _piece_added, _piece_cut, _spaced, _ignored,
)  # fmt: skip


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))].replace("\n", "")


def _statement(text: str, rng: random.Random, *, top: bool = False) -> tuple[list[str], int, int] | None:
    """The lines of a text, and from where to where one of its statements stands, if that has its lines for itself."""
    try:
        tree = tree_of(text.removeprefix("\ufeff"))
    except (SyntaxError, ValueError, RecursionError):
        return None
    nodes: list[ast.stmt] = tree.body if top else [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    lines = re.findall(r"[^\n]*\n|[^\n]+", text.removeprefix("\ufeff"))
    if not nodes or not lines:
        return None
    # The deeper ones are more: take as many from the top.
    node = rng.choice(tree.body if rng.random() < 0.5 else nodes)
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    return lines, first - 1, node.end_lineno or node.lineno
