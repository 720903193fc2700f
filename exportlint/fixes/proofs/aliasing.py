"""Which code holds on to a tensor, or to a part of it, and not only to values computed from it.

`is_consumed` asks whether an operator only takes the values, `may_be_saved` whether autograd may keep the tensor.
"""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import Const, External, Python, Size
from exportlint.analysis.torch import table
from exportlint.analysis.torch.registry import find
from exportlint.fixes.edit.code import Code
from exportlint.fixes.proofs.observed_values import is_tensor_method
from exportlint.fixes.proofs.purity import is_harmless_api

SAVING = (ast.Mult, ast.Div, ast.Pow, ast.MatMult, ast.FloorDiv, ast.Mod)
"""Operators that need what they computed with for their gradients."""


def is_consumed(code: Code, node: ast.expr) -> bool:
    """Whether an operator takes the values of a tensor, so that nobody holds on to the tensor itself."""
    parent = code.tree.parents[node]
    if isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.AugAssign)):
        return True
    if isinstance(parent, ast.Attribute):
        api = table.tensor_member(parent.attr)
        if find(parent.attr).storage != "new" or api is None:
            outer = code.tree.parents[parent]
            return is_consumed(code, outer if isinstance(outer, ast.Call) else parent)
        return True
    if isinstance(parent, (ast.List, ast.Tuple, ast.keyword)):
        call = code.tree.parents[parent]
        return isinstance(call, ast.Call) and _is_operator(code, call)
    if isinstance(parent, ast.Subscript):
        return node is parent.slice or is_consumed(code, parent)
    return isinstance(parent, ast.Call) and _is_operator(code, parent)


def may_be_saved(code: Code, node: ast.expr) -> bool:
    """Whether the operator that takes a tensor may save it for gradients of another one: a later write is refused."""
    parent = code.tree.parents[node]
    if isinstance(parent, (ast.BinOp, ast.AugAssign)):
        sides = (parent.left, parent.right) if isinstance(parent, ast.BinOp) else (parent.target, parent.value)
        return isinstance(parent.op, SAVING) and not all(_is_plain(code, side) for side in sides if side is not node)
    if isinstance(parent, ast.Attribute):
        call = code.tree.parents[parent]
        if not isinstance(call, ast.Call) or find(parent.attr).storage != "new":
            return may_be_saved(code, call if isinstance(call, ast.Call) else parent)
        return not all(_is_plain(code, given) for given in (*call.args, *(k.value for k in call.keywords)))
    if isinstance(parent, ast.Subscript):
        return node is parent.slice or may_be_saved(code, parent)
    return isinstance(parent, (ast.Call, ast.keyword, ast.List, ast.Tuple))


def _is_plain(code: Code, node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or isinstance(code.value(node), (Const, Python, Size))


def _is_operator(code: Code, call: ast.Call) -> bool:
    called = code.value(call.func)
    if isinstance(call.func, ast.Attribute) and is_tensor_method(called):
        method = table.tensor_member(call.func.attr)
        is_new = find(call.func.attr).storage == "new"
        return is_new and method is not None and method.kind == "method" and is_harmless_api(method, call)
    api = table.lookup(called.name) if isinstance(called, External) else None
    if api is None or api.kind != "function" or api.view or not is_harmless_api(api, call):
        return False
    return isinstance(called, External) and find(called.name).storage == "new"
