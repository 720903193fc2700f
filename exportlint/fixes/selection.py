"""Branches on tensor data as `torch.where`: both ways are computed, and the condition chooses."""

from __future__ import annotations

import ast

from exportlint.analysis.facts import Fact
from exportlint.findings import Fix
from exportlint.fixes.code import Code
from exportlint.fixes.conditions import tensor_condition
from exportlint.fixes.early import early_return
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.liveness import writes_in_place
from exportlint.fixes.merging import Fresh, arm, assignments, merged
from exportlint.fixes.statements import Draft
from exportlint.fixes.terms import Term, choose, term
from exportlint.fixes.ways import way

CHOOSE = "Choose with `torch.where`"
Branching = ast.IfExp | ast.If


def where_fix(code: Code, _: Fact) -> Fix:
    """Choose with `torch.where`, in the place of the branch in whose condition the finding is.

    Raises:
        DeclinedError: it is in none, one of the ways does more than compute tensors, or nothing tells what it does.
    """
    return chosen(code, branch_of(code))


def branch_of(code: Code) -> Branching:
    """The branch in whose condition the finding is. Raises DeclinedError."""
    node: ast.AST = code.node(ast.expr, ast.stmt)
    for around in code.tree.ancestors(node):
        if isinstance(around, Branching) and around.test is node:
            return around
        if not isinstance(around, ast.expr) or isinstance(around, (ast.IfExp, ast.Lambda)):
            break
        node = around
    raise DeclinedError("the finding is in no condition")


def chosen(code: Code, branch: Branching) -> Fix:
    """The choice that a conditional expression or an `if` makes, as a choice between tensors. Raises DeclinedError."""
    if isinstance(branch, ast.IfExp):
        value = term(code, branch, {})
        return _fix(code, branch, code.replace(branch, value.source.text), value)
    if code.tree.function(branch) is None:
        raise DeclinedError("the code runs when the file is imported")
    if _returns(branch):
        value = _returned(code, branch)
        return _fix(code, branch, code.statements.replace([branch], [f"return {value.source.text}"]), value)
    one, other = way(branch.body), way(branch.orelse)
    fresh = Fresh(code, branch)
    if one.returned is None and other.returned is None:
        found = merged(code, branch, fresh, {})
        if not found.variables:
            raise DeclinedError("nothing is done with what is assigned")
        lines = [*found.lines, *assignments(found.variables, fresh)]
        return _fix(code, branch, code.statements.replace([branch], lines), *found.variables.values())
    if one.returned is None or other.returned is None:
        return early_return(code, branch, fresh)
    arms = [arm(code, each, (), (), fresh, {}) for each in (one, other)]
    condition = tensor_condition(code, branch.test)
    value = choose(code, condition, *(each.returned for each in arms if each.returned is not None))
    lines = [*arms[0].lines, *arms[1].lines, f"return {value.source.text}"]
    return _fix(code, branch, code.statements.replace([branch], lines), value)


def _fix(code: Code, branch: Branching, edit: Draft, *values: Term) -> Fix:
    # where a variable is chosen, the result is a new tensor, and was that variable itself
    seen = any(value.variable for value in values) and writes_in_place(code, branch)
    return code.fix(CHOOSE, edit, safe=not seen and all(value.safe for value in values))


def _returns(statement: ast.stmt) -> bool:
    """Whether a statement does nothing but return a value, perhaps one of several."""
    if isinstance(statement, ast.If):
        ways = statement.body, statement.orelse
        return all(len(statements) == 1 and _returns(statements[0]) for statements in ways)
    return isinstance(statement, ast.Return) and statement.value is not None


def _returned(code: Code, statement: ast.stmt) -> Term:
    if isinstance(statement, ast.If):
        condition = tensor_condition(code, statement.test)
        return choose(code, condition, _returned(code, statement.body[0]), _returned(code, statement.orelse[0]))
    assert isinstance(statement, ast.Return)
    assert statement.value is not None
    return term(code, statement.value, {})
