"""Imports as libcst's nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from exportlint.fixes.edit.template import dotted

if TYPE_CHECKING:
    import libcst as cst

    from exportlint.fixes.edit.template import Statement


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
