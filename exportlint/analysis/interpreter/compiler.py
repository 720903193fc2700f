"""Conditions on whether torch compiles or exports."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from exportlint.analysis import table
from exportlint.analysis.facts.tracing import CompilerBranch
from exportlint.analysis.interpreter.frame import Frame
from exportlint.analysis.outline import dotted
from exportlint.analysis.values import External, Tensor

ASK_COMPILER = frozenset({
    "torch.compiler.is_compiling", "torch.compiler.is_exporting", "torch.compiler.is_dynamo_compiling",
    "torch._dynamo.is_compiling", "torch._utils.is_compiling", "torch._dynamo.external_utils.is_compiling",
})  # fmt: skip


def note_compiler_branch(
    frame: Frame, test: ast.expr, is_true: bool | None, then: Sequence[ast.AST], otherwise: Sequence[ast.AST]
) -> None:
    """Record a condition on the compiler whose two ways surely compute different tensors: `x + 1` and `x - 1`."""
    negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    call = test.operand if isinstance(test, ast.UnaryOp) and negated else test
    if is_true is None or not isinstance(call, ast.Call) or not dotted(call.func):
        return
    callee = frame.peek(call.func)
    if not isinstance(callee, External) or table.resolve(callee.name) not in ASK_COMPILER:
        return
    if not otherwise and isinstance(then[-1], ast.Return):
        otherwise = frame.following[:1]
    if len(then) == len(otherwise) == 1 and _differ(frame, _computed(then[0]), _computed(otherwise[0])):
        frame.emit(CompilerBranch, call, None, api=callee.name, taken=is_true is not negated)


def _computed(node: ast.AST) -> ast.expr | None:
    """What a way computes: an expression, or what a statement returns or assigns."""
    if isinstance(node, (ast.Return, ast.Assign)):
        return node.value
    return node if isinstance(node, ast.expr) else None


def _differ(frame: Frame, one: ast.expr | None, other: ast.expr | None) -> bool:
    """Whether two expressions are the same but for an operator or a constant, and the result is a tensor."""
    if not isinstance(one, ast.BinOp) or not isinstance(other, ast.BinOp):
        return False
    operands = [(ast.dump(side.left), ast.dump(side.right)) for side in (one, other)]
    same_operands = operands[0] == operands[1] and type(one.op) is not type(other.op)
    constants = isinstance(one.right, ast.Constant) and isinstance(other.right, ast.Constant)
    other_constant = (
        constants and operands[0][0] == operands[1][0] and operands[0] != operands[1] and type(one.op) is type(other.op)
    )
    return (same_operands or other_constant) and isinstance(frame.peek(one), Tensor)
