"""The variables as they were when a fact was met, to ask about code that nobody has run: what a fix needs to know."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from exportlint.analysis.eval.effects import Effects
from exportlint.analysis.facts import Fact
from exportlint.analysis.interpreter.engine import BudgetExceededError
from exportlint.analysis.interpreter.frame import Environment, Frame, Loop
from exportlint.analysis.joins import options
from exportlint.analysis.values import UNKNOWN, Tensor, Value

MAX_STEPS = 2_000
"""Expressions evaluated for one question."""


@dataclass(frozen=True, slots=True)
class Run:
    """What statements would do here as the body of a function that an operator such as `torch.cond` calls.

    `variables` are those behind the last statement, none if that is never reached; `returned` what `return` gives.
    """

    variables: Environment
    returned: tuple[tuple[ast.Return, Value], ...]
    facts: tuple[Fact, ...]
    region: int

    def is_own(self, value: Value) -> bool:
        """Whether a value surely is a tensor that the statements made, and no view of one from outside."""
        return all(isinstance(option, Tensor) and option.region == self.region for option in options(value))


class Snapshot:
    """The state of a call at one place. What is asked leaves no trace, neither facts nor writes."""

    __slots__ = ("_active", "_env", "_frame")

    def __init__(self, frame: Frame, env: Environment | None = None) -> None:
        self._frame = frame
        self._env = dict(frame.env if env is None else env)
        self._active = tuple(frame.engine.active)

    @property
    def names(self) -> frozenset[str]:
        """The variables of the function that are bound."""
        return frozenset(name for name in self._env if name.isidentifier())

    def variable(self, name: str) -> Value | None:
        """What a variable of the function holds, None if it is not bound here."""
        return self._env.get(name)

    def value(self, node: ast.expr) -> Value:
        """What an expression of this file would be here."""
        with self._replica() as frame:
            return frame.evaluate(node)
        return UNKNOWN

    def after(self, body: Sequence[ast.stmt]) -> Snapshot | None:
        """The variables after statements that would run here; None if they never end, or do so by leaving."""
        with self._replica() as frame:
            ends = frame.execute(body)
            return Snapshot(frame) if ends and not frame.returns else None
        return None

    def run(self, body: Sequence[ast.stmt]) -> Run | None:
        """What statements would do in a function of an operator; None if it takes too long to find out."""
        engine = self._frame.engine
        with self._replica() as frame, engine.in_region("strict") as region:
            engine.silent = 0
            ends = frame.execute(body)
            facts = tuple(engine.effects.all_facts().values())
            return Run(frame.env if ends else {}, tuple(frame.returns), facts, region)
        return None

    @contextmanager
    def _replica(self) -> Iterator[Frame]:
        """A frame to run code in. An analysis that takes too long ends it early."""
        origin, engine = self._frame, self._frame.engine
        frame = Frame(
            engine,
            origin.module,
            origin.symbol,
            owner=origin.owner,
            receiver=origin.receiver,
            closure=origin.parent,
            guards=origin.guards,
        )
        frame.env.update(self._env)
        frame.loops = [Loop([], []) for _ in origin.loops]
        frame.nonlocals, frame.globals = set(origin.nonlocals), set(origin.globals)
        outer = engine.active[:], engine.silent, engine.eager, engine.steps, engine.limit, engine.effects
        engine.active[:], engine.silent, engine.eager, engine.steps, engine.limit = self._active, 1, 0, 0, MAX_STEPS
        engine.effects = Effects(entry=frame.heap)
        try:
            yield frame
        except (BudgetExceededError, RecursionError):
            pass
        finally:
            engine.active[:], engine.silent, engine.eager, engine.steps, engine.limit, engine.effects = outer
