"""`if` and conditional expressions on tensors and sizes as `torch.cond`, with functions made of what hangs on them.

`if c: y = f(x)` / `else: y = g(x)` becomes `def true_fn(x): …`, `def false_fn(x): …` and
`y = torch.cond(c, true_fn, false_fn, (x,))`; `a if c else b` becomes `torch.cond(c, lambda x: a, lambda x: b, (x,))`.

Needs: the ways can be moved into functions, give tensors, and neither change nor return what is not their own; for a
condition on a size, that both can be traced for any size. Never safe: outside of torch.export `torch.cond` compiles the
functions, and refuses some that eager runs, such as those whose results are laid out differently.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportlint.analysis.domain.values import Guard, Scalar, Shape, Size, Tuple, Value
from exportlint.analysis.eval.snapshots import Run
from exportlint.analysis.facts import Fact
from exportlint.findings import Fix
from exportlint.fixes.control_flow.bodies import (
    aliases,
    check_movable,
    check_operands,
    check_result,
    check_tensors,
    clone,
    copies,
    given_back,
    is_tensor,
    operands,
    runs_of,
)
from exportlint.fixes.control_flow.conditions import tensor_condition
from exportlint.fixes.control_flow.definitions import assigned_to, definition, put_in_place
from exportlint.fixes.control_flow.early_returns import require_few_exits
from exportlint.fixes.control_flow.grown_tensors import grown_by
from exportlint.fixes.edit.blocks import analysed, apart
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import bare_tuple, call, dotted, expression, same, statement
from exportlint.fixes.errors import DeclinedError, InapplicableError
from exportlint.fixes.proofs.any_size import require_alone, require_any_count, require_any_size
from exportlint.fixes.proofs.live_variables import bound, leaves, needed, needed_after, returns

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression, Statement

MESSAGE = "Branch with `torch.cond`, which compiles both branches, also in eager, and needs equal sizes for gradients"


def cond_fix(code: Code, _: Fact) -> Fix:
    """Let `torch.cond` decide, of an `if`, an `elif` or a conditional expression.

    Never safe: outside of torch.export `torch.cond` compiles the functions, and refuses some that eager runs, such as
    those whose results are laid out differently.

    Raises:
        DeclinedError: what hangs on the condition cannot be made into functions that `torch.cond` takes.
    """
    node: ast.AST = code.expression
    for around in code.tree.ancestors(node):
        if isinstance(around, ast.If) and node is around.test:
            return _of_statement(code, around)
        if isinstance(around, ast.IfExp) and node is around.test:
            return _of_expression(code, around)
        if not isinstance(around, (ast.BoolOp, ast.UnaryOp, ast.Compare)):
            break
        node = around
    raise InapplicableError("it is not an `if`")


@dataclass(frozen=True, slots=True)
class _Way:
    """One way that the code can go: statements, in groups that stand together in the file."""

    groups: Sequence[Sequence[ast.stmt]]

    @property
    def body(self) -> list[ast.stmt]:
        return [one for group in self.groups for one in group]


def _of_expression(code: Code, node: ast.IfExp) -> Fix:
    check_movable([node.body, node.orelse])
    ways = (node.body, node.orelse)
    check_operands(code, [ast.copy_location(ast.Expr(way), way) for way in ways])
    results = []
    for way in ways:
        runs = runs_of(code, [ast.copy_location(ast.Return(way), way)])
        results.append(given_back(code, way, [(run, value) for run in runs for _, value in run.returned]))
    given = operands(code, needed(ways), ())
    functions = [expression("lambda {*names}: {result}", names=given.names, result=result) for result in results]
    made = call(code.name("torch.cond"), _predicate(code, node.test, ways), *functions, given.tuple)
    check_result(code, [statement("{made}", made=made)])
    return code.fix(MESSAGE, code.replace(node, made), safe=False)


def _predicate(code: Code, test: ast.expr, ways: Sequence[ast.AST]) -> Expression:
    """What `torch.cond` asks: a tensor, or a comparison of sizes, which it keeps symbolic."""
    if code.surely(lambda value: isinstance(value, Size), test):
        require_any_size(code, ways)
        return code.make("{size} != 0", size=test)
    counted = isinstance(test, ast.Compare) and len(test.ops) == 1 and code.surely(_is_counted, test.left)
    require_any_count(code, ways)
    if not counted and not code.surely(lambda value: isinstance(value, Guard), test):
        return tensor_condition(code, test).tensor
    if not counted:
        require_any_size(code, ways)
        if any(isinstance(op, (ast.Eq, ast.NotEq)) for part in ast.walk(test) for op in getattr(part, "ops", ())):
            require_alone(code, ways)
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return call(code.name("torch.sym_not"), _predicate(code, inner, ways))
        case ast.Compare(left=left, comparators=[right]) if not any(map(_is_several, map(code.value, (left, right)))):
            return code.concrete(test)
    raise DeclinedError("Python needs the concrete numbers")


def _is_counted(value: Value) -> bool:
    """Whether it is the size of what an operator found in tensor data."""
    return isinstance(value, Scalar) and value.api == "size"


def _is_several(value: Value) -> bool:
    return isinstance(value, (Shape, Tuple))


def _of_statement(code: Code, node: ast.If) -> Fix:
    if code.tree.function(node) is None:
        raise InapplicableError("it is not in a function")
    then, other, following = _Way([node.body]), _Way([node.orelse] if node.orelse else []), code.tree.following(node)
    if not returns(node.body) and not returns(node.orelse):
        replaced: Sequence[ast.stmt] = [node]
        assigned = bound([*node.body, *node.orelse])
        after = needed_after(code.tree, node)
        results = [name for name in assigned if name in after]
        if not results:
            raise DeclinedError("nothing that it computes is used after it")
    else:
        require_few_exits(code, node)
        results = []
        if not leaves(node.orelse):
            other = _Way([*other.groups, following] if following else other.groups)
        elif not leaves(node.body):
            then = _Way([*then.groups, following] if following else then.groups)
        replaced = [node] if leaves(node.body) and leaves(node.orelse) else [node, *following]
        if not leaves(then.body) or not leaves(other.body):
            raise DeclinedError("one branch returns, and the other continues after the block")
        assigned = bound([*then.body, *other.body])
    check_movable([*then.body, *other.body])
    if results and any(grown_by(code, one) is not None for one in (*node.body, *node.orelse)):
        raise DeclinedError("the tensors differ in shape")
    for way in (then, other):
        check_operands(code, way.body)
    firsts = [copies(code, way.body) for way in (then, other)]
    runs = [runs_of(code, [*analysed(first), *way.body]) for first, way in zip(firsts, (then, other), strict=True)]
    read = [*needed(then.body), *needed(other.body)]
    given = operands(code, [*read, *_kept(then, other, results)], {n for n in assigned if n in read} | set(results))
    names = [code.fresh("true_fn", node), code.fresh("false_fn", node)]
    lines: list[Statement] = []
    for name, first, way, found in zip(names, firsts, (then, other), runs, strict=True):
        groups, last = _end(code, way, found, results)
        lines.append(definition(code, name, given, first, groups, last))
    predicate = _predicate(code, node.test, [*then.body, *other.body])
    made = call(code.name("torch.cond"), predicate, *names, given.tuple)
    lines.append(assigned_to(results, made) if results else statement("return {made}", made=made))
    lines[1:] = map(apart, lines[1:])
    check_result(code, lines)
    return code.fix(MESSAGE, *put_in_place(code, replaced, lines), safe=False)


def _kept(then: _Way, other: _Way, results: Sequence[str]) -> list[str]:
    """The results that one way does not surely assign, so that their old values are needed."""
    tail = [ast.Name(name, ast.Load()) for name in results]
    return [name for way in (then, other) for name in needed([*way.body, *tail]) if name in results]


def _end(
    code: Code, way: _Way, runs: Sequence[Run], results: Sequence[str]
) -> tuple[Sequence[Sequence[ast.stmt]], Expression | None]:
    """The statements of a way without the one that ends it, and what the function gives that is made of it."""
    if results:
        shared = aliases(runs, results)
        values = [_result(result, runs, shared) for result in results]
        return way.groups, bare_tuple(values) if len(values) > 1 else values[0]
    *_, final = way.body
    last = None
    for leaving in returns(way.body):
        if leaving.value is None:
            raise DeclinedError("it does not return a value")
        found = [(run, value) for run in runs for at, value in run.returned if at is leaving]
        given = given_back(code, leaving.value, found)
        if leaving is final:
            last = given
        elif not same(given, code.concrete(leaving.value)):
            raise DeclinedError("an inner block returns a tensor that the function did not create")
    groups = [list(group) for group in way.groups]
    if isinstance(final, ast.Return):
        groups[-1].pop()
    return groups, last


def _result(name: str, runs: Sequence[Run], shared: Container[str]) -> Expression:
    values = [run.variables.get(name) for run in runs]
    found = [value for value in values if value is not None]
    if not found or len(found) < len(values):
        raise DeclinedError(f"`{name}` is not assigned on every branch")
    check_tensors(found, f"`{name}`")
    own = name not in shared and all(run.is_own(value) for run, value in zip(runs, found, strict=True))
    return dotted(name) if own or not any(map(is_tensor, found)) else clone(dotted(name))
