"""Runs the interpreter over everything that export of a file's modules would trace, and collects the facts."""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from exportlint.analysis.custom_ops import CustomOps
from exportlint.analysis.facts import Fact
from exportlint.analysis.interpreter.call_graph import ROOT, CallGraph
from exportlint.analysis.limits import MAX_DEPTH, MAX_GLOBAL_STEPS, MAX_STEPS, Limit, limited
from exportlint.analysis.outline import Class, Module
from exportlint.analysis.project import Project
from exportlint.analysis.state.cells import State
from exportlint.analysis.values import UNKNOWN, Const, Function, Instance, Range, Value, Written
from exportlint.findings import Mode

if TYPE_CHECKING:
    from exportlint.analysis.probe import Probe

MAX_COUNTED = 6
"""Calls of a function inside each other, where a number is passed that can end the recursion."""
_STEPS_BETWEEN = 0xFF
"""After so many and one more, it is asked whether to go on."""


class BudgetExceededError(Exception):
    """The analysis of one exported module took too many steps, or too long."""


class OutOfTimeError(BudgetExceededError):
    """It took too long."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the analysis depends on besides the code.

    `training`: modules are exported in training mode. `dynamic_dims`: dimensions of the inputs that vary from call to
    call. `exported` are patterns of the classes that torch.export is called with, `module:Class`; empty if every
    module may be one. `returns_tensor` are patterns of the qualified names of functions that return a tensor.
    """

    mode: Mode = "non-strict"
    training: bool = False
    dynamic_dims: frozenset[int] = frozenset({0})
    module_bases: tuple[str, ...] = ()
    entry_points: tuple[str, ...] = ("forward",)
    exported: tuple[str, ...] = ()
    returns_tensor: tuple[str, ...] = ()

    def exports(self, cls: Class) -> bool | None:
        """Whether `exported` names a class; None if it names none at all."""
        name = f"{cls.module.name}:{cls.qualname}"
        return any(fnmatchcase(name, pattern) for pattern in self.exported) if self.exported else None

    def gives_tensor(self, name: str) -> bool:
        """Whether `returns_tensor` names a function."""
        return any(fnmatchcase(name, pattern) for pattern in self.returns_tensor)


@dataclass(slots=True)
class Engine:
    """The state that the frames of one analysis share.

    `exported_dims` are the dimensions that vary, by class and argument of its forward, where the code that exports it
    says so, with their bounds. `root` is the module at hand, `exported` its class if nothing shows it to be a part of
    others. `has_parameters`: so has the module that is exported. Results of calls are kept by function and arguments,
    so a function is run once for each way it is called; `runs_of` counts the runs of which facts are recorded. While
    `silent`, none are; while `eager`, the code at hand runs before export, so that tensors hold data. `region` is the
    call at hand of a function that an operator takes (a branch of `torch.cond`), 0 outside of any; `regions` counts
    them. `replay` is the number of a run that stands for a later call, which finds the state that the first left
    behind. `steps` counts the expressions that were evaluated, `limit` is how many may be, `deadline` until when by the
    project's clock; `cuts` are the limits that something ran into. `probe` is told when a fact is met.
    """

    project: Project
    options: Options
    exported_dims: Mapping[str, Mapping[str, Mapping[int, Range]]] = field(default_factory=dict)
    facts: dict[tuple[object, ...], Fact] = field(default_factory=dict)
    results: dict[tuple[object, ...], Value] = field(default_factory=dict)
    instances: dict[tuple[object, ...], Instance] = field(default_factory=dict)
    globals: dict[tuple[Module, str], Value] = field(default_factory=dict)
    exits: dict[tuple[object, ...], Written] = field(default_factory=dict)
    active: list[ast.AST] = field(default_factory=list)
    runs_of: Counter[ast.AST] = field(default_factory=Counter)
    root: Instance | None = None
    exported: Class | None = None
    building: set[Class] = field(default_factory=set)
    custom_ops: dict[Module, CustomOps] = field(default_factory=dict)
    module_classes: dict[Class, bool] = field(default_factory=dict)
    bases: dict[Class, tuple[Value, ...]] = field(default_factory=dict)
    lineages: dict[Class, tuple[Class, ...]] = field(default_factory=dict)
    has_parameters: bool = False
    wrappers: dict[ast.expr, Function] = field(default_factory=dict)
    declarations: dict[ast.expr, Value] = field(default_factory=dict)
    limit: int = MAX_STEPS
    deadline: float = math.inf
    cuts: list[Limit] = field(default_factory=list)
    evaluating: list[tuple[Module, str]] = field(default_factory=list)
    cut_globals: set[tuple[Module, str]] = field(default_factory=set)
    state: State = field(default_factory=State)
    calls: CallGraph = field(default_factory=CallGraph)
    silent: int = 0
    eager: int = 0
    replay: int = 0
    runs: int = 0
    steps: int = 0
    region: int = 0
    regions: int = 0
    was_cut: bool = False
    tracer: Mode | None = None
    probe: Probe | None = None

    def __post_init__(self) -> None:
        if self.probe is not None:
            self.probe.watch(self)

    @property
    def mode(self) -> Mode:
        """How the code at hand is traced."""
        return self.tracer or self.options.mode

    def step(self) -> None:
        """Count one evaluation. Raises BudgetExceededError when there were too many, or when they took too long."""
        self.steps += 1
        if not self.steps & _STEPS_BETWEEN:
            self.project.proceed()
            if self.project.clock() > self.deadline:
                raise OutOfTimeError
        if self.steps > self.limit:
            raise BudgetExceededError

    def at_most(self, steps: int, limited: Limit, run: Callable[[], Value]) -> Value:
        """What `run` gives, unless it takes more steps; what it did until then holds, and `limited` is noted."""
        limit, depth, silent, eager = self.limit, len(self.active), self.silent, self.eager
        self.limit = min(limit, self.steps + steps)
        try:
            return run()
        except OutOfTimeError:
            raise
        except BudgetExceededError:
            if self.steps > limit:
                raise
            self.cuts.append(limited)
            del self.active[depth:]
            self.silent, self.eager = silent, eager
            return UNKNOWN
        finally:
            self.limit = limit

    def apart(self, run: Callable[[], Value]) -> Value:
        """What `run` gives, with a budget of its own: what a module binds to a name must not depend on who asks."""
        steps, limit = self.steps, self.limit
        self.limit = steps + 2 * MAX_GLOBAL_STEPS
        self.eager += 1
        try:
            return self.at_most(MAX_GLOBAL_STEPS, "global", run)
        finally:
            self.limit = limit + self.steps - steps
            self.eager -= 1

    def limited(self, cls: Class, limit: Limit) -> None:
        """Say that the analysis of a class was cut short."""
        self.was_cut = True
        fact = limited(cls, limit)
        self.facts.setdefault((type(fact), fact.site), fact)

    @property
    def records_calls(self) -> bool:
        """Whether the calls at hand are those of something that is exported."""
        return not self.eager and self.silent == (self.replay > 0) and self.calls.current != ROOT

    @property
    def is_tracing(self) -> bool:
        """Whether the code at hand is run by the call that is exported or a later one, and not just looked at."""
        return not self.eager and self.silent == (self.replay > 0)

    def emit(self, fact: Fact) -> Fact | None:
        """Keep a fact that is not known yet, and give what is kept; None if the code at hand is not traced."""
        if self.silent:
            return None
        self.calls.meet(fact.key)
        if fact.key not in self.facts:
            self.facts[fact.key] = replace(fact, mode=self.tracer) if self.tracer is not None else fact
        return self.facts[fact.key]

    @contextmanager
    def apart_from_facts(self) -> Iterator[dict[tuple[object, ...], Fact]]:
        """Collect what is emitted in here by itself; what is left of it afterwards is kept."""
        outer, self.facts = self.facts, {}
        inner = self.facts
        try:
            yield inner
        finally:
            self.facts = outer
            for key, fact in inner.items():
                outer.setdefault(key, fact)

    @contextmanager
    def in_region(self, mode: Mode) -> Iterator[int]:
        """Run a function of an operator, traced as in `mode`: what it makes is told from what it finds."""
        outer = self.region, self.tracer
        self.regions += 1
        self.region, self.tracer = self.regions, mode
        try:
            yield self.region
        finally:
            self.region, self.tracer = outer

    def may_enter(self, function: Function, arguments: tuple[Value, ...]) -> bool:
        """Whether a call may be followed: not too deep, and no recursion but one that counts."""
        counts = any(isinstance(value, Const) and type(value.value) is int for value in arguments)
        limit = MAX_COUNTED if counts else 2
        if len(self.active) >= MAX_DEPTH:
            self.cuts.append("depth")
            return False
        return self.active.count(function.node) < limit
