"""Small projects whose files import each other, made of the code in the catalogue and in the cases of analysis."""

from __future__ import annotations

import ast
import random
from functools import cache
from pathlib import Path

from exportlint.pages import Page
from tests.analysis.cases import cases
from tests.documents import PROJECT
from tests.incremental.servers import CELL

_OF_OTHERS = """
import torch
import third
from second import *
from torch import nn


class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = {part}()
        self.other = third.{other}()

    def forward(self, x):
        y = self.part(x)
        return self.other(y) if y.sum() > 0 else y


class Child({part}):
    def forward(self, *args):
        return super().forward(*args)

"""


@cache
def snippets() -> tuple[str, ...]:
    """The code of the catalogue in which something is wrong."""
    pages = sorted((PROJECT / "rules").glob("EXP*.md"))
    blocks = (block for page in pages for block in Page(page.stem, page.read_text(encoding="utf-8")).blocks)
    return tuple(dict.fromkeys(block.plain for block in blocks if block.kind == "bad" and _classes(block.plain)))


def of_pages(root: Path, rng: random.Random) -> dict[Path, str]:
    """Three files with code of pages, of which the first uses classes of the others."""
    first, second, third = rng.sample(snippets(), 3)
    linking = _OF_OTHERS.format(part=rng.choice(_classes(second)), other=rng.choice(_classes(third)))
    return {root / "first.py": linking + first, root / "second.py": second, root / "third.py": third}


def of_case(root: Path, rng: random.Random) -> dict[Path, str]:
    """The files of a case."""
    written = rng.choice([case for case in cases() if len(case.marked) > 1]).write(root)
    return {path: path.read_text(encoding="utf-8") for path in written if path.suffix == ".py"}


def project(root: Path, rng: random.Random) -> dict[Path, str]:
    """Files in a folder that is a project, also on the disk, where imports are looked for."""
    (root / ".git").mkdir(parents=True)
    texts = of_pages(root, rng) if rng.random() < 0.7 else of_case(root, rng)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8", newline="")
    if rng.random() < 0.2:
        book = f"import torch\nimport second\n{CELL}{rng.choice(snippets())}{CELL}{rng.choice(snippets())}"
        texts[root / "book.ipynb"] = book
    return texts


def _classes(text: str) -> list[str]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return []
    return [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
