"""Classes that read the options of a command line: `def parse(self): return self.parser.parse_args()`."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Mapping

from exportlint.syntax.definitions import Class, FunctionNode
from exportlint.verify.targets.command_lines import CommandLine, is_parsed, options_in
from exportlint.verify.targets.signatures import required
from exportlint.verify.targets.slices import has_effects


def options_of_class(cls: Class, methods: Mapping[str, FunctionNode]) -> CommandLine | None:
    """The options that such a class parses. `methods` are also those that it inherits.

    A method that parses them is called, unless it would do more, such as make folders: then what fills the parser.
    """
    constructor = methods.get("__init__")
    options = options_in(methods.values())
    if not options or (constructor is not None and required(constructor, bound=True)):
        return None
    name = cls.qualname
    start = [] if constructor is None else _reached("__init__", methods)
    if has_effects(start):
        return None
    parsing = _parsing(methods)
    inner = {called for method in parsing for called in _calls_of_self(methods[method]) if called != method}
    for method in sorted(parsing, key=lambda one: one in inner):
        if not has_effects(_reached(method, methods)):
            return CommandLine(options | parsing[method], f"{name}().{method}()")
    for attribute, value in _stored(constructor):
        if "ArgumentParser(" in ast.unparse(value):
            return CommandLine(options, f"{name}().{attribute}.parse_args([])")
    for method, node in methods.items():
        needed = required(node, bound=True)
        if len(needed) == 1 and _returns(node, needed[0]) and not has_effects(_reached(method, methods)):
            parser = "__import__('argparse').ArgumentParser(conflict_handler='resolve')"
            return CommandLine(options, f"{name}().{method}({parser}).parse_args([])")
    return None


def _parsing(methods: Mapping[str, FunctionNode]) -> dict[str, frozenset[str]]:
    """The methods that return parsed options, and what they set of them themselves."""
    found: dict[str, frozenset[str]] = {}
    for _ in methods:
        before = len(found)
        for name, node in methods.items():
            if name not in found and not required(node, bound=True):
                sets = _returned(node, found.keys())
                if sets is not None:
                    found[name] = sets
        if len(found) == before:
            break
    return found


def _returned(method: FunctionNode, parsing: Container[str]) -> frozenset[str] | None:
    """What a method sets of the options that it returns; None if it returns none."""

    def gives_options(value: ast.expr | None) -> bool:
        if value is None:
            return False
        is_own = isinstance(value, ast.Call) and _called_on_self(value, method) in parsing
        return is_own or is_parsed(value) or ast.unparse(value) in names

    names: set[str] = set()
    for node in ast.walk(method):
        if isinstance(node, ast.Assign) and gives_options(node.value):
            first = node.targets[0].elts[0] if isinstance(node.targets[0], ast.Tuple) else node.targets[0]
            names.add(ast.unparse(first))
    if not any(gives_options(node.value) for node in ast.walk(method) if isinstance(node, ast.Return)):
        return None
    stored = (n for n in ast.walk(method) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store))
    return frozenset(node.attr for node in stored if ast.unparse(node.value) in names)


def _returns(method: FunctionNode, parameter: str) -> bool:
    """Whether a method adds options to a parser that it is given, and returns it."""
    returned = (ast.unparse(node.value) for node in ast.walk(method) if isinstance(node, ast.Return) and node.value)
    return parameter in returned and bool(options_in([method]))


def _reached(name: str, methods: Mapping[str, FunctionNode]) -> list[FunctionNode]:
    """A method, and those that it calls of the same object."""
    found: dict[str, FunctionNode] = {}
    waiting = [name]
    while waiting:
        one = waiting.pop()
        if one in methods and one not in found:
            found[one] = methods[one]
            waiting += _calls_of_self(methods[one])
    return list(found.values())


def _calls_of_self(method: FunctionNode) -> Iterator[str]:
    for node in ast.walk(method):
        called = _called_on_self(node, method) if isinstance(node, ast.Call) else None
        if called is not None:
            yield called


def _called_on_self(call: ast.Call, method: FunctionNode) -> str | None:
    match call.func:
        case ast.Attribute(value=ast.Name(id=owner), attr=name) if method.args.args:
            return name if owner == method.args.args[0].arg else None
    return None


def _stored(constructor: FunctionNode | None) -> Iterator[tuple[str, ast.expr]]:
    """What a constructor keeps in the object."""
    for node in ast.walk(constructor) if constructor is not None else ():
        match node:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=owner), attr=name)], value=value):
                if constructor is not None and owner == constructor.args.args[0].arg:
                    yield name, value
