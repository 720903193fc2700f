"""Rows that the counter of a loop chooses, where the counter is a tensor: in the functions of `torch.while_loop`.

`x[:, i]` becomes `x.index_select(1, i.reshape(1)).squeeze(1)`, and `y[i] = row` becomes `y[i.reshape(1)] = row` on a
copy of `y`, which the function takes and returns. Items of lists of numbers, tensors and modules are chosen as
`index_select` does.

Needs: the rest of the index takes one dimension per item, and only the function writes to `y`. Never safe: an index
must not be negative.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import UNKNOWN, Origin, Tensor
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.tree import indices, takes_all
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.numbers.index_select import chosen_by
from exportlint.fixes.state.counters import number_of

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression, Statement


def written_rows(code: Code, body: Sequence[ast.stmt]) -> list[str]:
    """The variables of which statements write rows: `y[i] = row`.

    Raises:
        DeclinedError: others may see that.
    """
    found = dict.fromkeys(
        target.value.id for one in body for target in _targets(one) if isinstance(target.value, ast.Name)
    )
    for name in found:
        held = [option for s in code.observed.snapshots for option in options(s.variable(name) or UNKNOWN)]
        if not all(isinstance(option, Tensor) and option.origin is Origin.FRESH for option in held):
            raise DeclinedError(f"`{name}` is changed in place")
    return list(found)


def with_rows(
    code: Code, body: Sequence[ast.stmt], counters: Container[str], instead: Mapping[ast.stmt, Statement]
) -> list[Statement] | None:
    """The statements of a loop with operators that take rows by a tensor; None if they take none.

    Others stand `instead` of some.

    Raises:
        DeclinedError: they take some in another way.
    """
    found = [s for one in body for s in _subscripts(one)]
    if any(_computes(item, counters) for s in found for item in indices(s)):
        raise DeclinedError("an index that is computed from the counter may be negative")
    if all(_position(s, counters) is None for s in found):
        return None
    lines: list[Statement] = []
    for one in body:
        chosen = [s for s in _subscripts(one) if _position(s, counters) is not None]
        if one in instead:
            if chosen:
                raise DeclinedError("a number is read from a row that the counter chooses")
            lines.append(instead[one])
            continue
        lines += [_changed(code, one, chosen, counters)] if chosen else code.statements.moved([one], above=True)
    return lines


def _changed(code: Code, one: ast.stmt, chosen: Sequence[ast.Subscript], counters: Container[str]) -> Statement:
    reads = dict(_read(code, s, counters) for s in chosen if isinstance(s.ctx, ast.Load))
    match one:
        case ast.Assign(targets=[target], value=value):
            template = "{target} = {value}"
        case ast.AugAssign(target=target, op=ast.Add(), value=value):
            template = "{target} += {value}"
        case ast.AugAssign(target=target, op=ast.Mult(), value=value):
            template = "{target} *= {value}"
        case _:
            raise DeclinedError("the counter is an index in a nested statement")
    if target in chosen and isinstance(target, ast.Subscript):
        place = _written(code, target, value, counters)
    elif any(s in set(ast.walk(target)) for s in chosen):
        raise DeclinedError("the counter is an index of several")
    else:
        place = code.concrete(target)
    inside = set(ast.walk(value))
    instead = {s: new for s, new in reads.items() if s in inside}
    return code.statement(template, target=place, value=code.concrete(value, instead))


def _read(code: Code, subscript: ast.Subscript, counters: Container[str]) -> tuple[ast.expr, Expression]:
    """What is chosen by a counter, or done with it, and what does that with a tensor."""
    if code.surely(lambda value: isinstance(value, Tensor), subscript.value):
        return subscript, _row(code, subscript, counters)
    index = code.make("{index}.reshape(1)", index=subscript.slice)
    return chosen_by(code, subscript, subscript.value, index)


def _row(code: Code, subscript: ast.Subscript, counters: Container[str]) -> Expression:
    """`x[0, i]` as `x.index_select(1, i.reshape(1)).squeeze(1)[0]`."""
    items, dim = _items(subscript, counters)
    owner, index = subscript.value, code.make("{index}.reshape(1)", index=items[dim])
    row = code.make("{owner}.index_select({dim}, {index}).squeeze({dim})", owner=owner, dim=dim, index=index)
    others = [item for place, item in enumerate(items) if place != dim]
    while others and takes_all(others[-1]):
        others.pop()
    if any(isinstance(item, ast.Slice) for item in others):
        raise DeclinedError("the counter is one of several indices")
    for item in others:
        row = code.make("{row}[{item}]", row=row, item=item)
    return row


def _written(code: Code, target: ast.Subscript, value: ast.expr, counters: Container[str]) -> Expression:
    """`y[i]` as `y[i.reshape(1)]`, to which a row is broadcast."""
    items, dim = _items(target, counters)
    if not isinstance(target.value, ast.Name):
        raise DeclinedError("the written tensor is not a variable")
    if (dim or len(items) > 1) and number_of(value) is None:
        raise DeclinedError("a row is written to a later dimension")
    return code.concrete(target, {items[dim]: code.make("{index}.reshape(1)", index=items[dim])})


def _items(subscript: ast.Subscript, counters: Container[str]) -> tuple[list[ast.expr], int]:
    """The items of an index, and which of them is the counter. Raises DeclinedError."""
    items, dim = indices(subscript), _position(subscript, counters)
    assert dim is not None
    for place, item in enumerate(items):
        takes_one = isinstance(item, ast.Slice) or type(number_of(item)) is int
        if place != dim and not takes_one:
            raise DeclinedError("the counter is one of several indices")
    return items, dim


def _position(subscript: ast.Subscript, counters: Container[str]) -> int | None:
    """Which item of an index is a counter, or one plus a number."""
    return next((place for place, item in enumerate(indices(subscript)) if _counts(item, counters)), None)


def _counts(item: ast.expr, counters: Container[str]) -> bool:
    match item:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _counts(left, counters) and type(number_of(right)) is int
        case ast.Name(id=name):
            return name in counters
    return False


def _computes(item: ast.expr, counters: Container[str]) -> bool:
    """Whether an index is computed from a counter in another way."""
    if isinstance(item, ast.Slice) or _counts(item, counters):
        return False
    return any(isinstance(node, ast.Name) and node.id in counters for node in ast.walk(item))


def _targets(one: ast.stmt) -> Iterator[ast.Subscript]:
    targets = one.targets if isinstance(one, ast.Assign) else [one.target] if isinstance(one, ast.AugAssign) else []
    return (target for target in targets if isinstance(target, ast.Subscript))


def _subscripts(one: ast.stmt) -> list[ast.Subscript]:
    return [node for node in ast.walk(one) if isinstance(node, ast.Subscript)]
