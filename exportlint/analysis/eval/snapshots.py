"""The variables as they were when a fact was met, to ask about code that nobody has run: what a fix needs to know."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from exportlint.analysis.domain.heap import Heap
from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import UNKNOWN, Closure, Composite, Function, Tensor, Value
from exportlint.analysis.eval.call_graph import CallGraph
from exportlint.analysis.eval.effects import Effects
from exportlint.analysis.eval.engine import BudgetExceededError, Engine
from exportlint.analysis.eval.frame import Environment, Frame, Loop
from exportlint.analysis.facts import Fact
from exportlint.syntax.definitions import Class, Module, dotted

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
    """The state of a call at one place. What is asked leaves no trace: neither facts nor writes, nor other answers."""

    __slots__ = ("_active", "_closures", "_env", "_frame", "_known", "_parts")

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._env = dict(frame.env)
        self._active = tuple(frame.engine.active)
        self._closures = _closures(frame)
        self._known: dict[str, Value] = {}
        self._parts: dict[ast.expr, Value] = {}

    @property
    def weight(self) -> int:
        """The variables that it keeps."""
        return len(self._env) + sum(map(len, self._closures.values()))

    @property
    def running(self) -> tuple[ast.AST, ...]:
        """The functions whose calls are running, the outermost first."""
        return self._active

    @property
    def names(self) -> frozenset[str]:
        """The variables of the function that are bound."""
        return frozenset(name for name in self._env if name.isidentifier())

    def variable(self, name: str) -> Value | None:
        """What a variable of the function holds, None if it is not bound here."""
        return self._env.get(name)

    def value(self, node: ast.expr) -> Value:
        """What an expression of this file would be here."""
        name = dotted(node)
        if name is None:
            found = self._parts.get(node)
            return self._value(node) if found is None else found
        known = self._known.get(name)  # a function with a thousand calls asks a thousand times what `torch.relu` is
        if known is None:
            known = self._known[name] = self._value(node)
        return known

    def _value(self, node: ast.expr) -> Value:
        """What an expression would be. What its parts are is noted: a chain of calls asks for all of them next."""
        with self._replica(evaluated_parts(node)) as frame:
            value = frame.evaluate(node)
            self._parts |= frame.found
            return value
        return UNKNOWN

    def after(self, body: Sequence[ast.stmt]) -> Snapshot | None:
        """The variables after statements that would run here; None if they never end, or do so by leaving."""
        with self._replica() as frame:
            ends = frame.execute(body)
            return Snapshot(frame) if ends and not frame.returns else None
        return None

    def only_looks_up(self, body: Sequence[ast.stmt]) -> bool:
        """Whether the code of the project that statements would run here does no more than look something up.

        That is what properties, special methods and functions do: whatever writes state, computes with tensors, or asks
        the host, does more.
        """
        with self._replica() as frame:
            frame.engine.silent = 0
            frame.execute(body)
            return frame.engine.effects.only_looks_up()
        return False

    def run(self, body: Sequence[ast.stmt]) -> Run | None:
        """What statements would do in a function of an operator; None if it takes too long to find out."""
        with self._replica() as frame, frame.engine.in_region("strict") as region:
            engine = frame.engine
            engine.silent = 0
            ends = frame.execute(body)
            facts = tuple(engine.effects.all_facts().values())
            return Run(frame.env if ends else {}, tuple(frame.returns), facts, region)
        return None

    @contextmanager
    def _replica(self, parts: Set[ast.expr] = frozenset()) -> Iterator[_Replica]:
        """A frame to run code in. An analysis that takes too long ends it early."""
        origin = self._frame
        frame = _Replica(
            self._fork(),
            origin.module,
            origin.symbol,
            owner=origin.owner,
            receiver=origin.receiver,
            closure=origin.parent,
            guards=origin.guards,
        )
        frame.env.update(self._env)
        frame.parts, frame.entry = parts, frame.heap
        frame.loops = [Loop([], []) for _ in origin.loops]
        frame.nonlocals, frame.globals = set(origin.nonlocals), set(origin.globals)
        frame.engine.effects = Effects(entry=frame.heap)
        now = {closure: closure.variables for closure in self._closures}
        for closure, variables in self._closures.items():
            closure.variables = dict(variables)
        try:
            with suppress(BudgetExceededError, RecursionError):
                yield frame
        finally:
            for closure, variables in now.items():
                closure.variables = variables

    def _fork(self) -> Engine:
        """An engine that knows what that of the call knows, and keeps what it learns to itself."""
        engine = self._frame.engine
        return replace(
            replace(engine, probe=None).for_root(),
            root=engine.root, has_parameters=engine.has_parameters, calls=CallGraph(), runs_of=Counter(),
            made=engine.made.copy(),
            summaries=dict(engine.summaries), modules=dict(engine.modules), objects=dict(engine.objects),
            active=list(self._active), limit=MAX_STEPS, silent=1,
        )  # fmt: skip


class _Replica(Frame):
    """A frame that notes what the `parts` of an expression are, as long as nothing has been written."""

    __slots__ = ("entry", "found", "parts")

    parts: Set[ast.expr]
    entry: Heap
    found: dict[ast.expr, Value]

    def __init__(
        self,
        engine: Engine,
        module: Module,
        symbol: str,
        *,
        owner: Class | None,
        receiver: Value | None,
        closure: Closure | None,
        guards: int,
    ) -> None:
        super().__init__(engine, module, symbol, owner=owner, receiver=receiver, closure=closure, guards=guards)
        self.found = {}

    def evaluate(self, node: ast.expr) -> Value:
        """What an expression can be."""
        value = super().evaluate(node)
        if node in self.parts and self.heap is self.entry:
            self.found[node] = value
        return value


def evaluated_parts(node: ast.expr) -> Set[ast.expr]:
    """The parts of an expression that are evaluated whenever it is, with the same variables."""
    found: set[ast.expr] = set()
    waiting: list[ast.expr] = [node]
    while waiting:
        part = waiting.pop()
        found.add(part)
        if isinstance(part, (ast.Attribute, ast.Subscript)):
            waiting.append(part.value)
        elif isinstance(part, ast.Call):
            waiting.append(part.func)
        elif isinstance(part, ast.BinOp):
            waiting += (part.left, part.right)
    return found


def _closures(frame: Frame) -> dict[Closure, Environment]:
    """What the variables of functions around the code hold, of all functions that its variables lead to."""
    found: dict[Closure, Environment] = {}
    starts = [frame.cell, frame.parent]
    values = [*frame.env.values(), *([] if frame.receiver is None else [frame.receiver])]
    while starts or values:
        closure = starts.pop() if starts else None
        while closure is not None and closure not in found:
            found[closure] = dict(closure.variables)
            values += closure.variables.values()
            closure = closure.parent
        while values:
            value = values.pop()
            if isinstance(value, Function) and value.closure is not None:
                starts.append(value.closure)
            if isinstance(value, Composite):
                values += value.parts()
    return found
