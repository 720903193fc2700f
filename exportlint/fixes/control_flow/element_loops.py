"""Loops over the elements of a tensor whose length depends on data, as `torch.while_loop` with an index.

`for c in labels.unique(): total = total + f(c)` becomes `elements = labels.unique()`, and functions that work on
`elements.index_select(0, index)` for each index. So does a loop over `labels.unique().tolist()`, `set(labels.tolist())`
and `sorted(set(labels.tolist()))`, of which the program never makes numbers.

Never safe: as for all loops by `torch.while_loop`, and a `set` is gone through in ascending order.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from exportlint.analysis.domain.values import Tensor
from exportlint.analysis.facts import Fact
from exportlint.findings import Fix
from exportlint.fixes.control_flow.definitions import assigned_to
from exportlint.fixes.control_flow.while_loops import MESSAGE, SINCE, carried_by, check_loop, looped
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import binary, call
from exportlint.fixes.edit.tree import indices
from exportlint.fixes.errors import DeclinedError, InapplicableError
from exportlint.fixes.proofs.live_variables import bound, needed, needed_after
from exportlint.fixes.proofs.observed_values import builtin, listed, set_of_elements

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression


def elements_fix(code: Code, _: Fact) -> Fix:
    """Let `torch.while_loop` go through the elements of a tensor. Raises DeclinedError if the body is not fit."""
    node = code.tree.statement(code.expression)
    if not isinstance(node, ast.For):
        raise InapplicableError("it is not a loop over a tensor")
    over, counted = _enumerated(code, node)
    elements = _elements(code, over)
    target = node.target.elts[1] if counted and isinstance(node.target, ast.Tuple) else node.target
    if not isinstance(target, ast.Name):
        raise DeclinedError("the loop takes each element apart")
    code.need(SINCE)
    check_loop(code, node)
    element = target.id
    for name in {element, counted} - {None}:
        if name in needed_after(code.tree, node) or name in bound(node.body):
            raise DeclinedError(f"`{name}` is used after the loop, or changed in it")
    _require_no_index(code, node, element)
    if listed(over) is not None or _is_set(code, over):
        _require_arithmetic(code, node, element)
    if counted is not None:
        _require_arithmetic(code, node, counted)
    index, held = counted or code.fresh("index", node), code.fresh("elements", node)
    carried = [index, *carried_by(code, node, node.body)]
    if len(carried) == 1:
        raise DeclinedError("the loop does not change a variable")
    start = call(code.name("torch.tensor"), 0)
    taken = code.make("{held}.index_select(0, {index}.reshape(1)).squeeze(0)", held=held, index=index)
    return looped(
        code,
        node,
        carried,
        binary("<", index, code.make("{held}.shape[0]", held=held)),
        {index: start},
        step=binary("+", index, 1),
        prepared=[assigned_to([held], elements)],
        opened=[assigned_to([element], taken)] if element in needed(node.body) else [],
        message=f"{MESSAGE}, and goes through a set in ascending order" if _is_set(code, over) else MESSAGE,
    )


def _enumerated(code: Code, loop: ast.For) -> tuple[ast.expr, str | None]:
    """What a loop goes through, and the variable that counts if that is `enumerate` of it."""
    match loop.iter, loop.target:
        case ast.Call(args=[over], keywords=[]), ast.Tuple(elts=[ast.Name(id=counted), _]) if (
            builtin(code, loop.iter) == "enumerate"
        ):
            return over, counted
    return loop.iter, None


def _elements(code: Code, over: ast.expr) -> Expression:
    """The tensor whose elements a loop goes through. Raises InapplicableError if it is none of these forms."""
    held = listed(over)
    if held is not None:
        over = held
    elif _is_set(code, over):
        return code.make("{values}.unique()", values=_of_set(code, over))
    if not code.surely(lambda value: isinstance(value, Tensor) and not value.array, over):
        raise InapplicableError("it is not a loop over a tensor")
    return code.concrete(over)


def _is_set(code: Code, node: ast.expr) -> bool:
    """Whether an expression is `set(…)` or `sorted(set(…))`."""
    match node:
        case ast.Call(args=[inner], keywords=[]) if builtin(code, node) == "sorted":
            return _is_set(code, inner)
        case ast.Call(args=[_], keywords=[]):
            return builtin(code, node) == "set"
    return False


def _of_set(code: Code, node: ast.expr) -> ast.expr:
    """The tensor of the numbers in a set: `t` of `set(t.tolist())`. Raises InapplicableError."""
    inner = node.args[0] if isinstance(node, ast.Call) and builtin(code, node) == "sorted" else node
    held = set_of_elements(code, inner)
    if held is None:
        raise InapplicableError("it is not a set of the elements of a tensor")
    return held


def _require_no_index(code: Code, loop: ast.For, element: str) -> None:
    """Raises DeclinedError if the body indexes with an element, which may be a tensor of one number."""
    for part in (part for one in loop.body for part in ast.walk(one)):
        if isinstance(part, ast.Subscript) and any(isinstance(i, ast.Name) and i.id == element for i in indices(part)):
            raise DeclinedError(f"`{code.text(part)}` has an index that data tells, which the operator cannot trace")


def _require_arithmetic(code: Code, loop: ast.For, name: str) -> None:
    """Raises DeclinedError if the body needs a number of Python where it will have a tensor."""
    for part in (part for one in loop.body for part in ast.walk(one)):
        if not isinstance(part, ast.Name) or part.id != name:
            continue
        around = code.tree.parents[part]
        if isinstance(around, ast.Call) and not isinstance(around.func, ast.Attribute):
            raise DeclinedError(f"`{code.text(around.func)}` may need `{name}` as a number")
        is_index = isinstance(around, ast.Subscript) and around.slice is part
        if is_index and not code.surely(lambda value: isinstance(value, Tensor), around.value):  # type: ignore[attr-defined]
            raise DeclinedError(f"`{name}` is an index of something other than a tensor")
