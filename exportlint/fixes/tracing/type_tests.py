"""Questions for the type of a traced tensor or number, as `isinstance` of what it is while torch.export traces, too.

`type(x) is torch.Tensor` becomes `isinstance(x, torch.Tensor)`, and `type(n) is int` of a size becomes
`isinstance(n, (int, torch.SymInt))`.

Safe: the tensor is of no subclass, and where it is asked for other classes as well, surely a tensor, and what it is
asked for are classes; the number is a size, or was read from a tensor. Otherwise subclasses are instances, too, such as
True of `int`, and `isinstance` refuses what is no class.
"""

from __future__ import annotations

import ast
from collections.abc import Set
from typing import TYPE_CHECKING

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import ClassValue, External, Origin, Scalar, Tensor, Tuple, Unknown, Value
from exportlint.analysis.facts import TypeTest
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.size_values import is_size
from exportlint.fixes.proofs.tensor_evidence import surely_tensor

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression

PLAIN = frozenset({Origin.INPUT, Origin.FRESH, Origin.BUFFER})
"""Tensors that are `torch.Tensor`, and none of its subclasses."""
SYMBOLIC = {"int": "torch.SymInt", "float": "torch.SymFloat", "bool": "torch.SymBool"}


def tensor_test(code: Code, fact: TypeTest) -> Fix:
    """`isinstance` instead of a comparison of a tensor's type. Raises DeclinedError where the tensor is not seen."""
    node = code.node(ast.Compare)
    if len(node.ops) != 1:
        raise DeclinedError("the comparison is one of several")
    op, left, right = node.ops[0], node.left, node.comparators[0]
    if not isinstance(op, (ast.In, ast.NotIn)) and _tested(left) is None:
        left, right = right, left
    found = _tested(left)
    if found is None:
        raise DeclinedError("the tensor is not written in the comparison")
    tensor, attribute = found
    is_parameter = fact.operand.origin is Origin.PARAMETER
    if attribute:
        name = "torch.nn.Parameter" if is_parameter else "torch.Tensor"
        if not isinstance(right, ast.Constant) or right.value != name.rpartition(".")[2]:
            raise DeclinedError("it is compared with more than the name of the class")
        expected = code.make("{name}", name=code.name(name, node))
    else:
        expected = _classes(code, right) if isinstance(op, (ast.In, ast.NotIn)) else code.concrete(right)
    is_negated = isinstance(op, (ast.IsNot, ast.NotEq, ast.NotIn))
    template = "not isinstance({tensor}, {expected})" if is_negated else "isinstance({tensor}, {expected})"
    asks = code.make(template, tensor=tensor, expected=expected)
    plain = PLAIN | {Origin.PARAMETER} if is_parameter else PLAIN
    is_one = not isinstance(op, (ast.In, ast.NotIn)) or len(getattr(right, "elts", ())) == 1
    is_same = code.surely(lambda value: all(_is_same(each, plain, is_one=is_one) for each in options(value)), tensor)
    named = getattr(right, "elts", (right,)) if not attribute else ()
    safe = is_same and (is_one or surely_tensor(code, tensor)) and code.surely(_is_class, *named)
    return code.fix("Use `isinstance`", code.replace(node, asks), safe=safe)


def _tested(node: ast.expr) -> tuple[ast.expr, str] | None:
    """The tensor whose type an expression is, and the attribute of the type that it takes."""
    if isinstance(node, ast.Call):
        is_type = isinstance(node.func, ast.Name) and node.func.id == "type" and len(node.args) == 1
        return (node.args[0], "") if is_type and not node.keywords else None
    if not isinstance(node, ast.Attribute):
        return None
    if node.attr == "__class__":
        return node.value, ""
    if node.attr in {"__name__", "__qualname__"}:
        found = _tested(node.value)
        return (found[0], node.attr) if found is not None and not found[1] else None
    return None


def _classes(code: Code, node: ast.expr) -> Expression:
    """What `isinstance` takes for the classes of a container."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        if len(node.elts) == 1:
            return code.concrete(node.elts[0])
        return code.make("({*classes},)", classes=node.elts)
    value = code.value(node)
    if not isinstance(value, Tuple) or value.mutable:
        raise DeclinedError("`isinstance` takes a tuple of classes")
    return code.concrete(node)


def _is_same(value: Value, plain: Set[Origin], *, is_one: bool) -> bool:
    """Whether `isinstance` says of a value what its type does.

    That is so for no tensor of a subclass. Where other classes are asked for as well, these have subclasses, too.
    """
    return value.origin in plain if isinstance(value, Tensor) else is_one and not isinstance(value, Unknown)


def _is_class(value: Value) -> bool:
    """Whether `isinstance` takes it. It refuses modules and texts, to which a type is just not equal."""
    if isinstance(value, External):
        module, _, name = value.name.rpartition(".")
        return module == "builtins" or name[:1].isupper() or name == "ndarray"
    return isinstance(value, ClassValue) or (isinstance(value, Tuple) and all(map(_is_class, value.items)))


def number_test(code: Code, kind: str | None) -> Fix:
    """`isinstance` of the symbolic type as well, of a number whose kind may be known. Raises DeclinedError."""
    test: ast.expr = code.node(ast.Call, ast.Compare)
    parent = code.tree.parents[test]
    if isinstance(parent, ast.Compare) and parent.left is test:
        test = parent
    number, expected, is_negated = _asked(test)
    named = [*expected.elts] if isinstance(expected, ast.Tuple) else [expected]
    asked = {code.value(part) for part in ast.walk(expected) if isinstance(part, ast.expr)}
    kinds = [k for k in SYMBOLIC if External(f"builtins.{k}") in asked and kind in {k, None}]
    if not kinds:
        raise DeclinedError("it tests for another type")
    symbolic = [code.name(SYMBOLIC[k]) for k in kinds]
    asks = code.make("isinstance({number}, ({*kinds},))", number=number, kinds=[*named, *symbolic])
    asks = code.make("not {asks}", asks=asks) if is_negated else asks
    is_same = code.surely(lambda v: is_size(v) or (isinstance(v, Scalar) and v.kind in {"int", "float"}), number)
    return code.fix(f"Test for `{'`, `'.join(symbolic)}` as well", code.replace(test, asks), safe=is_same)


def _asked(test: ast.expr) -> tuple[ast.expr, ast.expr, bool]:
    """A number, the type that it is asked to have, and whether it is asked not to have it. Raises DeclinedError."""
    match test:
        case ast.Call(args=[number, expected]):
            return number, expected, False
        case ast.Compare(left=ast.Call(args=[number]), ops=[ast.Is() | ast.Eq()], comparators=[expected]):
            return number, expected, False
        case ast.Compare(left=ast.Call(args=[number]), ops=[ast.IsNot() | ast.NotEq()], comparators=[expected]):
            return number, expected, True
    raise DeclinedError("it is not a plain type test")
