"""Loops whose number of passes depends on tensor data as `torch.while_loop`.

`while c: x = f(x)` and `for i in range(n)` become two functions and `x, = torch.while_loop(cond_fn, body_fn, (x,))`.

Never safe: shapes and dtypes have to stay, and the loop is compiled in eager too.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import UNKNOWN, Const, Python, Size, Tensor, Value
from exportlint.analysis.eval.snapshots import Run
from exportlint.analysis.facts import Conversion, Fact
from exportlint.findings import Fix, TorchVersion
from exportlint.fixes.control_flow.bodies import (
    Operands,
    check_movable,
    check_result,
    check_tensors,
    clone,
    copies,
    is_tensor,
    operands,
    runs_of,
)
from exportlint.fixes.control_flow.conditions import tensor_condition
from exportlint.fixes.control_flow.definitions import assigned_to, definition, put_in_place
from exportlint.fixes.edit.blocks import analysed, apart
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import bare_tuple, binary, call, dotted, expression, statement
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.live_variables import bound, needed, needed_after, returns
from exportlint.fixes.proofs.observed_values import item_of

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression

MESSAGE = "Loop with `torch.while_loop`, which keeps shapes and dtypes, and is compiled, also in eager"
SINCE: TorchVersion = (2, 6)
"""The first version that has `torch.while_loop`."""


def while_fix(code: Code, _: Fact) -> Fix:
    """Let `torch.while_loop` run a `while`. Raises DeclinedError if its body is not fit for that."""
    node = code.tree.statement(code.expression)
    if not isinstance(node, ast.While):
        raise DeclinedError("it is no `while`")
    code.need(SINCE)
    _check(code, node)
    carried = _carried(code, node, [node.test, *node.body])
    counters = {name: call(code.name("torch.tensor"), name) for name in carried if _is_number(code, name)}
    condition = _condition(code, node.test, counters)
    return _fix(code, node, carried, condition, counters)


def range_fix(code: Code, _: Conversion) -> Fix:
    """Let `torch.while_loop` run `for i in range(n)`, where `n` is read from a tensor. Raises DeclinedError."""
    node = code.tree.statement(code.expression)
    if not isinstance(node, ast.For) or not isinstance(node.target, ast.Name):
        raise DeclinedError("it is no loop over a `range`")
    given = node.iter
    if not isinstance(given, ast.Call) or given.keywords or not 1 <= len(given.args) <= 2:
        raise DeclinedError("the range has steps")
    code.need(SINCE)
    _check(code, node)
    index = node.target.id
    if index == "_" and index not in needed(node.body):
        index = code.fresh("i", node)
    if index in needed_after(code.tree, node) or index in bound(node.body):
        raise DeclinedError(f"`{index}` is used behind the loop, or changed in it")
    carried = [index, *_carried(code, node, node.body, but=index)]
    start = call(code.name("torch.tensor"), code.concrete(given.args[0]) if len(given.args) == 2 else 0)
    condition = binary("<", index, _number_tensor(code, given.args[-1]))
    return _fix(code, node, carried, condition, {index: start}, step=binary("+", index, 1))


def _check(code: Code, node: ast.While | ast.For) -> None:
    if code.tree.function(node) is None or node.orelse or returns(node.body):
        raise DeclinedError("the loop has an `else` or a `return`, or is in no function")
    check_movable(node.body)


def _carried(code: Code, node: ast.stmt, read: Sequence[ast.AST], but: str = "") -> list[str]:
    """The variables that a pass of a loop takes from the one before it, or leaves behind."""
    body = node.body  # type: ignore[attr-defined]
    wanted = set(needed(read)) | needed_after(code.tree, node)
    found = [name for name in bound(body) if name in wanted and name != but]
    for name in found:
        if not all(snapshot.variable(name) is not None for snapshot in code.observed.snapshots):
            raise DeclinedError(f"`{name}` is not assigned in front of the loop")
    return found


def _is_number(code: Code, name: str) -> bool:
    """Whether a variable holds a number, which has to be carried as a tensor."""
    held = [option for s in code.observed.snapshots for option in options(s.variable(name) or UNKNOWN)]
    return any(map(_is_python_number, held)) and all(isinstance(o, (Const, Python, Size)) for o in held)


def _is_python_number(value: Value) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, (int, float)) and not isinstance(value.value, bool)
    return isinstance(value, Size) or (isinstance(value, Python) and value.type in {"int", "float"})


def _condition(code: Code, node: ast.expr, counters: Mapping[str, Expression]) -> Expression:
    """A condition in which counters are tensors: `x.sum() < 100 and i < 10`."""
    if isinstance(node, ast.BoolOp):
        symbol = "&" if isinstance(node.op, ast.And) else "|"
        return reduce(partial(binary, symbol), (_condition(code, value, counters) for value in node.values))
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and set(needed([node])) & set(counters):
        return code.concrete(node)
    return tensor_condition(code, node).tensor


def _number_tensor(code: Code, node: ast.expr) -> Expression:
    """The 0-d tensor from which a number is read, or what is computed from it."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)) and isinstance(node.right, ast.Constant):
        operator = "+" if isinstance(node.op, ast.Add) else "-"
        return binary(operator, _number_tensor(code, node.left), code.concrete(node.right))
    read = item_of(node)
    if read is not None:
        node = read
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "int":
        return _number_tensor(code, node.args[0])
    if not code.surely(is_tensor, node):
        raise DeclinedError("the number does not stand next to the tensor from which it is read")
    if code.surely(lambda value: isinstance(value, Tensor) and value.zero_dim, node):
        return code.concrete(node)
    return code.make("{number}.reshape(())", number=node)


def _fix(
    code: Code,
    node: ast.While | ast.For,
    carried: Sequence[str],
    condition: Expression,
    starts: Mapping[str, Expression],
    step: Expression | None = None,
) -> Fix:
    if not carried:
        raise DeclinedError("the loop changes no variable")
    first = copies(code, node.body, starts)
    counters = analysed([assigned_to([name], start) for name, start in starts.items()])
    runs = runs_of(code, [*analysed(first), *node.body], first=[*ast.parse("import torch").body, *counters])
    tensors = operands(code, (n for n in carried if n not in starts), (n for n in carried if n not in starts))
    passed = dict(zip(tensors.names, tensors.passed, strict=True)) | dict(starts)
    given = Operands(tuple(carried), tuple(passed[name] for name in carried))
    back = [step if step is not None and name == carried[0] else _returned(name, runs) for name in carried]
    names = [code.fresh("cond_fn", node), code.fresh("body_fn", node)]
    targets = ["_" if step is not None and name == carried[0] else name for name in carried]
    made = call(code.name("torch.while_loop"), *names, given.tuple)
    lines = [
        definition(code, names[0], given, [], [], condition),
        apart(definition(code, names[1], given, first, [node.body], _several(back))),
        apart(statement("{left} = {made}", left=_several(list(map(dotted, targets))), made=made)),
    ]
    check_result(code, lines)
    return code.fix(MESSAGE, *put_in_place(code, [node], lines), safe=False)


def _several(items: Sequence[Expression]) -> Expression:
    """A tuple, in parentheses where it has one item only."""
    return bare_tuple(items) if len(items) > 1 else expression("({*items},)", items=items)


def _returned(name: str, runs: Sequence[Run]) -> Expression:
    found = [(run, run.variables.get(name, UNKNOWN)) for run in runs]
    check_tensors((value for _, value in found), f"`{name}`")
    is_shared = any(is_tensor(value) and not run.is_own(value) for run, value in found)
    return clone(dotted(name)) if is_shared else dotted(name)
