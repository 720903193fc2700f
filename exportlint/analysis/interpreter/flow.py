"""Execution of statements that decide what runs next: if, loops, with, try, match."""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import islice

from exportlint.analysis import table
from exportlint.analysis.facts import Construct
from exportlint.analysis.facts.environment import DeviceContext
from exportlint.analysis.facts.tracing import CaughtOperator
from exportlint.analysis.interpreter.arguments import Arguments
from exportlint.analysis.interpreter.assignment import assign
from exportlint.analysis.interpreter.baked import decide
from exportlint.analysis.interpreter.compiler import note_compiler_branch
from exportlint.analysis.interpreter.demands import demand_truth, elements, known_items
from exportlint.analysis.interpreter.frame import Environment, Frame, Loop, executes
from exportlint.analysis.interpreter.narrowing import ways
from exportlint.analysis.joins import join_environments, options
from exportlint.analysis.values import (
    UNKNOWN,
    BoundMethod,
    Const,
    External,
    Object,
    Python,
    Sequence,
    Tensor,
    Value,
)

LOOP_PASSES = 4
"""A pass over a loop body sees what the one before it left behind. Most loops leave nothing new behind after two."""


@executes(ast.If)
def _if_statement(frame: Frame, node: ast.If) -> bool:
    raises = _only_raises(node)
    frame.raising += raises
    condition = frame.evaluate(node.test)
    frame.raising -= raises
    is_true = demand_truth(frame, condition, node.test, _construct(frame, node), raises=raises)
    note_compiler_branch(frame, node.test, is_true, node.body, node.orelse)
    decide(frame, condition, node.test, node.body, node.orelse)
    before = frame.env
    bodies = ways(frame, node.test, is_true, node.body, node.orelse)
    ends = [frame.env for body in bodies if frame.execute(body)]
    return resume(frame, before, ends)


def _construct(frame: Frame, node: ast.If) -> Construct:
    # `elif` is an `if` in `orelse` whose text starts with "elif"; only the source tells
    line = frame.module.source.lines.line(node.lineno)
    return "elif" if line.encode()[node.col_offset :].startswith(b"elif") else "if"


def _only_raises(node: ast.If) -> bool:
    return not node.orelse and isinstance(node.body[-1], ast.Raise)


def resume(frame: Frame, before: Environment, ends: list[Environment]) -> bool:
    """Go on where the ways that did not leave meet. False if there are none."""
    joined = join_environments(ends)
    frame.env = before if joined is None else joined
    return joined is not None


def for_statement(frame: Frame, node: ast.For | ast.AsyncFor) -> bool:
    """`for target in iterable`."""
    iterable = frame.evaluate(node.iter)
    decide(frame, iterable, node.iter, node.body)
    items = known_items(iterable)
    if items is not None and len(set(items)) > 1:
        return _unrolled(frame, node, items)
    item = elements(frame, iterable, node.iter)
    return _loop(frame, node, lambda: assign(frame, node.target, item, node))


def _unrolled(frame: Frame, node: ast.For | ast.AsyncFor, items: tuple[Value, ...]) -> bool:
    """A loop over items that are known one by one."""
    before = frame.env
    breaks: list[Environment] = []
    for item in items:
        frame.env = dict(frame.env)
        loop = Loop([], [], unrolled=True)
        frame.loops.append(loop)
        assign(frame, node.target, item, node)
        reached = frame.execute(node.body)
        frame.loops.pop()
        breaks.extend(loop.breaks)
        if not resume(frame, before, [*loop.continues, *([frame.env] if reached else [])]):
            return resume(frame, before, breaks)
    ends = [frame.env] if frame.execute(node.orelse) else []
    return resume(frame, before, [*ends, *breaks])


executes(ast.For)(for_statement)
executes(ast.AsyncFor)(for_statement)


@executes(ast.While)
def _while_statement(frame: Frame, node: ast.While) -> bool:
    def test() -> bool | None:
        condition = frame.evaluate(node.test)
        decide(frame, condition, node.test, node.body)
        return demand_truth(frame, condition, node.test, "while")

    is_true = test()
    if is_true is False:
        return frame.execute(node.orelse)
    endless = is_true is True and isinstance(node.test, ast.Constant)
    return _loop(frame, node, lambda: None, test, endless=endless, entered=is_true is True)


def _loop(
    frame: Frame,
    node: ast.For | ast.AsyncFor | ast.While,
    start: Callable[[], None],
    test: Callable[[], bool | None] | None = None,
    *,
    endless: bool = False,
    entered: bool = False,
) -> bool:
    """A loop. `endless`: only `break` leaves it; `entered`: its body is run once at least."""
    before = frame.env
    ends = [] if entered else [before]
    entry: Environment | None = before
    breaks: list[Environment] = []
    for _ in range(LOOP_PASSES):
        if entry is None:
            break
        frame.env = dict(entry)
        loop = Loop([], [])
        frame.loops.append(loop)
        start()
        reached = frame.execute(node.body)
        frame.loops.pop()
        breaks.extend(loop.breaks)
        after = join_environments([*loop.continues, frame.env if reached else None])
        if after is None:
            break
        frame.env = after
        if test is not None:
            test()
        if not endless:
            ends.append(frame.env)
        again = join_environments([entry, frame.env])
        if again == entry:
            break
        entry = again
    if node.orelse and ends:
        frame.env = join_environments(ends) or before
        ends = [frame.env] if frame.execute(node.orelse) else []
    return resume(frame, before, [*ends, *breaks])


@executes(ast.Break)
def _break_statement(frame: Frame, node: ast.Break) -> bool:
    if frame.loops:
        frame.loops[-1].breaks.append(frame.env)
    return False


@executes(ast.Continue)
def _continue_statement(frame: Frame, node: ast.Continue) -> bool:
    if frame.loops:
        frame.loops[-1].continues.append(frame.env)
    return False


def with_statement(frame: Frame, node: ast.With | ast.AsyncWith) -> bool:
    """`with context as target`. A context manager may swallow exceptions, which changes nothing for tracing."""
    swallows = False
    for item in node.items:
        context = frame.evaluate(item.context_expr)
        if any(isinstance(o, Const) or o == Python("device") for o in options(context)):
            frame.emit(DeviceContext, item.context_expr)
        swallows = swallows or _suppresses(frame, item.context_expr)
        if item.optional_vars is not None:
            assign(frame, item.optional_vars, _entered(frame, context, item.context_expr), item.context_expr)
    if not swallows:
        return frame.execute(node.body)
    with frame.guarded():
        frame.execute(node.body)
    return True


def _suppresses(frame: Frame, node: ast.expr) -> bool:
    """`contextlib.suppress(Exception)`."""
    if not isinstance(node, ast.Call):
        return False
    callee = frame.peek(node.func)
    return callee == External("contextlib.suppress") and any(_is_broad(frame, kind) for kind in node.args)


def _entered(frame: Frame, context: Value, node: ast.expr) -> Value:
    """What `as` binds: what `__enter__` returns, or a function under `contextlib.contextmanager` yields."""
    if isinstance(context, Object):
        return frame.call(frame.attribute(context, "__enter__", node), Arguments(), node)
    if isinstance(context, Sequence) and context.type == "generator":
        return context.item
    return UNKNOWN if isinstance(context, External) else context


executes(ast.With)(with_statement)
executes(ast.AsyncWith)(with_statement)


@executes(ast.Try)
def _try_statement(frame: Frame, node: ast.Try) -> bool:
    before = dict(frame.env)
    swallowing = next((handler for handler in node.handlers if _swallows(frame, handler)), None)
    if swallowing is not None:
        known = len(frame.engine.facts)
        with frame.guarded():
            reached = frame.execute(node.body)
        _note_caught_operators(frame, node, swallowing, known)
    else:
        reached = frame.execute(node.body)
    body_env = frame.env
    ends: list[Environment] = []
    if reached and frame.execute(node.orelse):
        ends.append(frame.env)
    # a body that ends in `return` does so during export too: its handlers are for other environments
    for handler in node.handlers if reached or not isinstance(node.body[-1], ast.Return) else []:
        joined = join_environments([before, body_env])
        assert joined is not None
        frame.env = joined
        if handler.name:
            frame.env[handler.name] = UNKNOWN
        if frame.execute(handler.body):
            ends.append(frame.env)
    is_reached = resume(frame, before, ends)
    return frame.execute(node.finalbody) and is_reached


def _note_caught_operators(frame: Frame, node: ast.Try, handler: ast.ExceptHandler, known: int) -> None:
    """Record a `try` around operators on tensors, unless there is more to be said of what stands in it."""
    if any(fact.guarded for fact in islice(frame.engine.facts.values(), known, None)):
        return
    calls = (child for statement in node.body for child in ast.walk(statement) if isinstance(child, ast.Call))
    if any(_is_operator(frame.peek(call.func)) for call in calls):
        frame.emit(CaughtOperator, handler.type or handler.body[0], None)


def _is_operator(callee: Value) -> bool:
    if isinstance(callee, BoundMethod):
        return isinstance(callee.receiver, Tensor) and not callee.receiver.assumed
    api = table.lookup(callee.name) if isinstance(callee, External) else None
    return api is not None and api.kind == "function" and any("tensor" in o.types[:1] for o in api.overloads)


def _swallows(frame: Frame, handler: ast.ExceptHandler) -> bool:
    """Whether an `except` catches what torch.export raises on data-dependent code (a RuntimeError)."""
    if isinstance(handler.body[-1], ast.Raise):
        return False
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(_is_broad(frame, kind) for kind in kinds)


def _is_broad(frame: Frame, kind: ast.expr) -> bool:
    names = ("Exception", "BaseException", "RuntimeError")
    return frame.peek(kind) in {External(f"builtins.{name}") for name in names}
