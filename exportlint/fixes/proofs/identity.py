"""Whether code can tell a tensor from another one that holds the same: it writes in place, or asks which it is.

`matters` asks about both, `is_told` only about code that asks which tensor it is.
"""

from __future__ import annotations

import ast

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import External, Tensor, TorchModule, Unknown
from exportlint.analysis.library_functions import find
from exportlint.analysis.torch import table
from exportlint.fixes.edit.code import Code
from exportlint.fixes.proofs.observed_values import builtin
from exportlint.fixes.proofs.purity import api_of, is_harmless_api, is_stateless
from exportlint.fixes.proofs.writes import written
from exportlint.syntax.definitions import dotted

ADDRESSES = frozenset({"data_ptr", "storage", "untyped_storage", "storage_offset", "is_set_to", "swap_tensors"})
HISTORY = frozenset({"_base", "_version", "grad", "grad_fn", "is_leaf", "output_nr", "register_hook", "retain_grad"})
"""What autograd knows of a tensor itself, and not of its values."""


def matters(code: Code, node: ast.AST) -> bool:
    """Whether it may matter to code around a node which tensors are the same.

    No code of the file writes in place, and its function gives tensors to known operators only: else it does.
    """
    tree = code.tree
    if tree.once(_writes_somewhere, tree.root) or is_told(code, node):
        return True
    return not all(_is_operator(code, call) for call in tree.once(_calls, tree.function(node) or tree.root))


def is_told(code: Code, node: ast.AST) -> bool:
    """Whether the function around a node asks which tensors are the same, or keeps one: a view of one is another."""
    return code.tree.once(_tells_somewhere, code.tree.function(node) or code.tree.root)


def _writes_somewhere(root: ast.Module) -> bool:
    return any(map(_writes, ast.walk(root)))


def _writes(node: ast.AST) -> bool:
    in_place = isinstance(node, ast.keyword) and node.arg == "inplace"
    return in_place or isinstance(node, ast.Delete) or written(node) is not None


def _tells_somewhere(function: ast.AST) -> bool:
    return any(map(_tells, ast.walk(function)))


def _tells(node: ast.AST) -> bool:
    """Whether a part of a function writes a tensor, or asks for its identity."""
    if isinstance(node, ast.Attribute):
        return isinstance(node.ctx, ast.Store) or node.attr in ADDRESSES | HISTORY
    if isinstance(node, (ast.Set, ast.Dict)):  # tensors are found by their identity
        items = node.elts if isinstance(node, ast.Set) else node.keys
        return not all(isinstance(item, ast.Constant) for item in items)
    if isinstance(node, ast.Compare):
        identity = any(isinstance(operator, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for operator in node.ops)
        return identity and not any(isinstance(side, ast.Constant) for side in (node.left, *node.comparators))
    return False


def _calls(function: ast.AST) -> list[ast.Call]:
    """The calls in a function, one for all that have the same to be said of them."""
    found: dict[object, ast.Call] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            name = dotted(node.func)
            keywords = frozenset(keyword.arg for keyword in node.keywords)
            found.setdefault(node if name is None else (name, len(node.args), keywords), node)
    return list(found.values())


def _is_operator(code: Code, call: ast.Call) -> bool:
    """Whether a call is of an operator that writes to nothing, or of a function of Python that makes a value."""
    called = code.value(call.func)
    if isinstance(called, External) and (builtin(code, call) is not None or find(called.name).pure):
        return find(called.name).pure
    if isinstance(called, TorchModule):
        return is_stateless(called)
    api = api_of(code, call)
    if api is None and isinstance(call.func, ast.Attribute):
        receiver = code.value(call.func.value)
        if all(isinstance(option, (Tensor, Unknown)) for option in options(receiver)) and not _is_own(call.func.value):
            api = table.tensor_member(call.func.attr)
    return api is not None and is_harmless_api(api, call)


def _is_own(node: ast.expr) -> bool:
    """Whether an expression is `self`, or something that the module has."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return isinstance(node, ast.Name) and node.id == "self"
