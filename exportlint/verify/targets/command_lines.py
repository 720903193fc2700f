"""Configurations that programs read from their command line: `args = parser.parse_args()`."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from exportlint.syntax.definitions import FunctionNode, Module
from exportlint.verify.targets.signatures import required
from exportlint.verify.targets.slices import Scope, Trail, has_effects, main_body, scopes, slice_of

_PARSERS = frozenset({"parse_args", "parse_known_args"})


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The options of a program: `code` gives an object that has them as attributes, after `statement` if there is one.

    Without a statement, `code` holds in the namespace of the file.
    """

    names: frozenset[str]
    code: str
    statement: str | None = None


def command_lines(module: Module) -> Iterator[CommandLine]:
    """What the functions of a file return, and what else the file parses."""
    if "ArgumentParser(" not in module.source.text:
        return
    whole = Scope(module, main_body(module))
    for name, binding in module.bindings.items():
        if isinstance(binding, FunctionNode) and not required(binding):
            returned, options = _returned(binding), options_in([binding])
            if returned is not None and options:
                value = ast.parse(f"{name}(){returned}", mode="eval").body
                line = _line(whole, _end(whole), value, f"options_of_{name}")
                if line is not None:
                    yield line
                elif not has_effects([binding]):
                    yield CommandLine(options, f"{name}(){returned}")
    for scope in scopes(module):
        yield from _parsed(scope)


def _end(scope: Scope) -> Trail:
    return ((scope.body, len(scope.body)),)


def _line(scope: Scope, place: Trail, value: ast.expr, function: str, name: str | None = None) -> CommandLine | None:
    """The value of an expression at a place, by a function that does what it needs, and nothing else of the file."""
    picked = slice_of(scope, place, [value], is_imported=False)
    # `from module import *` cannot stand in a function.
    if picked is None or any(isinstance(s, ast.ImportFrom) and s.names[0].name == "*" for s in picked):
        return None
    lines = "\n".join(map(ast.unparse, [*picked, ast.Return(value)])).splitlines()
    text = "\n".join([f"def {function}():", *(f"    {line}" for line in lines)])
    return CommandLine(options_in(picked, name), f"{function}()", text)


def _returned(function: FunctionNode) -> str | None:
    """What makes options of what a function returns, if that is a parser or options."""
    parsers, options = set[str](), set[str]()
    for statement in (node for node in ast.walk(function) if isinstance(node, ast.Assign | ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        names = {target.id for target in targets if isinstance(target, ast.Name)}
        if statement.value is not None and is_parsed(statement.value):
            options |= names
        elif statement.value is not None and "ArgumentParser(" in ast.unparse(statement.value):
            parsers |= names
    for node in ast.walk(function):
        match node:
            case ast.Return(value=ast.Name(id=name)) if name in parsers - options:
                return ".parse_args([])"
            case ast.Return(value=ast.Name(id=name)) if name in options:
                return ""
            case ast.Return(value=ast.expr() as value) if is_parsed(value) or "vars(" in ast.unparse(value):
                return ""
    return None


def is_parsed(value: ast.expr) -> bool:
    """Whether an expression is `parser.parse_args()` or `parser.parse_known_args()[0]`."""
    match value:
        case ast.Subscript(value=inner):
            return is_parsed(inner)
        case ast.Call(func=ast.Attribute(attr=method)):
            return method in _PARSERS
    return False


def _parsed(scope: Scope) -> Iterator[CommandLine]:
    """The options that a piece of code parses, as they are at its end, or else as they were parsed.

    What the code does to them may need what cannot be had, such as a data set.
    """
    for statement, trail in scope.statements():
        match statement:
            case ast.Assign(targets=[ast.Name(id=name) | ast.Tuple(elts=[ast.Name(id=name), *_])], value=value):
                if not is_parsed(value):
                    continue
            case _:
                continue
        body, index = trail[-1]
        for place in (_end(scope), (*trail[:-1], (body, index + 1))):
            line = _line(scope, place, ast.Name(name, ast.Load()), f"options_in_{name}", name)
            if line is not None:
                yield line
                break


def options_in(nodes: Iterable[ast.AST], name: str | None = None) -> frozenset[str]:
    """The options that code adds to a parser, and what it sets of what is parsed."""
    found: set[str] = set()
    for node in itertools.chain.from_iterable(map(ast.walk, nodes)):
        match node:
            case ast.Call(func=ast.Attribute(attr="add_argument")):
                flags = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
                long = next((flag for flag in flags if flag.startswith("--")), flags[0] if flags else "")
                found.add(long.lstrip("-").replace("-", "_"))
                named = (keyword.value for keyword in node.keywords if keyword.arg == "dest")
                found |= {str(value.value) for value in named if isinstance(value, ast.Constant)}
            case ast.Attribute(value=ast.Name(id=owner), attr=option, ctx=ast.Store()) if owner == name:
                found.add(option)
    return frozenset(found)
