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
        yield with_fixtures(made, body, shared)


def with_fixtures(test: FunctionNode, body: Sequence[ast.stmt], shared: Shared) -> FunctionNode:
    """A test that makes itself what fixtures and the first of its parameters would give it.

    `body` is that of the file; other fixtures are `shared`.
    """
    needed = required(test)
    if not needed:
        return test
    own = {s.name: s for s in body if isinstance(s, FunctionNode) and is_fixture(s)}
    if not test.name.startswith("test") and not is_fixture(test):
        shared = nothing

    def fixtures(name: str) -> FunctionNode | None:
        return own.get(name) or shared(name)

    given = _first_parameters(test)
    before: list[ast.stmt] = []
    made = [name for name in needed if _make(name, fixtures, given, before, 0)]
    if not made:
        return test
    found = copy.copy(test)
    found.args = copy.copy(test.args)
    found.args.args = [argument for argument in test.args.args if argument.arg not in made]
    found.body = [*before, *test.body]
    return found


def _make(
    name: str,
    fixtures: Shared,
    given: Mapping[str, ast.expr],
    before: list[ast.stmt],
    depth: int,
) -> bool:
    """Add what makes the value of a parameter, and those that this needs. Returns whether that is possible."""
    if name in given:
        before.append(_assigned(name, given[name]))
        return True
    fixture = fixtures(name)
    if fixture is None or depth == _DEEP:
        return False
    if not all(_make(other, fixtures, {}, before, depth + 1) for other in required(fixture)):
        return False
    function = copy.deepcopy(fixture)
    function.decorator_list = []
    function.name = f"make_{name}"
    _Returning().generic_visit(function)
    arguments: list[ast.expr] = [ast.Name(other, ast.Load()) for other in required(fixture)]
    call = ast.Call(ast.Name(function.name, ast.Load()), arguments, [])
    before += [function, _assigned(name, ast.copy_location(call, fixture))]
    return True


def _assigned(name: str, value: ast.expr) -> ast.stmt:
    statement = ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), value)
    return ast.fix_missing_locations(statement)


def _first_parameters(test: FunctionNode) -> dict[str, ast.expr]:
    """The values that `pytest.mark.parametrize` gives first."""
    found: dict[str, ast.expr] = {}
    for decorator in test.decorator_list:
        match decorator:
            case ast.Call(
                func=ast.Attribute(attr="parametrize"),
                args=[ast.Constant(value=str(names)), ast.List(elts=[first, *_]) | ast.Tuple(elts=[first, *_]), *_],
            ):
                split = [name.strip() for name in names.split(",")]
                values = first.elts if len(split) > 1 and isinstance(first, ast.Tuple | ast.List) else [first]
                found |= dict(zip(split, values, strict=False))
    return found


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


class _Returning(ast.NodeTransformer):
    """Returns what a fixture yields."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if isinstance(node.value, ast.Yield):
            return ast.copy_location(ast.Return(node.value.value), node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node
