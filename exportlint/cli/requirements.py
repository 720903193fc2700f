"""Which torch a project requires, as its files declare it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exportlint.config.errors import ConfigError
from exportlint.config.toml import MAX_BYTES, parse
from exportlint.config.torch_version import OLDEST, parse_torch_version, shown_version
from exportlint.source import read_bounded

_TORCH = re.compile(r"torch\s*(?:\[[^\]]*\])?\s*(?P<bounds>[(=<>~!^].*)", re.IGNORECASE)
_BOUND = re.compile(r"(===?|~=|>=|\^|~)\s*v?(\d+\.\d+(?:\.\d+)*)")


@dataclass(frozen=True, slots=True)
class TorchRequirement:
    """A requirement of torch: the `file` that states it, its `text`, and the oldest version that it allows.

    `is_pinned`: it allows no other minor version.
    """

    file: str
    text: str
    version: str
    is_pinned: bool


def torch_requirement(root: Path) -> TorchRequirement | None:
    """The requirement of torch of the project in `root`, if one of its files has one that names a version.

    Files that cannot be read say nothing.
    """
    found = None
    for file, text in _requirements(root):
        one = _read(file, text)
        if one is not None and one.is_pinned:
            return one
        found = found or one
    return found


def _read(file: str, text: str) -> TorchRequirement | None:
    match = _TORCH.fullmatch(text.strip().partition(";")[0].partition("#")[0].strip())
    bound = _BOUND.search(match["bounds"]) if match else None
    if bound is None:
        return None
    operator, version = bound.groups()
    try:
        known = max(parse_torch_version(".".join(version.split(".")[:2])), OLDEST)
    except ValueError:
        known = OLDEST
    compatible = operator in ("~=", "~") and version.count(".") >= (2 if operator == "~=" else 1)
    return TorchRequirement(file, text.strip(), shown_version(known), operator.startswith("==") or compatible)


def _requirements(root: Path) -> Iterator[tuple[str, str]]:
    """Every requirement of the project with the file that states it."""
    pyproject = _text(root / "pyproject.toml")
    if pyproject is not None:
        yield from (("pyproject.toml", text) for text in _of_pyproject(pyproject))
    for file in sorted(root.glob("requirements*.txt")):
        yield from ((file.name, line) for line in (_text(file) or "").splitlines())


def _of_pyproject(text: str) -> Iterator[str]:
    try:
        document = parse(text)
    except ConfigError:
        return
    project = _table(document, "project")
    groups = [project.get("dependencies"), *_table(project, "optional-dependencies").values()]
    for group in (*groups, *_table(document, "dependency-groups").values()):
        if isinstance(group, list):
            yield from (each for each in group if isinstance(each, str))
    poetry = _table(document, "tool", "poetry")
    inner = (_table(group, "dependencies") for group in _table(poetry, "group").values())
    yield from _of_poetry([_table(poetry, "dependencies"), *inner])


def _of_poetry(tables: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for table in tables:
        wanted = table.get("torch")
        version = wanted.get("version") if isinstance(wanted, dict) else wanted
        if isinstance(version, str):
            yield f"torch {version}" if version[:1] in "=~^<>" else f"torch =={version}"


def _table(table: Any, *keys: str) -> Mapping[str, Any]:
    for key in keys:
        table = table.get(key) if isinstance(table, dict) else None
    return table if isinstance(table, dict) else {}


def _text(file: Path) -> str | None:
    try:
        return read_bounded(file, MAX_BYTES).decode("utf-8-sig", "replace")
    except OSError:
        return None
