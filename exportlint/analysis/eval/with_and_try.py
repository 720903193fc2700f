"""Execution of statements that stand around others: `with` and `try`."""

from __future__ import annotations

import ast
from contextlib import nullcontext

from exportlint.analysis.domain.lattice import join_environments, options
from exportlint.analysis.domain.values import (
    NONE,
    UNKNOWN,
    Const,
    External,
    Object,
    Python,
    Sequence,
    Tuple,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.assignment import assign
from exportlint.analysis.eval.branches_and_loops import resume
from exportlint.analysis.eval.effects import Effects
from exportlint.analysis.eval.frame import Environment, Frame, executes
from exportlint.analysis.eval.gradients import keeps_recording
from exportlint.analysis.facts import Call
from exportlint.analysis.facts.environment import DeviceContext
from exportlint.analysis.facts.tracing import CaughtOperator
from exportlint.syntax.definitions import TRIES
from exportlint.syntax.walk import walk

SUPPRESSES = Python("contextlib.suppress")
"""A context manager that swallows the errors of torch.export."""
LOCKS = frozenset(f"threading.{name}" for name in ("Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore"))
"""What `with` holds while its body runs."""
BROAD = frozenset(External(f"builtins.{name}") for name in ("Exception", "BaseException", "RuntimeError"))

MAX_WAYS = 4
"""Ways out of a `try` on which its `finally` is run one by one."""

TYPE_ERRORS = frozenset({NONE, *(External(f"builtins.{name}") for name in ("TypeError", "Exception", "BaseException"))})
"""What catches a TypeError: classes, and no class at all."""


def with_statement(frame: Frame, node: ast.With | ast.AsyncWith) -> bool:
    """`with context as target`. A context manager may swallow exceptions, which changes nothing for tracing."""
    swallows = False
    entered: list[tuple[Value, ast.expr]] = []
    for item in node.items:
        context = frame.evaluate(item.context_expr)
        if any(isinstance(o, Const) or o == Python("device") for o in options(context)):
            frame.emit(DeviceContext, item.context_expr)
        if isinstance(context, Object):
            entered.append((context, item.context_expr))
        elif isinstance(context, Python) and context.type in LOCKS:
            frame.call(frame.attribute(context, "__enter__", item.context_expr), Arguments(), item.context_expr)
        swallows = swallows or SUPPRESSES in options(context)
        if item.optional_vars is not None:
            assign(frame, item.optional_vars, _entered(frame, context, item.context_expr), item.context_expr)
    frame.catching += 1
    records = all(keeps_recording(frame, item.context_expr) for item in node.items)
    with nullcontext() if records else frame.engine.without_gradients():
        if not swallows:
            reached = frame.execute(node.body)
        else:
            with frame.guarded():
                frame.execute(node.body)
            reached = True
    frame.catching -= 1
    for context, place in reversed(entered):
        frame.call(frame.attribute(context, "__exit__", place), Arguments((NONE, NONE, NONE)), place)
    return reached


def _entered(frame: Frame, context: Value, node: ast.expr) -> Value:
    """What `as` binds: what `__enter__` returns, or a function under `contextlib.contextmanager` yields."""
    if isinstance(context, Object):
        return frame.call(frame.attribute(context, "__enter__", node), Arguments(), node)
    if isinstance(context, Sequence) and context.type == "generator":
        return context.item
    if isinstance(context, Tuple) and context.items:
        return context.items[0]
    return UNKNOWN if isinstance(context, External) else context


executes(ast.With)(with_statement)
executes(ast.AsyncWith)(with_statement)


def try_statement(frame: Frame, node: ast.Try) -> bool:
    """`try`, also with `except*`."""
    before, outer_exits = dict(frame.env), len(frame.exits)
    swallowing = next((handler for handler in node.handlers if _swallows(frame, handler)), None)
    catches_type_errors = any(_catches_type_errors(frame, handler) for handler in node.handlers)
    frame.catching += bool(node.handlers)
    frame.catching_type_errors += catches_type_errors
    if swallowing is not None:
        with frame.engine.collecting(frame.heap) as effects, frame.guarded():
            reached = frame.execute(node.body)
        _note_caught_operators(frame, swallowing, effects)
    else:
        reached = frame.execute(node.body)
    frame.catching -= bool(node.handlers)
    frame.catching_type_errors -= catches_type_errors
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
    left = frame.exits[outer_exits:] if node.finalbody else []
    if is_reached or not left:
        is_reached = frame.execute(node.finalbody) and is_reached
    if left:
        _leave_through(frame, node.finalbody, left)
    return is_reached


def _leave_through(frame: Frame, body: list[ast.stmt], left: list[Environment]) -> None:
    """Run `finally` where the ways before it have left by `return`: one by one, if they are few."""
    following = frame.env
    after = frame.exits
    places = [i for i, env in enumerate(after) if any(env is one for one in left)]
    joined = join_environments(left) if len(left) > MAX_WAYS else None
    for place in reversed(places):
        env = joined or after[place]
        del after[place]
        frame.env = dict(env)
        if frame.execute(body):
            after.insert(place, frame.env)
    frame.env = following


for kind in TRIES:
    executes(kind)(try_statement)


def _note_caught_operators(frame: Frame, handler: ast.ExceptHandler, effects: Effects) -> None:
    """Record a `try` around operators on tensors, unless there is more to be said of what stands in it."""
    told = (fact for fact in effects.all_facts().values() if not isinstance(fact, Call))
    if effects.runs_operator and not any(fact.guarded for fact in told):
        frame.emit(CaughtOperator, handler.type or handler.body[0], None)


def _swallows(frame: Frame, handler: ast.ExceptHandler) -> bool:
    """Whether an `except` catches what torch.export raises on data-dependent code (a RuntimeError)."""
    if not _may_go_on(handler.body):
        return False
    if handler.type is None:
        return True
    return catches_errors_of_export(frame.peek(handler.type))


def _catches_type_errors(frame: Frame, handler: ast.ExceptHandler) -> bool:
    kinds = NONE if handler.type is None else frame.peek(handler.type)
    return any(kind in TYPE_ERRORS for kind in (kinds.items if isinstance(kinds, Tuple) else (kinds,)))


def _may_go_on(body: list[ast.stmt]) -> bool:
    """Whether statements can be left in another way than by a `raise`, as far as the text tells."""
    for statement in body:
        if isinstance(statement, ast.Raise):
            return False
        if isinstance(statement, (ast.Return, ast.Break, ast.Continue)):
            return True
        if isinstance(statement, ast.If):
            arms = [arm for arm in (statement.body, statement.orelse) if _may_go_on(arm)]
            if not arms:
                return False
            if any(_jumps(arm) for arm in arms):
                return True
        elif isinstance(statement, (ast.With, ast.AsyncWith)):
            if not _may_go_on(statement.body):
                return False
        elif _jumps([statement]):
            return True
    return True


def _jumps(body: list[ast.stmt]) -> bool:
    """Whether statements hold one that leaves them early."""
    return any(isinstance(node, (ast.Return, ast.Break, ast.Continue)) for child in body for node in walk(child))


def catches_errors_of_export(kinds: Value) -> bool:
    """Whether a class of exceptions, or one of a tuple, is that of what torch.export raises on data-dependent code."""
    if isinstance(kinds, Tuple):
        return any(map(catches_errors_of_export, kinds.items))
    return kinds in BROAD
