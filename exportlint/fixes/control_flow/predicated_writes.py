"""Writes that hang on tensor data: they always happen, and `torch.where` keeps the old values.

`if c: x[i] = v` becomes `x[i] = torch.where(c, v, x[i])`, and `x.add_(v)` becomes `x.copy_(torch.where(c, x.add(v),
x))`.

Never safe: the version of the tensor counts up in any case, and what is written is broadcast and cast.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from exportlint.analysis.facts import Fact
from exportlint.analysis.torch import table
from exportlint.findings import Fix
from exportlint.fixes.control_flow.conditions import tensor_condition
from exportlint.fixes.control_flow.merging import Fresh, hoisted
from exportlint.fixes.control_flow.where import branch_of
from exportlint.fixes.edit.blocks import analysed
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import SYMBOLS, augmented, call, expression, method, statement
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.guarded_indices import require_unguarded
from exportlint.fixes.proofs.observed_values import operation, tensor
from exportlint.fixes.proofs.purity import is_pure

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression, Statement

NEUTRAL: dict[type[ast.operator], int] = {ast.Add: 0, ast.Sub: 0, ast.Mult: 1, ast.Div: 1}
"""What changes nothing as the right operand."""


def write_fix(code: Code, _: Fact) -> Fix:
    """Write what was there where the condition of an `if` without `else` does not hold. Never safe.

    Raises:
        DeclinedError: it does more than write to tensors and assign variables.
    """
    branch = branch_of(code)
    if not isinstance(branch, ast.If) or branch.orelse or code.tree.function(branch) is None:
        raise DeclinedError("it is no `if` without `else`")
    conditions = [tensor_condition(code, branch.test)]
    lines: list[Statement] = []
    if len(branch.body) > 1:
        conditions = hoisted(conditions, lines, Fresh(code, branch))
    here = code
    for one in branch.body:
        lines.append(_written(here, one, conditions[0].tensor))
        here = here.after([one])
    message = "Write in any case, and keep the old values with `torch.where`"
    return code.fix(message, code.statements.replace([branch], lines), safe=False)


def _written(code: Code, writing: ast.stmt, condition: Expression) -> Statement:
    where = code.name("torch.where")
    if isinstance(writing, ast.Assign) and len(writing.targets) == 1:
        target = _target(code, writing.targets[0])
        new = call(where, condition, _value(code, writing.value), target)
        return statement("{target} = {new}", target=target, new=new)
    if isinstance(writing, ast.AugAssign):
        target, symbol = _target(code, writing.target), SYMBOLS[type(writing.op)]
        neutral = NEUTRAL.get(type(writing.op))
        if neutral is None:
            raise DeclinedError("the operator has no neutral operand")
        return augmented(symbol, target, call(where, condition, _value(code, writing.value), neutral))
    if isinstance(writing, ast.Expr) and isinstance(writing.value, ast.Call):
        return statement("{copy}", copy=_called(code, writing.value, condition, where))
    raise DeclinedError("it does more than write")


def _target(code: Code, node: ast.expr) -> Expression:
    """A place that holds a tensor, to read and to write."""
    if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        raise DeclinedError("several places are written")
    (read,) = analysed([code.statement("{place}", place=node)])
    assert isinstance(read, ast.Expr)
    if tensor(code, read.value) is None or not is_pure(code, read.value):
        raise DeclinedError("what is written is no tensor")
    return code.concrete(node)


def _value(code: Code, node: ast.expr) -> Expression:
    if not is_pure(code, node):
        raise DeclinedError("what is written has effects")
    require_unguarded(code, node)
    return code.concrete(node)


def _called(code: Code, made: ast.Call, condition: Expression, where: str) -> Expression:
    """`t.add_(x)` as `t.copy_(…)` of what `t.add(x)` gives."""
    name = operation(code, made)
    if not isinstance(made.func, ast.Attribute) or name is None or not name.endswith("_") or made.keywords:
        raise DeclinedError("it does more than write")
    target = code.concrete(made.func.value)
    arguments = [_value(code, argument) for argument in made.args]
    if not is_pure(code, made.func.value):
        raise DeclinedError("what is written has effects")
    known = table.tensor_member(name[:-1])
    if name in {"copy_", "fill_"} and len(arguments) == 1:
        new = arguments[0]
    elif name == "zero_":
        new = expression("0")
    elif known is not None and known.kind == "method" and not known.random and not known.view:
        new = method(target, name[:-1], *arguments)
    else:
        raise DeclinedError("the method has no twin that gives a new tensor")
    return method(target, "copy_", call(where, condition, new, target))
