"""Stub files (`.pyi`): what they say of functions that say nothing of themselves."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from weakref import WeakKeyDictionary

from exportlint.syntax.definitions import FunctionNode, Module, flat

Annotated = ast.arg | FunctionNode
"""What has an annotation: a parameter, or a function by what it returns."""


_known: WeakKeyDictionary[Module, Mapping[Annotated, ast.expr]] = WeakKeyDictionary()


def annotation(module: Module, node: Annotated) -> tuple[Module, ast.expr] | None:
    """What a parameter is annotated as, or a function to return, in its file or else in the stub; and that file.

    Of overloads only what they agree on is taken.
    """
    own = node.annotation if isinstance(node, ast.arg) else node.returns
    if own is not None:
        return None if module.is_stub and isinstance(node, FunctionNode) and not _agree(module, node) else (module, own)
    if module.stub is None:
        return None
    if module not in _known:
        _known[module] = _missing(module, module.stub)
    said = _known[module].get(node)
    return None if said is None else (module.stub, said)


def _missing(module: Module, stub: Module) -> Mapping[Annotated, ast.expr]:
    """What a stub says of what is not annotated in the module itself."""
    found: dict[Annotated, ast.expr] = {}
    declared = _functions(stub.tree.body)
    for name, functions in _functions(module.tree.body).items():
        overloads = declared.get(name, [])
        returned = _agreed([overload.returns for overload in overloads])
        for function in functions:
            if function.returns is None and returned is not None:
                found[function] = returned
            for parameter in _parameters(function):
                said = _agreed([_annotation(overload, parameter.arg) for overload in overloads])
                if parameter.annotation is None and said is not None:
                    found[parameter] = said
    return found


def _agreed(annotations: Sequence[ast.expr | None]) -> ast.expr | None:
    """The annotation that all of some are; None where they differ or one is missing."""
    texts = {None if one is None else ast.dump(one) for one in annotations}
    return annotations[0] if len(texts) == 1 else None


def _agree(stub: Module, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether all overloads of a function return the same."""
    overloads = next((some for some in _functions(stub.tree.body).values() if function in some), [function])
    return _agreed([overload.returns for overload in overloads]) is not None


def _functions(body: Sequence[ast.stmt], prefix: str = "") -> dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Functions and methods by their qualified names."""
    found: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]] = {}
    for statement in flat(body):
        if isinstance(statement, FunctionNode):
            found.setdefault(prefix + statement.name, []).append(statement)
        elif isinstance(statement, ast.ClassDef):
            found |= _functions(statement.body, f"{prefix}{statement.name}.")
    return found


def _annotation(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> ast.expr | None:
    return next((parameter.annotation for parameter in _parameters(function) if parameter.arg == name), None)


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.arg]:
    spec = function.args
    yield from (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)
