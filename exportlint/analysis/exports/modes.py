"""Whether a model behaves otherwise in training mode than in evaluation mode."""

from __future__ import annotations

import ast
import re

from exportlint.analysis.exports.scope import Scope
from exportlint.analysis.exports.values import Model
from exportlint.analysis.interpreter.classes import lineage
from exportlint.analysis.outline import Class, Module, dotted
from exportlint.analysis.project import Definition, Project

VARYING = re.compile(
    r"(Feature)?(Alpha)?Dropout(1d|2d|3d)?|(Lazy|Sync)?BatchNorm(1d|2d|3d)?|RReLU|DropPath|StochasticDepth"
)
"""Modules of torch, torchvision and timm that do."""
LIBRARIES = ("torchvision.models.", "timm.create_model")
"""Nearly every model of these has such modules."""


def varies(scope: Scope, model: Model) -> bool:
    """Whether a model has dropout, batch norm or the like, or asks for its mode."""
    if model.definition is not None and _class_varies(scope, model.definition, set()):
        return True
    is_varying = VARYING.fullmatch(model.name.rpartition(".")[2]) or model.name.startswith(LIBRARIES)
    return bool(is_varying) or any(varies(scope, part) for part in model.parts)


def _class_varies(scope: Scope, cls: Class, seen: set[Class]) -> bool:
    if cls in seen:
        return False
    seen.add(cls)
    project = scope.run.engine.project
    for owner in lineage(scope.frame, cls):
        for node in ast.walk(owner.node):
            if isinstance(node, ast.Attribute) and node.attr == "training" and dotted(node) == "self.training":
                return True
            name = dotted(node.func) if isinstance(node, ast.Call) else None
            if isinstance(node, ast.Call) and name is not None:
                if VARYING.fullmatch(name.rpartition(".")[2]) and not _is_off(node):
                    return True
                part = _class(project, owner.module, name)
                if part is not None and _class_varies(scope, part, seen):
                    return True
    return False


def _is_off(node: ast.Call) -> bool:
    """`Dropout(0.0)`."""
    given = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "p")]
    return any(isinstance(value, ast.Constant) and value.value == 0 for value in given)


def _class(project: Project, module: Module, name: str) -> Class | None:
    found = project.member(module, name) if "." not in name else None
    if isinstance(found, str):
        found = project.resolve(found, module)  # type: ignore[assignment]
    binding = found.binding if isinstance(found, Definition) else None
    return binding if isinstance(binding, Class) else None
