"""Where modules lie, and what they are called when they are imported."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from pathlib import Path

from exportlint.registry import near
from exportlint.verify.target import Reference


def module_of(file: Path, search: Sequence[Path]) -> tuple[str, tuple[Path, ...]]:
    """The name that a file is imported by, and the folders that it needs to have on `sys.path`, the first one first.

    `search` are the folders that the project's imports start from. A file that is in no package belongs to the
    namespace that it has below the deepest of them, as `src/shop/models.py` is `shop.models`.
    """
    folders = [folder for folder in search if folder.is_dir()]
    root = file.parent
    while (root / "__init__.py").is_file() and root.name:
        root = root.parent
    own: list[Path] = []
    first: Path | None = None
    if root == file.parent:
        outer = max((f for f in folders if file.is_relative_to(f)), key=lambda f: len(f.parts), default=root)
        # Files side by side import each other, as Python lets scripts do, and so do files below a script.
        own += itertools.takewhile(lambda folder: folder != outer, (file.parent, *file.parent.parents))
        first = _start(file, (*own, outer)) if own else None
        own = own[own.index(first) :] if first in own else own if first is None else []
        if all(part.isidentifier() for part in file.parent.relative_to(outer).parts):
            root = outer
    names = file.relative_to(root).with_suffix("").parts
    if names[-1] == "__init__" and len(names) > 1:
        names = names[:-1]
    found = (root, *folders, *own) if first is None else (first, root, *folders, *own)
    return ".".join(names), tuple(dict.fromkeys(found))


_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+(\w[\w.]*)[ \t]+import\b|import[ \t]+(\w[\w.]*))", re.MULTILINE)


def _start(file: Path, folders: Sequence[Path]) -> Path | None:
    """The closest folder that has all which a file imports and one of the folders has: its script lies there."""
    try:
        names = {found[1] or found[2] for found in _IMPORT.finditer(file.read_text("utf-8", "replace"))}
    except OSError:
        return None
    held = [{name for name in names if _has(folder, name)} for folder in folders]
    every = set[str]().union(*held)
    return next((folder for folder, own in zip(folders, held, strict=True) if own == every), None) if every else None


def _has(folder: Path, module: str) -> bool:
    path = folder.joinpath(*module.split("."))
    return path.with_name(f"{path.name}.py").is_file() or path.is_dir()


def file_of(module: str, search: Sequence[Path]) -> Path | None:
    """The file of a module below the folders that imports start from."""
    names = module.split(".")
    for folder in search:
        base = folder.joinpath(*names)
        for file in (base / "__init__.py", base.with_name(f"{base.name}.py")):
            if file.is_file():
                return file
    return None


def nearest_module(module: str, search: Sequence[Path]) -> str | None:
    """The name of a module that is there, each part of which is what was written or the nearest to it."""
    folders = list(search)
    names: list[str] = []
    for name in module.split("."):
        entries = [entry for folder in folders if folder.is_dir() for entry in folder.iterdir()]
        known = {entry.stem: entry for entry in sorted(entries) if entry.suffix == ".py" or entry.is_dir()}
        names += [name] if name in known else near(name, filter(str.isidentifier, known), count=1)
        folders = [folder / names[-1] for folder in folders] if names else []
    found = ".".join(names)
    return found if file_of(found, search) is not None else None


def reference(file: Path, name: str, search: Sequence[Path]) -> tuple[Reference, tuple[Path, ...]]:
    """Something in a file, and what has to be on `sys.path`."""
    module, paths = module_of(file, search)
    return Reference(module, name, file), paths
