"""Branches on tensor data as `torch.where`: all ways are computed, and the condition chooses.

`if c: y = a` / `else: y = b` becomes `y = torch.where(c, a, b)`; so do `match`, `a if c else b`, ways that return,
and ways that end in the same statement. Of ways of which the last one raises, a check takes the place of that.

Safe: the ways are pure and total, their results agree in shape and dtype, the condition holds exactly what Python
asked, and nobody can tell a variable from a new tensor. Otherwise results may be broadcast or promoted, a way that
was not taken may raise or give NaN gradients, and writes to a result do not reach the variable that it was.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from exportlint.analysis.facts import Fact
from exportlint.findings import Fix
from exportlint.fixes.control_flow.branch_paths import Branching, Case, Way, way
from exportlint.fixes.control_flow.checks import assertion
from exportlint.fixes.control_flow.conditions import tensor_condition
from exportlint.fixes.control_flow.early_returns import early_return
from exportlint.fixes.control_flow.logic import either
from exportlint.fixes.control_flow.merging import Fresh, arm, assignments, conditions_of, folded, merged, predicates
from exportlint.fixes.control_flow.messages import message_of_raise
from exportlint.fixes.control_flow.reporting_branches import only_computes, said_before, silent_cases
from exportlint.fixes.control_flow.same_end import ends
from exportlint.fixes.control_flow.terms import Term, alternatives, choose
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.template import statement
from exportlint.fixes.errors import DeclinedError, InapplicableError
from exportlint.fixes.proofs.identity import matters
from exportlint.fixes.proofs.needed_numbers import require_tensors_do

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Statement

CHOOSE = "Choose with `torch.where`"


@dataclass(frozen=True, slots=True)
class Choice:
    """A branch as a choice between tensors: edits, and whether they change nothing."""

    edits: Sequence[Draft]
    safe: bool


def where_fix(code: Code, _: Fact) -> Fix:
    """Choose with `torch.where`, in the place of the branch in whose condition the finding is.

    Raises:
        DeclinedError: it is in none, one of the ways does more than compute tensors, or nothing tells what it does.
    """
    found = choice(code, branch_of(code))
    safe = found.safe and code.observed.complete
    return code.fix(code.while_taken(CHOOSE, safe=safe), *found.edits, safe=safe)


def branch_of(code: Code) -> Branching | ast.IfExp:
    """The branch in whose condition the finding is. Raises DeclinedError."""
    node: ast.AST = code.node(ast.expr)
    for around in code.tree.ancestors(node):
        if isinstance(around, (ast.If, ast.IfExp)) and around.test is node:
            return around
        if isinstance(around, ast.Match) and (around.subject is node or isinstance(node, ast.match_case)):
            return around
        if isinstance(around, (ast.MatchValue, ast.MatchOr)) or (
            isinstance(around, ast.match_case) and around.pattern is node
        ):
            node = around
            continue
        if not isinstance(around, ast.expr) or isinstance(around, (ast.IfExp, ast.Lambda)):
            break
        node = around
    raise InapplicableError("the finding is not in a condition")


def choice(code: Code, branch: Branching | ast.IfExp) -> Choice:
    """The choice that a branch makes, as one between tensors. Raises DeclinedError."""
    require_tensors_do(code, branch)
    if isinstance(branch, ast.IfExp):
        condition = tensor_condition(code, branch.test)
        value = choose(code, condition, *alternatives(code, condition, branch, {}))
        return _choice(code, branch, code.replace(branch, value.source), value)
    if code.tree.function(branch) is None:
        raise DeclinedError("the code runs when the file is imported")
    found = silent_cases(code, branch)
    if not any(case.body for case in found):
        raise DeclinedError("the branch only prints or logs")
    chosen = _chosen(code, branch, found)
    return Choice(chosen.edits, safe=chosen.safe and only_computes(code, branch))


def _chosen(code: Code, branch: Branching, found: Sequence[Case]) -> Choice:
    """The choice that an `if` or `match` makes between some ways. Raises DeclinedError."""
    fresh = Fresh(code, branch)
    refused = _refused(code, branch, found)
    if refused is not None:
        return refused
    skipped = _skipped(code, branch, fresh)
    if skipped is not None:
        return skipped
    try:
        end, ways = ends(code, found)
    except DeclinedError:
        ways = [way(case.body) for case in found]
    else:
        value, lines = _result(code, found, ways, fresh)
        lines = [*said_before(code, branch), *lines, end.with_value(value.source)]
        return _choice(code, branch, code.statements.replace([branch], lines), value)
    returning = [each.returned is not None for each in ways]
    if not any(returning):
        result = merged(code, branch, fresh, {}, found=found)
        if not result.variables:
            raise DeclinedError("the assigned value is not used")
        lines = [*said_before(code, branch), *result.lines, *assignments(result.variables, fresh)]
        return _choice(code, branch, code.statements.replace([branch], lines), *result.variables.values())
    if not all(returning):
        edits, value = early_return(code, branch, fresh, found)
        return _choice(code, branch, edits, value)
    value, lines = _result(code, found, ways, fresh)
    lines = [*said_before(code, branch), *lines, statement("return {value}", value=value.unbracketed)]
    return _choice(code, branch, code.statements.replace([branch], lines), value)


def _skipped(code: Code, branch: Branching, fresh: Fresh) -> Choice | None:
    """`if c: out.append(a); continue`, when the rest of the pass ends in the same statement."""
    following = code.tree.following(branch)
    if not isinstance(branch, ast.If) or branch.orelse or len(branch.body) < 2 or not following:
        return None
    if not isinstance(branch.body[-1], ast.Continue):
        return None
    found = [Case(branch.test, branch.body[:-1]), Case(None, following)]
    try:
        end, ways = ends(code, found)
    except DeclinedError:
        return None
    value, lines = _result(code, found, ways, fresh)
    lines.append(end.with_value(value.source))
    return _choice(code, branch, code.statements.replace([branch, *following], lines), value)


def _refused(code: Code, branch: Branching, found: Sequence[Case]) -> Choice | None:
    """Ways of which the last one raises, or that return and are followed by a `raise`: a check, and a choice."""
    *others, last = found
    following = code.tree.following(branch)
    raised: ast.stmt | None = last.body[0] if len(last.body) == 1 else None
    replaced: list[ast.stmt] = [branch]
    if not last.body and len(following) == 1 and all(c.body and isinstance(c.body[-1], ast.Return) for c in others):
        raised = following[0]
        replaced.append(raised)
    if last.test is not None or not isinstance(raised, ast.Raise) or len(others) < 2:
        return None
    ways = [way(case.body) for case in others]
    conditions = conditions_of(code, found)
    rest = [*others[:-1], Case(None, others[-1].body)]
    lines: list[Statement] = []
    if all(each.returned is not None for each in ways):
        value, lines = _result(code, rest, ways, Fresh(code, branch))
        lines.append(statement("return {value}", value=value.unbracketed))
    elif any(each.returned is not None for each in ways):
        return None
    else:
        result = merged(code, branch, fresh := Fresh(code, branch), {}, found=rest)
        if not result.variables:
            return None
        lines = [*result.lines, *assignments(result.variables, fresh)]
    met = reduce(either, conditions).tensor
    lines[:0] = said_before(code, branch)
    lines.insert(0, statement("{check}", check=assertion(code, branch, met, message_of_raise(code, raised, ()))))
    return Choice([code.statements.replace(replaced, lines)], safe=False)


def _result(code: Code, found: Sequence[Case], ways: Sequence[Way], fresh: Fresh) -> tuple[Term, list[Statement]]:
    """What ways that all return give, and lines to run first."""
    conditions = conditions_of(code, found)
    arms = [arm(code, each, (), (), fresh, {}, when) for each, when in zip(ways, predicates(conditions), strict=True)]
    value = folded(code, conditions, [each.returned for each in arms if each.returned is not None])
    return value, [line for each in arms for line in each.lines]


def _choice(code: Code, branch: ast.AST, edits: Draft | Sequence[Draft], *values: Term) -> Choice:
    # where a variable is chosen, the result is a new tensor, and was that variable itself
    seen = any(value.variable for value in values) and matters(code, branch)
    safe = not seen and all(value.safe for value in values)
    return Choice([edits] if isinstance(edits, Draft) else edits, safe)
