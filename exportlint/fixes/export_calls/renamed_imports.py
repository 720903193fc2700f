"""Imports of the successors of names, in their place.

`from a import old` becomes `from b import new`, and `old` becomes `new` where that name is free.

Safe where the successor does the same. Otherwise it may take other arguments, as the rule's page says.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import partial

from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.imports import import_from, with_names
from exportlint.fixes.edit.names import bound_names, fresh, top_level
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.template import dotted
from exportlint.fixes.edit.tree import Scope


def renamed_import(code: Code, statement: ast.ImportFrom, successors: Mapping[str, str]) -> Iterator[Draft]:
    """Imports the successors of some names in their place, and uses them by their own names where those are free.

    `successors` are the qualified names of what takes the place of names of the statement.
    """
    package = "." * statement.level + (statement.module or "")
    lines: dict[str, list[tuple[str, str | None]]] = {}
    renamed: dict[str, tuple[str, str | None]] = {}
    for alias in statement.names:
        local = alias.asname or alias.name
        source, _, target = successors.get(alias.name, f"{package}.{alias.name}").rpartition(".")
        imported = alias.name, alias.asname
        if alias.name in successors:
            is_renamed = alias.asname is None and local != target and _is_free(code, local, target)
            imported = target, None if is_renamed or local == target else local
            renamed[alias.name] = imported
            uses = (n for n in ast.walk(code.tree.root) if isinstance(n, ast.Name) and n.id == local)
            yield from (code.replace(use, dotted(target)) for use in uses if is_renamed)
        lines.setdefault(source, []).append(imported)
    if lines.keys() == {package}:
        yield code.statements.changed(statement, partial(with_names, renamed=renamed))
    else:
        yield code.statements.replace([statement], [import_from(source, names) for source, names in lines.items()])


def _is_free(code: Code, local: str, target: str) -> bool:
    """Whether a name can be used for another everywhere in the file."""
    scopes = (node for node in ast.walk(code.tree.root) if isinstance(node, Scope))
    return (
        fresh(target, code.tree.used_names(code.tree.root) | set(code.module.bindings)) == target
        and len(top_level(code.tree.root.body, code.module.package)[local].targets) == 1
        and not any(local in bound_names(scope) for scope in scopes)
    )
