"""How values that the host gave spread, and where they become part of the program."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from exportlint.analysis.domain.baked_values import OF_TENSORS, Baked, Source, baked_in
from exportlint.analysis.domain.lattice import options, tensors_in
from exportlint.analysis.domain.trails import Trail
from exportlint.analysis.domain.values import (
    NONE,
    PYTHON,
    Const,
    External,
    Function,
    Object,
    Python,
    Sequence,
    Tensor,
    TorchModule,
    Tuple,
    Unknown,
    Value,
)
from exportlint.analysis.eval.effects import Mode
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.facts.environment import BakedUse, Drawn, Use
from exportlint.analysis.reporting_calls import reports
from exportlint.analysis.torch.dtypes import DTYPES
from exportlint.analysis.torch.registry import methods
from exportlint.syntax.definitions import dotted

CASTS = frozenset({*methods(converts=True), "view_as_real"})
"""Methods that keep the values of a tensor, as far as its new dtype or layout can hold them."""
MAX_INLINED = 4
"""Functions inside each other that are looked into."""


def read_host(frame: Frame, node: ast.AST, source: Source, api: str, *, array: bool = False) -> Value:
    """What asking the host for a value at a node gives: while a module is built, just some Python value."""
    if frame.engine.constructing:
        return PYTHON
    frame.emit(Drawn, node, source=source, api=api, array=array)
    trail = frame.trail(node, "`{}` is asked of Python, once")
    return Baked(source, api, frame.site(node), array=array, trail=trail)


def metadata(frame: Frame, tensor: Tensor, source: Source, api: str, node: ast.AST) -> Value:
    """What an input says of itself; for other tensors, the program itself decides."""
    is_view = source == "layout" and not tensor.name
    if tensor.origin.value != "input" or tensor.assumed or tensor.optional or is_view or frame.engine.constructing:
        return Python("dtype") if source == "dtype" else PYTHON
    kind = "dtype" if source == "dtype" else None
    return Baked(source, api, type=kind, trail=frame.trail(node, f"`{{}}` is the {api} of an input", tensor.trail))


def bake_in(frame: Frame, value: Value, node: ast.AST, use: Use) -> None:
    """Note that a value goes into the program, if it is a baked one."""
    for baked in baked_in(value):
        if frame.engine.silent:
            return
        fact = BakedUse(
            baked.site or frame.site(node), frame.symbol, frame.guards > 0, _used(frame, baked, node),
            baked.source, baked.api, use, baked.array, baked.kind,
            drawn=baked.site is not None, fixed=frame.engine.has_parameters,
        )  # fmt: skip
        frame.engine.emit(fact)


def _used(frame: Frame, baked: Baked, node: ast.AST) -> Trail | None:
    if baked.trail is None or baked.trail.node is node:
        return baked.trail
    return frame.trail(node, "used here: `{}`", baked.trail)


def propagate(frame: Frame, operands: Iterable[Value], node: ast.AST, found: Value, use: Use) -> Value:
    """What something in Python gives if one of its operands is baked; `found` is what it would give otherwise."""
    baked = next((b for operand in operands for b in baked_in(operand)), None)
    if baked is None:
        return found
    if any(isinstance(o, (Object, TorchModule, Function)) for o in options(found)) or any(
        True for _ in tensors_in(found)
    ):
        bake_in(frame, baked, node, use)
        return found
    is_plain = all(isinstance(o, (Python, Const, Unknown)) for f in options(found) for o in _items(f))
    if not is_plain or found == NONE:
        return found
    return replace(baked, type=found.type if isinstance(found, Python) else None)


def _items(value: Value) -> tuple[Value, ...]:
    return (value.item,) if isinstance(value, Sequence) else (value,)


def read_environment(frame: Frame, container: Value, node: ast.AST) -> Value | None:
    """`os.environ["A"]`, `"A" in os.environ`; None if the container is something else."""
    if isinstance(container, External) and container.name in {"os.environ", "os.environb"}:
        return read_host(frame, node, "environment", container.name)
    return None


def compared(left: Value, right: Value) -> Value | None:
    """The truth of a comparison, if one side is baked and the other is no tensor."""
    baked, other = (left, right) if isinstance(left, Baked) else (right, left)
    if not isinstance(baked, Baked) or isinstance(other, Tensor):
        return None
    if other == NONE and baked.source != "environment":
        return None  # only a variable of the environment may be missing
    items = other.items if isinstance(other, Tuple) else (other,)
    kinds = {DTYPES.get(item.name) for item in items if isinstance(item, External)}
    return replace(baked, kind=kinds.pop() if len(kinds) == 1 else None, type="bool")


def branch_on(frame: Frame, condition: Value, node: ast.expr, *arms: list[ast.stmt] | ast.expr) -> None:
    """Note that a condition chooses between the arms, if that changes what is computed.

    Of metadata that is only claimed where nothing else has a part in the condition.
    """
    found = [option for option in options(condition) if isinstance(option, Baked)]
    if not found or all(_is_idle(frame, arm) for arm in arms):
        return
    of_tensors = found[0].source in OF_TENSORS
    if of_tensors and (len(found) < len(options(condition)) or all(_is_idle(frame, arm, CASTS) for arm in arms)):
        return
    for baked in found:
        bake_in(frame, baked, node, "branch")


def _is_idle(
    frame: Frame, arm: Iterable[ast.stmt] | ast.expr, methods: frozenset[str] = frozenset(), depth: int = MAX_INLINED
) -> bool:
    """Whether an arm computes nothing but, at most, calls of the given methods: it logs, raises, casts."""
    if isinstance(arm, ast.expr):
        return _is_call(frame, arm, methods, depth) or (bool(methods) and dotted(arm) is not None)
    return all(_is_idle_statement(frame, statement, methods, depth) for statement in arm)


def _is_idle_statement(frame: Frame, statement: ast.stmt, methods: frozenset[str], depth: int) -> bool:
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant) or reports(statement.value, statement)
    if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
        return _is_call(frame, statement.value, methods, depth)
    if isinstance(statement, ast.If):
        arms = (statement.body, statement.orelse)
        return all(_is_idle(frame, arm, methods, depth) for arm in arms)
    return isinstance(statement, (ast.Pass, ast.Raise, ast.Assert, ast.Import, ast.ImportFrom))


def _is_call(frame: Frame, node: ast.expr, names: frozenset[str], depth: int) -> bool:
    """Whether an expression calls a method of one of the names, or a function that does nothing more than that."""
    if not isinstance(node, ast.Call):
        return False
    callee = node.func
    if (callee.attr if isinstance(callee, ast.Attribute) else getattr(callee, "id", "")) in names:
        return True
    function = frame.peek(callee) if names and depth and dotted(callee) else None
    if not isinstance(function, Function) or not isinstance(function.node, ast.FunctionDef):
        return False
    *body, last = function.node.body
    inner = Frame(frame.engine, function.module, function.symbol, owner=function.owner, receiver=function.receiver)
    is_idle = isinstance(last, ast.Return) and last.value is not None and _is_idle(inner, last.value, names, depth - 1)
    return is_idle and _is_idle(inner, body, names, depth - 1)


def note_mode(frame: Frame, node: ast.AST, name: str) -> None:
    """Record that the mode of a module decides something."""
    if not frame.engine.silent and not frame.engine.constructing:
        frame.engine.effects.ask(Mode(name, frame.site(node), frame.symbol, frame.guards > 0))
