"""The syntax tree of a file, from the inside out: parents, blocks, and the node at a place.

`Tree` has the ways upwards, `Contents` the nodes below one by kind and name; `bound` and `used_names` list names.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator, KeysView, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import TypeVar, cast

from exportlint.analysis.domain.trails import Site
from exportlint.syntax.definitions import FunctionNode

A = TypeVar("A")
N = TypeVar("N", bound=ast.AST)
Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_PLACED = (ast.stmt, ast.expr, ast.excepthandler, ast.arg, ast.keyword, ast.alias, ast.pattern)
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


class Contents:
    """The nodes in a part of a file, itself included, by kind and by name: each list in the order of `ast.walk`.

    They are collected in one walk, so that asking once more costs only what is found.
    """

    def __init__(self, node: ast.AST) -> None:
        self._kinds: dict[type[ast.AST], list[ast.AST]] = {}
        self._names: dict[str, list[ast.Name]] = {}
        self._attributes: dict[str, list[ast.Attribute]] = {}
        self._strings: set[str] = set()
        for part in ast.walk(node):
            self._kinds.setdefault(type(part), []).append(part)
            if isinstance(part, ast.Name):
                self._names.setdefault(part.id, []).append(part)
            elif isinstance(part, ast.Attribute):
                self._attributes.setdefault(part.attr, []).append(part)
            elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                self._strings.add(part.value)

    def of(self, kind: type[N]) -> Sequence[N]:
        """The nodes of exactly one kind."""
        return cast("Sequence[N]", self._kinds.get(kind, ()))

    def named(self, name: str) -> Sequence[ast.Name]:
        """Where a variable stands."""
        return self._names.get(name, ())

    def attributes(self, name: str) -> Sequence[ast.Attribute]:
        """Where an attribute of anything stands."""
        return self._attributes.get(name, ())

    @property
    def attribute_names(self) -> KeysView[str]:
        """The attributes that stand somewhere."""
        return self._attributes.keys()

    @property
    def strings(self) -> AbstractSet[str]:
        """The constant strings."""
        return self._strings

    def declared(self) -> frozenset[str]:
        """The names in `global` and `nonlocal`."""
        nodes: list[ast.Global | ast.Nonlocal] = [*self.of(ast.Global), *self.of(ast.Nonlocal)]
        return frozenset(name for node in nodes for name in node.names)


class Tree:
    """Ways through one syntax tree that lead upwards."""

    def __init__(self, root: ast.Module) -> None:
        self.root = root
        self._used: dict[ast.AST, frozenset[str]] = {}
        self._said: dict[object, object] = {}

    def once(self, ask: Callable[[N], A], node: N) -> A:
        """What a function says of a node, such as the whole file, asked once however many fixes want to know."""
        key = ask, node
        if key not in self._said:
            self._said[key] = ask(node)
        return cast(A, self._said[key])

    def contents(self, node: ast.AST) -> Contents:
        """The nodes in a node of the file, collected once: for functions, classes, loops and the file."""
        return self.once(Contents, node)

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The node around each node. Nodes that `ast` shares, such as `Load`, have no place."""
        found: dict[ast.AST, ast.AST] = {}
        waiting: list[ast.AST] = [self.root]
        while waiting:
            node = waiting.pop()
            for child in ast.iter_child_nodes(node):
                found[child] = node
                waiting.append(child)
        return found

    def at(self, site: Site, *kinds: type[N]) -> N | None:
        """The outermost node of one of the kinds that covers exactly a place."""
        place = site.row, site.column, site.end_row, site.end_column
        return next((node for node in self._placed.get(place, ()) if isinstance(node, kinds)), None)

    @cached_property
    def _placed(self) -> dict[tuple[int, int, int, int], list[ast.AST]]:
        """The nodes that cover exactly a place, the outermost first, for each place where one does.

        Python 3.11 places what is inside of an f-string outside of it: that is left out.
        """
        found: dict[tuple[int, int, int, int], list[ast.AST]] = {}
        first, last = (0, 0), (sys.maxsize, 0)
        waiting: list[tuple[ast.AST, tuple[int, int], tuple[int, int]]] = [(self.root, first, last)]
        while waiting:
            node, first, last = waiting.pop()
            if isinstance(node, _PLACED):
                start, end = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
                # Decorators stand in front of what they decorate.
                decorators: list[ast.AST] = getattr(node, "decorator_list", [])
                waiting += ((decorator, first, last) for decorator in decorators)
                if not first <= start <= end <= last:
                    continue
                found.setdefault((*start, *end), []).append(node)
                first, last = start, end
                waiting += ((c, first, last) for c in ast.iter_child_nodes(node) if c not in decorators)
            else:
                waiting += ((child, first, last) for child in ast.iter_child_nodes(node))
        return found

    def used_names(self, node: ast.AST) -> frozenset[str]:
        """All names that stand somewhere in a node, bound or read."""
        if node not in self._used:
            self._used[node] = frozenset(used_names(node))
        return self._used[node]

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, the innermost first."""
        parent = self.parents.get(node)
        while parent is not None:
            yield parent
            parent = self.parents.get(parent)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that a node is or is part of."""
        for around in (node, *self.ancestors(node)):
            if isinstance(around, ast.stmt):
                return around
        raise LookupError("a node outside of any statement")

    def function(self, node: ast.AST) -> FunctionNode | None:
        """The innermost function around a node; lambdas do not count."""
        return next((n for n in self.ancestors(node) if isinstance(n, FunctionNode)), None)

    def enclosing_class(self, node: ast.AST) -> ast.ClassDef | None:
        """The innermost class around a node."""
        return next((n for n in self.ancestors(node) if isinstance(n, ast.ClassDef)), None)

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements among which one stands, itself included."""
        return self._places[statement][0]

    def index(self, statement: ast.stmt) -> int:
        """Where a statement stands in its block."""
        return self._places[statement][1]

    def following(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements behind one in its block."""
        block, index = self._places[statement]
        return block[index + 1 :]

    def next(self, statement: ast.stmt) -> ast.stmt | None:
        """The statement behind one in its block."""
        block, index = self._places[statement]
        return block[index + 1] if index + 1 < len(block) else None

    @cached_property
    def _places(self) -> dict[ast.AST, tuple[list[ast.stmt], int]]:
        """The block of each statement, and where in it it stands."""
        found: dict[ast.AST, tuple[list[ast.stmt], int]] = {}
        for parent in (self.root, *self.parents):
            for field in BLOCKS:
                body = getattr(parent, field, None)
                if isinstance(body, list):
                    found.update((statement, (body, index)) for index, statement in enumerate(body))
        return found


def parameters(function: Scope) -> list[ast.arg]:
    """The parameters of a function that have a place or a name, in order, without `*args` and `**kwargs`."""
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def indices(subscript: ast.Subscript) -> list[ast.expr]:
    """The items of `x[a, b]`, or the only one."""
    return subscript.slice.elts if isinstance(subscript.slice, ast.Tuple) else [subscript.slice]


def takes_all(item: ast.expr) -> bool:
    """Whether an index is `:`."""
    return isinstance(item, ast.Slice) and item.lower is None and item.upper is None and item.step is None


def place(node: ast.AST) -> tuple[int, int]:
    """Where a node begins: that of a node is less than that of another one which begins behind it."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def in_order(nodes: Iterable[A]) -> list[A]:
    """Nodes as they follow each other in the source."""
    return sorted(nodes, key=place)  # type: ignore[arg-type]


def used_names(node: ast.AST) -> set[str]:
    """All names that stand somewhere in a node, bound or read."""
    found: set[str] = set()
    for n in ast.walk(node):
        if isinstance(n, ast.Name):
            found.add(n.id)
        elif isinstance(n, ast.arg):
            found.add(n.arg)
        elif isinstance(n, (ast.Global, ast.Nonlocal)):
            found.update(n.names)
        elif (name := binding(n)) is not None:
            found.add(name)
    return found


def binding(node: ast.AST) -> str | None:
    """The name that a node itself, without its parts, binds or deletes in the scope that it stands in."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.MatchMapping(rest=name):
            return name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.ExceptHandler(name=name) | ast.MatchAs(name=name) | ast.MatchStar(name=name):
            return name
        case ast.alias(name=name, asname=asname):
            return (asname or name).partition(".")[0]
    return None


def bound(body: Iterable[ast.AST], *, comprehensions: bool = False) -> list[str]:
    """The names that statements, or other parts of a function, may bind in their own scope, in order.

    `comprehensions`: with the variables of comprehensions, which have a scope of their own.
    """
    found: dict[str, None] = {}
    waiting = list(body)[::-1]
    while waiting:
        node = waiting.pop()
        name = binding(node)
        if name is not None:
            found[name] = None
        if isinstance(node, (Scope, ast.ClassDef)):
            continue
        if isinstance(node, ast.comprehension) and not comprehensions:
            waiting.extend([*node.ifs[::-1], node.iter])
        else:
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))
    return list(found)
