"""Which rows of a file are one statement: where torch blames one of them, it blames what is found in any."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from exportlint.source import LineIndex, SourceFile, SyntaxProblem, parse


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, or the header of one that has a body. `rows` are its own.

    It has run if any of `witnesses` has in a call of the model: its own rows, but of the header of a function those of
    its body, for to run the header is only to define it; of an `except` those of the `try`; and of what makes an
    instance, or the class, those of the class, for that has run before. `begins` says whether a statement could be
    put on a line before it.
    """

    rows: range
    witnesses: range
    begins: bool = True
    parent: Statement | None = None

    @property
    def outermost(self) -> Statement:
        """The statement of the file that this one is part of: a class, a function."""
        statement = self
        while statement.parent is not None:
            statement = statement.parent
        return statement


class Statements:
    """The statements of a file. A row that belongs to none is one by itself, as all are where there is no tree."""

    def __init__(self, source: SourceFile | None = None) -> None:
        self._by_row: dict[int, Statement] = {}
        if source is None:
            return
        try:
            tree = parse(source)
        except SyntaxProblem:
            return
        waiting: list[tuple[ast.AST, Statement | None, range | None]] = [(node, None, None) for node in tree.body]
        while waiting:  # an outer statement comes before those in it
            node, parent, made = waiting.pop()
            statement = _statement(node, parent, source.lines)
            if isinstance(node, ast.ClassDef):
                made = statement.witnesses
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name != "__init__":
                made = None
            if made is not None:
                statement = replace(statement, witnesses=made)
            for row in (*statement.rows, *_case_rows(node)):
                self._by_row[row] = statement
            waiting += [(child, statement, made) for child in _parts(node)]

    def at(self, row: int) -> Statement:
        """The innermost statement that has a row."""
        own = range(row, row + 1)
        return self._by_row.get(row, Statement(own, own))

    def row_to_insert(self, row: int) -> int:
        """The row before which to put a statement that is to run before the one at `row`."""
        statement = self.at(row)
        while not statement.begins and statement.parent is not None:
            statement = statement.parent
        return statement.rows.start


def _statement(node: ast.AST, parent: Statement | None, lines: LineIndex) -> Statement:
    assert isinstance(node, ast.stmt | ast.excepthandler)
    start, last = _start(node), node.end_lineno or node.lineno
    rows = range(start, max(_header_end(node), node.lineno) + 1)
    if isinstance(node, ast.excepthandler):
        assert parent is not None
        whole = range(parent.rows.start, last + 1)
        return Statement(rows, whole, begins=False, parent=parent)
    whole = range(start, last + 1)
    defines = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    line = lines.line(node.lineno).encode("utf-8", "replace")
    begins = not line[: node.col_offset].strip() and not line[node.col_offset :].startswith(b"elif")
    return Statement(rows, whole if defines else rows, begins, parent)


def _parts(node: ast.AST) -> list[ast.AST]:
    """The statements directly below one, and `except`."""
    if isinstance(node, ast.Match):
        return [part for case in node.cases for part in case.body]
    return [part for name in ("body", "handlers", "orelse", "finalbody") for part in getattr(node, name, ())]


def _case_rows(node: ast.AST) -> list[int]:
    """The rows of `case`: what is compared there is what `match` has."""
    cases = node.cases if isinstance(node, ast.Match) else ()
    return [
        row for case in cases for row in range(case.pattern.lineno, max(case.pattern.lineno + 1, _start(case.body[0])))
    ]


def _start(node: ast.stmt | ast.excepthandler) -> int:
    """The row that a part begins in, with its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _header_end(node: ast.stmt | ast.excepthandler) -> int:
    """The last row of a statement that is not its body's."""
    if isinstance(node, ast.Match):
        return node.cases[0].pattern.lineno - 1
    inner: list[ast.stmt] | None = getattr(node, "body", None)
    return _start(inner[0]) - 1 if inner else node.end_lineno or node.lineno
