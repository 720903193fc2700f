"""Programs in every layout that Python allows, to edit."""

from __future__ import annotations

import ast
from pathlib import Path

from hypothesis import strategies as st

from exportlint.edits import apply
from exportlint.fixes.edit.statements import Draft, Statements
from exportlint.fixes.edit.text import Text
from exportlint.fixes.edit.tree import Tree
from exportlint.source import SourceFile, from_text

SIMPLE = [
    "a = 1",
    "f(a,\n  b)",
    "x = '''one\n  two\n'''",
    "y = [  # first\n 1,\n]",
    "del a",
    "b = a if c else \\\n d",
    "é = 'ß𐐀'; c = 2",
    "c = 1;",
    "d = f'{a}'",
    "return_ = yield_",
]
HEADERS = ["if a:", "while b:", "for i in c:", "with d as e:", "class C:", "def f(x):", "async def g():"]


@st.composite
def blocks(draw: st.DrawFn, indent: str, unit: str, depth: int) -> list[str]:
    """The lines of a block."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        if draw(st.integers(0, 4)) == 0:
            lines += [draw(st.sampled_from(["", f"{indent}# above", "# at the margin", "\x0c"]))]
        comment = draw(st.sampled_from(["", "", "  # behind", " #"]))
        kind = draw(st.integers(0, 6 if depth else 1))
        if kind == 0:
            lines.append(f"{indent}{draw(st.sampled_from(SIMPLE))}{comment}")
        elif kind == 1:
            some = draw(st.lists(st.sampled_from(SIMPLE), min_size=2, max_size=3))
            joint = draw(st.sampled_from(["; ", ";", ";\\\n "]))
            lines.append(indent + joint.join(s.rstrip(";") for s in some) + comment)
        elif kind == 2:
            some = draw(st.lists(st.sampled_from(SIMPLE), min_size=1, max_size=2))
            gap = draw(st.sampled_from([" ", "", " \\\n   "]))
            lines.append(
                f"{indent}{draw(st.sampled_from(HEADERS))}{gap}{'; '.join(s.rstrip(';') for s in some)}{comment}"
            )
        elif kind == 3:
            inner = draw(blocks(indent + unit, unit, depth - 1))
            decorators = []
            header = draw(st.sampled_from(HEADERS))
            if "f(" in header or "class" in header:
                decorators = draw(st.sampled_from([[], [f"{indent}@ deco", f"{indent}@deco(1)  # why"]]))
            lines += [*decorators, f"{indent}{header}{comment}", *inner]
        elif kind == 4:
            parts = ["if a:", "elif b:", "elif c:", "else:"][: draw(st.integers(1, 4))]
            for part in parts:
                lines += [f"{indent}{part}{comment}", *draw(blocks(indent + unit, unit, depth - 1))]
        elif kind == 5:
            for part in ["try:", "except E as e:", "else:", "finally:"]:
                if draw(st.booleans()):
                    lines += [f"{indent}{part}", *draw(blocks(indent + unit, unit, depth - 1))]
                else:
                    lines += [f"{indent}{part} g()"]
        else:
            lines += [f"{indent}match a:", f"{indent}{unit}case 1: g()", f"{indent}{unit}case [x, *_]:{comment}"]
            lines += draw(blocks(indent + unit * 2, unit, depth - 1))
    return lines


@st.composite
def programs(draw: st.DrawFn) -> str:
    """The source of a module."""
    lines = draw(blocks("", draw(st.sampled_from(["    ", "  ", "\t"])), 2))
    if all(not line.strip() or line.lstrip().startswith("#") for line in lines[-1:]):
        lines.append("last = 1")
    head = draw(st.sampled_from(["", "'''About.'''\n", "# coding: utf-8\n\n"]))
    text = head + "\n".join(lines) + draw(st.sampled_from(["\n", "", "\n\n# end\n"]))
    return text.replace("\n", draw(st.sampled_from(["\n", "\n", "\r\n", "\r"])))


class File:
    """A source with the means to edit it."""

    def __init__(self, text: str) -> None:
        self.source: SourceFile = from_text(text, Path("x.py"))
        self.root = ast.parse(text)
        self.tree = Tree(self.root)
        self.text = Text(self.source)
        self.statements = Statements(self.text, self.tree)

    def edited(self, *drafts: Draft) -> str:
        """The text after edits."""
        return apply(self.text.edits(drafts), self.source.lines)

    def blocks(self) -> list[list[ast.stmt]]:
        """All lists of statements, in the order in which they stand in the tree."""
        return [
            body
            for node in ast.walk(self.root)
            for field in ("body", "orelse", "finalbody")
            if isinstance(body := getattr(node, field, None), list) and body and isinstance(body[0], ast.stmt)
        ]
