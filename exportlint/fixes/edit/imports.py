"""Imports as libcst's nodes, and those that nothing uses any more.

`import_from`, `with_names` and `without_names` make and change them; `TopLevelImports` finds those that edits leave
unused.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from exportlint.fixes.edit.drafts import Draft, applied
from exportlint.fixes.edit.statements import Statements
from exportlint.fixes.edit.template import dotted
from exportlint.fixes.edit.text import Text
from exportlint.fixes.edit.tree import Tree
from exportlint.fixes.errors import DeclinedError
from exportlint.syntax.walk import once_a_node, walk

if TYPE_CHECKING:
    import libcst as cst

    from exportlint.fixes.edit.template import Statement

_WORD = re.compile(r"\w+")


def import_from(module: str, names: Sequence[tuple[str, str | None]]) -> Statement:
    """`from module import name as other, …`. The name of a relative module begins with dots."""
    import libcst as cst

    path = module.lstrip(".")
    found = cst.ImportFrom(
        module=cast(cst.Name, dotted(path)) if path else None,
        names=[_alias(name, other) for name, other in names],
        relative=[cst.Dot()] * (len(module) - len(path)),
    )
    return cst.SimpleStatementLine([found])


def with_names(line: Statement, renamed: Mapping[str, tuple[str, str | None]]) -> Statement:
    """An import of other names in the place of some, laid out as it is."""
    import libcst as cst

    class Rename(cst.CSTTransformer):
        def leave_ImportAlias(self, original_node: cst.ImportAlias, updated_node: cst.ImportAlias) -> cst.ImportAlias:
            new = renamed.get(cast(str, original_node.name.value))
            return updated_node if new is None else _alias(*new).with_changes(comma=updated_node.comma)

    found: Any = line.visit(Rename())
    return cast("Statement", found)


def _alias(name: str, other: str | None) -> cst.ImportAlias:
    import libcst as cst

    return cst.ImportAlias(cst.Name(name), None if other is None else cst.AsName(cst.Name(other)))


def without_names(line: Statement, left_out: Collection[str]) -> Statement:
    """An import of several names without some, which are those that it binds."""
    import libcst as cst

    (small,) = cst.ensure_type(line, cst.SimpleStatementLine).body
    if not isinstance(small, (cst.Import, cst.ImportFrom)) or isinstance(small.names, cst.ImportStar):
        raise DeclinedError("it does not import names")
    kept = [alias for alias in small.names if (alias.evaluated_alias or alias.evaluated_name) not in left_out]
    last = small.names[-1].comma
    kept[-1] = kept[-1].with_changes(comma=last)
    return line.with_changes(body=[small.with_changes(names=kept)])


class TopLevelImports:
    """The imports at the top of a file, and which of them nothing uses any more after drafts."""

    def __init__(self, text: Text, tree: Tree) -> None:
        self._text = text
        self._tree = tree
        self._is_package = text.path.name == "__init__.py"
        self._imports = [
            line
            for line in tree.root.body
            if isinstance(line, (ast.Import, ast.ImportFrom)) and getattr(line, "module", "") != "__future__"
        ]

    def unused_after(self, drafts: Sequence[Draft]) -> list[Draft]:
        """What leaves out the imports that nothing uses any more after drafts.

        An import stays that a comment stands behind, that shares its line, that is alone in its cell, that another
        draft touches, that names a string of the file or says `as` for no other name, and every one of a package's
        `__init__.py`.
        """
        gone = self._gone(drafts)
        body, statements, found = self._tree.root.body, Statements(self._text, self._tree), list[Draft]()
        for line in self._imports if gone else ():
            names = [_bound(alias) for alias in line.names if alias.asname != alias.name and _bound(alias) in gone]
            rows = range(line.lineno, (line.end_lineno or line.lineno) + 1)
            cell = self._text.block(line.lineno)
            is_alone = not any(other is not line and other.lineno in cell for other in body)
            is_noted = any(comment.row in rows for comment in statements.comments)
            if not names or is_alone or is_noted or not statements.have_lines([line]):
                continue
            if len(names) < len(line.names):
                draft = statements.changed(line, partial(without_names, left_out=names))
            else:
                draft = statements.left_out(line)
            if not any(draft.start <= other.end and other.start <= draft.end for other in drafts):
                found.append(draft)
        return found

    def _gone(self, drafts: Sequence[Draft]) -> set[str]:
        """Names of imports that code uses before drafts and not after them."""
        if self._is_package:
            return set()
        text = self._text.text
        removed = {word for draft in drafts for word in _WORD.findall(text[draft.start : draft.end])}
        gone = {_bound(alias) for line in self._imports for alias in line.names} & removed
        rows = [(text.count("\n", 0, draft.start) + 1, text.count("\n", 0, draft.end) + 1) for draft in drafts]
        used: set[str] = set()
        for statement in self._tree.root.body:  # most names stand in some statement that nothing touches
            if not gone:
                return gone
            start = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))])
            end = statement.end_lineno or statement.lineno
            if any(first <= end and start <= last for first, last in rows):
                used |= _words(statement)
            else:
                gone -= _words(statement)
        gone &= used
        if not gone:
            return gone
        try:
            return gone - _words(ast.parse(applied(text, drafts)))
        except SyntaxError:
            return set()


@once_a_node
def _words(root: ast.AST) -> frozenset[str]:
    """The names that code reads, and the words of its strings, which may be annotations or `__all__`."""
    found: set[str] = set()
    for node in walk(root):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.update(_WORD.findall(node.value))
    return frozenset(found)


def _bound(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]
