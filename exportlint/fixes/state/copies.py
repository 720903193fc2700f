"""Copies of what the caller passed, in front of the code that changes it.

`x.add_(1)` gets `x = x.clone()` in front of it.

Needs: the name is the caller's object on each way to the change. Never safe: the caller does not see the change.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from exportlint.analysis.domain.trails import Site
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft, is_docstring
from exportlint.fixes.edit.tree import place as start
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.aliasing import is_consumed
from exportlint.syntax.definitions import FunctionNode

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Statement


def copy_first(
    code: Code, function: FunctionNode, copy: Statement, changes: Sequence[ast.AST], *, early: bool, optional: str = ""
) -> Draft:
    """A statement in front of the first of the nodes in a function that change something, and outside of loops.

    `early`: at the beginning of the function, since something before may hold on to what is changed. `optional` is a
    variable that may be None, for which there is nothing to do then. Raises DeclinedError if there are no such nodes.
    """
    if not changes:
        raise DeclinedError("the code that changes it is not found")
    first = min(changes, key=start)
    place = code.tree.statement(first)
    while code.tree.parents[place] is not function:
        reached = {n for s in (place, *code.tree.following(place)) for n in ast.walk(s)}
        if not early and not _is_repeated(code, place, function) and all(change in reached for change in changes):
            break
        place = code.tree.statement(code.tree.parents[place])
    if early:
        place = next((s for s in function.body if not is_docstring(s)), place)
    chooses = any(isinstance(n, (ast.IfExp, ast.BoolOp)) and first in ast.walk(n) for n in ast.walk(place))
    if optional and (chooses or place is not code.tree.statement(first)):
        return code.statements.insert_before(
            place, [code.statement("if {optional} is not None:\n    {*body}", optional=optional, body=[copy])]
        )
    return code.statements.insert_before(place, [copy])


def parameter(code: Code, site: Site | None) -> tuple[FunctionNode, str]:
    """The function that a parameter belongs to, and its name. Raises DeclinedError for any other place."""
    is_here = site is not None and site.filename == code.module.filename
    node = code.tree.at(site, ast.arg) if site is not None and is_here else None
    function = code.tree.function(node) if node is not None else None
    if node is None or function is None:
        raise DeclinedError("it is not a parameter of a function in this file")
    return function, node.arg


def is_optional(function: FunctionNode, name: str) -> bool:
    """Whether a parameter may be None, as its default says or a test for it."""
    arguments = [*function.args.posonlyargs, *function.args.args]
    given = [*zip(reversed(arguments), reversed(function.args.defaults), strict=False)]
    given += [(a, d) for a, d in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True) if d is not None]
    compared = [node for node in ast.walk(function) if isinstance(node, ast.Compare)]
    return any(a.arg == name and isinstance(d, ast.Constant) and d.value is None for a, d in given) or any(
        ast.unparse(node) in {f"{name} is None", f"{name} is not None"} for node in compared
    )


def is_held(code: Code, function: FunctionNode, name: str, statement: ast.stmt) -> bool:
    """Whether something in front of a statement may share the storage of a variable with it."""
    return any(
        isinstance(node.ctx, ast.Load)
        and start(node) < start(statement)
        and not is_consumed(code, node)
        and not _is_renewed(code, node)
        for node in code.tree.contents(function).named(name)
    )


def _is_renewed(code: Code, node: ast.Name) -> bool:
    """Whether what a variable holds goes on in the same variable: `x = x.view(-1)`."""
    statement = code.tree.statement(node)
    return isinstance(statement, ast.Assign) and [ast.unparse(t) for t in statement.targets] == [node.id]


def _is_repeated(code: Code, statement: ast.stmt, function: FunctionNode) -> bool:
    for around in code.tree.ancestors(statement):
        if around is function:
            return False
        if isinstance(around, (ast.For, ast.AsyncFor, ast.While, FunctionNode)):
            return True
    return True
