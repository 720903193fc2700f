"""Conditions that are refused for no tensors, so that they can be asked where Python did not.

`is_total` and `is_total_number` ask this of expressions, `has_truth` of conditions; `evaluated` is what Python asks
in any case.
"""

from __future__ import annotations

import ast

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import Const, Python, Scalar, Size, Tensor, Unknown, Value
from exportlint.fixes.edit.code import Code
from exportlint.fixes.numbers.operands import is_scalar
from exportlint.fixes.proofs.observed_values import builtin, operands, operation, tensor
from exportlint.fixes.proofs.tensor_evidence import surely_tensor

REDUCTIONS = frozenset({"sum", "any", "all", "count_nonzero"})
"""Reductions that take empty tensors, and those of each dtype."""
POINTWISE = frozenset({"isnan", "isinf", "isfinite", "clone", "detach", "bool", "double"})
COUNTS = frozenset({"numel", "nelement", "dim", "item"})
ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
"""Comparisons that raise for values without an order."""


def evaluated(test: ast.expr) -> frozenset[str]:
    """The source of what Python evaluates to know a condition, whatever comes of it."""
    parts = [test]
    for part in parts:
        if isinstance(part, ast.BoolOp):
            parts.append(part.values[0])
        elif isinstance(part, ast.Compare):
            parts += [part.left, part.comparators[0]]
        elif not isinstance(part, (ast.IfExp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            parts += [child for child in ast.iter_child_nodes(part) if isinstance(child, ast.expr)]
    return frozenset(map(ast.unparse, parts))


def is_total(code: Code, node: ast.expr, known: frozenset[str]) -> bool:
    """Whether an expression has a value whatever tensors its variables hold; only that of one element has a truth.

    `known` is the source of what was evaluated before.
    """
    if ast.unparse(node) in known:
        return True
    if isinstance(node, ast.BoolOp):
        return all(is_total(code, value, known) for value in node.values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return is_total(code, node.operand, known)
    if isinstance(node, ast.Compare):
        sides = (node.left, *node.comparators)
        several = sum(not is_scalar(code, side) for side in sides)
        if any(isinstance(op, ORDERS) for op in node.ops) and not all(_may_have_order(code, side) for side in sides):
            return False
        return several <= 1 and all(is_total(code, side, known) for side in sides)
    if isinstance(node, ast.Call):
        name, given = operation(code, node), operands(code, node)
        if builtin(code, node) == "bool" and len(node.args) == 1:
            return is_total(code, node.args[0], known)
        return (
            name in REDUCTIONS | POINTWISE | COUNTS
            and len(given) == 1
            and not node.keywords
            and (name != "item" or is_scalar(code, given[0]))
            and is_total(code, given[0], known)
        )
    if isinstance(node, (ast.Name, ast.Attribute)):
        return tensor(code, node) is None or surely_tensor(code, node)
    return isinstance(node, ast.Constant)


def is_total_number(code: Code, node: ast.expr) -> bool:
    """Whether a number of Python has a value whatever its variables hold: `n * 2 + 1`, and not `1 / n` or `self.n`."""
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.op, ast.Invert) and is_total_number(code, node.operand)
    if isinstance(node, ast.BinOp):
        grows = isinstance(node.op, (ast.Add, ast.Sub, ast.Mult))
        return grows and is_total_number(code, node.left) and is_total_number(code, node.right)
    return isinstance(node, (ast.Constant, ast.Name)) and code.surely(_is_number, node)


def _is_number(value: Value) -> bool:
    is_constant = isinstance(value, Const) and isinstance(value.value, (bool, int, float))
    return is_constant or (isinstance(value, Size) and value.kind in {"int", "float"})


def _may_have_order(code: Code, node: ast.expr) -> bool:
    """Whether an operand of `<` can be a number or a tensor in all ways that lead here."""
    return all(isinstance(v, (Tensor, Scalar, Unknown, Python)) or _is_number(v) for v in options(code.value(node)))


def has_truth(code: Code, node: ast.expr, known: frozenset[str]) -> bool:
    """Whether a condition can be asked for its truth whatever tensors its variables hold."""
    if isinstance(node, ast.BoolOp):
        return all(has_truth(code, value, known) for value in node.values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return has_truth(code, node.operand, known)
    return is_total(code, node, known) and (tensor(code, node) is None or is_scalar(code, node))
