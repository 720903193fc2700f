"""Loops that tensor data ends, or makes skip the rest of a pass: all passes run, and `torch.where` drops results."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from exportlint.analysis.facts import Branch
from exportlint.findings import Fix
from exportlint.fixes.bodies import is_tensor
from exportlint.fixes.code import Code
from exportlint.fixes.conditions import tensor_condition
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.precedence import Precedence
from exportlint.fixes.purity import is_pure
from exportlint.fixes.statements import Draft
from exportlint.fixes.variables import bound, needed, needed_after

OPERATORS: dict[type[ast.operator], tuple[str, Precedence]] = {
    ast.Add: ("+", Precedence.SUM),
    ast.Sub: ("-", Precedence.SUM),
    ast.Mult: ("*", Precedence.PRODUCT),
    ast.Div: ("/", Precedence.PRODUCT),
    ast.MatMult: ("@", Precedence.PRODUCT),
}


def masked_fix(code: Code, fact: Branch) -> Fix:
    """Keep the old values where `if …: break` or `if …: continue` has left the loop or the pass.

    Raises:
        DeclinedError: the loop does something else than assign tensors.
    """
    statement = code.tree.statement(code.expression)
    if not isinstance(statement, ast.If) or statement.orelse or len(statement.body) != 1:
        raise DeclinedError("it is no `if …: break`")
    leave = statement.body[0]
    if not isinstance(leave, (ast.Break, ast.Continue)):
        raise DeclinedError("it is no `if …: break`")
    loop = code.tree.parents[statement]
    if not isinstance(loop, ast.For) or loop.orelse:
        raise DeclinedError("it does not stand in the body of a `for`")
    condition = tensor_condition(code, statement.test)
    flag = code.fresh("stop" if isinstance(leave, ast.Break) else "skip", loop)
    carried = _carried(code, loop)
    index = loop.body.index(statement)
    if isinstance(leave, ast.Break):
        first = code.statements.insert_before(loop, [f"{flag} = {code.name('torch.tensor')}(False)"])
        test = condition.piece.at(Precedence(Precedence.BIT_OR + 1))
        edits = [first, code.statements.replace([statement], [f"{flag} = {flag} | {test}"])]
        masked = loop.body[:index] + loop.body[index + 1 :]
    else:
        edits = [code.statements.replace([statement], [f"{flag} = {condition.text}"])]
        masked = loop.body[index + 1 :]
    for one in masked:
        edits += _masked(code, one, flag, carried)
    message = "Run all passes and drop results with `torch.where`, which needs them of one shape"
    return code.fix(message, *edits, safe=False)


def _carried(code: Code, loop: ast.For) -> set[str]:
    """The variables that a pass takes from the one before it, or leaves behind the loop."""
    found = set(bound(loop.body)) & (set(needed(loop.body)) | needed_after(code.tree, loop))
    if set(bound([loop.target])) & needed_after(code.tree, loop):
        raise DeclinedError("the variable of the loop is used behind it")
    return found


def _masked(code: Code, statement: ast.stmt, flag: str, carried: set[str]) -> Sequence[Draft]:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, value = statement.targets[0], statement.value
    elif isinstance(statement, ast.AugAssign):
        target, value = statement.target, statement.value
    else:
        raise DeclinedError("the loop does more than assign variables")
    if not isinstance(target, ast.Name) or not _has_no_effect(code, value):
        raise DeclinedError("the loop does more than assign variables")
    if target.id not in carried:
        return []
    if any((v := moment.variable(target.id)) is None or not is_tensor(v) for moment in code.moments.snapshots):
        raise DeclinedError(f"`{target.id}` holds no tensor in front of the loop")
    if isinstance(statement, ast.AugAssign):
        symbol, place = OPERATORS.get(type(statement.op), ("", Precedence.SUM))
        if not symbol:
            raise DeclinedError("an assignment has an operator that is not known")
        text = f"{target.id} {symbol} {code.operand(value, Precedence(place + 1))}"
    else:
        text = code.operand(value)
    return [
        code.statements.replace([statement], [f"{target.id} = {code.name('torch.where')}({flag}, {target.id}, {text})"])
    ]


def _has_no_effect(code: Code, node: ast.expr) -> bool:
    """Whether an expression surely has no effect, or is the call of a module or function, as far as that shows."""
    if is_pure(code, node):
        return True
    calls = [part for part in ast.walk(node) if isinstance(part, ast.Call)]
    return not any(
        isinstance(part, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)) for part in ast.walk(node)
    ) and not any(isinstance(call.func, ast.Attribute) and call.func.attr.endswith("_") for call in calls)
