"""The variables of a script or a function as its statements run, one after the other."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from exportlint.analysis.domain.script_values import Model
from exportlint.analysis.domain.trails import Site, site_of
from exportlint.analysis.domain.values import UNKNOWN, Function, Value
from exportlint.analysis.eval.engine import Engine
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.facts import Fact
from exportlint.syntax.definitions import Class, Module
from exportlint.syntax.walk import once_a_node, walk

MAX_DEPTH = 4

Environment = dict[object, Value]
"""What the variables hold, by name; attributes that were assigned to, by object and name."""


class TooManyStepsError(Exception):
    """The analysis of one file took too long."""


@dataclass(slots=True)
class Run:
    """What the scopes of one file share.

    `enclosing_scopes` are the variables around each function that was defined; `exported` is where each model was
    exported in training mode.
    """

    engine: Engine
    facts: list[Fact] = field(default_factory=list)
    active: list[ast.AST] = field(default_factory=list)
    enclosing_scopes: dict[ast.AST, tuple[Environment, ...]] = field(default_factory=dict)
    exported: dict[Model, list[Site]] = field(default_factory=dict)
    classes: dict[Module, dict[ast.AST, Class]] = field(default_factory=dict)
    rebound: dict[Module, frozenset[str]] = field(default_factory=dict)
    steps: int = 0

    def class_of(self, module: Module, node: ast.ClassDef) -> Class | None:
        """The class that a statement defines."""
        if module not in self.classes:
            self.classes[module] = {cls.node: cls for cls in module.classes}
        return self.classes[module].get(node)

    def rebound_globals(self, module: Module) -> frozenset[str]:
        """Names of a module that its functions assign to."""
        if module not in self.rebound:
            self.rebound[module] = frozenset[str]().union(*map(_declared_global, module.tree.body))
        return self.rebound[module]


@once_a_node
def _declared_global(statement: ast.stmt) -> frozenset[str]:
    """The names that code in a statement declares `global`."""
    return frozenset(name for node in walk(statement) if isinstance(node, ast.Global) for name in node.names)


@dataclass(slots=True)
class Scope:
    """A scope that runs. `training` is the mode of each model in it, None where it is not known.

    `guards` counts the `with raises(…)` around the code at hand, which expects what it does to fail.
    """

    run: Run
    module: Module
    symbol: str = ""
    owner: Class | None = None
    parents: tuple[Environment, ...] = ()
    env: Environment = field(default_factory=dict)
    training: dict[Model, bool | None] = field(default_factory=dict)
    returns: list[Value] = field(default_factory=list)
    pending_functions: list[Function] = field(default_factory=list)
    guards: int = 0

    @property
    def frame(self) -> Frame:
        """A frame of the interpreter, for what it knows about classes."""
        return Frame(self.run.engine, self.module)

    def look_up(self, name: str) -> Value | None:
        """What a name holds, None if nothing here binds it."""
        found = self.env.get(name)
        if found is not None:
            return found
        for parent in self.parents:
            found = parent.get(name)
            if found is not None:
                return UNKNOWN if name in self.run.rebound_globals(self.module) else found
        return None

    def emit(self, kind: Callable[..., Fact], node: ast.AST, **details: object) -> None:
        """Record a fact about a node."""
        self.run.facts.append(kind(self.site(node), self.symbol, self.guards > 0, None, **details))

    def site(self, node: ast.AST) -> Site:
        """Where a node is."""
        return site_of(self.module, node)

    def forget(self, values: Iterable[Value]) -> None:
        """Unknown code got these values, and may have put the models among them in another mode."""
        for value in values:
            if isinstance(value, Model):
                self.training[value] = None

    def inner(self, function: Function, parents: tuple[Environment, ...]) -> Scope:
        """The scope of a call of a function."""
        return Scope(self.run, function.module, function.symbol, function.owner, parents, guards=self.guards)

    def branch(self, body: Callable[[], bool]) -> tuple[bool, Environment, dict[Model, bool | None]]:
        """Run a way that may not be taken: whether its end is reached, and what the variables hold there."""
        env, training = self.env, self.training
        self.env, self.training = dict(env), dict(training)
        try:
            reached = body()
            return reached, self.env, self.training
        finally:
            self.env, self.training = env, training

    def join(self, ways: Sequence[tuple[bool, Environment, dict[Model, bool | None]]]) -> bool:
        """Go on where these ways meet. False if none of them gets there."""
        live = [(env, training) for reached, env, training in ways if reached]
        if not live:
            return False
        merged, modes = dict(live[0][0]), dict(live[0][1])
        for env, training in live[1:]:
            for key, value in env.items():
                merged[key] = value if merged.get(key, value) == value else UNKNOWN
            for model, mode in training.items():
                modes[model] = mode if modes.get(model, mode) == mode else None
        # in place: functions that were defined meanwhile look their variables up here
        self.env.clear()
        self.env.update(merged)
        self.training = modes
        return True
