"""A frame: one call of one function in the interpreter."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from exportlint.analysis.domain.allocations import CONTAINERS, identified, is_mutable, without
from exportlint.analysis.domain.heap import EMPTY, HEAP, Allocation, Cell, Heap, join_heaps
from exportlint.analysis.domain.lattice import join, trail_of, union
from exportlint.analysis.domain.trails import Site, Trail, site_of
from exportlint.analysis.domain.values import (
    UNKNOWN,
    BoundMethod,
    Closure,
    Const,
    Instance,
    Tensor,
    Tuple,
    Union,
    Value,
)
from exportlint.analysis.domain.values import Sequence as Many
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.effects import Raise
from exportlint.analysis.eval.engine import STEPS_BETWEEN, Engine, NoResultYetError
from exportlint.analysis.facts import Fact
from exportlint.findings import Role
from exportlint.syntax.definitions import Class, Module
from exportlint.syntax.walk import children

E = TypeVar("E", bound=ast.AST)
V = TypeVar("V", bound=Value)
Environment = dict[str, Value]
"""The values of variables; the key `name.attribute` has what was last assigned to, or learned about, an attribute."""

_MAKES = frozenset({
    ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.Call, ast.BinOp,
})  # fmt: skip
"""Expressions that make containers."""

EXPRESSIONS: dict[type[ast.AST], Callable[[Frame, ast.AST], Value]] = {}
STATEMENTS: dict[type[ast.AST], Callable[[Frame, ast.AST], bool]] = {}
CALLS: dict[type[Value], Callable[[Frame, Value, Arguments, ast.AST], Value]] = {}
ATTRIBUTES: dict[type[Value], Callable[[Frame, Value, str, ast.AST], Value]] = {}


def evaluates(kind: type[E]) -> Callable[[Callable[[Frame, E], Value]], Callable[[Frame, E], Value]]:
    """Register the evaluation of a kind of expression."""

    def register(function: Callable[[Frame, E], Value]) -> Callable[[Frame, E], Value]:
        EXPRESSIONS[kind] = function  # type: ignore[assignment]
        return function

    return register


def executes(kind: type[E]) -> Callable[[Callable[[Frame, E], bool]], Callable[[Frame, E], bool]]:
    """Register the execution of a kind of statement. It returns whether the next statement can be reached."""

    def register(function: Callable[[Frame, E], bool]) -> Callable[[Frame, E], bool]:
        STATEMENTS[kind] = function  # type: ignore[assignment]
        return function

    return register


def calls(kind: type[V]) -> Callable[[Callable[[Frame, V, Arguments, ast.AST], Value]], None]:
    """Register what calling a kind of value does."""

    def register(function: Callable[[Frame, V, Arguments, ast.AST], Value]) -> None:
        CALLS[kind] = function  # type: ignore[assignment]

    return register


def has_attributes(*kinds: type[V]) -> Callable[[Callable[[Frame, V, str, ast.AST], Value]], None]:
    """Register what the attributes of a kind of value are."""

    def register(function: Callable[[Frame, V, str, ast.AST], Value]) -> None:
        for kind in kinds:
            ATTRIBUTES[kind] = function  # type: ignore[assignment]

    return register


def note_guarded_operator(frame: Frame) -> None:
    """Record that an operator on tensors runs inside a `try` whose `except` would swallow its failure."""
    if not frame.engine.silent:
        frame.engine.effects.runs_operator = True


@dataclass(slots=True)
class Loop:
    """A loop that is being run: the environments in which it was left or continued early.

    `unrolled`: its body is run once for each item, and not for all of them at once.
    """

    breaks: list[Environment]
    continues: list[Environment]
    unrolled: bool = False


def _lacks(value: Value, name: str) -> bool:
    """Whether reading an attribute of a value surely raises: so the value is never there when the code goes on."""
    if isinstance(value, Const):
        return (value.value is None or isinstance(value.value, (int, float))) and not hasattr(value.value, name)
    is_list = isinstance(value, Tuple) and not value.fields and not value.lazy
    is_list = is_list or (isinstance(value, Many) and value.type in {"list", "tuple"})
    return is_list and not hasattr(list, name) and not hasattr(tuple, name)


class Frame:
    """The variables of a call, and the frame that it was called from.

    While `choosing`, the method at hand is called only if its receiver is not a tensor, or only if it is one.
    `unpacked` is the expression of which the statement at hand takes a fixed number of items.
    """

    __slots__ = (
        "annotations",
        "arms",
        "at_return",
        "catching",
        "catching_type_errors",
        "cell",
        "choosing",
        "diverged_at",
        "engine",
        "env",
        "exits",
        "following",
        "globals",
        "guards",
        "is_root",
        "last_operands",
        "loops",
        "module",
        "nonlocals",
        "on_accelerator",
        "owner",
        "parent",
        "peeking",
        "raises",
        "raising",
        "receiver",
        "returns",
        "symbol",
        "unpacked",
        "yielding",
        "yields",
    )  # fmt: skip

    def __init__(
        self,
        engine: Engine,
        module: Module,
        symbol: str = "",
        *,
        owner: Class | None = None,
        receiver: Value | None = None,
        closure: Closure | None = None,
        guards: int = 0,
        is_root: bool = False,
    ) -> None:
        self.engine = engine
        self.module = module
        self.symbol = symbol
        self.owner = owner
        self.receiver = receiver
        self.parent = closure
        self.env: Environment = {}
        self.cell = Closure(self.env, closure, engine.region, lasting=engine.constructing > 0)
        self.guards = guards
        self.is_root = is_root
        self.last_operands: dict[ast.AST, Value] = {}
        self.arms: dict[ast.IfExp, list[tuple[ast.expr, Value]]] = {}
        self.on_accelerator = 0
        self.annotations: dict[str, ast.expr] = {}
        self.peeking = 0
        self.raising = 0
        self.catching = 0
        self.catching_type_errors = 0
        self.choosing = 0
        self.raises: dict[Site | None, Raise] = {}
        self.diverged_at: ast.AST | None = None
        self.returns: list[tuple[ast.Return, Value]] = []
        self.following: Sequence[ast.stmt] = ()
        self.exits: list[Environment] = []
        self.at_return: list[Callable[[], None]] = []
        self.yields: list[Value] = []
        self.yielding: ast.expr | None = None
        self.unpacked: ast.expr | None = None
        self.loops: list[Loop] = []
        self.nonlocals: set[str] = set()
        self.globals: set[str] = set()

    @property
    def repeats(self) -> bool:
        """Whether the current code stands for any number of passes of a loop."""
        return any(not loop.unrolled for loop in self.loops)

    def evaluate(self, node: ast.expr) -> Value:
        """What an expression can be."""
        engine = self.engine
        engine.steps = steps = engine.steps + 1
        if steps > engine.limit or not steps & STEPS_BETWEEN:
            engine.proceed()
        handler = EXPRESSIONS.get(type(node))
        value = handler(self, node) if handler is not None else UNKNOWN
        return self._contained(value, node) if type(value) in CONTAINERS else value

    def _contained(self, value: Value, node: ast.expr) -> Value:
        """The current contents of a container that an expression returns; a new container gets an allocation."""
        if value.reaches:
            value = self.current(value)
        makes = type(node) in _MAKES or (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice))
        if not makes or self.peeking:
            return value
        made = value.options if isinstance(value, Union) else (value,)
        if not any(is_mutable(option) and not option.identity for option in made):
            return value
        own = frozenset((self.allocate(node),))
        return union([identified(o, own) if is_mutable(o) and not o.identity else o for o in made])

    def current(self, value: Value) -> Value:
        """A value with what its containers hold on the current path."""
        reaches = value.reaches
        if not reaches:
            return value
        containers = self.engine.effects.containers
        containers |= reaches
        changes = self.heap.changes
        if not changes:
            return value
        found = self.engine.refreshed.of(value, changes)
        if found is not value:
            containers |= found.reaches
        return found

    def allocate(self, node: object) -> Allocation:
        """The identity of a container that is made at a node: a new one, in a loop that of the place.

        What earlier passes of the loop made there has an identity no longer: it is as it was left.
        """
        engine = self.engine
        again, allocation = engine.allocate(node)
        if again:
            self.forget(allocation)
        return allocation

    def forget(self, allocation: Allocation) -> None:
        """Let an allocation stand for what is made next. What it stood for is nowhere known to be one any more."""
        heap = self.heap
        changes = heap.changes
        for name, value in self.env.items():
            if allocation in value.reaches:
                self.env[name] = without(self.engine.refreshed.of(value, changes), allocation, join)
        for cell, change in changes.items():
            if cell is not allocation.cell and allocation in change.now.reaches:
                now = without(self.engine.refreshed.of(change.now, changes), allocation, join)
                heap = heap.set(cell, now, change.before)
        self.heap = heap.without((allocation,))

    @property
    def may_go_on(self) -> bool:
        """Whether the trace may go on after the current code raises: it is guarded, or an `except` catches that."""
        return bool(self.catching or self.guards)

    def call(self, callee: Value, arguments: Arguments, node: ast.AST) -> Value:
        """The result of calling a value at a node."""
        if isinstance(callee, Union):
            of_tensors = {isinstance(o.receiver, Tensor) for o in callee.options if isinstance(o, BoundMethod)}
            is_open = len(of_tensors) > 1
            self.choosing += is_open
            try:
                return self.each(callee, lambda option: self.call(option, arguments, node))
            finally:
                self.choosing -= is_open
        handler = CALLS.get(type(callee))
        return handler(self, callee, arguments, node) if handler is not None else UNKNOWN

    def attribute(self, value: Value, name: str, node: ast.AST) -> Value:
        """`value.name`, read at a node."""
        if isinstance(value, Union):
            having = union([option for option in value.options if not _lacks(option, name)])
            if not isinstance(having, Union):
                return self.attribute(having, name, node)
            return self.each(having, lambda option: self.attribute(option, name, node))
        handler = ATTRIBUTES.get(type(value))
        return handler(self, value, name, node) if handler is not None else UNKNOWN

    def each(self, value: Value, run: Callable[[Value], Value]) -> Value:
        """The join of the results of `run` for each alternative of a value, and of the heaps that they leave."""
        if not isinstance(value, Union):
            return run(value)
        before, diverged_at, raises = self.heap, self.diverged_at, dict(self.raises)
        found, left = [], []
        for option in value.options:
            self.heap = before
            try:
                found.append(run(option))
            except NoResultYetError:
                continue
            left.append((self.heap, self.env))
        if not found:
            raise NoResultYetError
        self.heap = join_heaps(left, join)
        self.diverged_at, self.raises = diverged_at, raises
        return join(found)

    def peek(self, node: ast.expr) -> Value:
        """The value of an expression, without recording facts or effects: it is evaluated elsewhere as well."""
        before = self.heap
        self.engine.silent += 1
        self.peeking += 1
        try:
            return self.evaluate(node)
        finally:
            self.peeking -= 1
            self.engine.silent -= 1
            self.heap = before

    @property
    def heap(self) -> Heap:
        """What attributes and globals hold on the current path."""
        found = self.env.get(HEAP, EMPTY)
        assert isinstance(found, Heap)
        return found

    @heap.setter
    def heap(self, heap: Heap) -> None:
        if heap is not EMPTY or HEAP in self.env:
            self.env[HEAP] = heap

    def changed_value(self, cell: Cell) -> Value | None:
        """The value of a cell that has changed since the module was built; None for any other cell."""
        self.engine.effects.cells.add(cell)
        found = self.env.get(HEAP)
        return found.get(cell) if isinstance(found, Heap) else None

    def stored(self, instance: Instance, name: str) -> Value | None:
        """What an attribute of an object holds; None if it has none of that name."""
        found = self.changed_value(Cell(instance, name))
        return instance.attributes.get(name) if found is None else found

    def attributes(self, instance: Instance) -> dict[str, Value]:
        """What all attributes of an object hold."""
        found = {**instance.attributes, **self.heap.of(instance)}
        self.engine.effects.cells.update([Cell(instance, name) for name in found])
        return found

    def store_cell(self, cell: Cell, value: Value, before: Value | None) -> None:
        """Store a value in a cell. `before` is what it held when the call began."""
        self.heap = self.heap.set(cell, value, before)

    def execute(self, body: Sequence[ast.stmt]) -> bool:
        """Run statements in order. Returns False if the code after them is never reached."""
        for index, statement in enumerate(body):
            handler = STATEMENTS.get(type(statement))
            self.following = body[index + 1 : index + 9]
            try:
                if handler is not None and not handler(self, statement):
                    return False
            except NoResultYetError:
                return False
            if self.diverged_at is not None and self.diverges(statement):
                return False
        return True

    def diverges(self, statement: ast.stmt) -> bool:
        """Whether the statement that was just run certainly makes a call that never returns."""
        call, self.diverged_at = self.diverged_at, None
        return call is not None and not self.catching and any(node is call for node in _surely_evaluated(statement))

    def emit(
        self, kind: Callable[..., Fact], node: ast.AST, value: Value | None = None, **details: object
    ) -> Fact | None:
        """Record a fact about a node, with the trail of `value`. Returns the recorded fact, None if there is none."""
        if self.engine.silent:
            return None
        trail = trail_of(value) if value is not None else None
        fact = self.engine.emit(kind(self.site(node), self.symbol, self.guards > 0, trail, **details))
        if fact is not None and self.engine.probe is not None:
            self.engine.probe.meet(fact.met_at, self)
        return fact

    def site(self, node: ast.AST) -> Site:
        """The site (function and position) of a node."""
        return site_of(self.module, node)

    def trail(
        self,
        node: ast.AST,
        message: str,
        parent: Trail | None = None,
        role: Role = "value",
        *,
        changes: bool = True,
        entered: Module | None = None,
    ) -> Trail:
        """A step of a trail at a node of this frame."""
        return Trail(self.module, node, message, parent, role, changes, entered)

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Inside the block, an `except` would swallow an error of torch.export."""
        self.guards += 1
        try:
            yield
        finally:
            self.guards -= 1


_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)
_SOMETIMES = (
    ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Compare,
)  # fmt: skip
"""Expressions whose parts may not be evaluated."""


def _surely_evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """The expressions of a simple statement that are evaluated whenever it is run."""
    waiting: list[ast.AST] = [node] if isinstance(node, _SIMPLE) else []
    while waiting:
        part = waiting.pop()
        yield part
        if not isinstance(part, _SOMETIMES):
            waiting.extend(children(part))
