"""Which files are looked at together with those that are linted: the files of their project that import them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from exportlint.config import ConfigError, Settings
from exportlint.source import SourceError, discover, from_bytes, holds_projects, is_notebook, project_root
from exportlint.syntax.import_graph import ImportGraph, Reach
from exportlint.syntax.import_resolver import Resolver
from exportlint.units import Role, Task

MAX_SOURCE = 200_000
"""So many bytes of files are looked at because these import others: some five thousand lines, a few seconds."""
MAX_ENTRIES = 100_000
MAX_BYTES = 128 * 2**20
"""So much of a project is searched for imports: entries of folders, and what the files hold together."""
MAX_LOOSE_ENTRIES = 5_000
"""So many entries are where nothing says that the folder is that of a project."""

_LEADS_TO_FACTS = (b"class", b"export", b"jit")
"""What a file has in it somewhere, if looking at it can find anything."""


@dataclass(frozen=True, slots=True)
class Importers:
    """What is looked at besides, `tasks`, and how many `of` importers these are.

    `is_complete`: the whole project was searched for them. `problem` is why it was not at all.
    """

    tasks: tuple[Task, ...] = ()
    count: int = 0
    of: int = 0
    is_complete: bool = True
    problem: ConfigError | None = None


def importers(
    tasks: Sequence[Task],
    wanted: Iterable[Path],
    settings_for: Callable[[Path], Settings],
    limit: int = MAX_SOURCE,
) -> Importers:
    """The files that can run the code of those that are `wanted`, of `tasks`, which are linted anyway.

    Each is a file that linting its whole project would lint; the closest come first, up to `limit` bytes together. With
    them come the files that they import, so that it is known what to say of findings there.
    """
    try:
        return _importers({task.path: task for task in tasks}, wanted, settings_for, limit)
    except ConfigError as error:  # of a folder that is not linted
        return Importers(is_complete=False, problem=error)


def _importers(
    linted: Mapping[Path, Task], wanted: Iterable[Path], settings_for: Callable[[Path], Settings], limit: int
) -> Importers:
    found: dict[Path, tuple[int, int]] = {}
    is_complete = True
    graphs: list[ImportGraph] = []
    reaches: list[Reach] = []
    paths: dict[Path, Settings] = {}
    for (root, entries), files in _by_project(wanted, linted).items():
        project = _Project(root, settings_for, linted, entries)
        is_complete = is_complete and project.is_complete
        if project.files.keys() <= linted.keys():
            continue
        texts = project.texts()
        is_complete = is_complete and len(texts) == len(project.files)
        graph = ImportGraph(texts, project.resolver)
        reach = graph.importers(path for path in files if path in texts)
        found |= {
            path: (distance, len(texts[path]))
            for path, distance in reach.distances.items()
            if path not in linted and any(text in texts[path] for text in _LEADS_TO_FACTS)
        }
        paths |= project.files
        graphs.append(graph)
        reaches.append(reach)
    chosen: list[Path] = []
    for path in sorted(found, key=lambda path: (found[path][0], path)):
        limit -= found[path][1]
        if limit < 0 and chosen:
            break
        chosen.append(path)
    farther = _farther(found, chosen, reaches)
    others = {path for graph in graphs for path in graph.imported([*chosen, *linted])} - {*chosen, *linted}
    return Importers(
        (
            *(Task(path, paths[path], role=Role.IMPORTER, leads_by=_names(path, reaches, farther)) for path in chosen),
            *(Task(path, paths[path], role=Role.IMPORTED) for path in sorted(others)),
        ),
        len(chosen),
        len(found),
        is_complete,
    )


def _farther(found: Mapping[Path, tuple[int, int]], chosen: Sequence[Path], reaches: Sequence[Reach]) -> set[Path]:
    """The importers beyond those that are `chosen` of all that were `found`: no way is followed through them."""
    left = found.keys() - {*chosen}
    if not left:
        return set()
    end = min(found[path][0] for path in left)
    beyond = {path for reach in reaches for path, distance in reach.distances.items() if distance > end}
    return {*left, *beyond} - {*chosen}


def _names(path: Path, reaches: Sequence[Reach], farther: Set[Path]) -> frozenset[str] | None:
    """The names by which an importer leads to the linted files; None if that may be any."""
    names = [reach.names(path, farther) for reach in reaches if path in reach.distances]
    known = [some for some in names if some is not None]
    return frozenset[str]().union(*known) if len(known) == len(names) else None


def _by_project(files: Iterable[Path], linted: Mapping[Path, Task]) -> dict[tuple[Path, int], list[Path]]:
    """Files by the folder of their project, with how many entries of it to search.

    Without a project it is the working directory, or else the folder above the package of the file.
    """
    found: dict[tuple[Path, int], list[Path]] = {}
    for file in files:
        root, entries = project_root(file), MAX_ENTRIES
        if root is None:
            here, entries = linted[file].settings.root, MAX_LOOSE_ENTRIES
            top = next(folder for folder in file.parents if not (folder / "__init__.py").is_file())
            root = here if here in file.parents and not holds_projects(here) else top
        if not holds_projects(root):
            found.setdefault((root, entries), []).append(file)
    return found


class _Project:
    """The files that linting a whole project would lint, and those that are linted anyway, each with its settings."""

    def __init__(
        self, root: Path, settings_for: Callable[[Path], Settings], linted: Mapping[Path, Task], entries: int
    ) -> None:
        found = discover([root], lambda folder: settings_for(folder).discovery, entries)
        self.is_complete = found.is_complete
        folders = {folder: settings_for(folder) for folder in {file.parent for file in found.files}}
        self.files = {file: folders[file.parent] for file in found.files}
        self.files |= {path: task.settings for path, task in linted.items() if root in path.parents}
        self._linted = linted
        self._resolvers: dict[tuple[Path, ...], Resolver] = {}

    def texts(self) -> dict[Path, bytes]:
        """What the files hold that can be read."""
        found: dict[Path, bytes] = {}
        left = MAX_BYTES
        for path in self.files:
            task = self._linted.get(path)
            try:
                # Anything can be named, a pipe as well; what discovery finds is a file.
                data = path.read_bytes() if task is None else task.read().data
                found[path] = from_bytes(data, path).text.encode() if is_notebook(path) else data
            except (OSError, SourceError):
                found[path] = b""
            left -= len(found[path])
            if left < 0:
                break
        return found

    def resolver(self, path: Path) -> Resolver:
        """What resolves the imports of a file."""
        src = self.files[path].src
        if src not in self._resolvers:
            self._resolvers[src] = Resolver(src)
        return self._resolvers[src]
