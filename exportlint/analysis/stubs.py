"""Stub files (`.pyi`): what they say of functions that say nothing of themselves."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from exportlint.analysis.outline import FunctionNode, Module, flat

Annotated = ast.arg | FunctionNode
"""What has an annotation: a parameter, or a function by what it returns."""


def stub_annotations(module: Module, stub: Module) -> Mapping[Annotated, ast.expr]:
    """The annotations that the stub of a module has for what has none in the module itself.

    Of overloads only what they agree on is taken.
    """
    found: dict[Annotated, ast.expr] = {}
    declared = _functions(stub.tree.body)
    for name, functions in _functions(module.tree.body).items():
        overloads = declared.get(name, [])
        returned = agreed([overload.returns for overload in overloads])
        for function in functions:
            if function.returns is None and returned is not None:
                found[function] = returned
            for parameter in _parameters(function):
                annotation = agreed([_annotation(overload, parameter.arg) for overload in overloads])
                if parameter.annotation is None and annotation is not None:
                    found[parameter] = annotation
    return found


def agreed(annotations: Sequence[ast.expr | None]) -> ast.expr | None:
    """The annotation that all of some are; None where they differ or one is missing."""
    texts = {None if annotation is None else ast.dump(annotation) for annotation in annotations}
    return annotations[0] if len(texts) == 1 else None


def returned(stub: Module, function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.expr | None:
    """What a function of a stub returns, whichever of its overloads is called."""
    overloads = next((some for some in _functions(stub.tree.body).values() if function in some), [function])
    return agreed([overload.returns for overload in overloads])


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
