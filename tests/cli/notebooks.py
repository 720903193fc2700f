"""Notebooks for tests, written as Jupyter writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

NET_CELL = """\
class Net(nn.Module):
    def forward(self, x):
        y = x * 2
        return y.data + 1"""
"""A module with one finding, EXP301 at 4:16, that has a safe fix; `nn` comes from another cell."""


def code(source: str, **metadata: Any) -> dict[str, Any]:
    """A code cell."""
    lines = source.splitlines(keepends=True)
    return {"cell_type": "code", "execution_count": None, "metadata": metadata, "outputs": [], "source": lines}


def markdown(source: str) -> dict[str, Any]:
    """A cell that is not code."""
    return {"cell_type": "markdown", "metadata": {}, "source": source.splitlines(keepends=True)}


def notebook(*cells: str | Mapping[str, Any], language: str | None = "python", **more: Any) -> str:
    """The text of an `.ipynb` file, of code cells where only their source is given."""
    metadata = {} if language is None else {"language_info": {"name": language}}
    listed = [code(cell) if isinstance(cell, str) else cell for cell in cells]
    root = {"cells": listed, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5, **more}
    return json.dumps(root, indent=1, ensure_ascii=False) + "\n"


def sources(path: Path) -> list[str]:
    """The sources of all cells of a file."""
    return ["".join(cell["source"]) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
