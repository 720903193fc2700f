"""How the files of a project lie: where it starts, and which of its folders imports start from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from exportlint.source.discovery import DiscoveryOptions, discover

MAX_ENTRIES = 100_000
"""So many entries of folders are looked at to learn the layout of a project."""

_REPOSITORIES = frozenset({".git", ".hg"})
_CONFIGURATIONS = frozenset({"pyproject.toml", "exportlint.toml", "setup.py", "setup.cfg"})
_DISTRIBUTIONS = frozenset({"pyproject.toml", "setup.py", "setup.cfg"})


def project_root(path: Path) -> Path | None:
    """The folder of the project that an absolute path lies in: of its repository, else of its outermost configuration.

    None without either. The user's home holds projects and is none.
    """
    return project_of(path.parent, {})


def project_of(folder: Path, known: dict[Path, Path | None]) -> Path | None:
    """The folder of the project that a folder is or lies in, as `project_root`; `known` takes in those of all above."""
    if folder not in known:
        if holds_projects(folder):
            known[folder] = None
        elif any(os.path.exists(f"{folder}/{name}") for name in _REPOSITORIES):  # noqa: PTH110 - of thousands of folders
            known[folder] = folder
        else:
            above = project_of(folder.parent, known) if folder.parent != folder else None
            is_configured = above is None and any(os.path.isfile(f"{folder}/{name}") for name in _CONFIGURATIONS)  # noqa: PTH113
            known[folder] = folder if is_configured else above
    return known[folder]


def holds_projects(folder: Path) -> bool:
    """Whether a folder is the user's home or above it."""
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path.home() raises where there is none
    return folder == home or folder in home.parents


def is_import_root(folder: Path) -> bool:
    """Whether imports start from a folder, by its name or because it is that of a distribution."""
    return folder.name == "src" or any((folder / name).is_file() for name in _DISTRIBUTIONS)


@dataclass(frozen=True, slots=True)
class Layout:
    """What the folders of a project say about imports.

    `sources` are folders that hold the code of a distribution and nothing else (`src`), `distributions` those with a
    `pyproject.toml` or `setup.py`. `packages` are the folders of regular packages that lie in no other, by their names.
    """

    sources: tuple[Path, ...] = ()
    distributions: tuple[Path, ...] = ()
    packages: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)

    @property
    def roots(self) -> tuple[Path, ...]:
        """All folders that imports start from."""
        return (*self.sources, *self.distributions)


def layout(root: Path) -> Layout:
    """The layout of the project in `root`, but for what git ignores and what is never linted."""
    options = DiscoveryOptions(root)
    found = discover([root], lambda _: options, MAX_ENTRIES)
    top = root.as_posix()
    initialized: set[str] = set()
    folders = {top} if found.files else set()
    for file in found.files:  # of which there are thousands, so that paths would take too long
        folder, _, name = file.as_posix().rpartition("/")
        if name == "__init__.py":
            initialized.add(folder)
        while folder not in folders and _is_below(folder, top):
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    packages: dict[str, list[Path]] = {}
    for package in sorted(Path(folder) for folder in initialized if folder.rpartition("/")[0] not in initialized):
        packages.setdefault(package.name, []).append(package)
    roots = [folder for folder in sorted(map(Path, folders - initialized)) if is_import_root(folder)]
    return Layout(
        tuple(folder for folder in roots if folder.name == "src"),
        tuple(folder for folder in roots if folder.name != "src"),
        {name: tuple(found) for name, found in packages.items()},
    )


def _is_below(folder: str, above: str) -> bool:
    return folder.startswith(above if above.endswith("/") else f"{above}/")
