"""Which variables code needs from before it, which it binds, and which are still needed behind it.

`needed`, `bound` and `needed_after` are the sets of live-variable analysis; `definitely_assigned` is that of definite
assignment.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from exportlint.fixes.edit.names import bound_names
from exportlint.fixes.edit.tree import BLOCKS, Scope, Tree, bound
from exportlint.syntax.definitions import TRIES, FunctionNode, dotted

_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_LATER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.GeneratorExp)
"""What reads the variables around it when it is run, which may be later."""
_ANY_NAME = frozenset({"locals", "vars", "eval", "exec", "dir"})
"""Functions of Python that read variables by names that the code does not show."""

__all__ = ["bound", "leaves", "needed", "needed_after", "returns"]


def needed(body: Sequence[ast.AST]) -> list[str]:
    """The names that statements or expressions may read before they bind them, in order."""
    found: dict[str, None] = {}
    _Reader(found).block(body, set())
    return list(found)


def needed_after(tree: Tree, statement: ast.stmt) -> set[str]:
    """The names whose values are needed once a statement has run: behind it, and in the next pass of a loop.

    Those of the function around it that other functions read, wherever they are defined, are needed in any case.
    """
    function = tree.function(statement)
    found = set(tree.once(_shared, function)) if function is not None else set()
    bound_behind: frozenset[str] = frozenset()
    node: ast.AST = statement
    while isinstance(node, ast.stmt) and not isinstance(node, (FunctionNode, ast.ClassDef)):
        parent = tree.parents[node]
        behind = tree.once(_flows, parent)[node]
        found |= behind.needed - bound_behind
        bound_behind = (
            frozenset() if behind.jumps else bound_behind | behind.bound
        )  # what a jump passes over may not run
        if isinstance(parent, _LOOPS) and node in parent.body:
            found |= tree.once(_needed_again, parent) - bound_behind
            bound_behind = frozenset()
        elif isinstance(parent, TRIES):
            for handler in parent.handlers:
                found |= tree.once(_needed_by, handler)
            found |= tree.once(_needed_later, parent) if node in parent.body else set(needed(parent.finalbody))
            bound_behind = frozenset()
        elif isinstance(parent, (ast.With, ast.AsyncWith)) and any(map(_may_swallow, parent.items)):
            bound_behind = frozenset()
        node = parent if isinstance(parent, ast.stmt) else tree.statement(parent)
        if isinstance(node, TRIES):
            found |= set(needed(node.finalbody))
    return found


@dataclass(frozen=True, slots=True)
class _Flow:
    """What the statements behind one in its block do: names that they need, and surely bind, and whether one jumps."""

    needed: frozenset[str] = frozenset()
    bound: frozenset[str] = frozenset()
    jumps: bool = False


def _flows(parent: ast.AST) -> dict[ast.AST, _Flow]:
    """What is behind each statement in the blocks of a node, worked out from the last one on: one walk for all."""
    found: dict[ast.AST, _Flow] = {}
    for field in BLOCKS:
        behind = _Flow()
        for node in reversed(getattr(parent, field, [])):
            found[node] = behind
            reads: dict[str, None] = {}
            bound: set[str] = set()
            goes_on = _Reader(reads).block([node], bound)
            behind = _Flow(
                frozenset(reads) | (behind.needed - bound if goes_on else frozenset()),
                frozenset(bound) | (behind.bound if goes_on else frozenset()),
                behind.jumps or any(isinstance(part, (ast.Break, ast.Continue)) for part in ast.walk(node)),
            )
    return found


def _needed_again(loop: ast.For | ast.AsyncFor | ast.While) -> set[str]:
    again = [loop.test] if isinstance(loop, ast.While) else [loop.target]
    return {*needed([*again, *loop.body]), *needed(loop.orelse)}


def _needed_by(handler: ast.ExceptHandler) -> set[str]:
    return set(needed([handler]))


def _needed_later(statement: ast.Try | ast.TryStar) -> set[str]:
    return {*needed(statement.orelse), *needed(statement.finalbody)}


def _shared(function: FunctionNode) -> frozenset[str]:
    """The variables of a function, and of those around it, that the code of other scopes may read at any time."""
    found: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            found.update(node.names)
        elif isinstance(node, _LATER) and node is not function:
            found.update(needed([node]))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _ANY_NAME:
            found |= bound_names(function)
    return frozenset(found)


def definitely_assigned(tree: Tree, statement: ast.stmt) -> set[str]:
    """The names of the function that surely have a value when a statement is reached: definite assignment."""
    found: set[str] = set()
    around: list[ast.AST] = []
    for node in tree.ancestors(statement):
        around.append(node)
        if isinstance(node, FunctionNode):
            arguments = node.args
            found |= {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
            found |= {a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None}
            break
    path = [*(node for node in reversed(around) if isinstance(node, ast.stmt) and not isinstance(node, FunctionNode))]
    reader = _Reader({})
    for node in [*path, statement]:
        block = tree.block(node)
        reader.block(block[: block.index(node)], found)
        if isinstance(node, ast.For) and node is not statement:
            reader.visit(node.target, found)
        elif isinstance(node, ast.With) and node is not statement:
            reader.block(node.items, found)
    return found


def returns(body: Sequence[ast.AST]) -> list[ast.Return]:
    """The `return` statements in a body, but for those of functions that it defines."""
    found: list[ast.Return] = []
    waiting = list(body)[::-1]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return):
            found.append(node)
        if not isinstance(node, (Scope, ast.ClassDef, ast.expr)):
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))
    return found


def leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether nothing behind a body is reached: it surely returns or raises."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.If):
        return leaves(last.body) and leaves(last.orelse)
    if isinstance(last, ast.With):
        return leaves(last.body)
    return isinstance(last, (ast.Return, ast.Raise))


def _may_swallow(item: ast.withitem) -> bool:
    """Whether a context may end its block early, as `contextlib.suppress` does: none of torch does."""
    manager = item.context_expr
    name = dotted(manager.func if isinstance(manager, ast.Call) else manager)
    return name is None or not (name.startswith("torch.") or name == "open")


class _Reader:
    """Walks code in the order in which it runs, and notes the names that are read while nothing has bound them."""

    def __init__(self, found: dict[str, None]) -> None:
        self.found = found

    def block(self, body: Sequence[ast.AST], known: set[str]) -> bool:
        """Walk a block; `known` grows by what it surely binds. Whether its end can be reached."""
        for node in body:
            self.visit(node, known)
            if isinstance(node, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
                return False
        return True

    def visit(self, node: ast.AST, known: set[str]) -> None:
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                self.read(node.id, known)
            else:
                known.add(node.id)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            self.optional(node.value, known)
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            self.block(targets, known)
        elif isinstance(node, ast.AugAssign):
            if isinstance(node.target, ast.Name):
                self.read(node.target.id, known)
            self.block([node.value, node.target], known)
        elif isinstance(node, (ast.If, ast.IfExp)):
            self.visit(node.test, known)
            ways = (node.body, node.orelse)
            self.fork([way if isinstance(way, list) else [way] for way in ways], known)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self.visit(node.iter, known)
            self.block([node.target, *node.body], set(known))
            self.block(node.orelse, set(known))
        elif isinstance(node, ast.While):
            self.visit(node.test, known)
            self.block(node.body, set(known))
            self.block(node.orelse, set(known))
        elif isinstance(node, TRIES):
            for body in (node.body, *(h.body for h in node.handlers), node.orelse):
                self.block(body, set(known))
            self.block(node.finalbody, known)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            self.block(node.items, known)
            self.block(node.body, set(known) if any(map(_may_swallow, node.items)) else known)
        elif isinstance(node, ast.Match):
            self.visit(node.subject, known)
            for case in node.cases:
                self.block([case], set(known))
        elif isinstance(node, _Comprehension):
            self.comprehension(node, set(known))
        elif isinstance(node, (Scope, ast.ClassDef)):
            self.scope(node, known)
        else:
            self.block(list(ast.iter_child_nodes(node)), known)

    def read(self, name: str, known: set[str]) -> None:
        if name not in known:
            self.found[name] = None

    def optional(self, node: ast.expr | None, known: set[str]) -> None:
        if node is not None:
            self.visit(node, known)

    def fork(self, ways: Sequence[Sequence[ast.AST]], known: set[str]) -> None:
        outcomes = []
        for way in ways:
            inner = set(known)
            if self.block(way, inner):
                outcomes.append(inner)
        if outcomes:
            known |= set.intersection(*outcomes)

    def comprehension(self, node: _Comprehension, known: set[str]) -> None:
        for generator in node.generators:
            self.block([generator.iter, generator.target, *generator.ifs], known)
        self.block([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt], known)

    def scope(self, node: Scope | ast.ClassDef, known: set[str]) -> None:
        if isinstance(node, ast.ClassDef):
            self.block([*node.bases, *node.decorator_list, *node.body], set(known))
            known.add(node.name)
            return
        self.block([*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)], known)
        self.block(node.body if isinstance(node.body, list) else [node.body], known | bound_names(node))
        if isinstance(node, FunctionNode):
            self.block(node.decorator_list, known)
            known.add(node.name)
