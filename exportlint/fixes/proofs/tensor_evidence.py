"""Whether an argument of `forward` is a tensor, and no list of them, which can be counted and sliced as well.

`surely_tensor` asks the code for evidence, `is_tensor` takes an argument without any for a tensor.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass, field

from exportlint.analysis.domain.values import External, Origin, Tensor, TorchModule, Value
from exportlint.analysis.eval.parameter_usage import NOT_MODULES, TENSOR_ONLY
from exportlint.analysis.torch import table
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.tree import parameters
from exportlint.syntax.definitions import dotted

_NO_LIST = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)


def is_tensor(value: Value) -> bool:
    """Whether a value is taken for a tensor, as arguments of `forward` are that nothing else is said of."""
    return isinstance(value, Tensor) and not value.assumed and not value.optional


def surely_tensor(code: Code, node: ast.expr) -> bool:
    """Whether an expression is a tensor at the finding, and the code shows that its arguments are."""
    return code.surely(is_tensor, node) and all(_is_shown(code, name) for name in _names(node))


def _names(node: ast.expr) -> list[ast.Name]:
    """The variables that an expression is a tensor because of."""
    if isinstance(node, ast.BinOp):
        return [*_names(node.left), *_names(node.right)]
    if isinstance(node, ast.Compare):
        return [name for side in (node.left, *node.comparators) for name in _names(side)]
    if isinstance(node, ast.UnaryOp):
        return _names(node.operand)
    if isinstance(node, ast.Subscript):
        return _names(node.value)
    return [node] if isinstance(node, ast.Name) else []


def _is_shown(code: Code, name: ast.Name) -> bool:
    value = code.value(name)
    if not isinstance(value, Tensor) or value.origin is not Origin.INPUT or not value.name:
        return True
    function = code.tree.function(name)
    if function is None:
        return False
    names = {name.id, value.name}
    annotations = [code.text(a.annotation) for a in parameters(function) if a.arg in names and a.annotation]
    uses = code.tree.once(_uses, function)
    found = [uses[used] for used in names if used in uses]
    return (
        any("Tensor" in text for text in annotations)
        or any(use.shown for use in found)
        or any(_takes_tensors(code, callee) for use in found for callee in use.callees.values())
    )


@dataclass(slots=True)
class _Use:
    """How a function uses a variable: whether as only a tensor can be, and what it is given to, each written once."""

    shown: bool = False
    callees: dict[object, ast.expr] = field(default_factory=dict)


def _uses(function: ast.AST) -> dict[str, _Use]:
    found: defaultdict[str, _Use] = defaultdict(_Use)
    for node in ast.walk(function):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                found[name].shown |= attribute in TENSOR_ONLY - NOT_MODULES
            case ast.BinOp(left=left, op=op, right=right):
                is_list_sum = isinstance(op, ast.Add) and not any(isinstance(s, ast.Constant) for s in (left, right))
                shown = isinstance(op, _NO_LIST) or (isinstance(op, ast.Add) and not is_list_sum)
                for side in (left, right):
                    if isinstance(side, ast.Name):
                        found[side.id].shown |= shown
            case ast.Call(func=callee, args=[ast.Name(id=name), *_]):
                found[name].callees.setdefault(dotted(callee) or callee, callee)
    return dict(found)


def _takes_tensors(code: Code, function: ast.expr) -> bool:
    """Whether what is called takes nothing but a tensor first."""
    callee = code.value(function)
    api = table.lookup(callee.name) if isinstance(callee, External) else None
    takes = {o.types[0] for o in api.overloads if o.types} if api is not None and not api.creates else set()
    is_layer = isinstance(callee, TorchModule) and callee.items is None
    return takes == {"tensor"} or is_layer
