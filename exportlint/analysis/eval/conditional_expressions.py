"""Expressions that choose: `a if c else b`, `and`, `or`."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.baked_values import OF_TENSORS, Baked
from exportlint.analysis.domain.heap import HEAP
from exportlint.analysis.domain.lattice import join, join_environments, options
from exportlint.analysis.domain.values import (
    FALSE,
    NONE,
    TRUE,
    UNKNOWN,
    Const,
    Guard,
    Python,
    Tensor,
    Value,
)
from exportlint.analysis.eval.branch_outcomes import BranchOutcomes, is_baked
from exportlint.analysis.eval.demands import data_of, demand_truth, doubtful, truth
from exportlint.analysis.eval.engine import NoResultYetError
from exportlint.analysis.eval.export_checks import note_compiler_branch
from exportlint.analysis.eval.frame import Environment, Frame, evaluates
from exportlint.analysis.eval.narrowing import branch_paths, narrowed, path
from exportlint.syntax.walk import walk


@evaluates(ast.IfExp)
def _ternary(frame: Frame, node: ast.IfExp) -> Value:
    condition = frame.evaluate(node.test)
    is_true = demand_truth(frame, condition, node.test, "ternary")
    note_compiler_branch(frame, node.test, is_true, [node.body], [node.orelse])
    outcomes = BranchOutcomes(frame, node.test) if is_baked(condition) else None
    before = frame.env
    arms: list[tuple[ast.expr, Value]] = []
    ends = []
    unknown = False
    for arm in branch_paths(frame, node.test, condition, is_true, node.body, node.orelse):
        try:
            arms.append((arm, frame.evaluate(arm) if outcomes is None else outcomes.evaluate(arm)))
        except NoResultYetError:  # noqa: PERF203
            unknown = True
        else:
            ends.append(frame.env)
    if unknown and not arms:
        raise NoResultYetError
    if not frame.peeking:
        frame.arms[node] = arms
    if outcomes is not None:
        outcomes.note(condition)
    frame.env = _after(frame, before, join_environments(ends) or before)
    return join([value for _, value in arms]) if arms else UNKNOWN


def _after(frame: Frame, before: Environment, inside: Environment) -> Environment:
    """The variables behind an expression: what its conditions told holds only inside; a walrus in it stays."""
    stays = {HEAP, *frame.module.walruses}
    return {**before, **{name: value for name, value in inside.items() if name not in before or name in stays}}


@evaluates(ast.BoolOp)
def _bool_op(frame: Frame, node: ast.BoolOp) -> Value:
    is_and = isinstance(node.op, ast.And)
    before = frame.env
    found: list[Value] = []
    hinges = 0
    flagged = False
    for index, operand in enumerate(node.values):
        try:
            value = frame.evaluate(operand)
        except NoResultYetError:
            if found:
                break
            frame.engine.silent -= hinges
            raise
        if hinges:
            value = doubtful(value)
        if index == len(node.values) - 1:
            found.append(value)
            # whoever asks for the truth of this expression asks it of the operand where it ends
            ended = frame.last_operands.pop(operand, value)
            frame.last_operands[node] = doubtful(ended) if hinges else ended
            break
        if not is_and and isinstance(node.values[index + 1], (ast.Dict, ast.List, ast.Tuple)):
            is_true = truth(value)  # `cache or {}`: what a container may stand in for is no tensor
        else:
            is_true = demand_truth(frame, value, operand, "and" if is_and else "or")
        if is_true is not None and is_true is not is_and:
            found.append(value)
            break
        if is_true is None:
            flagged = flagged or not isinstance(operand, ast.Compare) or value != Python("bool")
            found.append(falsy(value) if is_and else truthy(value))
            if hinges_on_the_example(frame, operand, value):
                hinges += 1
                frame.engine.silent += 1
        env = narrowed(frame, frame.env, operand, is_and)
        if env is None:
            break
        frame.env = env
    frame.engine.silent -= hinges
    frame.env = _after(frame, before, frame.env)
    if found and isinstance(found[-1], Guard) and not flagged:
        return found[-1]  # `x.dim() == 2 and x.shape[0] == 3`: the inputs decide, and no switch that may be off
    return join(found) if found else UNKNOWN


def hinges_on_the_example(frame: Frame, node: ast.expr, condition: Value) -> bool:
    """Whether the example inputs decide if what follows in the same expression is run; `condition` is what it gives.

    `mask is not None and mask.any()`, `x.dtype == torch.float16 and …`: that the line runs proves nothing then.
    """
    if any(isinstance(o, Baked) and o.source in {*OF_TENSORS, "accelerator"} for o in options(condition)):
        return True
    for child in walk(node):
        if isinstance(child, ast.Attribute) and child.attr in {"dtype", "is_cuda", "device"}:
            return True
        if isinstance(child, (ast.Name, ast.Attribute)) and path(child) is not None:
            value = frame.peek(child)
            if any(o == NONE or (isinstance(o, Tensor) and o.optional) for o in options(value)):
                return True
    return False


def falsy(value: Value) -> Value:
    """What a value is once it is known to be false."""
    kept = [Const(o.value) if isinstance(o, Const) else o for o in options(value) if not _surely(o, is_true=True)]
    kept = [FALSE if isinstance(o, Python) and o.type in {None, "bool"} else o for o in kept]
    return join(o for o in kept if data_of(o) is None) if any(data_of(o) is None for o in kept) else FALSE


def truthy(value: Value) -> Value:
    """What a value is once it is known to be true."""
    kept = [o for o in options(value) if not _surely(o, is_true=False) and data_of(o) is None]
    return join(kept) if kept else TRUE


def _surely(value: Value, *, is_true: bool) -> bool:
    return isinstance(value, Const) and bool(value.value) is is_true
