"""Writes that hang on tensor data: they always happen, and `torch.where` keeps the old values.

`if c: x[i] = v` becomes `x[i] = torch.where(c, v, x[i])`, and `if c: self.fill(v)` calls the method in any case and
then puts back what the tensors of `self` held. The code behind `else` follows with the opposite condition.

Never safe: the version of the tensor counts up in any case, what is written is broadcast and cast, and numbers become
tensors.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from exportlint.analysis.domain.values import Origin
from exportlint.analysis.facts import Fact
from exportlint.findings import Fix
from exportlint.fixes.control_flow.branch_paths import names_in
from exportlint.fixes.control_flow.conditions import tensor_condition
from exportlint.fixes.control_flow.logic import Condition, Predicate
from exportlint.fixes.control_flow.merging import Fresh, hoisted
from exportlint.fixes.control_flow.predication import Predicated
from exportlint.fixes.control_flow.where import branch_of, choice
from exportlint.fixes.edit.blocks import analysed
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.template import method
from exportlint.fixes.errors import DeclinedError, InapplicableError
from exportlint.fixes.proofs.guarded_indices import guarded_indices
from exportlint.fixes.proofs.live_variables import returns
from exportlint.fixes.proofs.needed_numbers import require_tensors_do
from exportlint.fixes.proofs.observed_values import tensor
from exportlint.syntax.definitions import FunctionNode

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Statement


def write_fix(code: Code, _: Fact) -> Fix:
    """Write what was there where the condition of an `if` does not hold. Never safe.

    Raises:
        DeclinedError: it does more than write to tensors and assign variables.
    """
    branch = branch_of(code)
    if not isinstance(branch, ast.If) or code.tree.function(branch) is None:
        raise InapplicableError("it is not an `if`")
    if code.statements.is_elif(branch):
        raise InapplicableError("the `if` before it tests its condition first")
    edits = list(_written(code, branch))
    message = "Always write, and keep the old values with `torch.where`"
    return code.fix(message, *edits, safe=False)


def _written(code: Code, branch: ast.If) -> Iterator[Draft]:
    """Edits that let the arms of a branch always write. Raises DeclinedError as `write_fix` does."""
    require_tensors_do(code, branch)
    first = branch.body[0]
    unpacks = isinstance(first, ast.Assign) and any(isinstance(t, (ast.Tuple, ast.List)) for t in first.targets)
    binds = any(isinstance(part, ast.NamedExpr) for part in ast.walk(branch.test))  # what only eager asks binds nothing
    repeats = guarded_indices(code, ast.Module([*branch.body, *branch.orelse], []))
    unfolds = unpacks or isinstance(first, (ast.For, ast.With)) or len(branch.body) + len(branch.orelse) > 1
    several = binds or unfolds or bool(repeats)
    conditions = [lasting_condition(code, branch.test) if several else tensor_condition(code, branch.test)]
    lines: list[Statement] = []
    fresh = Fresh(code, branch)
    if several or not isinstance(first, (ast.Assign, ast.AugAssign, ast.Expr)):
        conditions = hoisted(conditions, lines, fresh)
    predicated = Predicated(code, branch, fresh)
    for body, holds in ((branch.body, True), (branch.orelse, False)):
        lines += predicated.block(code, body, Predicate(conditions[0].tensor, holds))
    yield code.statements.replace([branch], lines)
    yield from predicated.starts(code)
    yield from predicated.selections(code)
    if predicated.counted:
        yield from _branches_by(code, branch, set(predicated.counted), lines)


def lasting_condition(code: Code, test: ast.expr) -> Condition:
    """A condition that holds what it did when it was asked: a copy of a tensor that is not new, or of a part of one.

    Raises:
        DeclinedError: no tensor holds its truth.
    """
    condition, held = tensor_condition(code, test), tensor(code, test)
    if held is None or (held.origin is Origin.FRESH and not isinstance(test, ast.Subscript)):
        return condition
    return replace(condition, source=method(condition.tensor, "clone"), scalar=True)


def _branches_by(code: Code, branch: ast.If, counted: set[str], lines: Sequence[Statement]) -> Iterator[Draft]:
    """The branches behind that ask numbers which are tensors now, as choices or writes. Raises DeclinedError."""
    here = code.after(analysed(lines))
    around: ast.AST = branch
    while isinstance(around, ast.stmt) and not isinstance(around, FunctionNode):
        for one in code.tree.following(around):
            if isinstance(one, (ast.For, ast.While)) and counted & names_in(one):
                raise DeclinedError("a later loop depends on the count")
            if isinstance(one, ast.If) and counted & names_in(one.test):
                yield from _chosen(here, one)
                if returns([one]):  # the choice takes in what stands behind it
                    return
            elif isinstance(one, ast.If) and any(
                counted & names_in(part.test) for part in ast.walk(one) if isinstance(part, (ast.If, ast.IfExp))
            ):
                raise DeclinedError("a nested branch depends on the count")
            if isinstance(one, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
                break
            here = here.after([one])
        around = code.tree.parents[around]


def _chosen(code: Code, branch: ast.If) -> Sequence[Draft]:
    """A branch as a choice between values, or as writes that always happen. Raises DeclinedError."""
    try:
        return choice(code, branch).edits
    except DeclinedError:
        if returns([branch]) or code.statements.is_elif(branch):
            raise
        return [*_written(code, branch)]
