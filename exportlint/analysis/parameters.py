"""Parameters: how arguments bind to them, and what `forward` is given when torch.export calls it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from exportlint.analysis import table
from exportlint.analysis.evidence import uses
from exportlint.analysis.frame import Environment, Frame
from exportlint.analysis.outline import Assignment, dotted
from exportlint.analysis.project import Definition
from exportlint.analysis.values import (
    NONE,
    PYTHON,
    UNKNOWN,
    ClassValue,
    Const,
    Dict,
    External,
    Instance,
    Kind,
    Object,
    Origin,
    Python,
    Sequence,
    Tensor,
    Tuple,
    Value,
    join,
)

FunctionLike = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a call. The last positional may stand for any number: a Sequence of type "*"."""

    positional: list[Value]
    keywords: dict[str, Value]

    def get(self, index: int, name: str = "") -> Value | None:
        """An argument by its place or its name."""
        if index < len(self.positional):
            return self.positional[index]
        return self.keywords.get(name)

    def all(self) -> list[Value]:
        """All values that are passed."""
        return [*self.positional, *self.keywords.values()]


def bind(frame: Frame, node: FunctionLike, arguments: Arguments) -> Environment:
    """The variables of a function as it starts. `frame` is the callee's; arguments that do not fit are dropped."""
    spec = node.args
    names = [a.arg for a in (*spec.posonlyargs, *spec.args)]
    positional, keywords = list(arguments.positional), dict(arguments.keywords)
    env: Environment = {}
    rest = keywords.pop("**", None)
    repeated: Value | None = None
    if positional and isinstance(positional[-1], Sequence) and positional[-1].type == "*":
        repeated = positional.pop().item  # type: ignore[attr-defined]
    for name, value in zip(names, positional, strict=False):
        env[name] = value
    if spec.vararg is not None:
        extra = tuple(positional[len(names) :])
        env[spec.vararg.arg] = Tuple(extra) if repeated is None else Sequence(join((*extra, repeated)), "tuple")
    for name in (*names, *(a.arg for a in spec.kwonlyargs)):
        if name in keywords:
            env[name] = keywords.pop(name)
    if spec.kwarg is not None:
        env[spec.kwarg.arg] = Dict(tuple(keywords.items()), rest)
    fallback = rest if rest is not None else repeated
    for name, default in defaults(node):
        if name not in env:
            value = frame.peek(default)
            env[name] = value if fallback is None else join((value, UNKNOWN))
    for name in (*names, *(a.arg for a in spec.kwonlyargs)):
        env.setdefault(name, UNKNOWN)
    return env


def defaults(node: FunctionLike) -> Iterator[tuple[str, ast.expr]]:
    """The parameters that have a default, with it."""
    spec = node.args
    names = [a.arg for a in (*spec.posonlyargs, *spec.args)]
    yield from zip(names[len(names) - len(spec.defaults) :], spec.defaults, strict=True)
    for argument, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
        if default is not None:
            yield argument.arg, default


def constructor_arguments(frame: Frame, node: FunctionLike) -> Environment:
    """What a constructor is given when nobody says so: configuration, not tensors."""
    env: Environment = {}
    for argument in _all_arguments(node):
        value = annotated_value(frame, argument.annotation, argument.arg) if argument.annotation else None
        env[argument.arg] = PYTHON if value is None or isinstance(value, Tensor) else value
    for name, default in defaults(node):
        given = frame.peek(default)
        if given == NONE:
            env[name] = UNKNOWN
    return env


def forward_arguments(frame: Frame, node: FunctionLike, *, exported: bool) -> Environment:
    """What `forward` is given by torch.export, `self` left out.

    It takes an annotation, or a use that only a tensor allows, to be sure that an argument is a tensor. `exported`
    says that no other class of the file calls the module: then what `forward` demands without a default is a tensor
    too, unless it is used like something else.
    """
    default = dict(defaults(node))
    evidence = uses(frame, node)
    env: Environment = {}
    for argument in list(_all_arguments(node))[1:]:
        name = argument.arg
        value = annotated_value(frame, argument.annotation, name) if argument.annotation else None
        given = default.get(name)
        is_none = isinstance(given, ast.Constant) and given.value is None
        if value is None:
            use = evidence.get(name)
            if use == "dict":
                value = Dict((), UNKNOWN)
            elif use == "list":
                value = Sequence(UNKNOWN)
            elif given is None or is_none:
                surely = use == "tensor" or (use is None and exported and given is None)
                value = Tensor(Origin.INPUT, assumed=not surely, name=name)
            else:
                value = _like_default(frame.peek(given))
        if isinstance(value, Tensor):
            value = Tensor(
                Origin.INPUT, value.kind, assumed=value.assumed, optional=value.optional or is_none, name=name,
                trail=frame.trail(argument, f"`{name}` is an input of `{frame.symbol}`"),
            )  # fmt: skip
        env[name] = value
        if isinstance(value, (Sequence, Dict)):
            env[f"{name}.<input>"] = value
    if node.args.vararg is not None:
        env[node.args.vararg.arg] = Sequence(
            Tensor(Origin.INPUT, assumed=True, name=node.args.vararg.arg,
                   trail=frame.trail(node.args.vararg, f"`{node.args.vararg.arg}` are inputs of `{frame.symbol}`")),
            "tuple",
        )  # fmt: skip
    if node.args.kwarg is not None:
        env[node.args.kwarg.arg] = Dict((), UNKNOWN)
    return env


def _like_default(value: Value) -> Value:
    return Python(type(value.value).__name__) if isinstance(value, Const) else value


def _all_arguments(node: FunctionLike) -> Iterator[ast.arg]:
    yield from (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)


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
        return _class(Frame(frame.engine, frame.module).peek(annotation), name)
    return None


def _alias(frame: Frame, annotation: ast.Name | ast.Attribute) -> Value | None:
    """The value of `OptTensor` where the project says `OptTensor = Optional[Tensor]`."""
    project = frame.engine.project
    name = dotted(annotation)
    found = project.member(frame.module, name) if name and "." not in name else None
    if isinstance(found, str):
        found = project.resolve(found, frame.module)
    if isinstance(found, Definition) and isinstance(found.binding, Assignment):
        value = found.binding.value
        if isinstance(value, (ast.Subscript, ast.BinOp, ast.Attribute)):
            return annotated_value(Frame(frame.engine, found.module, frame.symbol), value, name or "")
    return None


def _class(value: Value, name: str) -> Value | None:
    if isinstance(value, ClassValue):
        instance = Instance(value.definition)
        return Object(instance) if value.definition.methods.get("forward") is None else UNKNOWN
    if not isinstance(value, External):
        return None
    last = value.name.rpartition(".")[2]
    if value.name.startswith("torch.") and (last in KINDS or last in {"Tensor", "Parameter"}):
        return Tensor(Origin.INPUT, KINDS.get(last), name=name)
    if value.name.startswith("builtins."):
        return {"list": UNKNOWN, "tuple": UNKNOWN, "dict": Dict((), UNKNOWN), "object": UNKNOWN}.get(last, Python(last))
    if last in {"Any", "Callable", "Optional", "Union"}:
        return None if last == "Any" else UNKNOWN
    if table.lookup(value.name) is not None or value.name.startswith("torch."):
        return Python(last)
    return UNKNOWN


def _generic(frame: Frame, annotation: ast.Subscript, name: str) -> Value | None:
    base = Frame(frame.engine, frame.module).peek(annotation.value)
    last = base.name.rpartition(".")[2] if isinstance(base, External) else ""
    inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
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
        return Sequence(_element(frame, item, annotation, name), "list" if "ist" in last else "tuple")
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
        return Tensor(Origin.INPUT, known[0].kind, optional=NONE in values, name=name)
    if any(isinstance(v, Tensor) for v in known):
        # a tensor or something else: what the code finds out about it decides
        return Tensor(Origin.INPUT, assumed=True, optional=NONE in values, name=name)
    if not known:
        return None
    return join([*known, *([NONE] if NONE in values else [])])
