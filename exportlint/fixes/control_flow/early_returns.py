"""Early returns on tensor data: what the rest of the function returns is computed in any case.

`if c: return a` … `return b` becomes `return torch.where(c, a, b)`, with the statements between them kept.

Safe: as `where`, and the code behind the `return` has no effects and refuses nothing. Otherwise what it refuses is
refused where the function had returned.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from exportlint.fixes.control_flow.branch_paths import Branching, Case, names_in, way
from exportlint.fixes.control_flow.logic import Condition
from exportlint.fixes.control_flow.merging import Fresh, arm, assignment, conditions_of, folded, hoisted, predicates
from exportlint.fixes.control_flow.reporting_branches import only_computes, said, said_before, silent_cases
from exportlint.fixes.control_flow.terms import Term, term
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.template import dotted, statement
from exportlint.fixes.edit.tree import BLOCKS
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.guarded_indices import require_unguarded
from exportlint.fixes.proofs.live_variables import returns
from exportlint.fixes.proofs.liveness import assigned, is_bound
from exportlint.fixes.proofs.purity import is_harmless
from exportlint.fixes.proofs.result_shapes import Form, Forms, form

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Statement

MAX_EXITS = 32
"""Statements of one block that return, of which a fix of the first one has to deal with all."""


@dataclass(frozen=True, slots=True)
class _Exit:
    """A branch that returns in all ways but one, as lines that stand in its place, and what it returns.

    The value of the way that goes on is None, and `falls` its statements.
    """

    branch: Branching
    lines: Sequence[Statement]
    conditions: Sequence[Condition]
    values: Sequence[Term | None]
    falls: Sequence[ast.stmt]
    safe: bool


def early_return(code: Code, branch: Branching, fresh: Fresh, found: Sequence[Case]) -> tuple[list[Draft], Term]:
    """A branch that returns in some ways, and others behind it up to a last `return`: the edits, and what it returns.

    `found` are the ways of the branch.

    Raises:
        DeclinedError: the code that all of them run may have effects, or does not end with a `return`.
    """
    following = code.tree.following(branch)
    last = following[-1] if following else None
    if not isinstance(last, ast.Return) or last.value is None:
        raise DeclinedError("the function does not end with another `return` here")
    forms: dict[str, Form | None] = {}
    exits: list[_Exit] = []
    here = code
    require_few_exits(code, branch)
    statements = [branch, *following[:-1]]
    behind: list[set[str]] = [set()]
    for running in reversed(statements[1:]):
        behind.append(behind[-1] | assigned([running]))
    for running, later in zip(statements, reversed(behind), strict=True):
        goes_on: Sequence[ast.stmt] = [running]
        if isinstance(running, Branching) and returns([running]):
            ways = found if running is branch else silent_cases(here, running)
            exits.append(_exit(here, running, ways, later, fresh, forms, in_vain=bool(exits)))
            goes_on = exits[-1].falls
        for one in goes_on:
            if not is_harmless(here, [one]):
                raise DeclinedError("the code after the `return` may have side effects")
            require_unguarded(here, one)
            _note(here, one, forms)
            here = here.after([one])
    value = rest = term(here, last.value, forms)
    for each in reversed(exits):
        value = folded(code, each.conditions, [one or value for one in each.values])
    sound = all(one is not None and one.total for one in forms.values())
    sound = sound and all(each.safe for each in exits)
    value = replace(value, safe=value.safe and sound, variable=value.variable or rest.variable)
    if len(statements) == 1 and not exits[0].falls:
        lines = [*exits[0].lines, statement("return {value}", value=value.unbracketed)]
        return [code.statements.replace([branch, last], lines)], value
    return [*(_edit(code, each) for each in exits), code.replace(last.value, value.unbracketed)], value


def require_few_exits(code: Code, branch: ast.stmt) -> None:
    """Raises DeclinedError if too many statements behind a branch in its block return as well."""
    if code.tree.once(_exits_behind, code.tree.parents[branch])[branch] >= MAX_EXITS:
        raise DeclinedError("the function returns in too many places")


def _exits_behind(around: ast.AST) -> dict[ast.stmt, int]:
    """How many of the statements behind each one in the blocks of a node branch, and return in some way."""
    found: dict[ast.stmt, int] = {}
    for block in (body for name in BLOCKS if isinstance(body := getattr(around, name, None), list)):
        exits = 0
        for other in reversed(block):
            found[other] = exits
            exits += isinstance(other, Branching) and bool(returns([other]))
    return found


def _edit(code: Code, found: _Exit) -> Draft:
    lines = list(found.lines)
    if found.falls:
        lines += code.statements.moved(found.falls)
    return code.statements.replace([found.branch], lines)


def _exit(
    code: Code,
    branch: Branching,
    found: Sequence[Case],
    later: set[str],
    fresh: Fresh,
    forms: Forms,
    *,
    in_vain: bool,
) -> _Exit:
    going_on = [case.body for case in found if not case.body or not isinstance(case.body[-1], ast.Return)]
    if len(going_on) != 1:
        raise DeclinedError("several branches continue after it")
    (falls,) = going_on
    if falls and said(code, branch):
        raise DeclinedError("a branch that prints or logs continues after it")
    changed = later | assigned(falls)
    conditions = conditions_of(code, found, in_vain=in_vain)
    lines: list[Statement] = []
    values: list[Term | None] = []
    whens = [None] * len(found) if in_vain else predicates(conditions)
    for case, when in zip(found, whens, strict=True):
        if case.body is falls:
            values.append(None)
            continue
        leaving = way(case.body)
        keep = {n for n in leaving.assigned if n not in changed and not is_bound(code, n, maybe=True)}
        result = arm(code, leaving, keep, (), fresh, forms, when)
        if result.returned is None:
            raise DeclinedError("a branch returns only sometimes")
        lines += result.lines
        values.append(_settled(result.returned, changed, lines, fresh))
    if any(changed & names_in(case.test) for case in found if case.test is not None):
        conditions = hoisted(conditions, lines, fresh)
    spoken = said_before(code, branch)
    safe = only_computes(code, branch) and not (in_vain and spoken)  # it is said where the function had returned
    return _Exit(branch, [*spoken, *lines], conditions, values, falls, safe)


def _note(code: Code, statement: ast.stmt, forms: dict[str, Form | None]) -> None:
    """Notes what is known of the variables that a statement assigns."""
    found = None
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        found = form(code, statement.value, forms)
    for name in assigned([statement]):
        forms[name] = found


def _settled(value: Term, changed: set[str], lines: list[Statement], fresh: Fresh) -> Term:
    """A value that what is assigned behind it does not change."""
    if not value.reads & changed:
        return value
    if value.items is not None:
        return replace(value, items=tuple(_settled(item, changed, lines, fresh) for item in value.items))
    name = fresh.name("early")
    lines.append(assignment(name, value))
    return replace(value, source=dotted(name), reads=frozenset({name}))
