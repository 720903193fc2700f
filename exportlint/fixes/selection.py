"""Branches on tensor data as `torch.where`: both ways are computed, and the condition chooses."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from exportlint.findings import Fix
from exportlint.fixes.arms import Arm, Fresh, Way, arm, way
from exportlint.fixes.code import Code
from exportlint.fixes.conditions import Condition, tensor_condition
from exportlint.fixes.early import early_return
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.liveness import is_bound, read_later, writes_in_place
from exportlint.fixes.renaming import Names
from exportlint.fixes.source_text import Piece
from exportlint.fixes.terms import Term, choose, term

CHOOSE = "Choose with `torch.where`"


def where_fix(code: Code, branch: ast.IfExp | ast.If) -> Fix:
    """The choice that a conditional expression or an `if` makes, as a choice between two tensors.

    Raises:
        DeclinedError: one of the ways does more than compute tensors, or there is no telling.
    """
    if isinstance(branch, ast.IfExp):
        chosen = term(code, branch, Names())
        return code.fix(
            CHOOSE, code.replace(branch, chosen.source.text), safe=chosen.safe and _unseen(code, branch, chosen)
        )
    if code.tree.function(branch) is None:
        raise DeclinedError("the code runs when the file is imported")
    nested = _nested(code, branch)
    if nested is not None:
        target, chosen = nested
        line = f"return {chosen.source.text}" if target is None else f"{target} = {chosen.source.text}"
        return code.fix(
            CHOOSE, code.statements.replace([branch], [line]), safe=chosen.safe and _unseen(code, branch, chosen)
        )
    condition = tensor_condition(code, branch.test)
    one, other = way(branch.body), way(branch.orelse)
    fresh = Fresh(code, branch)
    if one.returned is None and other.returned is None:
        lines, safe = _assignments(code, branch, condition, one, other, fresh)
    elif one.returned is not None and other.returned is not None:
        arms = [arm(code, each, (), (), fresh) for each in (one, other)]
        first, second = (a.returned for a in arms)
        assert first is not None
        assert second is not None
        chosen = choose(code, condition, first, second)
        lines, safe = [*arms[0].lines, *arms[1].lines, f"return {chosen.source.text}"], chosen.safe
        safe = safe and _unseen(code, branch, chosen)
    else:
        return early_return(code, branch, condition, one, other, fresh)
    return code.fix(CHOOSE, code.statements.replace([branch], lines), safe=safe)


def _unseen(code: Code, node: ast.AST, chosen: Term) -> bool:
    """Whether nobody notices that the chosen tensor is a new one."""
    return not chosen.variable or not writes_in_place(code, node)


# --- one value


def _nested(code: Code, branch: ast.If) -> tuple[str | None, Term] | None:
    """What an `if` whose ways are one statement each assigns or returns; the ways may be such statements again."""
    if not branch.orelse:
        return None
    targets = _targets(branch)
    if len(targets) != 1:
        return None
    (target,) = targets
    return target, _value(code, branch)


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
        chosen = choose(code, condition, terms[0], terms[1])
        safe = safe and chosen.safe and _unseen(code, branch, chosen)
        choices.append(f"{name} = {chosen.source.text}")
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
