"""The engine: runs the interpreter over all code that exporting a file's modules traces, and collects facts."""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING

from exportlint.analysis.custom_op_definitions import CustomOps
from exportlint.analysis.described_functions import DescribedFunction
from exportlint.analysis.domain.allocations import identified, is_mutable, over_parts
from exportlint.analysis.domain.exported_as import ExportedAs
from exportlint.analysis.domain.heap import EMPTY, Allocation, Heap
from exportlint.analysis.domain.lattice import join
from exportlint.analysis.domain.values import UNKNOWN, Composite, Instance, Object, Value
from exportlint.analysis.eval.call_graph import ROOT, CallGraph
from exportlint.analysis.eval.effects import Effects, Summary
from exportlint.analysis.eval.global_values import GlobalValues
from exportlint.analysis.eval.optional_outputs import OutputWatch
from exportlint.analysis.eval.refreshed_values import Refreshed
from exportlint.analysis.facts import Fact
from exportlint.analysis.facts.order import keep
from exportlint.analysis.limits import MAX_DEPTH, MAX_GLOBAL_STEPS, MAX_STEPS, Limit, Reached, limited
from exportlint.analysis.project import Definition, Project
from exportlint.findings import Mode
from exportlint.syntax.definitions import Class, Module

if TYPE_CHECKING:
    from exportlint.analysis.eval.activations import Activation, CallKey, Construction
    from exportlint.analysis.eval.probe import Probe

STEPS_BETWEEN = 0xFF
"""Evaluations between two checks of the budget, minus one: a bit mask."""
_STEPS_BETWEEN_CLOCKS = 0x3FF
"""The same for checks of the clock, which is slow on some systems."""


_SERIALS = 10**9
"""A number larger than the allocations made while one definition is evaluated."""


class BudgetExceededError(Exception):
    """The analysis of one exported module took too many steps, or too long."""


class OutOfTimeError(BudgetExceededError):
    """It took too long."""


class NoResultYetError(Exception):
    """A recursive call is met before any result of the function is known: this path is followed later."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the analysis depends on besides the code.

    `training`: modules are exported in training mode. `dynamic_dims`: dimensions of the inputs that vary from call to
    call. `exported` are patterns of the classes that torch.export is called with, `module:Class`; empty if every
    module may be one. `returns_tensor` are patterns of the qualified names of functions that return a tensor.
    `functions` describe others by such patterns, the first that fits counts.
    """

    mode: Mode = "non-strict"
    training: bool = False
    dynamic_dims: frozenset[int] = frozenset({0})
    module_bases: tuple[str, ...] = ()
    entry_points: tuple[str, ...] = ("forward",)
    exported: tuple[str, ...] = ()
    returns_tensor: tuple[str, ...] = ()
    functions: tuple[tuple[str, DescribedFunction], ...] = ()

    def exports(self, cls: Class) -> bool | None:
        """Whether the setting `exported` names a class; None if the setting is empty."""
        name = f"{cls.module.name}:{cls.qualname}"
        return any(fnmatchcase(name, pattern) for pattern in self.exported) if self.exported else None

    def gives_tensor(self, name: str) -> bool:
        """Whether the setting `returns-tensor` names a function."""
        return any(fnmatchcase(name, pattern) for pattern in self.returns_tensor)

    def described(self, name: str) -> DescribedFunction | None:
        """The description of a function in the setting `functions`, None if there is none."""
        return _described(self.functions, name) if self.functions else None


@lru_cache(maxsize=8192)
def _described(functions: tuple[tuple[str, DescribedFunction], ...], name: str) -> DescribedFunction | None:
    exact = dict(reversed(functions)).get(name)
    return exact or next((about for pattern, about in functions if fnmatchcase(name, pattern)), None)


@dataclass(slots=True)
class Engine:
    """The state shared by all frames of one root (one exported module), and the state shared by all roots of a file.

    `exported_as` says how the code of the file exports classes, by full name. `root` is the module at hand.
    `has_parameters`: so has the module that is exported. `effects` are those of the call at hand. While `silent`, no
    facts are recorded; while `constructing`, the code at hand runs before export, so that tensors hold data.
    `activations` are the calls that are being run, `building` the constructors. `region` is the call at hand of a
    function that an operator takes (a branch of `torch.cond`), 0 outside of any; `regions` counts them. `replaying`:
    the run stands for a later call, which finds the state that the first left behind. While `repeating`, the code at
    hand stands for any number of passes of a loop: what it makes at one place is one object, of `allocated`, and one
    container, of `places`. While `caching`, calls give the objects that earlier ones gave. While `unrecorded`, the code
    at hand may not record gradients. `serial` is the number of the last allocation. `defaults` are the values of
    expressions that make a container once for all: defaults of parameters, attributes of classes. `steps` counts the
    expressions that were evaluated, `limit` is how many may be, `deadline` until when by the project's clock;
    `limits_reached` are the limits that something ran into, `stopped` is where the last one was that ended an
    evaluation. `probe` is told when a fact is met, `watch` which objects are made. `omits_arguments`: what is exported
    is given nothing for which None stands by default, unless that is surely a tensor; `omits_tensors`: nor then.
    `keeps_tensors` says that there was such a tensor, beside an argument that nobody may omit.

    What depends on definitions alone is shared by the roots: `globals`, `bases`, … So are `modules` and other
    `objects`, frozen as their constructor left them, and `summaries` of calls by function and arguments, which say what
    they hold for. So are `promises`, the objects that annotations and tests such as `isinstance(value, Class)` promise,
    and `copies` of objects, by the place, the object and how often; `copied_from` says what the copy at a place copies.
    """

    project: Project
    options: Options
    exported_as: Mapping[str, ExportedAs] = field(default_factory=dict)
    summaries: dict[CallKey, tuple[Summary, ...]] = field(default_factory=dict)
    modules: dict[tuple[object, ...], tuple[Summary, ...]] = field(default_factory=dict)
    objects: dict[tuple[object, ...], tuple[Summary, ...]] = field(default_factory=dict)
    promises: dict[tuple[object, Class], Object] = field(default_factory=dict)
    copies: dict[tuple[object, ...], Object] = field(default_factory=dict)
    copied_from: dict[tuple[object, Instance], Instance] = field(default_factory=dict)
    globals: dict[tuple[Module, str], Value] = field(default_factory=dict)
    active: list[ast.AST] = field(default_factory=list)
    runs_of: Counter[ast.AST] = field(default_factory=Counter)
    activations: list[Activation] = field(default_factory=list)
    root: Instance | None = None
    building: list[Construction] = field(default_factory=list)
    custom_ops: dict[Module, CustomOps] = field(default_factory=dict)
    module_classes: dict[Class, bool] = field(default_factory=dict)
    bases: dict[Class, tuple[Value, ...]] = field(default_factory=dict)
    members: dict[tuple[Class, str, Class | None, Mode], tuple[Class, Value] | None] = field(default_factory=dict)
    lineages: dict[Class, tuple[Class, ...]] = field(default_factory=dict)
    has_parameters: bool = False
    wrappers: dict[ast.expr, Value] = field(default_factory=dict)
    declarations: dict[ast.expr, Value] = field(default_factory=dict)
    limit: int = MAX_STEPS
    deadline: float = math.inf
    limits_reached: list[Reached] = field(default_factory=list)
    stopped: Reached | None = None
    evaluating: Definition | None = None
    limited_globals: dict[tuple[Module, str], tuple[Reached, ...]] = field(default_factory=dict)
    effects: Effects = field(default_factory=Effects)
    calls: CallGraph = field(default_factory=CallGraph)
    silent: int = 0
    constructing: int = 0
    replaying: bool = False
    repeating: int = 0
    caching: int = 0
    unrecorded: int = 0
    refreshed: Refreshed = field(default_factory=Refreshed)
    allocated: dict[tuple[object, ...], Instance] = field(default_factory=dict)
    made: Counter[tuple[object, ...]] = field(default_factory=Counter)
    places: dict[tuple[object, ...], Allocation] = field(default_factory=dict)
    defaults: dict[ast.expr, Value] = field(default_factory=dict)
    serial: int = 0
    steps: int = 0
    region: int = 0
    regions: int = 0
    was_limited: bool = False
    tracer: Mode | None = None
    probe: Probe | None = None
    watch: OutputWatch | None = None
    omits_arguments: bool = False
    omits_tensors: bool = False
    keeps_tensors: bool = False

    def __post_init__(self) -> None:
        if self.probe is not None:
            self.probe.watch(self)

    @property
    def mode(self) -> Mode:
        """The mode in which the current code is traced."""
        return self.tracer or self.options.mode

    def proceed(self) -> None:
        """Ask whether to go on. Raises BudgetExceededError after too many evaluations, or when they took too long."""
        if not self.steps & STEPS_BETWEEN:
            self.project.proceed()
            if not self.steps & _STEPS_BETWEEN_CLOCKS and self.project.is_past(self.deadline):
                self.stopped = self.place_of("seconds")
                raise OutOfTimeError
        if self.steps > self.limit:
            self.stopped = self.place_of("evaluations")
            raise BudgetExceededError

    def with_limit(self, steps: int, limited: Limit, run: Callable[[], Value]) -> Value:
        """The result of `run`. If that takes more than `steps`, its effects until then stay, and `limited` is noted."""
        limit, depth, outer = (
            self.limit,
            len(self.active),
            (self.silent, self.constructing, self.repeating, self.effects),
        )
        self.limit = min(limit, self.steps + steps)
        try:
            return run()
        except OutOfTimeError:
            raise
        except BudgetExceededError:
            if self.steps > limit:
                raise
            self.cut(limited, self.stopped)
            del self.active[depth:]
            self.silent, self.constructing, self.repeating, self.effects = outer
            return UNKNOWN
        finally:
            self.limit = limit

    def for_root(self) -> Engine:
        """An engine for another root, with fresh state."""
        return replace(
            self, active=[], activations=[], building=[], limits_reached=[], stopped=None,
            effects=Effects(), root=None,
            has_parameters=False, steps=0, limit=MAX_STEPS, deadline=math.inf, silent=0, constructing=0,
            replaying=False, region=0, tracer=None, repeating=0, caching=0, unrecorded=0, allocated={},
            made=Counter(), places={},
        )  # fmt: skip

    @property
    def global_values(self) -> GlobalValues:
        """The values of module-level names, shared by all files of the project."""
        return self.project.shared(GlobalValues, self.options)

    def apart(self, definition: Definition | None = None) -> Engine:
        """An engine that evaluates what a definition binds, or another expression at the top level of a file.

        What a module binds to a name must not depend on who asks: so it knows nothing of what was run before, it has a
        budget of its own, and all containers that it makes are older than those of its caller.
        """
        return replace(
            self.for_root(), summaries={}, modules={}, objects={}, promises={}, copies={}, copied_from={},
            globals={}, limited_globals={}, defaults={}, wrappers={}, exported_as={}, calls=CallGraph(),
            runs_of=Counter(), was_limited=False, probe=None, silent=1, constructing=1, limit=2 * MAX_GLOBAL_STEPS,
            deadline=self.deadline, evaluating=definition, serial=-_SERIALS * (self.global_values.depth + 1),
        )  # fmt: skip

    def for_probe(self, probe: Probe) -> Engine:
        """An engine that runs roots once more for a probe, without what tracing has seen: the probe has to meet it."""
        unseen = {key: found for key, found in self.summaries.items() if not key.context.is_tracing}
        return replace(
            self.for_root(), probe=probe, summaries=unseen, objects={}, calls=CallGraph(), runs_of=Counter(),
            was_limited=False,
        )  # fmt: skip

    def for_watch(self, watch: OutputWatch) -> Engine:
        """An engine that runs a root once more and knows no calls, so that each line is run that the root comes by."""
        return replace(
            self.for_root(), watch=watch, summaries={}, objects={}, calls=CallGraph(), runs_of=Counter(),
            was_limited=False, probe=None,
        )  # fmt: skip

    def allocate(self, node: object) -> tuple[bool, Allocation]:
        """The identity of a container that is made at a node, and whether it stood for another before."""
        self.serial += 1
        if not self.repeating:
            return False, Allocation(self.serial)
        place = (node, *self.active)
        known = self.places.get(place)
        if known is None:
            known = self.places[place] = Allocation(self.serial)
            return False, known
        known.serial = self.serial
        return True, known

    def next_of(self, key: tuple[object, ...]) -> int:
        """How many objects this root has made in the same way before one more."""
        number = self.made[key]
        self.made[key] = number + 1
        return number

    def forget_unreachable(self, made: Counter[tuple[object, ...]], reached: Collection[object]) -> None:
        """Forget objects made after `made` was counted that are unreachable, so that the next run makes them again."""
        for key, number in self.made.items():
            known = [s.value for n in range(made[key], number) for s in self.objects.get((*key, n, False), ())]
            if not any(isinstance(value, Object) and value.instance in reached for value in known):
                self.made[key] = made[key]

    def fixed(self, value: Value) -> Value:
        """A value that attributes, globals or defaults hold: its containers are the same ones whenever it is read."""
        if not isinstance(value, Composite):
            return value
        value = over_parts(value, self.fixed, join)
        if is_mutable(value) and not value.identity:
            self.serial += 1
            value = identified(value, frozenset((Allocation(self.serial),)))
        for allocation in value.reaches:
            allocation.fixed = True
        return value

    def promised(self, cls: Class, place: object) -> Object:
        """The object that an annotation or an `isinstance` test at a place promises."""
        known = self.promises.get((place, cls))
        if known is None:
            known = self.promises[place, cls] = Object(Instance(cls, promised=True))
        return known

    def copied(self, source: Instance, place: object) -> Object:
        """The object that copies another at a place: in each root the same one, and so in each pass of a loop.

        A copy that the next pass copies again, as `x = copy(x)` does, is a copy of the first.
        """
        lasting = self.constructing > 0
        if self.repeating:
            source = self.copied_from.get((place, source), source)
        way = (place, source, lasting)
        key = (*way, *self.active) if self.repeating else (*way, self.next_of(way))
        known = self.copies.get(key)
        if known is None:
            made = Instance(source.definition, lasting=lasting, promised=source.promised)
            made.computed |= source.computed
            known = self.copies[key] = Object(made)
            self.copied_from[place, made] = source
        return known

    def place_of(self, limit: Limit) -> Reached:
        """The place of a limit that is reached in the current function."""
        if self.evaluating is not None and not self.activations:
            return Reached(limit, self.evaluating.name, self.evaluating.module.name)
        if not self.activations:
            return Reached(limit)
        function = self.activations[-1].function
        return Reached(limit, function.symbol, function.module.name, function.node.lineno)

    def cut(self, limit: Limit, where: Reached | None = None) -> None:
        """Note that a limit was reached, by default in the current function."""
        self.limits_reached.append(self.place_of(limit) if where is None else replace(where, limit=limit))
        self.stopped = None

    def limited(self, cls: Class, reached: Reached) -> None:
        """Record the fact that the analysis of a class was cut short."""
        self.was_limited = True
        fact = limited(cls, reached)
        self.effects.facts.setdefault(fact.identity, fact)

    @property
    def records_calls(self) -> bool:
        """Whether the current calls belong to an exported module."""
        return self.is_tracing and self.calls.current != ROOT

    @property
    def is_tracing(self) -> bool:
        """Whether the current code is run by the exported call or a later one, not just evaluated for information."""
        return not self.constructing and self.silent == self.replaying

    def emit(self, fact: Fact) -> Fact | None:
        """Record a fact and return it as recorded; None if the current code is not traced."""
        if self.silent:
            return None
        if self.tracer is not None:
            fact = replace(fact, mode=self.tracer)
        self.calls.meet(fact.key)
        keep(self.effects.facts, fact, fact.identity)
        return fact

    @contextmanager
    def collecting(self, heap: Heap = EMPTY, *, reports_facts: bool = True) -> Iterator[Effects]:
        """Collect the effects of what is run in here apart; its facts are the caller's only if it `reports_facts`."""
        outer, self.effects = self.effects, Effects(entry=heap)
        try:
            yield self.effects
        finally:
            inner, self.effects = self.effects, outer
            outer.call(inner, heap.written, reports_facts=reports_facts)

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

    @contextmanager
    def in_cache(self) -> Iterator[None]:
        """Call a function whose results are kept: those of later calls are the same objects."""
        self.caching += 1
        try:
            yield
        finally:
            self.caching -= 1

    @contextmanager
    def without_gradients(self) -> Iterator[None]:
        """Run code that may not record gradients."""
        self.unrecorded += 1
        try:
            yield
        finally:
            self.unrecorded -= 1

    def may_enter(self) -> bool:
        """Whether a call may be followed, because it is not nested too deeply."""
        if len(self.active) >= MAX_DEPTH:
            self.cut("depth")
            return False
        return True
