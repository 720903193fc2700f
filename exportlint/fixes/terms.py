"""Values that a condition chooses between, and `torch.where` of them."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from exportlint.analysis.joins import options
from exportlint.analysis.values import Const, Python, Scalar, Size
from exportlint.fixes.code import Code
from exportlint.fixes.conditions import Condition, tensor_condition
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.held import as_tensor, is_python
from exportlint.fixes.purity import require_pure
from exportlint.fixes.renaming import Names
from exportlint.fixes.shapes import Form, form
from exportlint.fixes.source_text import Piece


@dataclass(frozen=True, slots=True)
class Term:
    """An expression that is evaluated whichever way the code goes, and what is known of it.

    `items` are those of a tuple. `form` is None where nothing proves its shape and dtype. `safe`: what it was made of
    by earlier choices. `variable`: it is a tensor that others can see, not a new one.
    """

    source: Piece
    kind: str = "tensor"
    form: Form | None = None
    safe: bool = True
    variable: bool = False
    items: tuple[Term, ...] | None = None
    reads: frozenset[str] = field(default=frozenset())


def term(code: Code, node: ast.expr, names: Names) -> Term:
    """An expression of an arm. Raises DeclinedError if it cannot be evaluated in vain, or is no tensor or number."""
    if isinstance(node, ast.Tuple) and not any(isinstance(item, ast.Starred) for item in node.elts):
        items = tuple(term(code, item, names) for item in node.elts)
        source = Piece(f"({', '.join(i.source.text for i in items)}{',' if len(items) == 1 else ''})")
        reads = frozenset[str]().union(*(item.reads for item in items))
        return Term(source, "tuple", items=items, reads=reads)
    if isinstance(node, ast.IfExp) and not is_python(code, node.test):
        condition = tensor_condition(code, node.test)
        return choose(code, condition, term(code, node.body, names), term(code, node.orelse, names))
    require_pure(code, node)
    source, reads = names.renamed(code, node), names.read_by(node)
    value = code.value(node)
    held = as_tensor(value)
    if held is not None:
        if held.dynamic:
            raise DeclinedError("the size depends on the way taken")
        variable = isinstance(node, (ast.Name, ast.Attribute))
        return Term(source, form=form(code, node, names.forms), variable=variable, reads=reads)
    if all(_is_number(option) for option in options(value)):
        return Term(source, "number", reads=reads)
    return Term(source, "other", reads=reads)


def choose(code: Code, condition: Condition, one: Term, other: Term) -> Term:
    """One of two terms, as a condition says. Raises DeclinedError if `torch.where` has no such choice."""
    if one.items is not None and other.items is not None and len(one.items) == len(other.items):
        items = tuple(choose(code, condition, a, b) for a, b in zip(one.items, other.items, strict=True))
        source = Piece(f"({', '.join(i.source.text for i in items)}{',' if len(items) == 1 else ''})")
        return Term(source, "tuple", items=items, safe=all(item.safe for item in items))
    if one.source == other.source:
        return one
    if not {one.kind, other.kind} <= {"tensor", "number"}:
        raise DeclinedError("`torch.where` chooses between tensors only")
    arguments = (condition.text, one.source.text, other.source.text)
    source = Piece(f"{code.name('torch.where')}({', '.join(arguments)})")
    a, b = one.form, other.form
    agree = a is not None and b is not None and a.agrees(b) and a.total and b.total
    safe = condition.safe and agree and one.safe and other.safe
    return Term(source, form=a if agree else None, safe=safe, variable=one.variable or other.variable)


def _is_number(value: object) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, (bool, int, float))
    return isinstance(value, (Scalar, Size)) or (isinstance(value, Python) and value.type in {"int", "float", "bool"})
