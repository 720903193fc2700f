"""Execution of statements that decide what runs next: if and loops."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from exportlint.analysis.domain.cell_maps import differing
from exportlint.analysis.domain.heap import HEAP, Cell, Heap
from exportlint.analysis.domain.lattice import join_environments, options, widen_environments
from exportlint.analysis.domain.values import (
    NONE,
    Tensor,
    Tuple,
    Value,
)
from exportlint.analysis.eval.assignment import assign
from exportlint.analysis.eval.branch_outcomes import BranchOutcomes, is_baked
from exportlint.analysis.eval.demands import data_of, demand_truth, elements, known_items
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
    outcomes = BranchOutcomes(frame, node.test) if is_baked(condition) else None
    rest = node.orelse[0] if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If) else None
    for body in branch_paths(frame, node.test, condition, is_true, node.body, node.orelse):
        if body is node.orelse and rest is not None and outcomes is None:
            frame.following = ()
            return rest
        if frame.execute(body) if outcomes is None else outcomes.execute(body):
            ends.append(frame.env)
    if outcomes is not None:
        outcomes.note(condition)
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
    if not is_baked(iterable):
        return _run_for(frame, node, iterable)
    outcomes = BranchOutcomes(frame, node.iter)
    reached = outcomes.execute(node.body, lambda: _run_for(frame, node, iterable))
    outcomes.note(iterable, may_skip=True)
    return reached


def _run_for(frame: Frame, node: ast.For | ast.AsyncFor, iterable: Value) -> bool:
    items = known_items(iterable)
    if items is not None and len(set(items)) != 1:
        return _unrolled(frame, node, items)
    item = elements(frame, iterable, node.iter)
    return _loop(frame, node, lambda: assign(frame, node.target, item, node), entered=_has_items(iterable))


def _has_items(iterable: Value) -> bool:
    """Whether there surely is something to iterate over."""
    if isinstance(iterable, Tensor):
        sure = not (iterable.assumed or iterable.optional or iterable.dynamic)
        return sure and iterable.shape.at(0).within()[0] >= 1
    return isinstance(iterable, Tuple) and bool(iterable.items)


def _unrolled(frame: Frame, node: ast.For | ast.AsyncFor, items: tuple[Value, ...]) -> bool:
    """A loop over items that are known one by one, if there are any."""
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
    conditions: list[Value] = []

    def test() -> bool | None:
        conditions.append(frame.evaluate(node.test))
        return demand_truth(frame, conditions[-1], node.test, "while")

    is_true = test()
    if is_true is False:
        return frame.execute(node.orelse)
    endless = is_true is True and isinstance(node.test, ast.Constant)
    outcomes = BranchOutcomes(frame, node.test)
    reached = outcomes.execute(
        node.body, lambda: _loop(frame, node, lambda: None, test, endless=endless, entered=is_true is True)
    )
    for condition in conditions:
        outcomes.note(condition, may_skip=True)
    return reached


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
    peeled = False
    overtaken: set[str | Cell] = set()
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
        if count == 0 and _is_set(frame, before, frame.env):
            entry, peeled = frame.env, True
            continue
        began = _overtaken(frame, entry, frame.env, overtaken)
        again = join_environments([before, began, frame.env] if peeled else [began, frame.env])
        if again is not None and count >= JOINED_PASSES:
            again = widen_environments(began, again)
        if again == entry:
            break
        entry = again
    if node.orelse and ends:
        frame.env = join_environments(ends) or before
        ends = [frame.env] if frame.execute(node.orelse) else []
    return resume(frame, before, [*ends, *breaks])


def _is_set(frame: Frame, before: Environment, after: Environment) -> bool:
    """Whether the first pass of a loop sets a variable or an attribute that was None.

    `best is None or s > best` is a comparison from the second pass on. That pass is run for itself, as joined with the
    first one it could not be told from a test of an argument that may be left out.
    """
    is_variable = any(
        value == NONE and name in after and NONE not in options(after[name])
        for name, value in before.items()
        if name != HEAP
    )
    return is_variable or any(
        value == NONE and NONE not in options(now) for _, value, now in _changes(frame, before, after)
    )


def _changes(frame: Frame, before: Environment, after: Environment) -> Iterator[tuple[Cell, Value, Value]]:
    """The attributes of the exported module that differ, with what they held and hold.

    An object that it holds may stand for several, of which each pass changes another one.
    """
    heap, later = before.get(HEAP), after.get(HEAP)
    if not isinstance(heap, Heap) or not isinstance(later, Heap) or heap is later:
        return
    for cell in differing(heap.changes, later.changes):
        change = later.changes.get(cell)
        if change is None or cell.owner is not frame.engine.root:
            continue
        value = heap.get(cell) if cell in heap.changes else change.before
        if value is not None:
            yield cell, value, change.now


def _overtaken(frame: Frame, before: Environment, after: Environment, overtaken: set[str | Cell]) -> Environment:
    """What a round of a loop began with, but for variables and attributes that hold data from the next round on.

    That round has been run, so the next one need not stand for it. Each variable is `overtaken` once, so that the loop
    ends.
    """
    new = [
        name
        for name, value in before.items()
        if name not in overtaken and name in after and data_of(after[name]) and not data_of(value)
    ]
    overtaken.update(new)
    began = {**before, **{name: after[name] for name in new}}
    for cell, value, now in _changes(frame, before, after):
        heap = began[HEAP]
        if cell not in overtaken and data_of(now) and not data_of(value) and isinstance(heap, Heap):
            overtaken.add(cell)
            began[HEAP] = heap.set(cell, now, value)
    return began


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
