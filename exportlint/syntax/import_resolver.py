"""From a qualified name to the file that holds it, without reading what files hold."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import dropwhile
from pathlib import Path

from exportlint.source import Layout, is_import_root, layout, project_of
from exportlint.syntax.inputs import Question, Recorder

Place = tuple[str, tuple[str, ...]]
"""A file, and the rest of a name that starts with the module in it."""

_ELSEWHERE = frozenset({*sys.stdlib_module_names, "torch"})
"""Top-level names that the distributions of a project do not provide for each other."""

_COMPILED = (".so", ".pyd", ".pyx")
_INITS = ("__init__.py", "__init__.pyi")


class Resolver:
    """Knows the folders that imports of a project start from. Each folder is listed once.

    For a file they are, in this order: the folder above its topmost package, `search` (the setting `src`), its own
    folder if that is not a package, the folders above up to that of the project, where namespace packages start, and
    those of the other distributions of the project, the closest first. What it is asked is noted by `recorder`.
    """

    def __init__(self, search: tuple[Path, ...] = (), recorder: Recorder | None = None) -> None:
        self._recorder = recorder or Recorder()
        self.search = tuple(absolute(folder).as_posix() for folder in search)
        self._folders: dict[str, frozenset[str]] = {}
        self._near: dict[str, tuple[str, ...]] = {}
        self._others: dict[str, tuple[str, ...]] = {}
        self._layouts: dict[Path, Layout] = {}
        self._projects: dict[str, Path | None] = {}
        self._projects_above: dict[Path, Path | None] = {}
        self._folders_above: dict[str, tuple[str, ...]] = {}
        self._holders: dict[tuple[str, str], tuple[str, ...]] = {}
        self._other_holders: dict[tuple[str, str], tuple[str, ...]] = {}
        self._places: dict[tuple[str, str], tuple[Place, ...]] = {}

    def places(self, name: str, folder: str) -> tuple[Place, ...]:
        """The files that a qualified name may start with, as a file in `folder` imports it, the likeliest first."""
        self._recorder.ask(("places", name, folder))
        return self._places_of(name, folder)

    def _places_of(self, name: str, folder: str) -> tuple[Place, ...]:
        key = (folder, name)
        if key not in self._places:
            parts = name.split(".")
            near = self._near_holders(parts[0], folder)
            found = tuple(place for root in near for place in self._within(root, parts))
            self._places[key] = found or tuple(
                place for root in self._other_holders_of(parts[0], folder) for place in self._within(root, parts)
            )
        return self._places[key]

    def is_unresolved(self, name: str, folder: str) -> bool:
        """Whether a module that a file in `folder` imports is of the project, but cannot be found.

        It is of the project if it would lie in a package of it. What lies in no regular package may be of another
        distribution, which shares the namespace.
        """
        self._recorder.ask(("unresolved", name, folder))
        return self._is_unresolved(name, folder)

    def _is_unresolved(self, name: str, folder: str) -> bool:
        parts = name.split(".")
        places = self._places_of(name, folder)
        if any(not rest for _, rest in places):
            return False
        if places:
            file, rest = places[0]
            package, _, last = file.rpartition("/")
            return last in _INITS and not self._is_there(package, rest)
        if parts[0] in _ELSEWHERE:
            return False
        if self._near_holders(parts[0], folder) or self._other_holders_of(parts[0], folder):
            return False
        project = self._project(folder)
        return project is not None and parts[0] in self._layout(project).packages

    def is_folder(self, name: str, folder: str) -> bool:
        """Whether a qualified name is that of a package, or of a folder that packages lie in."""
        self._recorder.ask(("folder", name, folder))
        return self._is_folder(name, folder)

    def _is_folder(self, name: str, folder: str) -> bool:
        path = name.replace(".", "/")
        top = name.partition(".")[0]
        return any(self._names(f"{root}/{path}") for root in self._near_holders(top, folder)) or any(
            self._names(f"{root}/{path}") for root in self._other_holders_of(top, folder)
        )

    def roots(self, folder: str) -> tuple[str, ...]:
        """The folders that imports of a file in `folder` start from."""
        return tuple(dict.fromkeys((*self._nearby(folder), *self._distributions(folder))))

    def qualified_name(self, path: Path) -> tuple[str, str]:
        """What a file is called when it is imported, and the package that its relative imports start from."""
        self._recorder.ask(("name", path.name, path.parent.as_posix()))
        return self._qualified_name(path)

    def _qualified_name(self, path: Path) -> tuple[str, str]:
        folder = path.parent.as_posix()
        top = self._top(folder)
        start = next((above for above in (top, *self._above(top)) if self._is_root(above)), top)
        # Python's own modules win over folders that are no packages: nothing under `code/` is imported as `code.…`.
        prefix = [*dropwhile(_ELSEWHERE.__contains__, _parts(top, start))]
        if not all(part.isidentifier() for part in prefix):
            prefix = []
        package = [*prefix, *_parts(folder, top)]
        return ".".join([*package, *([] if path.stem == "__init__" else [path.stem])]), ".".join(package)

    def holds(self, name: str, folder: str) -> bool:
        """Whether a folder has something of a name in it."""
        self._recorder.ask(("entry", name, folder))
        return name in self._names(folder)

    def answer(self, question: Question) -> object:
        """The answer to a question that was noted. Raises ValueError if there is no such kind."""
        kind, name, folder = question
        if kind == "places":
            return self._places_of(name, folder)
        if kind == "unresolved":
            return self._is_unresolved(name, folder)
        if kind == "folder":
            return self._is_folder(name, folder)
        if kind == "name":
            return self._qualified_name(Path(folder, name))
        if kind == "entry":
            return name in self._names(folder)
        raise ValueError(kind)

    def _names(self, folder: str) -> frozenset[str]:
        """What is in a folder; nothing if it cannot be listed."""
        if folder not in self._folders:
            parent, _, name = folder.rpartition("/")
            known = self._folders.get(parent)
            try:
                listed = frozenset(os.listdir(folder)) if known is None or name in known else frozenset()  # noqa: PTH208
            except OSError:
                listed = frozenset()
            self._folders[folder] = listed
        return self._folders[folder]

    def _nearby(self, folder: str) -> tuple[str, ...]:
        if folder not in self._near:
            top = self._top(folder)
            own = (folder,) if top == folder else ()
            packaged = (top,) if top != folder else ()
            self._near[folder] = tuple(dict.fromkeys((*packaged, *self.search, *own, *self._above(top))))
        return self._near[folder]

    def _near_holders(self, top: str, folder: str) -> tuple[str, ...]:
        """The roots nearby that have something of a top-level name."""
        key = (folder, top)
        if key not in self._holders:
            files = {top, f"{top}.py", f"{top}.pyi"}
            self._holders[key] = tuple(r for r in self._nearby(folder) if not self._names(r).isdisjoint(files))
        return self._holders[key]

    def _other_holders_of(self, top: str, folder: str) -> tuple[str, ...]:
        """The other distributions that have something of a top-level name. To know them takes a walk of the project."""
        key = (folder, top)
        if key not in self._other_holders:
            files = {f"{top}.py", f"{top}.pyi"}
            near = self._near_holders(top, folder)
            others = () if top in _ELSEWHERE else self._distributions(folder)
            # Beside a `pyproject.toml` there are scripts as well, which nobody else imports.
            kept = (r for r in others if top in self._names(r) or (r.endswith("/src") and files & self._names(r)))
            self._other_holders[key] = tuple(root for root in kept if root not in near)
        return self._other_holders[key]

    def _within(self, root: str, parts: Sequence[str]) -> Iterator[Place]:
        for count in range(len(parts), 0, -1):
            file = self._file("/".join([root, *parts[: count - 1]]), parts[count - 1])
            if file is not None:
                yield file, tuple(parts[count:])

    def _file(self, folder: str, last: str) -> str | None:
        """The file of a module in a folder. A stub stands for a module that is not written in Python."""
        names = self._names(folder)
        inner = self._names(f"{folder}/{last}") if last in names else frozenset()
        if "__init__.py" in inner:
            return f"{folder}/{last}/__init__.py"
        if f"{last}.py" in names:
            return f"{folder}/{last}.py"
        if "__init__.pyi" in inner:
            return f"{folder}/{last}/__init__.pyi"
        return f"{folder}/{last}.pyi" if f"{last}.pyi" in names else None

    def _is_there(self, folder: str, rest: Sequence[str]) -> bool:
        """Whether a folder holds what the rest of a name leads to, if not as Python."""
        for part in rest[:-1]:
            folder = f"{folder}/{part}"
        names, last = self._names(folder), rest[-1]
        return last in names or any(n.startswith(f"{last}.") and n.endswith(_COMPILED) for n in names)

    def _distributions(self, folder: str) -> tuple[str, ...]:
        """Where the code of the distributions of the project starts, that which lies closest to a folder first."""
        if folder not in self._others:
            project = self._project(folder)
            found = [] if project is None else [root.as_posix() for root in self._layout(project).roots]
            self._others[folder] = tuple(sorted(found, key=lambda root: (-_shared(root, folder), root)))
        return self._others[folder]

    def _above(self, folder: str) -> tuple[str, ...]:
        """The folders above one, up to that of its project, or else up to one of `search`."""
        if folder not in self._folders_above:
            self._folders_above[folder] = self._up_to_project(folder)
        return self._folders_above[folder]

    def _up_to_project(self, folder: str) -> tuple[str, ...]:
        project = self._project(folder)
        above = [parent.as_posix() for parent in Path(folder).parents]
        lasts = [project.as_posix()] if project is not None else self.search
        ends = [above.index(last) + 1 for last in lasts if last in above]
        return tuple(above[: max(ends, default=0)])

    def _is_root(self, folder: str) -> bool:
        return folder in self.search or folder == _posix(self._project(folder)) or is_import_root(Path(folder))

    def _top(self, folder: str) -> str:
        """The folder above the topmost package that a folder is or lies in; itself if it is not a package."""
        while "__init__.py" in self._names(folder) and "/" in folder:
            folder = folder.rpartition("/")[0]
        return folder

    def _project(self, folder: str) -> Path | None:
        if folder not in self._projects:
            self._projects[folder] = project_of(Path(folder), self._projects_above)
        return self._projects[folder]

    def _layout(self, project: Path) -> Layout:
        if project not in self._layouts:
            self._layouts[project] = layout(project)
        return self._layouts[project]


def absolute(path: Path) -> Path:
    """The path from the root of the file system. Symbolic links stay as the user named them."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - that is what resolve() does not do


def _parts(folder: str, above: str) -> list[str]:
    return [part for part in folder.removeprefix(above).split("/") if part]


def _shared(one: str, other: str) -> int:
    """How many folders two paths have in common."""
    pairs = zip(one.split("/"), other.split("/"), strict=False)
    return next((count for count, (a, b) in enumerate(pairs) if a != b), min(one.count("/"), other.count("/")) + 1)


def _posix(path: Path | None) -> str | None:
    return None if path is None else path.as_posix()
