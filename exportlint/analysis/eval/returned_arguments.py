"""Functions that return an argument of theirs as it is, which is known without running them.

Most decorators of libraries that document or register what they decorate are such functions, and some of them do more
than all that they decorate: that of transformers builds the docstring of each `forward`.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from exportlint.analysis.domain.values import Function, Value
from exportlint.analysis.eval.frame import Frame
from exportlint.syntax.definitions import FunctionLike
from exportlint.syntax.walk import children, once_a_node, walk

_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
"""What binds the name that it has."""


@dataclass(frozen=True, slots=True)
class _Known:
    """The definition of a function, and what the names around it stand for."""

    node: FunctionLike
    outer: Callable[[ast.Name], _Known | None]


def returns_first_argument(frame: Frame, function: Function, given: Value) -> bool:
    """Whether a call with the one argument `given` returns that or nothing, if it returns at all."""
    parameters = _positional(function.node)
    if function.receiver is not None or function.module.is_stub or not parameters:
        return False
    return _returns(_known(frame, function), parameters[0], isinstance(given, Function), ())


def _known(frame: Frame, function: Function) -> _Known:
    scope = Frame(frame.engine, function.module, closure=function.closure)

    def outer(name: ast.Name) -> _Known | None:
        found = scope.peek(name)
        if not isinstance(found, Function) or found.receiver is not None or found.module.is_stub:
            return None
        return _known(frame, found)

    return _Known(function.node, outer)


def _returns(function: _Known, parameter: str, is_function: bool, active: tuple[FunctionLike, ...]) -> bool:
    """Whether all that a function returns is what a parameter was given, or None."""
    node = function.node
    if isinstance(node, ast.AsyncFunctionDef) or node in active:
        return False
    bound = _bound(node)
    if parameter in bound or _is_generator(node):
        return False
    returned = [node.body] if isinstance(node, ast.Lambda) else _returned(node.body, parameter, is_function)
    for value in (one for expression in returned for one in _alternatives(expression)):
        if isinstance(value, ast.Name) and value.id == parameter:
            continue
        if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name):
            return False
        called = _named(function, value.func, bound)
        if called is None:
            return False
        of_callee = _receiving(called.node, value, parameter)
        if not any(_returns(called, name, is_function, (*active, node)) for name in of_callee):
            return False
    return True


def _returned(body: Sequence[ast.stmt], parameter: str, is_function: bool) -> Iterator[ast.expr]:
    """What is returned, where a parameter may be known to be a function. A bare `return` returns nothing."""
    for statement in body:
        if isinstance(statement, ast.Return):
            if statement.value is not None:
                yield statement.value
        elif isinstance(statement, ast.If) and is_function and _is_true(statement.test, parameter):
            yield from _returned(statement.body, parameter, is_function)
            if isinstance(statement.body[-1], (ast.Return, ast.Raise)):
                return
        elif not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from _returned(list(_statements(statement)), parameter, is_function)


def _alternatives(expression: ast.expr) -> Iterator[ast.expr]:
    """What a conditional expression can be."""
    if isinstance(expression, ast.IfExp):
        yield from _alternatives(expression.body)
        yield from _alternatives(expression.orelse)
    else:
        yield expression


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements right within another one, those of its handlers and cases too."""
    for child in children(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, (ast.ExceptHandler, ast.match_case)):
            yield from _statements(child)


def _is_true(test: ast.expr, parameter: str) -> bool:
    """Whether a condition holds because a parameter is a function."""
    return ast.unparse(test) in (parameter, f"{parameter} is not None", f"callable({parameter})")


def _named(function: _Known, name: ast.Name, bound: Mapping[str, int]) -> _Known | None:
    """The function that a name stands for within another."""
    node = function.node
    parameters = {argument.arg for argument in walk(node.args) if isinstance(argument, ast.arg)}
    if name.id in parameters:
        return None
    if name.id not in bound:
        return function.outer(name)
    inner = [] if isinstance(node, ast.Lambda) else [one for one in node.body if isinstance(one, ast.FunctionDef)]
    for one in inner:
        if one.name == name.id and bound[name.id] == 1 and not one.decorator_list:
            return _Known(one, lambda other: _named(function, other, bound))
    return None


@once_a_node
def _is_generator(function: FunctionLike) -> bool:
    return any(isinstance(inner, (ast.Yield, ast.YieldFrom)) for inner in walk(function))


@once_a_node
def _bound(function: FunctionLike) -> Mapping[str, int]:
    """What is bound in the body of a function and of those within it, and in how many places."""
    return Counter(_bindings(function))


def _bindings(function: FunctionLike) -> Iterator[str]:
    body: Iterable[ast.AST] = [function.body] if isinstance(function, ast.Lambda) else function.body
    for node in (inner for statement in body for inner in walk(statement)):
        name: str | None = None
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            name = node.id
        elif isinstance(node, ast.alias):
            name = (node.asname or node.name).partition(".")[0]
        elif isinstance(node, ast.MatchMapping):
            name = node.rest
        elif isinstance(node, _NAMED):
            name = node.name
        if name is not None:
            yield name


def _receiving(function: FunctionLike, call: ast.Call, variable: str) -> list[str]:
    """The parameters that a call gives a variable to."""
    positional = _positional(function)
    given: list[tuple[str | None, ast.expr]] = []
    for name, argument in zip(positional, call.args, strict=False):
        if isinstance(argument, ast.Starred):
            break
        given.append((name, argument))
    named = {one.arg for one in (*function.args.args, *function.args.kwonlyargs)}
    given += [(keyword.arg, keyword.value) for keyword in call.keywords]
    is_given = [name for name, value in given if isinstance(value, ast.Name) and value.id == variable]
    return [name for name in is_given if name in positional or name in named]


def _positional(function: FunctionLike) -> list[str]:
    return [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
