"""Loops and comprehensions over rows as operators on the whole tensor.

`sum(x[i] * 2 for i in rows)` becomes `(x[rows] * 2).sum(0)`, `for i in rows: y[i] = 0` becomes `y[rows] = 0`, and
`torch.stack([r for r in x if r.sum() > 0])` becomes `x[x.flatten(1).sum(-1) > 0]`. The rows of each of `n` segments,
`torch.stack([x[s == i].sum(0) for i in range(n)])`, become `x.new_zeros((n, *x.shape[1:])).index_add(0, s, x)`.

Never safe: sums are added in another order, repeated indices are written in any order, an empty selection gives an
empty tensor where Python raised or gave 0, and negative segment numbers are refused.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial, reduce
from typing import TYPE_CHECKING

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import External, Tensor, Value
from exportlint.analysis.domain.values import Sequence as Many
from exportlint.analysis.facts import Branch, Conversion
from exportlint.findings import Fix
from exportlint.fixes.control_flow.bodies import is_tensor
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.parentheses import source
from exportlint.fixes.edit.template import binary, method
from exportlint.fixes.errors import DeclinedError, InapplicableError
from exportlint.fixes.proofs.live_variables import needed_after
from exportlint.fixes.proofs.purity import may_repeat, require_first
from exportlint.syntax.definitions import dotted

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression

Comprehension = ast.ListComp | ast.GeneratorExp
REDUCTIONS = {
    "sum": "sum", "mean": "mean", "prod": "prod", "any": "any", "all": "all", "max": "amax", "min": "amin",
    "amax": "amax", "amin": "amin",
}  # fmt: skip
"""What a reduction of a row to one number is called that takes a dimension and gives a tensor."""

MESSAGE = "Work on the whole tensor, which gives a different result for an empty selection"


def iteration_fix(code: Code, _: Conversion) -> Fix:
    """Index with the whole tensor instead of row by row: `sum(x[i] for i in rows)`, `for i in rows: y[i] = 0`.

    Raises:
        DeclinedError: the operation on each row has no vectorized form.
    """
    node = code.expression
    over = node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "tolist":
        over = node.func.value
    around = code.tree.parents[node]
    if isinstance(around, ast.For) and around.iter is node and not around.orelse and len(around.body) == 1:
        return _of_loop(code, around, over)
    if isinstance(around, ast.comprehension) and not around.ifs:
        whole = code.tree.parents[around]
        if isinstance(whole, Comprehension) and len(whole.generators) == 1 and isinstance(around.target, ast.Name):
            batch = _Batch(code, around.target.id, code.concrete(over))
            call, summed = _reduction(code, whole)
            new = batch.total(whole.elt) if summed else batch.expression(whole.elt)
            return code.fix(MESSAGE, code.replace(call, new), safe=False)
    raise InapplicableError("the operation on each row has no vectorized form")


def filter_fix(code: Code, _: Branch) -> Fix:
    """Select rows with a mask: `torch.stack([r for r in x if r.sum() > 0])`.

    Raises:
        DeclinedError: the rows are not stacked or summed, or the condition has no form for all of them.
    """
    test = code.expression
    around = next(
        (n for n in code.tree.ancestors(test) if not isinstance(n, (ast.BoolOp, ast.UnaryOp, ast.Compare))), None
    )
    whole = code.tree.parents.get(around) if isinstance(around, ast.comprehension) else None
    if not isinstance(around, ast.comprehension) or not isinstance(whole, Comprehension) or len(whole.generators) > 1:
        raise DeclinedError("it is not a filter with a single loop")
    target, rows = around.target, around.iter
    if not isinstance(target, ast.Name) or dotted(rows) is None or len(around.ifs) > 1:
        raise DeclinedError("the loop is not over a variable")
    if not code.surely(is_tensor, around.iter):
        return _of_iterable(code, whole, around)
    mask = _mask(code, around.ifs[0], target.id, rows)
    batch = _Batch(code, target.id, code.make("{rows}[{mask}]", rows=rows, mask=mask))
    statement = code.tree.parents[whole]
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        uses = _stacked(code, statement, statement.targets[0].id)
        edits = [code.replace(use, statement.targets[0]) for use in uses]
        return code.fix(MESSAGE, code.replace(whole, batch.expression(whole.elt)), *edits, safe=False)
    call, summed = _reduction(code, whole)
    new = batch.total(whole.elt) if summed else batch.expression(whole.elt)
    return code.fix(MESSAGE, code.replace(call, new), safe=False)


def segments_fix(code: Code, _: Conversion) -> Fix:
    """Reduce the rows of each segment at once: `torch.stack([x[s == i].mean(0) for i in range(n)])`.

    Raises:
        DeclinedError: the items are not stacked, or are more than the sum or mean of the rows of a segment.
    """
    around = next((n for n in code.tree.ancestors(code.expression) if isinstance(n, ast.comprehension)), None)
    whole = code.tree.parents.get(around) if around is not None else None
    if around is None or not isinstance(whole, ast.ListComp) or len(whole.generators) > 1 or around.ifs:
        raise InapplicableError("it is not a list of segments")
    match around.target, around.iter:
        case ast.Name(id=number), ast.Call(func=ast.Name(id="range"), args=[count], keywords=[]):
            rows, labels, name = _segment(code, whole.elt, number)
        case _:
            raise InapplicableError("it is not a list of segments")
    held = code.value(labels)
    is_flat = isinstance(held, Tensor) and held.shape.rank == 1
    statement = code.tree.statement(whole)
    require_first(code, statement, whole)
    segments = code.fresh("segments", whole)
    if is_flat:
        shape = code.make("({n}, *{x}.shape[1:])", n=count, x=rows)
        given = code.concrete(labels), code.concrete(rows)
    else:
        shape = code.make("({n}, *{x}.shape[{s}.dim() :])", n=count, x=rows, s=labels)
        given = (
            code.make("{s}.flatten()", s=labels),
            code.make("{x}.flatten(0, {s}.dim() - 1)", x=rows, s=labels),
        )
    if name == "sum":
        start = code.make("{x}.new_zeros({shape})", x=rows, shape=shape)
        reduced = code.make("{segments}.index_add(0, {*given})", segments=segments, given=given)
    else:  # the mean of no rows is NaN
        start = code.make("{x}.new_full({shape}, {nan})", x=rows, shape=shape, nan=code.name("torch.nan", whole))
        template = '{segments}.index_reduce(0, {*given}, "mean", include_self=False)'
        reduced = code.make(template, segments=segments, given=given)
    line = code.statement("{segments} = {start}", segments=segments, start=start)
    edits = [code.statements.insert_before(statement, [line])]
    if code.tree.parents[whole] is statement:
        if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
            raise DeclinedError("the items are not stacked")
        target = statement.targets[0]
        edits += [
            code.replace(whole, reduced),
            *(code.replace(n, target) for n in _stacked(code, statement, target.id)),
        ]
    else:
        call, summed = _reduction(code, whole)
        if summed:
            raise DeclinedError("the items are not stacked")
        edits.append(code.replace(call, reduced))
    message = "Reduce all segments at once; segment numbers must not be negative"
    return code.fix(message, *edits, safe=False)


def _segment(code: Code, node: ast.expr, number: str) -> tuple[ast.expr, ast.expr, str]:
    """The rows, their numbers, and the reduction of `x[s == i].mean(0)`. Raises DeclinedError."""
    match node:
        case ast.Call(
            func=ast.Attribute(
                ast.Subscript(rows, ast.Compare(labels, [ast.Eq()], [ast.Name(i)])), "sum" | "mean" as name
            ),
            args=[ast.Constant(value=0)],
            keywords=[],
        ) if i == number and not _mentions(rows, number) and not _mentions(labels, number):
            if code.surely(is_tensor, rows, labels) and may_repeat(code, rows) and may_repeat(code, labels):
                return rows, labels, name
    raise DeclinedError("it is not the sum or mean of the rows of each segment")


def _of_iterable(code: Code, whole: Comprehension, loop: ast.comprehension) -> Fix:
    """Rows of a list, or of what may be one: they are stacked first."""
    if not code.surely(_is_iterable, loop.iter):
        raise DeclinedError("the loop is not over a tensor")
    statement = code.tree.statement(whole)
    if isinstance(statement, ast.While) or code.statements.is_elif(statement):
        raise DeclinedError("the rows are stacked more than once, or maybe not at all")
    assert isinstance(loop.target, ast.Name)
    name = code.fresh("rows", whole)
    stack = code.name("torch.stack", whole)
    first = code.statement("{name} = {stack}(list({rows}))", name=name, stack=stack, rows=loop.iter)
    rows = ast.copy_location(ast.Name(name, ast.Load()), loop.iter)
    mask = _mask(code, loop.ifs[0], loop.target.id, rows)
    batch = _Batch(code, loop.target.id, code.make("{rows}[{mask}]", rows=name, mask=mask))
    edits = [code.statements.insert_before(statement, [first])]
    around = code.tree.parents[whole]
    if isinstance(around, ast.Assign) and len(around.targets) == 1 and isinstance(around.targets[0], ast.Name):
        edits += [code.replace(use, around.targets[0]) for use in _stacked(code, around, around.targets[0].id)]
        return code.fix(MESSAGE, *edits, code.replace(whole, batch.expression(whole.elt)), safe=False)
    call, summed = _reduction(code, whole)
    new = batch.total(whole.elt) if summed else batch.expression(whole.elt)
    return code.fix(MESSAGE, *edits, code.replace(call, new), safe=False)


def _is_iterable(value: Value) -> bool:
    """Whether a value is a tensor, or some rows that are tensors."""
    return all(is_tensor(option) or (isinstance(option, Many) and is_tensor(option.item)) for option in options(value))


def _reduction(code: Code, node: Comprehension) -> tuple[ast.Call, bool]:
    """The call that makes one tensor of the items, and whether it adds them."""
    call = code.tree.parents[node]
    if isinstance(call, ast.Call) and call.args == [node] and not call.keywords:
        if code.surely(_is("builtins.sum"), call.func):
            return call, True
        if isinstance(node, ast.ListComp) and code.surely(_is("torch.stack"), call.func):
            return call, False
    raise DeclinedError("the items are neither stacked nor summed")


def _is(name: str) -> Callable[[Value], bool]:
    return lambda value: isinstance(value, External) and value.name == name


def _stacked(code: Code, statement: ast.Assign, name: str) -> list[ast.Call]:
    """The calls of `torch.stack` with a variable, if it is used for nothing else."""
    function = code.tree.function(statement)
    found = []
    for node in code.tree.contents(function or code.tree.root).named(name):
        if node is not statement.targets[0]:
            call = code.tree.parents[node]
            if not isinstance(call, ast.Call) or call.args != [node] or call.keywords:
                raise DeclinedError("the list is used for more than `torch.stack`")
            if not code.surely(_is("torch.stack"), call.func):
                raise DeclinedError("the list is used for more than `torch.stack`")
            found.append(call)
    return found


def _mask(code: Code, node: ast.expr, row: str, rows: ast.expr) -> Expression:
    """A condition on a row as one on all rows: a mask."""
    if isinstance(node, ast.BoolOp):
        symbol = "&" if isinstance(node.op, ast.And) else "|"
        return reduce(partial(binary, symbol), (_mask(code, value, row, rows) for value in node.values))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return code.make("~{mask}", mask=_mask(code, node.operand, row, rows))
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return code.concrete(node, {side: _reduced(code, side, row, rows) for side in (node.left, node.comparators[0])})
    return _reduced(code, node, row, rows)


def _reduced(code: Code, node: ast.expr, row: str, rows: ast.expr) -> Expression:
    if not _mentions(node, row):
        return code.concrete(node)
    if isinstance(node, ast.Name):
        return code.concrete(rows)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Constant):
        return code.make("{rows}[:, {place}]", rows=rows, place=node.slice)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args and not node.keywords:
        receiver, name = node.func.value, node.func.attr
        if isinstance(receiver, ast.Name) and name in REDUCTIONS:
            return code.make("{rows}.flatten(1).{reduction}(-1)", rows=rows, reduction=REDUCTIONS[name])
        if name == "item":
            return _reduced(code, receiver, row, rows)
    raise DeclinedError("the condition has no vectorized form")


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node))


def _of_loop(code: Code, loop: ast.For, over: ast.expr) -> Fix:
    if not isinstance(loop.target, ast.Name) or loop.target.id in needed_after(code.tree, loop):
        raise DeclinedError("the loop variable is used after the loop")
    row, rows = loop.target.id, code.concrete(over)
    [statement] = loop.body
    batch = _Batch(code, row, rows)
    added = _added(statement)
    if added is not None and not _mentions(added[0], row):
        target, value = added
        line = code.statement("{target} = {target} + {total}", target=target, total=batch.total(value))
        return code.fix(MESSAGE, code.statements.replace([loop], [line]), safe=False)
    if (
        isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], ast.Subscript)
    ):
        subscript = statement.targets[0]
        if isinstance(subscript.slice, ast.Name) and subscript.slice.id == row and not _mentions(subscript.value, row):
            varies = _mentions(statement.value, row)
            new = batch.expression(statement.value) if varies else code.concrete(statement.value)
            line = code.statement("{owner}[{rows}] = {new}", owner=subscript.value, rows=over, new=new)
            return code.fix("Write to all rows at once", code.statements.replace([loop], [line]), safe=False)
    raise InapplicableError("the operation on each row has no vectorized form")


def _added(statement: ast.stmt) -> tuple[ast.Name, ast.expr] | None:
    """The variable and the value of `a += b` and `a = a + b`."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
        return (statement.target, statement.value) if isinstance(statement.target, ast.Name) else None
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.BinOp):
        target, value = statement.targets[0], statement.value
        if (
            isinstance(value.op, ast.Add)
            and isinstance(target, ast.Name)
            and ast.dump(value.left) == ast.dump(ast.Name(target.id, ast.Load()))
        ):
            return target, value.right
    return None


class _Batch:
    """Rewrites an expression on a row into the same on all rows, as far as it works element by element."""

    def __init__(self, code: Code, row: str, rows: Expression) -> None:
        self.code, self.row, self.rows = code, row, rows
        self.uses = 0

    def expression(self, node: ast.expr) -> Expression:
        """An expression on all rows. Raises DeclinedError."""
        self.uses = 0
        found = self._of_all(node)
        if self.uses != 1 and not source(self.rows).isidentifier():
            raise DeclinedError("the rows would be computed more than once")
        return found

    def total(self, node: ast.expr) -> Expression:
        """The sum of an expression over all rows: `x[i] * 2`, `x[i].sum()`. Raises DeclinedError."""
        called = node.func if isinstance(node, ast.Call) and not (node.args or node.keywords) else None
        if isinstance(called, ast.Attribute) and called.attr == "sum":
            return method(self.expression(called.value), "sum")
        return method(self.expression(node), "sum", 0)

    def _of_all(self, node: ast.expr) -> Expression:
        code = self.code
        if isinstance(node, ast.Name) and node.id == self.row:
            self.uses += 1
            return self.rows
        if isinstance(node, ast.Subscript) and not _mentions(node.value, self.row):
            if isinstance(node.slice, ast.Name) and node.slice.id == self.row:
                self.uses += 1
                return code.make("{owner}[{rows}]", owner=node.value, rows=self.rows)
        elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return code.concrete(node)
        elif isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
            return code.concrete(node, {side: self._of_all(side) for side in (node.left, node.right)})
        raise DeclinedError("the operation on a row is not elementwise")
