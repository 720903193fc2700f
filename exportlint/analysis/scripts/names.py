"""What names and attributes stand for in a script: libraries, the project's own definitions, methods."""

from __future__ import annotations

import ast
import builtins

from exportlint.analysis.domain.script_values import Example, Hint, Imported, Model, Receiver
from exportlint.analysis.domain.values import (
    UNKNOWN,
    BoundMethod,
    ClassValue,
    Const,
    External,
    Function,
    Namespace,
    Value,
)
from exportlint.analysis.eval.classes import find_method
from exportlint.analysis.eval.names import OWN_LIBRARIES
from exportlint.analysis.project import Definition
from exportlint.analysis.scripts.scope import Scope
from exportlint.syntax.definitions import Class, FunctionNode, Module, dotted

HINTS = {f"torch.export.Dim.{hint.kind}": hint for hint in (Hint("AUTO"), Hint("DYNAMIC"), Hint("STATIC"))}
RE_EXPORTS = {
    "torch.export.dynamic_shapes.": "torch.export.",
    "torch.export._trace.": "torch.export.",
    "torch.export._draft_export.": "torch.export.",
    "torch.export.exported_program.": "torch.export.",
}
"""Where torch defines what it shows elsewhere."""


def look_up(scope: Scope, name: str) -> Value:
    """The value of a name where it is used."""
    found = scope.look_up(name)
    if isinstance(found, Imported):
        return named(scope, found.target)
    if found is not None:
        return found
    bound = scope.run.engine.project.member(scope.module, name)
    if isinstance(bound, Definition):
        return _definition(bound)
    if bound is not None:
        return named(scope, bound)
    return External(f"builtins.{name}") if hasattr(builtins, name) else UNKNOWN


def named(scope: Scope, name: str) -> Value:
    """What an imported qualified name stands for."""
    if name.partition(".")[0] not in (*OWN_LIBRARIES, "functorch"):
        found = scope.run.engine.project.resolve(name, scope.module)
        if isinstance(found, Module):
            return Namespace(found)
        if isinstance(found, Definition):
            return _definition(found)
        name = found or name
    return external(name)


def external(name: str) -> Value:
    """Something of a library, by the name under which it is documented."""
    for private, public in RE_EXPORTS.items():
        if name.startswith(private):
            name = public + name.removeprefix(private)
    return HINTS.get(name) or External(name)


def _definition(definition: Definition) -> Value:
    binding = definition.binding
    if isinstance(binding, Class):
        return ClassValue(binding)
    if isinstance(binding, FunctionNode) and not binding.decorator_list:
        return Function(definition.module, binding, binding.name)
    return UNKNOWN


def attribute(scope: Scope, value: Value, name: str) -> Value:
    """`value.name`."""
    known = scope.env.get((value, name))
    if known is not None:
        return known
    if isinstance(value, External):
        return external(f"{value.name}.{name}")
    if isinstance(value, Namespace):
        found = scope.run.engine.project.member(value.module, name)
        if isinstance(found, Definition):
            return _definition(found)
        return named(scope, found) if found is not None else UNKNOWN
    if isinstance(value, Model | Receiver) and value.definition is not None:
        return _member(scope, value, value.definition, name)
    if isinstance(value, Example) and name in {"T", "mT", "data"}:
        return Example(value.shape if name == "data" else None)
    if isinstance(value, Example) and name == "ndim":
        return Const(len(value.shape)) if value.shape is not None else UNKNOWN
    return BoundMethod(value, name)


def _member(scope: Scope, value: Model | Receiver, definition: Class, name: str) -> Value:
    found = find_method(scope.frame, definition, name)
    if found is None:
        return BoundMethod(value, name)
    owner, node = found
    assert isinstance(node, FunctionNode)
    if not all(map(_is_transparent, node.decorator_list)):
        return UNKNOWN
    return Function(owner.module, node, f"{owner.qualname}.{node.name}", owner, value)


def _is_transparent(decorator: ast.expr) -> bool:
    """Whether a decorator leaves a method what it is."""
    written = dotted(decorator.func if isinstance(decorator, ast.Call) else decorator) or ""
    return written.rpartition(".")[2] in {"no_grad", "inference_mode"}
