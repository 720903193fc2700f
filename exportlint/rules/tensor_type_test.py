"""EXP602 tensor-type-test: `type(x) is torch.Tensor`, which is false while export traces."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from typing import TYPE_CHECKING

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import Origin, Tensor, Tuple, Unknown, Value
from exportlint.analysis.facts import TypeTest
from exportlint.claims import WARNING, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.tensor_evidence import surely_tensor
from exportlint.registry import rule

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression

CLAIM = Claim(non_strict=always(WARNING), strict=always(None))
TENSOR = frozenset({"torch.Tensor", "Tensor", "torch"})
PARAMETER = frozenset({
    "torch.nn.Parameter", "torch.nn.parameter.Parameter", "Parameter", "torch.nn.parameter",
})  # fmt: skip


@rule("EXP602", "tensor-type-test", TypeTest)
def tensor_type_test(fact: TypeTest, context: Context) -> Iterator[Report]:
    """`type(x) is torch.Tensor`, `type(x) == torch.Tensor`, `type(x).__name__ == "Tensor"`, `type(x) in (...)`."""
    severity = context.severity(CLAIM)
    real = PARAMETER if fact.operand.origin is Origin.PARAMETER else TENSOR
    if severity is None or fact.guarded or not real & set(fact.expected):
        return
    yield Report(
        severity,
        "type of a traced tensor compared: it is a FakeTensor there, so the other branch is exported",
        "use `isinstance(x, torch.Tensor)`",
        fix=lambda code: _fix(code, fact),
    )


PLAIN = frozenset({Origin.INPUT, Origin.FRESH, Origin.BUFFER})
"""Tensors that are `torch.Tensor`, and none of its subclasses."""


def _fix(code: Code, fact: TypeTest) -> Fix:
    node = code.node(ast.Compare)
    if len(node.ops) != 1:
        raise DeclinedError("the comparison is one of several")
    op, left, right = node.ops[0], node.left, node.comparators[0]
    if not isinstance(op, (ast.In, ast.NotIn)) and _tested(left) is None:
        left, right = right, left
    found = _tested(left)
    if found is None:
        raise DeclinedError("which tensor it is about is not to be seen in the comparison")
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
    safe = is_same and (is_one or surely_tensor(code, tensor))
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
