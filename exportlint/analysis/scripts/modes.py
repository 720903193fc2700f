"""Whether a model behaves otherwise in training mode than in evaluation mode."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.script_values import Model
from exportlint.analysis.domain.values import ClassValue, External, Function
from exportlint.analysis.eval.classes import lineage
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.library_functions import find
from exportlint.analysis.scripts.scope import Scope
from exportlint.analysis.torch.layers import find_layer
from exportlint.syntax.definitions import Class, FunctionNode, Module, dotted


def varies(scope: Scope, model: Model) -> bool:
    """Whether a model has dropout, batch norm or the like, or asks for its mode."""
    if model.definition is not None and _class_varies(scope, model.definition, set()):
        return True
    return _is_varying(model.name) or any(varies(scope, part) for part in model.parts)


def _is_varying(name: str) -> bool:
    """Whether what a class or function of a library makes behaves otherwise in training mode."""
    layer = find_layer(name)
    return layer.effects == "training" if layer is not None else find(name).trains


def _class_varies(scope: Scope, cls: Class, seen: set[object]) -> bool:
    if cls in seen:
        return False
    seen.add(cls)
    return any(_code_varies(scope, owner.node, owner.module, seen) for owner in lineage(scope.frame, cls))


def _code_varies(scope: Scope, code: ast.AST, module: Module, seen: set[object]) -> bool:
    """Whether a class or a function asks for the mode, or makes a module that does, itself or by what it calls."""
    frame = Frame(scope.run.engine, module)
    receivers = {f.args.args[0].arg for f in ast.walk(code) if isinstance(f, FunctionNode) and f.args.args}
    for node in ast.walk(code):
        if isinstance(node, ast.Attribute) and node.attr == "training" and dotted(node.value) in receivers:
            return True
        callee = frame.peek(node.func) if isinstance(node, ast.Call) and dotted(node.func) else None
        if isinstance(node, ast.Call) and isinstance(callee, External):
            if _is_varying(callee.name) and not _is_off(node):
                return True
        elif isinstance(callee, ClassValue):
            if _class_varies(scope, callee.definition, seen):
                return True
        elif isinstance(callee, Function) and callee.node not in seen:
            seen.add(callee.node)
            if _code_varies(scope, callee.node, callee.module, seen):
                return True
    return False


def _is_off(node: ast.Call) -> bool:
    """`Dropout(0.0)`, `TransformerEncoderLayer(8, 2, dropout=0.0)`."""
    given = [*node.args[:1], *(k.value for k in node.keywords if k.arg in {"p", "dropout"})]
    return any(isinstance(value, ast.Constant) and value.value == 0 for value in given)
