"""Functions that are defined in front of the statement that uses them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from exportlint.fixes.bodies import Operands
from exportlint.fixes.code import Code
from exportlint.fixes.statements import Draft


def definition(
    code: Code, name: str, given: Operands, groups: Sequence[Sequence[ast.stmt]], last: str, indent: str
) -> list[str]:
    """The lines of a function of moved statements, and of a `last` one, in a block of some indentation."""
    inner = indent + code.unit
    lines = [f"def {name}({given.parameters}):"]
    for group in groups:
        kept = [statement for statement in group if not isinstance(statement, ast.Pass)]
        if kept:
            lines.append(code.statements.moved(kept, inner, above=True))
    return [*lines, code.unit + last] if last else lines


def put_in_place(code: Code, replaced: Sequence[ast.stmt], lines: Sequence[str]) -> list[Draft]:
    """Edits that put lines in the place of statements, behind a blank line if others stand in front of them."""
    first = replaced[0]
    statements = code.statements
    edits = [statements.replace(replaced, lines)]
    block = code.tree.block(first)
    above = code.source.lines.line(first.lineno - 1).strip() if first.lineno > 1 else ""
    if (
        block[0] is not first
        and block[block.index(first) - 1].end_lineno != first.lineno
        and above[:1] not in ("", "#")
    ):
        start = code.source.lines.line_start(first.lineno)
        edits.append(Draft(start, start, "\n"))
    return edits
