"""What annotations promise of a value."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.lattice import join
from exportlint.analysis.domain.values import (
    NONE,
    SOME_MODULE,
    UNKNOWN,
    ClassValue,
    Dict,
    External,
    Kind,
    Origin,
    Python,
    Sequence,
    Tensor,
    Tuple,
    Value,
)
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.project import Definition
from exportlint.analysis.torch import table
from exportlint.syntax import stubs
from exportlint.syntax.definitions import Assignment, Module, dotted

KINDS: dict[str, Kind] = {
    "LongTensor": "int", "IntTensor": "int", "ByteTensor": "int", "ShortTensor": "int", "BoolTensor": "bool",
    "FloatTensor": "float", "HalfTensor": "float", "DoubleTensor": "float", "Float": "float", "Int": "int",
    "Bool": "bool", "Integer": "int", "Shaped": "float",
}  # fmt: skip


def annotated_value(frame: Frame, annotation: ast.expr, name: str) -> Value | None:
    """What an annotation promises, or None if it says nothing that we understand."""
    if isinstance(annotation, ast.Constant):
        if annotation.value is None:
            return NONE
        if not isinstance(annotation.value, str):
            return None
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except (SyntaxError, ValueError):
            return None
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        return _either(frame, [annotation.left, annotation.right], name)
    if isinstance(annotation, ast.Subscript):
        return _generic(frame, annotation, name)
    if isinstance(annotation, (ast.Name, ast.Attribute)):
        alias = _alias(frame, annotation)
        if alias is not None:
            return alias
        return _class(frame, Frame(frame.engine, frame.module).peek(annotation), name)
    return None


def annotated_argument(frame: Frame, argument: ast.arg) -> Value | None:
    """What the annotation of a parameter promises, or that in a stub."""
    said = stubs.annotation(frame.module, argument)
    return None if said is None else annotated_value(inside(frame, said[0]), said[1], argument.arg)


def inside(frame: Frame, module: Module) -> Frame:
    """Where an annotation is to be evaluated that stands in a file."""
    return frame if module is frame.module else Frame(frame.engine, module, frame.symbol)


def _alias(frame: Frame, annotation: ast.Name | ast.Attribute) -> Value | None:
    """The value of `OptTensor` where the project says `OptTensor = Optional[Tensor]`."""
    name = dotted(annotation)
    found = frame.engine.project.meaning(frame.module, name) if name and "." not in name else None
    if isinstance(found, Definition) and isinstance(found.binding, Assignment):
        value = found.binding.value
        if isinstance(value, (ast.Subscript, ast.BinOp, ast.Attribute)):
            return annotated_value(Frame(frame.engine, found.module, frame.symbol), value, name or "")
    return None


def _class(frame: Frame, value: Value, name: str) -> Value | None:
    if isinstance(value, ClassValue):
        if value.definition.methods.get("forward") is not None:
            return UNKNOWN
        return frame.engine.promised(value.definition, (name, frame.is_root))
    if not isinstance(value, External):
        return None
    last = value.name.rpartition(".")[2]
    if value.name.startswith("torch.") and (last in KINDS or last in {"Tensor", "Parameter"}):
        return Tensor(Origin.INPUT, KINDS.get(last), name=name)
    if value.name.startswith("builtins."):
        return {"list": UNKNOWN, "tuple": UNKNOWN, "dict": Dict((), UNKNOWN), "object": UNKNOWN}.get(last, Python(last))
    if last in {"Any", "Callable", "Optional", "Union"}:
        return None if last == "Any" else UNKNOWN
    api = table.lookup(value.name)
    if api is not None and api.kind == "module":
        return SOME_MODULE
    if api is not None or value.name.startswith("torch."):
        return Python(last)
    return UNKNOWN


def _generic(frame: Frame, annotation: ast.Subscript, name: str) -> Value | None:
    base = Frame(frame.engine, frame.module).peek(annotation.value)
    last = base.name.rpartition(".")[2] if isinstance(base, External) else ""
    inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    if not inner:
        return Tuple(())  # `tuple[()]`
    if last in {"Optional", "Union"}:
        return _either(frame, [*inner, ast.Constant(None)] if last == "Optional" else inner, name)
    if last in {"Annotated", "Final", "Required"} or (isinstance(base, External) and base.name.startswith("jaxtyping")):
        value = annotated_value(frame, inner[0], name)
        if isinstance(value, Tensor) and last in KINDS:
            return Tensor(value.origin, KINDS[last], name=name)
        return value
    if last in {"list", "List", "Sequence", "Iterable", "Tuple", "tuple"}:
        item = annotated_value(frame, inner[0], name) or UNKNOWN
        if last.lower() == "tuple" and not (len(inner) == 2 and _is_ellipsis(inner[1])):
            return Tuple(tuple(annotated_value(frame, e, name) or UNKNOWN for e in inner))
        return Sequence(_element(frame, item, annotation, name), "list" if last.lower() == "list" else "tuple")
    if last in {"dict", "Dict", "Mapping", "OrderedDict"} and len(inner) == 2:
        return Dict((), _element(frame, annotated_value(frame, inner[1], name) or UNKNOWN, annotation, name))
    return UNKNOWN


def _element(frame: Frame, value: Value, node: ast.AST, name: str) -> Value:
    if isinstance(value, Tensor):
        trail = frame.trail(node, f"`{name}` is an input of `{frame.symbol}`")
        return Tensor(Origin.INPUT, value.kind, name=name, trail=trail)
    return value


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _either(frame: Frame, nodes: list[ast.expr], name: str) -> Value | None:
    values = [annotated_value(frame, node, name) for node in nodes]
    known = [v for v in values if v is not None and v != NONE]
    if len(known) == 1 and isinstance(known[0], Tensor):
        one = known[0]
        is_optional = one.optional or NONE in values
        return Tensor(Origin.INPUT, one.kind, assumed=one.assumed, optional=is_optional, name=name)
    if any(isinstance(v, Tensor) for v in known):
        # a tensor or something else: what the code finds out about it decides
        is_optional = NONE in values or any(isinstance(v, Tensor) and v.optional for v in known)
        return Tensor(Origin.INPUT, assumed=True, optional=is_optional, name=name)
    if not known:
        return None
    return join([*known, *([NONE] if NONE in values else [])])
