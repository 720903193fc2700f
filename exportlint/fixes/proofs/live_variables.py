"""Which variables code needs from before it, which it binds, and which are still needed behind it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from exportlint.fixes.edit.names import bound_names
from exportlint.fixes.edit.tree import Scope, Tree
from exportlint.syntax.definitions import TRIES, FunctionNode

_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_BLOCKS = ("body", "orelse", "finalbody")


def needed(body: Sequence[ast.AST]) -> list[str]:
    """The names that statements or expressions may read before they bind them, in order."""
    found: dict[str, None] = {}
    _Reader(found).block(body, set())
    return list(found)


def bound(body: Iterable[ast.AST]) -> list[str]:
    """The names that statements may bind in their own scope, in order."""
    found: dict[str, None] = {}
    waiting = list(body)[::-1]
    while waiting:
        node = waiting.pop()
        name: str | None = None
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            name = node.id
        elif isinstance(node, (FunctionNode, ast.ClassDef, ast.ExceptHandler)):
            name = node.name
        elif isinstance(node, ast.alias):
            name = (node.asname or node.name).partition(".")[0]
        if name is not None:
            found[name] = None
        if not isinstance(node, (Scope, ast.ClassDef, _Comprehension)):
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))
    return list(found)


def needed_after(tree: Tree, statement: ast.stmt) -> set[str]:
    """The names whose values are needed once a statement has run: behind it, and in the next pass of a loop."""
    found: set[str] = set()
    bound_behind: set[str] = set()
    node: ast.AST = statement
    while isinstance(node, ast.stmt) and not isinstance(node, (FunctionNode, ast.ClassDef)):
        reads: dict[str, None] = {}
        reader = _Reader(reads)
        reader.block(tree.following(node), bound_behind)
        parent = tree.parents[node]
        if isinstance(parent, (ast.For, ast.AsyncFor, ast.While)):
            again = [parent.test] if isinstance(parent, ast.While) else [parent.target]
            _Reader(reads).block([*again, *parent.body], set(bound_behind))
            bound_behind = set()
        found |= set(reads)
        node = parent if isinstance(parent, ast.stmt) else tree.statement(parent)
        if isinstance(node, TRIES):
            found |= set(needed([*node.handlers, *node.finalbody]))
    return found


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
