"""Functions for operators such as `torch.cond`, made of code that stands in place: what they take and give back.

`check_movable`, `check_operands` and `check_result` decline code that an operator refuses. `operands` says which
variables a function takes, `given_back` what it returns, `copies` and `clone` give it tensors of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.trails import Trail
from exportlint.analysis.domain.values import UNKNOWN, Dict, Origin, Scalar, Tensor, Tuple, Unknown, Value
from exportlint.analysis.eval.snapshots import Run
from exportlint.analysis.facts.control_flow import BodyAlias, BodyCapture, BodyMismatch, BodyWrite, OperandMismatch
from exportlint.fixes.edit.blocks import analysed
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.parentheses import source
from exportlint.fixes.edit.template import bare_tuple, dotted, expression, method, statement
from exportlint.fixes.edit.tree import Scope, indices
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.defined_operands import takes_none
from exportlint.fixes.proofs.guarded_indices import asked_numbers
from exportlint.fixes.proofs.live_variables import needed

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression, Statement

REFUSED = (BodyAlias, BodyCapture, BodyMismatch, BodyWrite, OperandMismatch)
LEAVING: dict[type[ast.AST], str] = {
    ast.Break: "`break`",
    ast.Continue: "`continue`",
    ast.Raise: "`raise`",
    ast.Yield: "`yield`",
    ast.YieldFrom: "`yield`",
    ast.Await: "`await`",
    ast.Global: "`global`",
    ast.Nonlocal: "`nonlocal`",
    ast.Delete: "`del`",
    ast.NamedExpr: "`:=`",
}


def check_movable(body: Iterable[ast.AST]) -> None:
    """Raises DeclinedError if code cannot be moved into a function, or would do there what operators do not allow."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        if type(node) in LEAVING:
            raise DeclinedError(f"{LEAVING[type(node)]} cannot be moved into a function")
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            raise DeclinedError("a branch function cannot assign attributes")
        if isinstance(node, ast.Name) and node.id in {"super", "locals", "print"}:
            raise DeclinedError(f"`{node.id}` cannot be used in a branch function")
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not _writes_in_place(node.value):
            called = ast.unparse(node.value.func)
            raise DeclinedError(f"`{called}` is called for a side effect, which a graph does not have")
        if not isinstance(node, Scope):
            waiting.extend(ast.iter_child_nodes(node))


def check_operands(code: Code, body: Sequence[ast.stmt]) -> None:
    """Raises DeclinedError if the graph of a function cannot hold what its body computes with.

    That is None, as it is traced in any case, and of indices tensors of one number, and slices of several dimensions
    that start where data says.
    """
    for number, one in enumerate(body, 1):
        if takes_none(code, one):
            raise DeclinedError("an operand may be None where the condition does not hold")
        for part in ast.walk(one):
            if isinstance(part, ast.Subscript) and isinstance(code.value(part.value), Tensor):
                starts = [item.lower for item in indices(part) if isinstance(item, ast.Slice) and item.lower]
                if sum(isinstance(code.value(start), (Scalar, Tensor)) for start in starts) > 1:
                    raise DeclinedError("the operator cannot trace two slices whose starts depend on data")
                if any(_is_number(code, item) for item in indices(part)):
                    raise DeclinedError("the operator cannot trace an index that is a one-element tensor")
        if number < len(body):
            code = code.after([one])


def _is_number(code: Code, index: ast.expr) -> bool:
    """Whether an index is a tensor that holds one number, as far as its shape, or the condition, tells."""
    held = code.value(index)
    if not isinstance(held, Tensor) or held.kind in {"bool", "float"} or held.shape.rank:
        return False
    made = index if held.trail is None else held.trail.node
    is_item = isinstance(made, ast.Subscript) and isinstance(made.slice, ast.Constant)
    return held.zero_dim or is_item or bool(asked_numbers(index) & asked_numbers(code.expression))


def _writes_in_place(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_") and node.func.attr[-2:] != "__"


def runs_of(code: Code, body: Sequence[ast.stmt], *, first: Sequence[ast.stmt] = ()) -> list[Run]:
    """What a body does in a function of an operator, in each way in which it is reached, behind what runs `first`.

    Raises:
        DeclinedError: that is not known.
    """
    snapshots = [snapshot.after(first) if first else snapshot for snapshot in code.observed.snapshots]
    runs = [run for snapshot in snapshots if snapshot is not None and (run := snapshot.run(body)) is not None]
    if not runs or len(runs) < len(snapshots):
        raise DeclinedError("the values of the variables are not known")
    return runs


def copies(code: Code, body: Sequence[ast.stmt], counters: Container[str] = ()) -> list[Statement]:
    """Statements that let a function work on copies of what its body changes with `+=`.

    Raises:
        DeclinedError: others see the change.
    """
    found = dict.fromkeys(
        node.target.id
        for one in body
        for node in ast.walk(one)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
    )
    kept = [name for name in found if name in needed(body)]
    for name in kept:
        values = [snapshot.variable(name) or UNKNOWN for snapshot in code.observed.snapshots]
        tensors = [option for value in values for option in options(value) if isinstance(option, Tensor)]
        if name not in counters and any(tensor.origin is not Origin.FRESH for tensor in tensors):
            raise DeclinedError(f"`{name}` is changed in place")
    return [copied(name) for name in kept]


def copied(name: str) -> Statement:
    """`name = name.clone()`."""
    return statement("{name} = {name}.clone()", name=name)


@dataclass(frozen=True, slots=True)
class Operands:
    """The tensors that functions take: names of their parameters, and the expressions that are passed."""

    names: tuple[str, ...]
    passed: tuple[Expression, ...]

    @property
    def tuple(self) -> Expression:
        """A tuple of what is passed."""
        return expression("({*passed},)", passed=self.passed)


def operands(code: Code, names: Iterable[str], rebound: Iterable[str]) -> Operands:
    """Of the variables that functions need, those that have to be passed: tensors, and those that they bind again.

    Raises:
        DeclinedError: one that has to be passed is not a tensor.
    """
    taken: dict[str, tuple[Value, ...]] = {}
    for name in dict.fromkeys(names):
        values = tuple(v for s in code.observed.snapshots if (v := s.variable(name)) is not None)
        if values and all(map(is_tensor, values)):
            taken[name] = values
        elif name in rebound:
            if not values or not all(isinstance(value, Unknown) for value in values):
                raise DeclinedError(f"`{name}` does not always hold a tensor")
            taken[name] = values
    roots: dict[object, str] = {}
    passed = []
    for name, values in taken.items():
        shared = [r for value in values for r in storages(value) if roots.setdefault(r, name) != name]
        passed.append(clone(dotted(name)) if shared else dotted(name))
    return Operands(tuple(taken), tuple(passed))


def is_tensor(value: Value) -> bool:
    """Whether a value surely is a tensor, as far as torch.export traces."""
    return all(isinstance(option, Tensor) and not option.optional for option in options(value))


def storages(value: Value) -> Iterable[object]:
    """The storages in which the data of a tensor may lie: of a new one what made it, which may give several parts."""
    for option in options(value):
        if isinstance(option, Tensor) and option.trail is not None:
            yield _made_at(option.trail) if option.origin is Origin.FRESH else option.trail.steps()[0].node


def _made_at(trail: Trail) -> ast.AST:
    """What made a new tensor, behind the variables that it was assigned to since."""
    while isinstance(trail.node, ast.Name) and trail.parent is not None:
        trail = trail.parent
    return trail.node


def aliases(runs: Iterable[Run], names: Sequence[str]) -> set[str]:
    """The variables that may hold the same tensor as one before them: an operator gives no tensor twice."""
    found: set[str] = set()
    for run in runs:
        roots: dict[object, str] = {}
        own = ((name, value) for name in names if run.is_own(value := run.variables.get(name, UNKNOWN)))
        found |= {name for name, value in own for root in storages(value) if roots.setdefault(root, name) != name}
    return found


def check_tensors(values: Iterable[Value], what: str) -> None:
    """Raises DeclinedError if values surely are not tensors, nor containers of tensors."""
    for value in values:
        if isinstance(value, Tuple):
            check_tensors(value.items, what)
        elif isinstance(value, Dict):
            check_tensors((item for _, item in value.entries), what)
        elif not all(isinstance(option, (Tensor, Unknown)) for option in options(value)):
            raise DeclinedError(f"{what} is not a tensor")


def given_back(code: Code, node: ast.expr, values: Sequence[tuple[Run, Value]]) -> Expression:
    """What a function returns, with copies of what is not its own.

    Raises:
        DeclinedError: it returns something other than tensors, or does not make the container that it returns.
    """
    if isinstance(node, ast.Tuple) and all(isinstance(value, Tuple) for _, value in values):
        seen: set[str] = set()
        parts = []
        for index, element in enumerate(node.elts):
            items = [(run, value.items[index]) for run, value in values if isinstance(value, Tuple)]
            part = given_back(code, element, items)
            name = source(part)
            parts.append(clone(part) if name in seen and name.isidentifier() else part)
            seen.add(name)
        return bare_tuple(parts)
    check_tensors((value for _, value in values), "the returned value")
    result = code.concrete(node)
    for run, value in values:
        if isinstance(value, (Tuple, Dict)):
            if not all(run.is_own(item) for item in _items(value)):
                raise DeclinedError("it returns a container of tensors that it did not create")
        elif is_tensor(value) and not run.is_own(value):
            return clone(result)
    return result


def _items(value: Value) -> Iterable[Value]:
    if isinstance(value, Tuple):
        return [item for inner in value.items for item in _items(inner)]
    if isinstance(value, Dict):
        return [item for _, inner in value.entries for item in _items(inner)]
    return [value]


def clone(tensor: Expression) -> Expression:
    """`tensor.clone()`."""
    return method(tensor, "clone")


def check_result(code: Code, lines: Sequence[Statement]) -> None:
    """Raises DeclinedError if the linter would find fault with the operators in new code."""
    for run in runs_of(code, [*ast.parse("import torch").body, *analysed(lines)]):
        refused = next((fact for fact in run.facts if isinstance(fact, REFUSED)), None)
        if refused is not None:
            raise DeclinedError(
                getattr(refused, "problem", "a branch function would change or return a tensor that it did not create")
            )
