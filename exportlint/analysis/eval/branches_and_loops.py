"""Execution of statements that decide what runs next: if and loops."""

from __future__ import annotations

import ast
from collections.abc import Callable

from exportlint.analysis.domain.lattice import join_environments, widen_environments
from exportlint.analysis.domain.values import (
    Value,
)
from exportlint.analysis.eval.assignment import assign
from exportlint.analysis.eval.baked_values import branch_on
from exportlint.analysis.eval.demands import demand_truth, elements, known_items
from exportlint.analysis.eval.export_checks import note_compiler_branch
from exportlint.analysis.eval.frame import Environment, Frame, Loop, executes
from exportlint.analysis.eval.narrowing import branch_paths
from exportlint.analysis.facts import Construct
from exportlint.analysis.limits import MAX_PASSES

JOINED_PASSES = 4
"""A pass over a loop body sees what the one before it left behind. Most loops leave nothing new behind after two; what
still changes after so many is widened."""


@executes(ast.If)
def _if_statement(frame: Frame, node: ast.If) -> bool:
    """`if` with all its `elif`s, which are no deeper than it: generated code has a thousand of them."""
    before = frame.env
    ends: list[Environment] = []
    while True:
        rest = _branch(frame, node, ends)
        if rest is None:
            return resume(frame, before, ends)
        node = rest


def _branch(frame: Frame, node: ast.If, ends: list[Environment]) -> ast.If | None:
    """Run one test and what hangs on it, up to an `elif` that is to be run next; `ends` are where it goes on."""
    raises = _only_raises(node)
    frame.raising += raises
    try:
        condition = frame.evaluate(node.test)
    finally:
        frame.raising -= raises
    is_true = demand_truth(frame, condition, node.test, _construct(frame, node), raises=raises)
    note_compiler_branch(frame, node.test, is_true, node.body, node.orelse)
    branch_on(frame, condition, node.test, node.body, node.orelse)
    rest = node.orelse[0] if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If) else None
    for body in branch_paths(frame, node.test, is_true, node.body, node.orelse):
        if body is node.orelse and rest is not None:
            frame.following = ()
            return rest
        if frame.execute(body):
            ends.append(frame.env)
    return None


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
    branch_on(frame, iterable, node.iter, node.body)
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
        try:
            assign(frame, node.target, item, node)
            reached = frame.execute(node.body)
        finally:
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
        branch_on(frame, condition, node.test, node.body)
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
    for count in range(MAX_PASSES + 1):
        if entry is None:
            break
        if count == MAX_PASSES:
            frame.engine.cut("loop")
            break
        frame.env = dict(entry)
        loop = Loop([], [])
        frame.loops.append(loop)
        frame.engine.repeating += 1
        try:
            start()
            reached = frame.execute(node.body)
        finally:
            frame.engine.repeating -= 1
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
        if again is not None and count >= JOINED_PASSES:
            again = widen_environments(entry, again)
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
