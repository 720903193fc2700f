"""Running the command line inside of the test's process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x + 1
        return x * 2
"""
"""A module with exactly one finding, EXP101 tensor-branch at 7:12-7:23, which has a safe fix."""

CLEAN = "import torch\n"


class Result(NamedTuple):
    """What a run left behind."""

    code: int
    out: str
    err: str

    @property
    def findings(self) -> list[dict[str, Any]]:
        """The findings of a run with `--output-format json`."""
        found: list[dict[str, Any]] = json.loads(self.out)
        return found

    @property
    def places(self) -> list[tuple[str, int, str]]:
        """File name, row and code of each finding of a run with `--output-format json`."""
        return [(Path(f["filename"]).name, f["location"]["row"], f["code"]) for f in self.findings]


Run = Callable[..., Result]


def write(root: Path, files: dict[str, str]) -> None:
    """Create text files under `root`."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
