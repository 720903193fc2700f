"""Cases of what the analyzer must find, from Markdown pages, in the manner of the catalogue's blocks.

A fenced block is a case: the body of a `forward(self, x: Tensor, y: Tensor)` if its info string is `py forward`, else
a whole file that defines `Model`. Trailing comments state what the linter must find in non-strict mode. If blocks of a
section have file names (`` `pkg/helper.py`: `` on the line before), all blocks of the section are one case, and the
last is the file with the model. Comments before a block of a case say more about it:

- `run: …`: the arguments to export the model with, as an expression
- `eager raises: …`: the model raises without export too: operators that run functions compile them
- `not run: …`: torch cannot prove the case, and why
- `wrong: …`: the linter does not do yet what the comments state; what it does instead
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent

from exportlint.pages import Block

DIRECTORY = Path(__file__).parent / "flow"

MAIN = "model.py"
INPUTS = "(torch.ones(2, 3), torch.ones(2, 3))"
FORWARD = """\
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor, y: Tensor):
"""

Marked = tuple[str, int, str, str]
"""A finding as a comment states it: file, row, name of the rule, severity."""

_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_BLOCK = re.compile(r"^```py(?P<forward> forward)?\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"^<!-- (run|not run|wrong|eager raises): (.*?) -->$", re.MULTILINE)
_FILE = re.compile(r"^`([\w./-]+)`:$", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """A model and the files it needs, by their names; `main` is the one with the model.

    `inputs` are the arguments that prove it, as an expression, empty where torch cannot. `wrong` is how the linter
    fails on it. `raises` is what it raises without export, if it does.
    """

    id: str
    files: tuple[tuple[str, str], ...]
    main: str
    inputs: str
    wrong: str
    raises: str

    @property
    def marked(self) -> list[Marked]:
        """What its comments state for non-strict mode."""
        return sorted(
            (name, *marked)
            for name, source in self.files
            for marked in Block("", 0, "", "", source).marked("non-strict")
        )

    def write(self, directory: Path) -> list[Path]:
        """Create its files."""
        paths = [directory / name for name, _ in self.files]
        for path, (_, source) in zip(paths, self.files, strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source, encoding="utf-8")
        return paths


def cases() -> list[Case]:
    """The cases of all pages."""
    return [case for page in sorted(DIRECTORY.glob("*.md")) for case in _cases(page)]


def _cases(page: Path) -> Iterator[Case]:
    text = page.read_text(encoding="utf-8")
    assert text.count("\n```") == 2 * len(_BLOCK.findall(text)), f"{page.name}: a fence that is no block of Python"
    starts = [match.start() for match in _SECTION.finditer(text)]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        row = text.count("\n", 0, start) + 1
        yield from _section(page.stem, row, text[start:end])


def _section(page: str, row: int, text: str) -> Iterator[Case]:
    files: list[tuple[str, str]] = []
    comments: dict[str, str] = {}
    position = 0
    is_one_case = _FILE.search(text) is not None
    for number, block in enumerate(_BLOCK.finditer(text), start=1):
        before = text[position : block.start()]
        position = block.end()
        name = _FILE.search(before)
        files.append((name[1] if name else MAIN, _source(block)))
        comments |= dict(_COMMENT.findall(before))
        if not is_one_case or not _BLOCK.search(text, position):
            inputs = "" if "not run" in comments else comments.get("run", INPUTS)
            title = text.partition("\n")[0].removeprefix("## ").replace(" ", "-")
            id_ = f"{page}:{row}-{title}-{number}"
            wrong, raises = comments.get("wrong", ""), comments.get("eager raises", "")
            yield Case(id_, tuple(files), files[-1][0], inputs, wrong, raises)
            files, comments = [], {}


def _source(block: re.Match[str]) -> str:
    return FORWARD + indent(block["body"], " " * 8) if block["forward"] else block["body"]
