"""Functions that are defined in front of the statement that uses them.

`definition` makes a function of moved statements, `put_in_place` puts it and its call where these stood.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from exportlint.fixes.control_flow.bodies import Operands
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.template import bare_tuple, dotted, statement

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression, Statement


def definition(
    code: Code,
    name: str,
    given: Operands,
    first: Sequence[Statement],
    groups: Sequence[Sequence[ast.stmt]],
    result: Expression | None,
) -> Statement:
    """A function of moved statements behind `first` ones, which returns a result; None if the statements do."""
    body = list(first)
    for group in groups:
        kept = [one for one in group if not isinstance(one, ast.Pass)]
        if kept:
            body += code.statements.moved(kept, above=True)
    if result is not None:
        body.append(code.statement("return {result}", result=result))
    return code.statement("def {name}({*parameters}):\n    {*body}", name=name, parameters=given.names, body=body)


def assigned_to(names: Sequence[str], value: Expression) -> Statement:
    """`a, b = value`, or `a = value`."""
    targets = [dotted(name) for name in names]
    return statement(
        "{targets} = {value}", targets=bare_tuple(targets) if len(targets) > 1 else targets[0], value=value
    )


def put_in_place(code: Code, replaced: Sequence[ast.stmt], lines: Sequence[Statement]) -> list[Draft]:
    """Edits that put new code in the place of statements, behind a blank line if others stand in front of them."""
    return [code.statements.replace(replaced, lines), *code.statements.set_apart(replaced[0])]
