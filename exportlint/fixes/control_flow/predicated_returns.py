"""Branches that write and return: both they and the code behind them run, and each writes only where it was reached.

`if c: self.n.add_(1); return a` … `self.last.copy_(x)`, `return b` becomes `self.n.copy_(torch.where(c, …))` …
`self.last.copy_(torch.where(c, self.last, x))`, `return torch.where(c, a, b)`.

Needs: the function ends with another `return`, and all between only computes, or writes to tensors. Never safe: what is
computed in vain may raise or give NaN gradients, each tensor is written, and results are broadcast and promoted.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import Origin, Tensor
from exportlint.fixes.control_flow.logic import Condition, Predicate
from exportlint.fixes.control_flow.merging import Fresh, assignment, hoisted
from exportlint.fixes.control_flow.predicated_writes import lasting_condition
from exportlint.fixes.control_flow.predication import Predicated, calls_only
from exportlint.fixes.control_flow.terms import choose, term
from exportlint.fixes.control_flow.where import branch_of
from exportlint.fixes.edit.template import dotted
from exportlint.fixes.errors import DeclinedError, InapplicableError
from exportlint.fixes.proofs.guarded_indices import require_unguarded
from exportlint.fixes.proofs.live_variables import returns
from exportlint.fixes.proofs.liveness import assigned, is_bound
from exportlint.fixes.proofs.purity import is_harmless, is_pure
from exportlint.syntax.definitions import FunctionNode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exportlint.analysis.facts import Fact
    from exportlint.findings import Fix
    from exportlint.fixes.edit.code import Code
    from exportlint.fixes.edit.statements import Draft
    from exportlint.fixes.edit.template import Statement

MESSAGE = "Run the rest in any case, and write and choose with `torch.where`"


def return_fix(code: Code, _: Fact) -> Fix:
    """Run what stands behind an `if` that writes and returns, and choose what is returned. Never safe.

    Raises:
        DeclinedError: the branch, or the code behind it, does more than write to tensors and assign variables.
    """
    branch = branch_of(code)
    if not isinstance(branch, ast.If) or branch.orelse or not isinstance(branch.body[-1], ast.Return):
        raise InapplicableError("it is not an `if` that returns")
    *body, leave = branch.body
    *rest, last = code.tree.following(branch) or [branch]
    if not isinstance(last, ast.Return) or last.value is None or leave.value is None:  # type: ignore[attr-defined]
        raise DeclinedError("the function does not end with another `return` here")
    if not isinstance(code.tree.parents[branch], FunctionNode) or returns([*body, *rest]):
        raise DeclinedError("the function returns in other places as well")
    lines: list[Statement] = []
    fresh = Fresh(code, branch)
    (condition,) = hoisted([lasting_condition(code, branch.test)], lines, fresh)
    bound_before = frozenset(name for name in assigned(body) if is_bound(code, name, maybe=True))
    predicated = Predicated(code, branch, fresh, bound_before)
    lines += predicated.block(code, body, Predicate(condition.tensor))
    if predicated.masks:
        raise DeclinedError("a list gets items in the branch")
    early = term(code.after(body), leave.value, {}, Predicate(condition.tensor))  # type: ignore[attr-defined]
    if early.reads & assigned(rest):
        name = fresh.name("early")
        lines.append(assignment(name, early))
        early = replace(early, source=dotted(name), items=None, reads=frozenset({name}))
    edits = [code.statements.replace([branch], lines)] if lines else [code.statements.left_out(branch)]
    late, here = _late(code, branch, rest, fresh, condition)
    value = choose(here, condition, early, term(here, last.value, {}, Predicate(condition.tensor, holds=False)))
    return code.fix(MESSAGE, *edits, *late, code.replace(last.value, value.unbracketed), safe=False)


def _late(
    code: Code, branch: ast.If, rest: Sequence[ast.stmt], fresh: Fresh, condition: Condition
) -> tuple[list[Draft], Code]:
    """What becomes of the statements behind the branch, and the code with the variables behind them."""
    predicated, when = Predicated(code, branch, fresh, frozenset()), Predicate(condition.tensor, holds=False)
    edits: list[Draft] = []
    for one in rest:
        require_unguarded(code, one)
        if not is_harmless(code, [one]) and not _only_assigns(code, one):
            edits.append(code.statements.replace([one], predicated.statement(code, one, when, called=True)))
        code = code.after([one])
    if predicated.masks:
        raise DeclinedError("a list gets items after the branch")
    return edits, code


def _only_assigns(code: Code, one: ast.stmt) -> bool:
    """Whether a statement only binds a variable to what modules and functions compute, or counts up a new tensor."""
    match one:
        case (
            ast.Assign(targets=[ast.Name()], value=value) | ast.AnnAssign(target=ast.Name(), value=ast.expr() as value)
        ):
            return is_pure(code, value) or calls_only(value)
        case ast.AugAssign(target=ast.Name() as target, value=value):
            read = ast.copy_location(ast.Name(target.id, ast.Load()), target)
            held = [o for o in options(code.value(read)) if isinstance(o, Tensor)]
            if any(one.origin is not Origin.FRESH for one in held):
                raise DeclinedError(f"`{target.id}` is changed in place")
            return is_pure(code, value) or calls_only(value)
    return False
