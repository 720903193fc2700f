"""Branches on tensor data as `torch.where`: both ways are computed, and the condition chooses."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from exportlint.analysis.facts import Fact
from exportlint.findings import Fix
from exportlint.fixes.arms import Arm, Fresh, Way, arm, way
from exportlint.fixes.code import Code
from exportlint.fixes.conditions import Condition, tensor_condition
from exportlint.fixes.early import early_return
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.liveness import is_bound, read_later, writes_in_place
from exportlint.fixes.renaming import Names
from exportlint.fixes.source_text import Piece
from exportlint.fixes.statements import Draft
from exportlint.fixes.terms import Term, choose, term

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
        value = term(code, branch, Names())
        return _fix(code, branch, value, code.replace(branch, value.source.text))
    if code.tree.function(branch) is None:
        raise DeclinedError("the code runs when the file is imported")
    targets = _targets(branch)
    if branch.orelse and len(targets) == 1:
        value = _value(code, branch)
        line = _statement(targets.pop(), value)
        return _fix(code, branch, value, code.statements.replace([branch], [line]))
    condition = tensor_condition(code, branch.test)
    one, other = way(branch.body), way(branch.orelse)
    fresh = Fresh(code, branch)
    if one.returned is None and other.returned is None:
        lines, safe = _assignments(code, branch, condition, one, other, fresh)
        return code.fix(CHOOSE, code.statements.replace([branch], lines), safe=safe)
    if one.returned is None or other.returned is None:
        return early_return(code, branch, condition, one, other, fresh)
    arms = [arm(code, each, (), (), fresh) for each in (one, other)]
    value = choose(code, condition, *(each.returned for each in arms if each.returned is not None))
    lines = [*arms[0].lines, *arms[1].lines, _statement(None, value)]
    return _fix(code, branch, value, code.statements.replace([branch], lines))


def _fix(code: Code, branch: Branching, value: Term, edit: Draft) -> Fix:
    return code.fix(CHOOSE, edit, safe=value.safe and _unseen(code, branch, value))


def _statement(target: str | None, value: Term) -> str:
    return f"return {value.source.text}" if target is None else f"{target} = {value.source.text}"


def _unseen(code: Code, node: ast.AST, chosen: Term) -> bool:
    """Whether nobody notices that the chosen tensor is a new one."""
    return not chosen.variable or not writes_in_place(code, node)


# --- one value


def _targets(statement: ast.stmt) -> set[str | None]:
    """The variable that a statement assigns, None for what it returns; more than one if it is of another kind."""
    if isinstance(statement, ast.Return) and statement.value is not None:
        return {None}
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        return {statement.targets[0].id}
    if isinstance(statement, ast.If) and len(statement.body) == len(statement.orelse) == 1:
        return _targets(statement.body[0]) | _targets(statement.orelse[0])
    return {None, ""}


def _value(code: Code, statement: ast.stmt) -> Term:
    if isinstance(statement, ast.If):
        condition = tensor_condition(code, statement.test)
        return choose(code, condition, _value(code, statement.body[0]), _value(code, statement.orelse[0]))
    assert isinstance(statement, (ast.Assign, ast.Return))
    assert statement.value is not None
    return term(code, statement.value, Names())


# --- several variables


def _assignments(
    code: Code, branch: ast.If, condition: Condition, one: Way, other: Way, fresh: Fresh
) -> tuple[list[str], bool]:
    names = list(dict.fromkeys((*one.assigned, *other.assigned)))
    merged = [name for name in names if read_later(code, branch, name)]
    if not merged:
        raise DeclinedError("nothing is done with what is assigned")
    for name in merged:
        if not (name in one.assigned and name in other.assigned) and not is_bound(code, name):
            raise DeclinedError("one way leaves a variable without a value")
    arms = [_arm(code, this, that, merged, fresh) for this, that in ((one, other), (other, one))]
    lines = [*arms[0].lines, *arms[1].lines]
    if len(merged) > 1 and not condition.text.isidentifier():
        name = fresh.name("condition")
        lines.insert(0, f"{name} = {condition.text}")
        condition = replace(condition, source=Piece(name), scalar=True)
    choices: list[str] = []
    safe = True
    for index, name in enumerate(merged):
        terms = [
            _settled(each.variables.get(name) or _current(code, name), merged[:index], lines, fresh) for each in arms
        ]
        value = choose(code, condition, terms[0], terms[1])
        safe = safe and value.safe and _unseen(code, branch, value)
        choices.append(_statement(name, value))
    return [*lines, *choices], safe


def _arm(code: Code, this: Way, that: Way, merged: Sequence[str], fresh: Fresh) -> Arm:
    keep = {
        name
        for name in this.assigned
        if name not in merged
        and name not in that.assigned
        and name not in that.reads
        and not is_bound(code, name, maybe=True)
    }
    return arm(code, this, keep, merged, fresh)


def _current(code: Code, name: str) -> Term:
    """A variable as it is."""
    return term(code, ast.parse(name, mode="eval").body, Names({name: Piece(name)}))


def _settled(value: Term, overwritten: Sequence[str], lines: list[str], fresh: Fresh) -> Term:
    """A value that what is assigned before it does not change."""
    if not value.reads & set(overwritten):
        return value
    name = fresh.name("value", numbered=True)
    lines.append(f"{name} = {value.source.text}")
    return replace(value, source=Piece(name), reads=frozenset({name}))
