"""Chunks of a file, its top-level statements: what an edit changes of a file, and which others can depend on it."""

from __future__ import annotations

import ast
import re
import sys
import unicodedata
from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from hashlib import blake2b

from exportlint.syntax.definitions import FunctionNode, Import, Module, flat, imported
from exportlint.syntax.walk import walk

AMBIENT = frozenset({
    "*", "library", "define", "impl", "register_fake", "impl_abstract", "_register_fake", "register_abstract",
    "set_default_validate_args", "use_opt_einsum",
})  # fmt: skip
"""What matters to code that does not name it: star imports, operators that are registered, switches of libraries."""
IMPORTS = "<imports>"
"""What all imports bind for those who ask which files a file leads to."""
_LIBRARY = "library"
_WORD = re.compile(r"[^\W\d]\w*")
_PROSE = re.compile(
    r"""
      ^[ \t]*[rRuU]?(?:\"{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*\"{3}|'{3}[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'{3})
    | \#[^\n]*
    | (?P<string>
        \"{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*\"{3} | '{3}[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'{3}
      | "[^"\\\n]*(?:\\.[^"\\\n]*)*" | '[^'\\\n]*(?:\\.[^'\\\n]*)*'
      )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
"""Documentation strings and comments, and other strings, in which there may be names."""
_OFTEN_OTHERS = frozenset({"library", "define", "impl"})
"""Ambient names that much code has for other things: they count as attributes, or where they are imported."""


class Chunk:
    """A top-level statement, or several that share rows. One chunk is the same as long as its text is.

    `names` are what it binds, `words` all names that its code has: what it can look up is among them. `imports` are the
    qualified names that its imports bind to names, also those inside of functions. `defined` are the names that are
    bound by something else than an import.
    """

    __slots__ = ("defined", "digest", "imports", "names", "rows", "statements", "words")

    def __init__(self, text: str, rows: int, statements: tuple[ast.stmt, ...], package: str) -> None:
        self.digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        self.statements = statements
        self.rows = rows
        code = _PROSE.sub(_string, text)
        if not code.isascii():
            code = unicodedata.normalize("NFKC", code)
        self.words = tuple({sys.intern(word) for word in _WORD.findall(code)})
        self.imports: dict[str, tuple[str, ...]] = {}
        if "import" in self.words:
            for node in (node for statement in statements for node in walk(statement)):
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    for name, target in imported(node, package):
                        self.imports[name] = (*self.imports.get(name, ()), target)
        ambient = (
            name
            for name in AMBIENT.intersection(self.words)
            if name not in _OFTEN_OTHERS or re.search(rf"\.\s*{name}\b", code) is not None
        )
        self.defined = frozenset((*_defined(statements), *ambient))
        self.names = self.defined.union(_imported(statements, package))

    def bound(self, of_library: frozenset[str]) -> frozenset[str]:
        """What it binds in a file in which some names are those of `torch.library`, by which it registers operators."""
        if of_library.isdisjoint(self.words):
            return self.names
        return self.names | {_LIBRARY}


class Outline:
    """The chunks of a file, in order, and where they begin. Those of an earlier `before` go over where they are there.

    An outline holds as long as the tree of its module does.
    """

    def __init__(self, module: Module, before: Outline | None = None) -> None:
        self.chunks: list[Chunk] = []
        self.starts: list[int] = []
        lines = module.source.lines
        by_statement: dict[ast.stmt, Chunk] = before.by_statement if before is not None else {}
        unclaimed: dict[bytes, deque[Chunk]] | None = None
        known: set[Chunk] = set()
        groups = list(_groups(module.tree.body))
        made: list[Chunk | None] = []
        for statements, _, _ in groups:
            chunk = by_statement.get(statements[0])
            is_same = chunk is not None and chunk.statements == statements
            made.append(chunk if is_same else None)
            if is_same and chunk is not None:
                known.add(chunk)
        for (statements, first, last), chunk in zip(groups, made, strict=True):
            if chunk is None:
                text = lines.text[lines.line_start(first) : lines.line_end(last)]
                chunk = Chunk(text, last - first + 1, statements, module.package)
                if before is not None:
                    if unclaimed is None:
                        unclaimed = defaultdict(deque)
                        for other in before.chunks:
                            if other not in known:
                                unclaimed[other.digest].append(other)
                    if unclaimed[chunk.digest]:
                        chunk = _renewed(unclaimed[chunk.digest].popleft(), statements)
            self.chunks.append(chunk)
            self.starts.append(first)
        self.by_statement: dict[ast.stmt, Chunk] = {
            statement: chunk for chunk in self.chunks for statement in chunk.statements
        }
        imports = ((name, one.target) for name, one in module.bindings.items() if isinstance(one, Import))
        of_library = frozenset(name for name, target in imports if target.startswith("torch.library"))
        names: dict[str, list[Chunk]] = {}
        for chunk in self.chunks:
            for name in chunk.bound(of_library):
                names.setdefault(name, []).append(chunk)
        self.names = {name: tuple(chunks) for name, chunks in names.items()}

    def chunk_at(self, row: int) -> Chunk | None:
        """The chunk around a row."""
        at = bisect_right(self.starts, row) - 1
        return self.chunks[at] if at >= 0 and row < self.starts[at] + self.chunks[at].rows else None

    def changed(self, after: Outline) -> tuple[set[Chunk], set[str]]:
        """The chunks that are not in a later outline, and the names that others than these bind otherwise there."""
        gone = set(self.chunks).difference(after.chunks)
        names = {
            name
            for name in self.names.keys() | after.names.keys()
            if (binders := self.names.get(name, ())) != after.names.get(name, ()) and gone.isdisjoint(binders)
        }
        return gone, names


class Shift:
    """From the rows of an outline to those of a later one, for rows of chunks that both have."""

    def __init__(self, before: Outline, after: Outline) -> None:
        starts = dict(zip(after.chunks, after.starts, strict=True))
        self._starts = before.starts
        self._rows = [starts[chunk] - start if chunk in starts else None for chunk, start in _places(before)]
        self._lengths = [chunk.rows for chunk in before.chunks]

    @property
    def moves(self) -> bool:
        """Whether any chunk is elsewhere."""
        return any(self._rows)

    def by(self, row: int) -> int | None:
        """By how many rows what was in a row is further down; None if it is gone."""
        at = bisect_right(self._starts, row) - 1
        return self._rows[at] if at >= 0 and row < self._starts[at] + self._lengths[at] else None


def _string(found: re.Match[str]) -> str:
    return found["string"] or " "


def _places(outline: Outline) -> Iterator[tuple[Chunk, int]]:
    return zip(outline.chunks, outline.starts, strict=True)


def _renewed(chunk: Chunk, statements: tuple[ast.stmt, ...]) -> Chunk:
    """A chunk whose text was parsed again."""
    chunk.statements = statements
    return chunk


def _groups(body: Sequence[ast.stmt]) -> Iterator[tuple[tuple[ast.stmt, ...], int, int]]:
    """Statements that share rows, with their first and last rows."""
    group: list[ast.stmt] = []
    first = last = 0
    for statement in body:
        begin = first_row(statement)
        if group and begin > last:
            yield tuple(group), first, last
            group = []
        if not group:
            first = begin
        group.append(statement)
        last = statement.end_lineno or statement.lineno
    if group:
        yield tuple(group), first, last


def first_row(statement: ast.stmt) -> int:
    """Where a statement begins, its decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _imported(statements: tuple[ast.stmt, ...], package: str) -> Iterator[str]:
    """The names that imports bind, as `Module` sees it."""
    for statement in flat(statements):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            for name, _ in imported(statement, package):
                yield name
            yield IMPORTS


def _defined(statements: tuple[ast.stmt, ...]) -> Iterator[str]:
    """The names that other statements bind, as `Module` sees it."""
    for statement in flat(statements):
        if isinstance(statement, (ast.ClassDef, FunctionNode)):
            yield statement.name
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
                elements = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
                yield from (element.id for element in elements if isinstance(element, ast.Name))
