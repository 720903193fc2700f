"""What operators are given: tuples of tensors, as many as their functions have parameters."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.trails import Trail
from exportlint.analysis.domain.values import (
    Const,
    Dict,
    Function,
    Object,
    Origin,
    Python,
    Scalar,
    Size,
    Tensor,
    TorchModule,
    Tuple,
    Value,
)
from exportlint.analysis.facts.control_flow import OperandMismatch
from exportlint.analysis.models.torch.control_flow.bodies import Site, leaves


def check_container(site: Site, parameter: str, operands: Value) -> bool:
    """Whether operands are a tuple or list, or may be."""
    if isinstance(operands, Tensor):
        return _refuse(site, "container", f"`{parameter}` is a tensor, not a tuple of tensors", operands)
    if isinstance(operands, Dict):
        return _refuse(site, "container", f"`{parameter}` is a dictionary, not a tuple of tensors")
    return isinstance(operands, Tuple)


def check_leaves(site: Site, parameter: str, operands: Value, *, ints: bool = False) -> bool:
    """Whether operands hold nothing but tensors, and `ints` where those are taken, or may do so."""
    for leaf in leaves(operands):
        if isinstance(leaf, Scalar) and not leaf.assumed:
            what = "a number read from a tensor"
            return _refuse(site, "symbol", f"`{parameter}` holds {what}, not a tensor", leaf)
        number = _number(leaf)
        if number is not None and not (ints and number in {"an int", "a bool", "a size"}):
            return _refuse(site, "number", f"`{parameter}` holds {number}, not a tensor")
        if isinstance(leaf, (Object, TorchModule, Function)):
            return _refuse(site, "object", f"`{parameter}` holds {_noun(leaf)}, not a tensor")
    return True


def _noun(value: Value) -> str:
    return (
        "a function" if isinstance(value, Function) else "a module" if isinstance(value, TorchModule) else "an object"
    )


NUMBERS = {"int": "an int", "float": "a float", "bool": "a bool", "str": "a string", "NoneType": "None"}


def _number(value: Value) -> str | None:
    """What a value is called that is not a tensor but one of Python's own; None for all else."""
    if isinstance(value, Size):
        return "a size"
    if isinstance(value, Const):
        return NUMBERS.get(type(value.value).__name__)
    return NUMBERS.get(value.type) if isinstance(value, Python) and value.type is not None else None


def check_views(site: Site, operands: Value, *, twice: bool) -> bool:
    """Whether no operand shares storage with another that is a view; with `twice`, not even with itself."""
    seen: list[tuple[ast.AST, Tensor]] = []
    for leaf in leaves(operands):
        if not isinstance(leaf, Tensor) or leaf.origin is Origin.FRESH or leaf.trail is None:
            continue
        root = _root(leaf.trail)
        for other_root, other in seen:
            if root is other_root and (twice or bool(leaf.name) != bool(other.name)):
                return _refuse(site, "alias", "two operands share their storage", leaf)
        seen.append((root, leaf))
    return True


def _root(trail: Trail) -> ast.AST:
    return trail.steps()[0].node


def check_count(site: Site, role: str, function: Value, count: int) -> bool:
    """Whether a function takes as many arguments as it will be given, as far as that is known."""
    if not isinstance(function, Function):
        return True
    spec = function.node.args
    names = [*spec.posonlyargs, *spec.args]
    given = count + (function.receiver is not None)
    least = len(names) - len(spec.defaults)
    if given >= least and (given <= len(names) or spec.vararg is not None):
        return True
    bound = function.receiver is not None
    text = f"`{role}` takes {len(names) - bound} arguments but gets {count}"
    return _refuse(site, "count", text)


def check_predicate(site: Site, predicate: Value, operands: Value) -> bool:
    """Whether a condition has one element: that of the comparison of a whole input has as many as the input."""
    node = site.node.args[0] if isinstance(site.node, ast.Call) and site.node.args else None
    if not isinstance(node, ast.Compare) or not isinstance(predicate, Tensor):
        return True
    if not site.frame.engine.options.dynamic_dims:
        return True
    inputs = {leaf.name for leaf in leaves(operands) if isinstance(leaf, Tensor) and leaf.origin is Origin.INPUT}
    for side in (node.left, *node.comparators):
        value = site.frame.peek(side)
        if isinstance(value, Tensor) and value.origin is Origin.INPUT and value.name in inputs and value.name:
            return _refuse(site, "predicate", "the condition has as many elements as its operand, not one", value)
    return True


def _refuse(site: Site, what: str, problem: str, operand: Value | None = None) -> bool:
    about = operand if isinstance(operand, (Tensor, Scalar)) else None
    site.frame.emit(
        OperandMismatch, site.node, about, operator=site.operator, what=what, problem=problem, operand=about
    )
    return False
