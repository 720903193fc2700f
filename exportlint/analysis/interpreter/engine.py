"""Runs the interpreter over everything that export of a file's modules would trace, and collects the facts."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

from exportlint.analysis.facts import Fact
from exportlint.analysis.outline import Class, Module
from exportlint.analysis.project import Project
from exportlint.analysis.values import UNKNOWN, Const, Function, Instance, Value
from exportlint.findings import Mode

MAX_DEPTH = 24
MAX_COUNTED = 6
"""Calls of a function inside each other, where a number is passed that can end the recursion."""
MAX_STEPS = 400_000
"""Expressions evaluated for one exported module."""
MAX_EAGER_STEPS = 150
"""Expressions evaluated for one call in a constructor: that is not what is exported."""
MAX_GLOBAL_STEPS = 2_000
"""Expressions evaluated for one assignment of a module."""


class BudgetExceededError(Exception):
    """The analysis of one exported module took too many steps."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the analysis depends on besides the code.

    `training`: modules are exported in training mode. `dynamic_dims`: dimensions of the inputs that vary from call to
    call.
    """

    mode: Mode = "non-strict"
    training: bool = False
    dynamic_dims: frozenset[int] = frozenset({0})
    module_bases: tuple[str, ...] = ()
    entry_points: tuple[str, ...] = ("forward",)


@dataclass(slots=True)
class Engine:
    """The state that the frames of one analysis share.

    Results of calls are kept by function and arguments, so a function is run once for each way it is called. While
    `silent`, no facts are recorded; while `eager`, the code at hand runs before export, so that tensors hold data.
    """

    project: Project
    options: Options
    facts: dict[tuple[object, ...], Fact] = field(default_factory=dict)
    results: dict[tuple[object, ...], Value] = field(default_factory=dict)
    instances: dict[tuple[object, ...], Instance] = field(default_factory=dict)
    globals: dict[tuple[Module, str], Value] = field(default_factory=dict)
    active: list[ast.AST] = field(default_factory=list)
    building: set[Class] = field(default_factory=set)
    module_classes: dict[Class, bool] = field(default_factory=dict)
    bases: dict[Class, tuple[Value, ...]] = field(default_factory=dict)
    lineages: dict[Class, tuple[Class, ...]] = field(default_factory=dict)
    wrappers: dict[ast.expr, Function] = field(default_factory=dict)
    declarations: dict[ast.expr, Value] = field(default_factory=dict)
    limit: int = MAX_STEPS
    silent: int = 0
    eager: int = 0
    steps: int = 0

    def step(self) -> None:
        """Count one evaluation. Raises BudgetExceededError when there were too many."""
        self.steps += 1
        if self.steps > self.limit:
            raise BudgetExceededError

    def at_most(self, steps: int, run: Callable[[], Value]) -> Value:
        """What `run` gives, unless it takes more steps; what it did until then holds."""
        limit, depth, silent, eager = self.limit, len(self.active), self.silent, self.eager
        self.limit = min(limit, self.steps + steps)
        try:
            return run()
        except BudgetExceededError:
            if self.steps > limit:
                raise
            del self.active[depth:]
            self.silent, self.eager = silent, eager
            return UNKNOWN
        finally:
            self.limit = limit

    def apart(self, run: Callable[[], Value]) -> Value:
        """What `run` gives, with a budget of its own: what a module binds to a name must not depend on who asks."""
        steps, limit = self.steps, self.limit
        self.steps, self.limit = 0, MAX_GLOBAL_STEPS
        self.eager += 1
        try:
            return self.at_most(MAX_GLOBAL_STEPS, run)
        except BudgetExceededError:
            return UNKNOWN
        finally:
            self.steps, self.limit = steps, limit
            self.eager -= 1

    def emit(self, fact: Fact) -> None:
        """Keep a fact, unless the code at hand is not traced (a constructor) or the fact is known."""
        if not self.silent:
            labels = (getattr(fact, name, None) for name in ("api", "name", "target", "construct"))
            label = next((label for label in labels if isinstance(label, str)), None)
            self.facts.setdefault((type(fact), fact.site, label), fact)

    def may_enter(self, function: Function, arguments: tuple[Value, ...]) -> bool:
        """Whether a call may be followed: not too deep, and no recursion but one that counts."""
        counts = any(isinstance(value, Const) and type(value.value) is int for value in arguments)
        limit = MAX_COUNTED if counts else 2
        return len(self.active) < MAX_DEPTH and self.active.count(function.node) < limit
