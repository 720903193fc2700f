"""Writes that hang on tensor data: they always happen, and `torch.where` keeps the old values."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.facts import Fact
from exportlint.analysis.torch import table
from exportlint.findings import Fix
from exportlint.fixes.code import Code
from exportlint.fixes.conditions import tensor_condition
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.guarded import require_unguarded
from exportlint.fixes.merging import OPERATORS, Fresh, hoisted
from exportlint.fixes.observed_values import operation, tensor
from exportlint.fixes.precedence import Precedence
from exportlint.fixes.purity import is_pure
from exportlint.fixes.selection import branch_of

NEUTRAL: dict[type[ast.operator], str] = {ast.Add: "0", ast.Sub: "0", ast.Mult: "1", ast.Div: "1"}
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
    lines: list[str] = []
    if len(branch.body) > 1:
        conditions = hoisted(conditions, lines, Fresh(code, branch))
    here = code
    for statement in branch.body:
        lines += _written(here, statement, conditions[0].text)
        here = here.after([statement])
    message = "Write in any case, and keep the old values with `torch.where`"
    return code.fix(message, code.statements.replace([branch], lines), safe=False)


def _written(code: Code, statement: ast.stmt, condition: str) -> Iterator[str]:
    where = code.name("torch.where")
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = _target(code, statement.targets[0])
        yield f"{target} = {where}({condition}, {_value(code, statement.value)}, {target})"
    elif isinstance(statement, ast.AugAssign) and type(statement.op) in OPERATORS:
        target, symbol = _target(code, statement.target), OPERATORS[type(statement.op)]
        neutral = NEUTRAL.get(type(statement.op))
        if neutral is None:
            raise DeclinedError("the operator has no neutral operand")
        yield f"{target} {symbol}= {where}({condition}, {_value(code, statement.value)}, {neutral})"
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        yield _called(code, statement.value, condition, where)
    else:
        raise DeclinedError("it does more than write")


def _target(code: Code, node: ast.expr) -> str:
    """A place that holds a tensor, as source to read and to write."""
    if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        raise DeclinedError("several places are written")
    read = ast.parse(code.text(node), mode="eval").body
    if tensor(code, read) is None or not is_pure(code, read):
        raise DeclinedError("what is written is no tensor")
    return code.text(node)


def _value(code: Code, node: ast.expr) -> str:
    if not is_pure(code, node):
        raise DeclinedError("what is written has effects")
    require_unguarded(code, node)
    return code.text(node)


def _called(code: Code, call: ast.Call, condition: str, where: str) -> str:
    """`t.add_(x)` as `t.copy_(…)` of what `t.add(x)` gives."""
    name = operation(code, call)
    if not isinstance(call.func, ast.Attribute) or name is None or not name.endswith("_") or call.keywords:
        raise DeclinedError("it does more than write")
    target = code.operand(call.func.value, Precedence.ATOM)
    arguments = [_value(code, argument) for argument in call.args]
    if not is_pure(code, call.func.value):
        raise DeclinedError("what is written has effects")
    known = table.tensor_member(name[:-1])
    if name in {"copy_", "fill_"} and len(arguments) == 1:
        new = arguments[0]
    elif name == "zero_":
        new = "0"
    elif known is not None and known.kind == "method" and not known.random and not known.view:
        new = f"{target}.{name[:-1]}({', '.join(arguments)})"
    else:
        raise DeclinedError("the method has no twin that gives a new tensor")
    return f"{target}.copy_({where}({condition}, {new}, {target}))"
