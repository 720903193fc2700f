"""Gradients of `torch.func`, computed by `torch.autograd.grad`, which non-strict mode can trace.

`torch.func.grad(f)(x)` becomes a variable, for which, in front of the statement, stands:

    with torch.enable_grad():
        point = x.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(f(point), point)

Needs: a lambda of one tensor that gives one number, and computes it by operators whose derivatives take their operands.
What takes the result of an operator, as that of `exp` does, torch.export does not find among the tensors of the program
(2.13). Never safe: no gradients flow through the result.
"""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import External, Tensor
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.observed_values import tensor
from exportlint.fixes.proofs.purity import is_pure

_SOMETIMES = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.comprehension)
_SIMPLE = (ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)

TRACED = frozenset({
    "sin", "cos", "log", "log1p", "square", "pow", "abs", "neg", "mul", "add", "sub", "mean", "sum", "prod", "var",
    "clamp", "reshape", "view", "transpose", "cat", "where", "softplus", "gelu", "silu", "matmul", "mm", "dot",
    "mse_loss", "cumsum", "erf", "atan", "minimum", "maximum", "detach",
})  # fmt: skip
"""Operators whose derivatives take their operands; measured with torch 2.13."""

GRADIENT = """with {enable_grad}():
    {point} = {x}.detach().requires_grad_()
    ({gradient},) = {grad}({result}, {point})"""


def by_autograd(code: Code) -> Fix:
    """A fix for the call of `torch.func.grad(f)` or `torch.func.jacrev(f)`.

    Raises:
        DeclinedError: it differentiates something else, or is not evaluated once in front of its statement.
    """
    call = code.node(ast.Call)
    match call:
        case ast.Call(func=ast.Call(args=[function], keywords=[]), args=[x], keywords=[]):
            pass
        case _:
            raise DeclinedError("it has options, or several arguments")
    statement = code.tree.statement(call)
    inside = [node for node in code.tree.ancestors(call) if statement in (node, *code.tree.ancestors(node))]
    if not isinstance(statement, _SIMPLE) or any(isinstance(node, _SOMETIMES) for node in inside):
        raise DeclinedError("it is evaluated more than once, or maybe not at all")
    if tensor(code, x) is None or not is_pure(code, x):
        raise DeclinedError("it may differentiate with respect to a value that is not a tensor")
    if not isinstance(function, ast.Lambda) or len(function.args.args) != 1 or not _is_traced(code, function.body):
        raise DeclinedError("torch.export may not trace what its derivative reads")
    result = code.value(ast.fix_missing_locations(ast.copy_location(ast.Call(function, [x], []), call)))
    if not isinstance(result, Tensor) or not result.zero_dim:
        raise DeclinedError("the function may return more than one number")
    point, gradient = code.fresh("point", call), code.fresh("gradient", call)
    value = code.renamed({function.args.args[0].arg: point}).concrete(function.body)
    computed = code.statement(
        GRADIENT,
        enable_grad=code.name("torch.enable_grad", call),
        point=point,
        x=x,
        gradient=gradient,
        grad=code.name("torch.autograd.grad", call),
        result=value,
    )
    return code.fix(
        "Differentiate with `torch.autograd.grad`, whose result carries no gradients",
        code.statements.insert_before(statement, [computed]),
        code.replace(call, code.make("{gradient}", gradient=gradient)),
        safe=False,
    )


def _is_traced(code: Code, node: ast.expr) -> bool:
    """Whether the derivative of an expression takes nothing but its operands."""
    match node:
        case ast.Name() | ast.Constant() | ast.Attribute(value=ast.Name()):
            return True
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_traced(code, operand)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.MatMult(), right=right):
            return _is_traced(code, left) and _is_traced(code, right)
        case ast.BinOp(left=left, op=ast.Pow() | ast.Div(), right=ast.Constant()):
            return _is_traced(code, left)
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args, keywords=keywords):
            parts = [*args, *(keyword.value for keyword in keywords)]
            is_function = isinstance(code.value(node.func), External)
            return (
                name in TRACED
                and all(_is_traced(code, part) or _is_size(part) for part in parts)
                and (is_function or _is_traced(code, owner))
            )
    return False


def _is_size(node: ast.expr) -> bool:
    """`-1`, `(2, 3)`."""
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True
