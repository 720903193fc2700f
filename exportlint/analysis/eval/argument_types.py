"""What the arguments of `forward` are where they are not tensors: by annotation, default, and how they are tested."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import (
    NONE,
    UNKNOWN,
    ClassValue,
    Const,
    External,
    Python,
    Sequence,
    Tensor,
    Value,
)
from exportlint.analysis.eval.classes import bases, lineage
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.parameter_usage import NOTHING, Helper, Kind, usage_and_helpers
from exportlint.analysis.eval.parameters import defaults
from exportlint.analysis.eval.pytree_leaves import is_abstract, is_unregistered
from exportlint.syntax.definitions import FunctionLike

ArgumentType = Literal["int", "float", "bool", "str", "Enum", "None", "list"]

OBJECTS = frozenset({
    "torch.dtype", "torch.device", "torch.layout", "numpy.ndarray", "typing.Callable", "collections.abc.Callable",
    "builtins.set", "builtins.frozenset", "builtins.bytes", "builtins.complex", "builtins.slice", "builtins.range",
    "pathlib.Path", "types.SimpleNamespace",
})  # fmt: skip
"""Classes of which torch.export takes no objects."""


def object_type(frame: Frame, argument: ast.arg, tested: str | None) -> str | None:
    """The class of an argument where it is surely no pytree: by its annotation, or because it is called."""
    if argument.annotation is None:
        return "function" if tested == "function" else None
    node = argument.annotation
    value = _class(frame, node.value if isinstance(node, ast.Subscript) else node)
    if isinstance(value, ClassValue):
        cls = value.definition
        is_sure = is_unregistered(frame, cls) and not is_abstract(frame, cls)
        return cls.node.name if is_sure else None
    if isinstance(value, External) and (value.name in OBJECTS or value.name.startswith("torch.distributions.")):
        return value.name.removeprefix("builtins.")
    return None


def typed(
    frame: Frame, argument: ast.arg, default: ast.expr | None, given: Value, tested: str | None
) -> ArgumentType | None:
    """What an argument is that tracing takes for a constant; None for tensors and what is not known."""
    if isinstance(default, ast.Constant) and default.value is None:
        return "None"
    if argument.annotation is not None and is_enum(frame, _class(frame, argument.annotation)):
        return "Enum"
    kinds = options(given)
    if tested == "None" and (argument.annotation is None or NONE in kinds or any(map(_is_optional, kinds))):
        return "None"
    names = {_name(kind) for kind in kinds}
    if len(names) == 1 and (name := names.pop()) is not None:
        return name
    is_open = argument.annotation is None and default is None
    return tested if is_open and tested in {"str", "Enum", "bool", "int", "list"} else None  # type: ignore[return-value]


def _is_optional(value: Value) -> bool:
    return isinstance(value, Tensor) and value.optional


def _name(value: Value) -> ArgumentType | None:
    name = value.type if isinstance(value, Python) else type(value.value).__name__ if isinstance(value, Const) else None
    if isinstance(value, Sequence) and value.type == "list":
        name = "list"
    return name if name in {"int", "float", "bool", "str", "list"} else None  # type: ignore[return-value]


def is_enum(frame: Frame, value: Value) -> bool:
    """Whether a value is an enumeration whose members are not numbers or strings as well: those are compared."""
    if not isinstance(value, ClassValue):
        return False
    found = {b.name for cls in lineage(frame, value.definition) for b in bases(frame, cls) if isinstance(b, External)}
    return found == {"enum.Enum"}


def _class(frame: Frame, annotation: ast.expr) -> Value:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except (SyntaxError, ValueError):
            return UNKNOWN
    return Frame(frame.engine, frame.module).peek(annotation)


_NO_FLAGS: frozenset[Kind | None] = frozenset({"tensor", "dict"})
"""What is asked for a string (`"mask" in batch`) without being one."""


def tested_types(frame: Frame, node: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, str]:
    """What the body shows the arguments to be that it uses like no tensor: by name, the first that it shows.

    "function" for what is called, "list" for what is counted or iterated. Where the body shows nothing, the helpers do
    that it hands an argument to.
    """
    shown, helpers = usage_and_helpers(frame, node)
    found: dict[str, str] = {}
    for name, kind in _tests(frame, node):
        if kind == "None" or shown.get(name, NOTHING).kind not in _NO_FLAGS:
            found.setdefault(name, kind)
    for name, helper in ((name, helper) for name, used in helpers.items() for helper in used):
        kind = next((kind for tested, kind in _tests(helper.frame, helper.node) if tested == helper.argument.arg), "")
        if kind == "None" and any(map(_declares, _callers(helper))):
            continue  # the test is for what a helper says that it takes
        if kind and (kind == "None" or shown.get(name, NOTHING).kind not in _NO_FLAGS):
            found.setdefault(name, kind)
    for name, usage in shown.items():
        if usage.kind == "iterable" and usage.counted:
            found.setdefault(name, "list")
    return found


def _callers(helper: Helper | None) -> Iterator[Helper]:
    """A helper, and those that hand it what is asked about."""
    while helper is not None:
        yield helper
        helper = helper.caller


def _declares(helper: Helper) -> bool:
    """Whether a helper says what it takes, by an annotation or a default."""
    name = helper.argument
    return name.annotation is not None or any(defaulted == name.arg for defaulted, _ in defaults(helper.node))


def _tests(frame: Frame, node: FunctionLike) -> Iterator[tuple[str, str]]:
    """The variables that a body shows to be no tensors."""
    for statement in node.body if isinstance(node.body, list) else [node.body]:
        for child in ast.walk(statement):
            yield from _shown(frame, child)


def _shown(frame: Frame, node: ast.AST) -> Iterator[tuple[str, str]]:
    """The variables that one node shows to be no tensors."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        sides = (node.left, node.comparators[0])
        for one, other in (sides, sides[::-1]):
            if isinstance(one, ast.Name) and (kind := _constant(frame, other)) is not None:
                yield one.id, kind
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        yield node.func.id, "function"
        if node.func.id == "getattr" and len(node.args) > 1 and isinstance(node.args[1], ast.Name):
            yield node.args[1].id, "str"
        if node.func.id == "range":
            yield from ((argument.id, "int") for argument in node.args if isinstance(argument, ast.Name))
    elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Dict) and isinstance(node.slice, ast.Name):
        kinds = {None if key is None else _constant(frame, key) for key in node.value.keys}
        if kinds == {"str"}:
            yield node.slice.id, "str"
    elif isinstance(node, ast.IfExp) or (isinstance(node, ast.If) and not isinstance(node.body[-1], ast.Raise)):
        yield from _decided(node.test)
    elif isinstance(node, ast.Match) and isinstance(node.subject, ast.Name):
        values = (case.pattern.value for case in node.cases if isinstance(case.pattern, ast.MatchValue))
        yield from ((node.subject.id, kind) for value in values if (kind := _constant(frame, value)) is not None)


def _decided(test: ast.expr) -> Iterator[tuple[str, str]]:
    """The variables that a condition asks for their truth, or whether they are None."""
    if isinstance(test, ast.Name):
        yield test.id, "bool"
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _decided(test.operand)
    elif isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _decided(value)
    elif isinstance(test, ast.Compare) and isinstance(test.left, ast.Name):
        other = test.comparators[0]
        if isinstance(test.ops[0], (ast.Is, ast.IsNot)) and isinstance(other, ast.Constant) and other.value is None:
            yield test.left.id, "None"


def _constant(frame: Frame, node: ast.expr) -> str | None:
    """What something is that is compared with `node`, if no tensor is compared with that."""
    if isinstance(node, ast.Constant):
        return "str" if isinstance(node.value, str) else None
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        kinds = {_constant(frame, element) for element in node.elts}
        return kinds.pop() if len(kinds) == 1 else None
    if isinstance(node, ast.Attribute) and isinstance(node.value, (ast.Name, ast.Attribute)):
        return "Enum" if is_enum(frame, Frame(frame.engine, frame.module).peek(node.value)) else None
    return None
