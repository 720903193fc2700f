"""What the arms of a branch on a baked value leave behind, and whether it matters which of them is run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, starmap
from typing import TypeVar

from exportlint.analysis.domain.baked_values import OF_TENSORS, Baked
from exportlint.analysis.domain.heap import Heap
from exportlint.analysis.domain.lattice import heap_of, options, trail_of
from exportlint.analysis.domain.trails import Trail
from exportlint.analysis.domain.values import Const, External, Python, Tensor, Tuple, Union, Value
from exportlint.analysis.eval.baked_values import bake_in
from exportlint.analysis.eval.frame import Environment, Frame
from exportlint.analysis.torch.dtypes import DTYPES
from exportlint.syntax.walk import walk

T = TypeVar("T")

ELSEWHERE = frozenset({"accelerator", "numpy"})
"""Sources whose conditions are another question: code for accelerators, and what strict mode cannot ask at all."""


def is_baked(condition: Value) -> bool:
    """Whether a condition may be a value that the program keeps."""
    return isinstance(condition, Baked) or (
        isinstance(condition, Union) and any(isinstance(option, Baked) for option in condition.options)
    )


@dataclass(frozen=True, slots=True)
class _Outcome:
    """How one arm ends: `acts` says that it computes with tensors, calls what is not known, or leaves a loop.

    `env` is None where the arm does not end: it raises or returns. `returned` is what it returns, `value` that of an
    expression.
    """

    env: Environment | None
    heap: Heap
    acts: bool
    value: Value | None = None
    returned: tuple[Value, ...] = ()


class BranchOutcomes:
    """Runs the arms of a branch, each once, and compares what they leave behind.

    An arm may print, log, raise and bind variables that only it knows. Where the condition asks what an input says of
    itself, its dtype or layout, both arms may also convert the same tensor in different ways: that is what such
    a test is for.
    """

    def __init__(self, frame: Frame, node: ast.expr) -> None:
        self._frame = frame
        self._node = node
        self._of_tensors = False
        self._before = dict(frame.env)
        self._sources = {id(trail) for value in self._before.values() if (trail := trail_of(value)) is not None}
        self._stored: set[str] = set()
        self._outcomes: list[_Outcome] = []

    def execute(self, arm: Sequence[ast.stmt], run: Callable[[], bool] | None = None) -> bool:
        """Run an arm, or what runs it; False if what follows it is never reached."""
        before = len(self._frame.returns)
        reached, acts = self._run(run or (lambda: self._frame.execute(arm)))
        returned = tuple([value for _, value in self._frame.returns[before:]])
        env = self._frame.env
        self._stored |= {
            n.id for s in arm for n in walk(s) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
        }
        self._outcomes.append(_Outcome(env if reached else None, heap_of(env), acts, None, returned))
        return reached

    def evaluate(self, arm: ast.expr) -> Value:
        """The value of an arm that is an expression."""
        value, acts = self._run(lambda: self._frame.evaluate(arm))
        self._outcomes.append(_Outcome(self._frame.env, heap_of(self._frame.env), acts, value))
        return value

    def _run(self, run: Callable[[], T]) -> tuple[T, bool]:
        before = self._left()
        with self._frame.engine.collecting(self._frame.heap) as effects:
            found = run()
        return found, effects.computes or self._left() != before

    def _left(self) -> tuple[int, ...]:
        """How often `yield`, `break` and `continue` were met."""
        frame = self._frame
        loops = [count for loop in frame.loops for count in (len(loop.breaks), len(loop.continues))]
        return (len(frame.yields), *loops)

    def note(self, condition: Value, *, may_skip: bool = False) -> None:
        """Record that the condition goes into the program, if it matters which arm is run.

        `may_skip`: there is one more arm, which does nothing.
        """
        found = options(condition)
        baked = [option for option in found if isinstance(option, Baked) and option.source not in ELSEWHERE]
        self._of_tensors = bool(baked) and baked[0].source in OF_TENSORS
        # Of metadata, nothing is claimed where something else has a part in the condition.
        if not baked or (self._of_tensors and len(baked) < len(found)):
            return
        if may_skip:
            self._outcomes.append(_Outcome(self._before, heap_of(self._before), acts=False))
        if len(self._outcomes) < 2:
            return
        if self._matters():
            self._bake_in(baked, self._frame.guards)
        elif any(outcome.returned for outcome in self._outcomes):
            # The rest of the function is an arm as well.
            guards = self._frame.guards
            self._frame.at_return.append(lambda: self._compare_returned(baked, guards))

    def _compare_returned(self, baked: list[Baked], guards: int) -> None:
        """The same once the function has run: its other returns have to give the same, and to compute nothing."""
        frame = self._frame
        values = [value for _, value in frame.returns]
        heaps = [heap_of(env) for env in frame.exits]
        is_same = all(starmap(self._is_one, pairwise(values))) and all(starmap(self._holds_the_same, pairwise(heaps)))
        if frame.engine.effects.computes or len(values) < len(heaps) or not is_same:
            self._bake_in(baked, guards)

    def _bake_in(self, baked: list[Baked], guards: int) -> None:
        frame = self._frame
        outer, frame.guards = frame.guards, guards
        for option in baked:
            bake_in(frame, option, self._node, "branch")
        frame.guards = outer

    def _matters(self) -> bool:
        if any(outcome.acts or (outcome.returned and self._frame.is_root) for outcome in self._outcomes):
            return True
        ends = [outcome for outcome in self._outcomes if outcome.env is not None]
        return any(not self._alike(one, other) for one, other in pairwise(ends))

    def _alike(self, one: _Outcome, other: _Outcome) -> bool:
        assert one.env is not None
        assert other.env is not None
        if not self._holds_the_same(one.heap, other.heap):
            return False
        if one.value is not None and other.value is not None and not self._is_one(one.value, other.value):
            return False
        names = self._stored & one.env.keys() & other.env.keys()
        return all(self._is_one(one.env[name], other.env[name]) for name in names)

    def _holds_the_same(self, one: Heap, other: Heap) -> bool:
        for cell in one.changes.keys() | other.changes.keys():
            left, right = one.changes.get(cell), other.changes.get(cell)
            if left is right:
                continue
            values = left.now if left else right and right.before, right.now if right else left and left.before
            if values[0] is None or values[1] is None or not self._is_one(values[0], values[1]):
                return False
        return True

    def _is_one(self, one: Value, other: Value) -> bool:
        """Whether both values are surely the same; of tensors, as far as their elements go."""
        if isinstance(one, Const) and one == other:
            return True
        if not self._of_tensors:
            return False
        if isinstance(one, Tensor) and isinstance(other, Tensor):
            return self._source(one) is self._source(other)
        if _is_dtype(one) and _is_dtype(other):
            return True
        parts = [v.items if isinstance(v, Tuple) else v.options if isinstance(v, Union) else () for v in (one, other)]
        is_same_length = type(one) is type(other) and 0 < len(parts[0]) == len(parts[1])
        return is_same_length and all(map(self._is_one, *parts))

    def _source(self, tensor: Tensor) -> Trail | None:
        """The step before the branch that the elements of a tensor come from."""
        step = tensor.trail
        while step is not None and step.parent is not None and id(step) not in self._sources:
            step = step.parent
        return step


def _is_dtype(value: Value) -> bool:
    if isinstance(value, External):
        return value.name in DTYPES
    return value == Python("dtype") or (isinstance(value, Baked) and value.type == "dtype")
