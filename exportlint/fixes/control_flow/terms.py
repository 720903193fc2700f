"""Values that a condition chooses between, and `torch.where` of them.

`choose` makes `torch.where(c, a, b)` of two terms, a tuple of choices of two tuples, and of equal terms one of them.

Safe: both terms have proven forms that agree (`proofs.result_shapes`), each is total, and the condition holds exactly
what Python asked. Otherwise they may be broadcast or promoted, or refused where Python did not compute them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import PYTHON, Const, Python, Scalar, Size, Tensor, Value
from exportlint.fixes.control_flow.conditions import condition_in_vain
from exportlint.fixes.control_flow.logic import Condition, Predicate
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import bare_tuple, call, expression, method, names_in, same
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.numbers.operands import operand
from exportlint.fixes.proofs.defined_operands import require_defined
from exportlint.fixes.proofs.guarded_indices import asked_numbers, guarded_indices, is_counted
from exportlint.fixes.proofs.observed_values import as_tensor, is_python, operation, scalar, tensor
from exportlint.fixes.proofs.purity import require_pure
from exportlint.fixes.proofs.result_shapes import Form, Forms, form
from exportlint.fixes.proofs.total_conditions import is_total_number

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression


DIVISIONS = (ast.Div, ast.FloorDiv, ast.Mod)


@dataclass(frozen=True, slots=True)
class Term:
    """An expression that is evaluated whichever way the code goes, and what is known of it.

    `items` are those of a tuple. `form` is None where nothing proves its shape and dtype. `safe`: what it was made of
    by earlier choices. `variable`: it is a tensor that others can see, not a new one. `total`: it is a number that is
    refused for no values of its variables. `dynamic`: data decide how large it is, so that there is no choice.
    """

    source: Expression
    kind: str = "tensor"
    form: Form | None = None
    safe: bool = True
    variable: bool = False
    total: bool = False
    dynamic: bool = False
    items: tuple[Term, ...] | None = None
    reads: frozenset[str] = field(default=frozenset())

    @property
    def unbracketed(self) -> Expression:
        """The same behind `return`, where a tuple of several items needs no brackets."""
        items = self.items or ()
        return bare_tuple([item.source for item in items]) if len(items) > 1 else self.source


def term(code: Code, node: ast.expr, forms: Forms, when: Predicate | None = None) -> Term:
    """An expression of an arm, whose value is used only `when` a condition holds.

    Raises:
        DeclinedError: it cannot be evaluated in vain, or is not a tensor or number.
    """
    if isinstance(node, ast.Tuple) and not any(isinstance(item, ast.Starred) for item in node.elts):
        items = tuple(term(code, item, forms, when) for item in node.elts)
        source = expression("({*items},)", items=[item.source for item in items])
        reads = frozenset[str]().union(*(item.reads for item in items))
        return Term(source, "tuple", items=items, reads=reads)
    if isinstance(node, ast.IfExp):
        condition = _condition(code, node.test)
        if condition is not None:
            one, other = node.body, node.orelse
            if when is None:
                return choose(code, condition, term(code, one, forms), term(code, other, forms))
            ways = when.within(condition), when.within(condition, holds=False)
            return choose(code, condition, term(code, one, forms, ways[0]), term(code, other, forms, ways[1]))
    require_pure(code, node)
    changed = total_parts(code, node, when)
    source, reads, safe = code.concrete(node, changed), read_by(code, node), not changed
    value = code.value(node)
    held = as_tensor(value)
    if held is not None:
        safe = safe and not held.dynamic
        variable = isinstance(node, (ast.Name, ast.Attribute)) or operation(code, node) in {"contiguous", "detach"}
        shape = form(code, node, forms)
        return Term(source, form=shape, safe=safe, variable=variable, dynamic=bool(held.dynamic), reads=reads)
    if is_number(value):
        return Term(source, "number", safe=safe, total=is_total_number(code, node), reads=reads)
    if is_started_by_number(value):
        return Term(source, variable=True, safe=False, reads=reads)
    return Term(source, "other", safe=safe, reads=reads)


def alternatives(code: Code, condition: Condition, node: ast.IfExp, forms: Forms) -> tuple[Term, Term]:
    """The two values of a conditional expression, each for where the condition chooses it."""
    return (
        term(code, node.body, forms, Predicate(condition.tensor)),
        term(code, node.orelse, forms, Predicate(condition.tensor, holds=False)),
    )


def total_parts(
    code: Code, node: ast.expr, when: Predicate | None, *, written: bool = False
) -> dict[ast.expr, Expression]:
    """The parts of an expression that is evaluated in any case which have to change, so that nothing is refused.

    Numbers that it divides by become tensors, which may be zero; indices that the condition keeps in range are 0 where
    it does not hold.

    Raises:
        DeclinedError: nothing says when the value is used, or another operation may be refused.
    """
    require_defined(code, node)
    kept = guarded_indices(code, node)
    if kept and when is None:
        raise DeclinedError("the condition may keep an index in range")
    return _divisors(code, node) | {
        index: _in_range(code, index, when, written=written) for index in kept if when is not None
    }


def _in_range(code: Code, index: ast.expr, when: Predicate, *, written: bool) -> Expression:
    held = tensor(code, index)
    if held is not None:
        own = code.concrete(index)
        is_number = asked_numbers(index) & asked_numbers(code.expression)
        is_compared = any(ast.dump(part) == ast.dump(index) for part in _compared(code.expression))
        # a mask stays one
        keeps = held.kind != "int" and not is_number and not is_compared
        nothing = code.make("{index}.new_zeros(())", index=own) if keeps else 0
        chosen = when.choose(code, own, nothing)
        return method(chosen, "reshape", 1) if written and is_number else chosen  # export asks for no number then
    if is_counted(code, index):
        chosen = when.choose(code, code.concrete(index), 0)
        return method(chosen, "reshape", 1) if written else chosen
    if scalar(code, index) is None:
        raise DeclinedError("the condition may keep an index in range")
    number = call(code.name("torch.tensor"), code.concrete(index))
    return method(when.choose(code, number, 0), "item")


def _compared(test: ast.expr) -> Iterator[ast.expr]:
    """The operands of the comparisons in a condition."""
    for part in ast.walk(test):
        if isinstance(part, ast.Compare):
            yield from (part.left, *part.comparators)


def _divisors(code: Code, node: ast.expr) -> dict[ast.expr, Expression]:
    """The numbers read from tensors that an expression divides Python's numbers by, as tensors."""
    found: dict[ast.expr, Expression] = {}
    for part in ast.walk(node):
        if isinstance(part, ast.BinOp) and isinstance(part.op, DIVISIONS) and tensor(code, part.left) is None:
            divisor = operand(code, part.right) if scalar(code, part.right) is not None else None
            if divisor is not None:
                found[part.right] = divisor.source
    return found


def _condition(code: Code, test: ast.expr) -> Condition | None:
    """A condition on tensor data; None if Python knows it."""
    try:
        return condition_in_vain(code, test)
    except DeclinedError:
        if is_python(code, test):
            return None
        raise


def read_by(code: Code, node: ast.expr) -> frozenset[str]:
    """The variables that an expression reads, by the names that they have in new code."""
    return frozenset(code.renames.get(n.id, n.id) for n in ast.walk(node) if isinstance(n, ast.Name))


def is_sound(value: Term) -> bool:
    """Whether nothing is refused and no gradient spoiled where a value is computed in vain."""
    return value.total or (value.form is not None and value.form.total)


def choose(code: Code, condition: Condition, one: Term, other: Term) -> Term:
    """One of two terms, as a condition says. Raises DeclinedError if `torch.where` has no such choice."""
    if one.items is not None and other.items is not None and len(one.items) == len(other.items):
        pairs = list(zip(one.items, other.items, strict=True))
        asked = not all(same(a.source, b.source) for a, b in pairs)
        items = tuple(a if asked and same(a.source, b.source) else choose(code, condition, a, b) for a, b in pairs)
        source = expression("({*items},)", items=[item.source for item in items])
        safe, variable = all(item.safe for item in items), any(item.variable for item in items)
        return Term(source, "tuple", items=items, safe=safe, variable=variable)
    if same(one.source, other.source):
        return replace(one, safe=False)  # nothing asks the condition any more, which may be refused
    if not {one.kind, other.kind} <= {"tensor", "number"}:
        raise DeclinedError("`torch.where` chooses between tensors only")
    if one.dynamic or other.dynamic:
        raise DeclinedError("the size depends on the branch")
    source = call(code.name("torch.where"), condition.tensor, one.source, other.source)
    a, b = one.form, other.form
    if a is not None and b is not None and not a.may_fit(b):
        raise DeclinedError("the tensors differ in shape")
    agree = a is not None and b is not None and a.agrees(b) and a.total and b.total
    safe = condition.safe and agree and one.safe and other.safe
    reads = one.reads | other.reads | names_in(condition.tensor)
    return Term(source, form=a if agree else None, safe=safe, variable=one.variable or other.variable, reads=reads)


def is_started_by_number(value: Value) -> bool:
    """Whether a value is a number in the first pass of a loop, and a tensor in later ones: `total = total + row`."""
    found = [*options(value)]
    tensors = [option for option in found if isinstance(option, Tensor)]
    if not tensors or any(option.dynamic or option.optional for option in tensors):
        return False
    return all(isinstance(option, Tensor) or _is_one_number(option) for option in found)


def is_number(value: Value) -> bool:
    """Whether a value is a number: what arithmetic in a loop makes of one is only known to be some Python value."""
    found = set(options(value)) - {PYTHON}
    return bool(found) and all(_is_one_number(option) for option in found)


def _is_one_number(value: Value) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, (bool, int, float))
    return isinstance(value, (Scalar, Size)) or (isinstance(value, Python) and value.type in {"int", "float", "bool"})
