"""Tests as functions that need no arguments: with what the set-up of their class, fixtures and parameters give them."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from exportlint.syntax.definitions import FunctionNode
from exportlint.verify.targets.signatures import required

_SET_UPS = ("setUpClass", "setup_class", "setUp", "setup_method", "setup")
"""What unittest and pytest call before a test method, in this order."""
_DEEP = 5
"""How many fixtures may need one another."""
_MOST_CHOICES = 16
"""How many values of parameters are tried that may choose a model."""

Shared: TypeAlias = Callable[[str], "FunctionNode | None"]
"""Gives a fixture from outside of a file, by its name."""


def nothing(_name: str) -> FunctionNode | None:
    """No fixtures."""
    return None


def is_fixture(function: FunctionNode) -> bool:
    """Whether a function is a fixture of pytest."""
    return _decorator(function, "fixture") is not None


def tests_of_class(cls: ast.ClassDef, body: Sequence[ast.stmt], shared: Shared) -> Iterator[FunctionNode]:
    """The test methods of a class, each as a function that sets up first. `body` is that of the file.

    What stands in `self` then stands in variables: `self.net` in `self_net`.
    """
    methods = {statement.name: statement for statement in cls.body if isinstance(statement, FunctionNode)}
    tests = [method for name, method in methods.items() if name.startswith("test")]
    if not tests:
        return
    constants = [statement for statement in cls.body if isinstance(statement, ast.Assign | ast.AnnAssign)]
    owned = _Owned("", {n.id for s in constants for n in ast.walk(s) if isinstance(n, ast.Name) and _is_stored(n)})
    before = [owned.visit(copy.deepcopy(constant)) for constant in constants]
    for name in _SET_UPS:
        if name in methods:
            before += _body(methods[name])
    for test in tests:
        made = copy.copy(test)
        made.args = copy.copy(test.args)
        made.args.args = test.args.args[1:]
        made.body = [*before, *_body(test)]
        yield from with_fixtures(made, body, shared)


def with_fixtures(test: FunctionNode, body: Sequence[ast.stmt], shared: Shared) -> Iterator[FunctionNode]:
    """A test that makes itself what fixtures and parameters would give it, once for each that may choose a model.

    `body` is that of the file; other fixtures are `shared`.
    """
    needed = required(test)
    if not needed:
        yield test
        return
    own = {s.name: s for s in body if isinstance(s, FunctionNode) and is_fixture(s)}
    if not test.name.startswith("test") and not is_fixture(test):
        shared = nothing

    def fixtures(name: str) -> FunctionNode | None:
        return own.get(name) or shared(name)

    making = _Making(fixtures, _parameters(test), 0)
    tests = [_with(test, making, needed)]
    # What is chosen is known only now: it may be the parameter of a fixture.
    tests += (_with(test, _Making(fixtures, making.given, i), needed) for i in range(1, making.choices))
    yield from tests


def _with(test: FunctionNode, making: _Making, needed: Sequence[str]) -> FunctionNode:
    """A test with what makes the parameters that it needs, as far as that is possible."""
    made = [name for name in needed if making.make(name)]
    if not made:
        return test
    found = copy.copy(test)
    found.args = copy.copy(test.args)
    found.args.args = [argument for argument in test.args.args if argument.arg not in made]
    found.body = [*making.before, *test.body]
    return found


class _Making:
    """Makes values for the parameters of a test: statements that stand `before` it.

    Of several that a parameter may have, it takes the one with the `number`, or the last one.
    """

    def __init__(self, fixtures: Shared, given: Mapping[str, Sequence[ast.expr]], number: int) -> None:
        self.given = given
        self.before: list[ast.stmt] = []
        self.choices = 1
        self._fixtures = fixtures
        self._number = number

    def make(self, name: str, depth: int = 0) -> bool:
        """Add what makes the value of a parameter, and those that this needs. Returns whether that is possible."""
        if name in self.given and not depth:
            self.before.append(_assigned(name, self._chosen(self.given[name])))
            return True
        fixture = self._fixtures(name)
        if fixture is None or depth == _DEEP:
            return False
        params = params_of(fixture)
        needed = [other for other in required(fixture) if other != "request" or not params]
        if not all(self.make(other, depth + 1) for other in needed):
            return False
        function = copy.deepcopy(fixture)
        function.decorator_list = []
        function.name = f"make_{name}"
        function.args.args = [argument for argument in function.args.args if argument.arg not in (*needed, "request")]
        if params:
            _OfRequest(self._chosen(params)).generic_visit(function)
        _Returning().generic_visit(function)
        match function.body:
            case [ast.Return(value=ast.expr() as value)]:  # also if that is a class, which the test makes
                self.before.append(_assigned(name, value))
                return True
        # Other fixtures stand in variables around it, where it is known what they are.
        call = ast.Call(ast.Name(function.name, ast.Load()), [], [])
        self.before += [function, _assigned(name, ast.copy_location(call, fixture))]
        return True

    def _chosen(self, values: Sequence[ast.expr]) -> ast.expr:
        if any(map(_may_name_a_model, values)):
            self.choices = max(self.choices, min(len(values), _MOST_CHOICES))
        return values[min(self._number, len(values) - 1)]


def _may_name_a_model(value: ast.expr) -> bool:
    return any(
        isinstance(node, ast.Name) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
        for node in ast.walk(value)
    )


def _assigned(name: str, value: ast.expr) -> ast.stmt:
    statement = ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), value)
    return ast.fix_missing_locations(statement)


def _parameters(test: FunctionNode) -> dict[str, list[ast.expr]]:
    """The values that `pytest.mark.parametrize` gives."""
    found: dict[str, list[ast.expr]] = {}
    for decorator in test.decorator_list:
        match decorator:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[ast.Constant(value=str(names)), values, *_]):
                rows = _rows(values)
                split = [name.strip() for name in names.split(",")]
                cells = [_cells(row, len(split)) for row in rows]
                found |= {
                    name: [row[i] for row in cells if i < len(row)]
                    for i, name in enumerate(split)
                    if any(i < len(row) for row in cells)
                }
    return found


def _cells(row: ast.expr, count: int) -> Sequence[ast.expr]:
    """The values for some parameters: `1`, `(1, 2)`, `pytest.param(1, 2, id="a")`."""
    if isinstance(row, ast.Call) and ast.unparse(row.func).rpartition(".")[2] == "param":
        return row.args
    if count == 1:
        return [row]
    if isinstance(row, ast.Tuple | ast.List):
        return row.elts
    return [ast.copy_location(ast.Subscript(row, ast.Constant(i), ast.Load()), row) for i in range(count)]


def _rows(values: ast.expr) -> Sequence[ast.expr]:
    """The values that an expression lists, or the first one of those that it computes: `[n for n in range(3)]`."""
    if isinstance(values, ast.List | ast.Tuple):
        return values.elts
    first = ast.parse(f"next(iter({ast.unparse(values)}))", mode="eval").body
    return [ast.copy_location(first, values)]


def params_of(fixture: FunctionNode) -> list[ast.expr]:
    """The values that a fixture has as `request.param`."""
    decorator = _decorator(fixture, "fixture")
    keywords = decorator.keywords if isinstance(decorator, ast.Call) else ()
    values = next((keyword.value for keyword in keywords if keyword.arg == "params"), None)
    rows = () if values is None else _rows(values)
    return [cell for row in rows for cell in _cells(row, 1)[:1]]


def _decorator(function: FunctionNode, name: str) -> ast.expr | None:
    """The decorator of a function that is called so, with or without arguments."""
    for decorator in function.decorator_list:
        plain = decorator.func if isinstance(decorator, ast.Call) else decorator
        if ast.unparse(plain).rpartition(".")[2] == name:
            return decorator
    return None


def _body(method: FunctionNode) -> list[ast.stmt]:
    """What a method does, with variables for what stands in its first argument."""
    first = method.args.args[0].arg if method.args.args else ""
    owned = _Owned(first, set())
    return [owned.visit(copy.deepcopy(statement)) for statement in method.body]


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


class _Owned(ast.NodeTransformer):
    """Puts variables in place of attributes of `self`, and of names that the body of a class binds."""

    def __init__(self, self_name: str, names: set[str]) -> None:
        self._self = self_name
        self._names = names

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == self._self:
            return ast.copy_location(ast.Name(f"self_{node.attr}", node.ctx), node)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Name(f"self_{node.id}", node.ctx), node) if node.id in self._names else node


class _OfRequest(ast.NodeTransformer):
    """Puts a value in place of `request.param`."""

    def __init__(self, value: ast.expr) -> None:
        self._value = value

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if ast.unparse(node) == "request.param":
            return ast.copy_location(copy.deepcopy(self._value), node)
        return self.generic_visit(node)


class _Returning(ast.NodeTransformer):
    """Returns what a fixture yields."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if isinstance(node.value, ast.Yield):
            return ast.copy_location(ast.Return(node.value.value), node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node
