"""Which code holds on to a tensor, or to a part of it, and not only to values computed from it."""

from __future__ import annotations

import ast

from exportlint.analysis.torch import table
from exportlint.analysis.torch.registry import find
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.names import qualified
from exportlint.fixes.proofs.purity import is_harmless_api


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


def _is_operator(code: Code, call: ast.Call) -> bool:
    name = qualified(call.func, code.tree.root, code.module.package) or ""
    api = table.lookup(name)
    is_function = api is not None and api.kind == "function" and is_harmless_api(api, call)
    return api is not None and is_function and not api.view and find(name).storage == "new"
