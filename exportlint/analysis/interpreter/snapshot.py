"""The variables as they were when a fact was met, to ask about code that nobody has run: what a fix needs to know."""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass

from exportlint.analysis.facts import Fact
from exportlint.analysis.interpreter.call_graph import CallGraph
from exportlint.analysis.interpreter.engine import BudgetExceededError, Engine
from exportlint.analysis.interpreter.frame import Environment, Frame, Loop
from exportlint.analysis.joins import options
from exportlint.analysis.state.cells import State
from exportlint.analysis.trail import Trail
from exportlint.analysis.values import UNKNOWN, Closure, Composite, Function, Instance, Object, Tensor, Value

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


class _Heap:
    """What the objects and closures hold that values lead to, as it is now."""

    __slots__ = ("_closures", "_instances")

    def __init__(self, values: Iterable[Value], closures: Iterable[Closure | None], instances: Iterable[Instance]):
        self._instances: dict[Instance, _Contents] = {}
        self._closures: dict[Closure, Environment] = {}
        waiting = list(values)
        for closure in closures:
            self._enclose(closure, waiting)
        for instance in instances:
            self._hold(instance, waiting)
        while waiting:
            value = waiting.pop()
            if isinstance(value, Object):
                self._hold(value.instance, waiting)
            elif isinstance(value, Composite):
                waiting.extend(value.parts)
                if isinstance(value, Function):
                    self._enclose(value.closure, waiting)

    @property
    def weight(self) -> int:
        """The variables and attributes in it."""
        return sum(map(len, self._closures.values())) + sum(len(held[0]) for held in self._instances.values())

    def _hold(self, instance: Instance, waiting: list[Value]) -> None:
        if instance not in self._instances:
            self._instances[instance] = _contents(instance)
            waiting += instance.attributes.values()
            waiting += instance.registered

    def _enclose(self, closure: Closure | None, waiting: list[Value]) -> None:
        while closure is not None and closure not in self._closures:
            self._closures[closure] = dict(closure.variables)
            waiting += closure.variables.values()
            closure = closure.parent

    @contextmanager
    def restored(self) -> Iterator[None]:
        """All of it is as it was, in copies: afterwards it is as it is now, whatever was done in between."""
        instances = [(i, i.attributes, i.buffers, i.registered, i.places) for i in self._instances]
        closures = [(closure, closure.variables) for closure in self._closures]
        for instance, held in self._instances.items():
            instance.attributes, instance.buffers = dict(held[0]), set(held[1])
            instance.registered, instance.places = list(held[2]), dict(held[3])
        for closure, variables in self._closures.items():
            closure.variables = dict(variables)
        try:
            yield
        finally:
            for instance, attributes, buffers, registered, places in instances:
                instance.attributes, instance.buffers = attributes, buffers
                instance.registered, instance.places = registered, places
            for closure, variables in closures:
                closure.variables = variables


_Contents = tuple[dict[str, Value], frozenset[str], tuple[Value, ...], dict[str, Trail]]


def _contents(instance: Instance) -> _Contents:
    return dict(instance.attributes), frozenset(instance.buffers), tuple(instance.registered), dict(instance.places)


class Snapshot:
    """The state of a call at one place. What is asked leaves no trace: neither facts nor writes, nor other answers."""

    __slots__ = ("_active", "_env", "_frame", "_globals", "_heap")

    def __init__(self, frame: Frame, env: Environment, active: tuple[ast.AST, ...], heap: _Heap) -> None:
        self._frame = frame
        self._env = env
        self._active = active
        self._globals = dict(frame.engine.globals)
        self._heap = heap

    @staticmethod
    def of(frame: Frame) -> Snapshot:
        """The state of a call as it is now."""
        engine, env = frame.engine, dict(frame.env)
        values = [*env.values(), *engine.globals.values()]
        if frame.receiver is not None:
            values.append(frame.receiver)
        instances = [*engine.instances.values(), *([] if engine.root is None else [engine.root])]
        return Snapshot(frame, env, tuple(engine.active), _Heap(values, (frame.cell, frame.parent), instances))

    @property
    def weight(self) -> int:
        """How much it keeps: variables and attributes."""
        return len(self._env) + len(self._globals) + self._heap.weight

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
            return Snapshot.of(frame) if ends and not frame.returns else None
        return None

    def run(self, body: Sequence[ast.stmt]) -> Run | None:
        """What statements would do in a function of an operator; None if it takes too long to find out."""
        with self._replica() as frame, frame.engine.in_region("strict") as region:
            engine = frame.engine
            engine.silent, engine.replay = 0, 1  # facts are recorded, what is kept between calls not
            ends = frame.execute(body)
            return Run(frame.env if ends else {}, tuple(frame.returns), tuple(engine.facts.values()), region)
        return None

    @contextmanager
    def _replica(self) -> Iterator[Frame]:
        """A frame to run code in. An analysis that takes too long ends it early."""
        origin = self._frame
        frame = Frame(
            self._fork(),
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
        with self._heap.restored(), suppress(BudgetExceededError, RecursionError):
            yield frame

    def _fork(self) -> Engine:
        """An engine that knows what that of the call knows, and whose own knowledge is its own."""
        engine = copy(self._frame.engine)
        engine.probe = None
        engine.facts, engine.state, engine.calls = {}, State(), CallGraph()
        engine.results, engine.exits = dict(engine.results), dict(engine.exits)
        engine.instances, engine.globals = dict(engine.instances), dict(self._globals)
        engine.cuts, engine.building, engine.evaluating = [], set(), []
        engine.runs_of = Counter()
        engine.active, engine.silent, engine.eager, engine.steps, engine.limit = list(self._active), 1, 0, 0, MAX_STEPS
        engine.replay = engine.region = 0
        engine.tracer = None
        engine.deadline = math.inf
        return engine
