"""What the body of `forward` does with its arguments, as far as that tells what they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from exportlint.verify.specs import Constant, DictSpec, ListSpec, Spec, TensorSpec
from exportlint.verify.targets.hints_of_words import Shape, as_size

USUAL: dict[int, Shape] = {
    1: ("length",),
    2: ("batch", "features"),
    3: ("batch", "length", "features"),
    4: ("batch", "channels", "height", "width"),
    5: ("batch", "channels", "depth", "height", "width"),
}
"""What dimensions mean where nobody says it. The worker has the same names."""

_ALONG = {"size", "sum", "mean", "softmax", "squeeze", "transpose", "flatten", "argmax", "argmin", "max", "min"}
_SIZES = {"view", "reshape", "expand", "repeat", "range", "zeros", "ones", "new_zeros"}
_ALL_OF = {"cat", "stack", "concat", "hstack", "vstack"}


@dataclass
class Usage:
    """Shapes that a tensor must have, and values other than tensors that it may be."""

    shapes: list[Shape] = field(default_factory=list)
    values: list[Spec] = field(default_factory=list)
    keys: dict[str, None] = field(default_factory=dict)
    items: int = 0
    rank: int = 0


def usage_of(forward: ast.FunctionDef, names: Sequence[str]) -> dict[str, Usage]:
    """What is done to each argument before its name stands for something else."""
    usages = {name: Usage() for name in names}
    last = {name: _bound_again(forward, name) for name in names}
    for node in _nodes(forward.body):
        for name, usage in usages.items():
            if getattr(node, "lineno", 0) <= last[name]:
                _look(node, name, usage)
    for usage in usages.values():
        if usage.rank > 3 and not usage.shapes:  # fewer are what most of what torch does takes anyway
            usage.shapes += [USUAL[usage.rank]] if usage.rank in USUAL else []
        plain = TensorSpec("float32", ("...",))
        if usage.keys:
            usage.values.append(DictSpec(dict.fromkeys(usage.keys, plain)))
        elif usage.items:
            usage.values.append(ListSpec((plain,) * usage.items))
    return usages


def _nodes(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """All nodes but those of functions inside."""
    for statement in body:
        if not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            yield from ast.walk(statement)


def _bound_again(forward: ast.FunctionDef, name: str) -> int:
    """The first row in which the name is bound to something else; what is on its right is still the argument."""
    rows = [
        n.lineno
        for n in _nodes(forward.body)
        if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
    ]
    return min(rows, default=1 << 30)


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def _is_shape(node: ast.AST, name: str) -> bool:
    """`x.shape` and `x.size()`."""
    match node:
        case ast.Attribute(value=value, attr="shape"):
            return _is(value, name)
        case ast.Call(func=ast.Attribute(value=value, attr="size"), args=[]):
            return _is(value, name)
    return False


def _look(node: ast.AST, name: str, usage: Usage) -> None:
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=parts)], value=value) if not any(
            isinstance(p, ast.Starred) for p in parts
        ):
            if _is_shape(value, name):
                usage.shapes.append(tuple(_unpacked(part, i, len(parts)) for i, part in enumerate(parts)))
            elif _is(value, name):
                usage.items = max(usage.items, len(parts))
        case ast.Subscript(value=value, slice=ast.Constant(value=int(index))) if _is_shape(value, name):
            usage.rank = max(usage.rank, index + 1 if index >= 0 else -index)
        case ast.Subscript(value=value, slice=index) if _is(value, name):
            _indexed(index, usage)
        case ast.If(test=test) | ast.IfExp(test=test) if _is_flag(test, name):
            usage.values.append(Constant(True))
        case ast.Compare(left=left, comparators=[ast.Constant(value=value), *_]):
            _compared(left, value, name, usage)
        case ast.Call(func=ast.Attribute(value=value, attr=method), args=args) if _is(value, name):
            _method(method, [arg.value for arg in args if isinstance(arg, ast.Constant)], len(args), usage)
        case ast.Call(func=ast.Attribute(attr=called) | ast.Name(id=called), args=args):
            if called in _SIZES and any(
                _is(arg, name) for arg in args[0 if called in ("range", "view", "reshape") else 1 :]
            ):
                usage.values.append(Constant(2))
            if called in _ALL_OF and args and _is(args[0], name):
                usage.items = max(usage.items, 2)


def _is_flag(test: ast.expr, name: str) -> bool:
    """Whether a condition is an argument itself, or what negates or combines it: then it is hardly a tensor."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _is_flag(operand, name)
        case ast.BoolOp(values=values):
            return any(_is_flag(value, name) for value in values)
    return _is(test, name)


def _unpacked(part: ast.expr, index: int, rank: int) -> int | str:
    if isinstance(part, ast.Name) and part.id.strip("_"):
        return as_size(part.id, index)
    return USUAL[rank][index] if rank in USUAL else f"any_{index}"


def _indexed(index: ast.expr, usage: Usage) -> None:
    match index:
        case ast.Constant(value=str(key)):
            usage.keys[key] = None
        case ast.Tuple(elts=parts):
            kinds = [part for part in parts if not (isinstance(part, ast.Constant) and part.value in (None, ...))]
            usage.rank = max(usage.rank, len(kinds))


def _compared(left: ast.expr, value: object, name: str, usage: Usage) -> None:
    """`x.dim() == 4`, `len(x.shape) == 3`, `mode == "train"`."""
    match left:
        case (
            ast.Call(func=ast.Attribute(value=tensor, attr="dim" | "ndimension"))
            | ast.Attribute(value=tensor, attr="ndim")
        ):
            known = _is(tensor, name)
        case ast.Call(func=ast.Name(id="len"), args=[inner]):
            known = _is_shape(inner, name)
        case _:
            known = False
    if known and isinstance(value, int) and value in USUAL:
        usage.shapes.append(USUAL[value])
    if _is(left, name) and isinstance(value, str):
        usage.values.append(Constant(value))


def _method(method: str, constants: list[object], count: int, usage: Usage) -> None:
    whole = [value for value in constants if isinstance(value, int) and not isinstance(value, bool)]
    if method == "permute" and len(whole) == count and count in USUAL:
        usage.shapes.append(USUAL[count])
    elif method == "t":
        usage.shapes.append(USUAL[2])
    elif method == "get" and constants and isinstance(constants[0], str):
        usage.keys[constants[0]] = None
    elif method in _ALONG and whole:
        usage.rank = max(usage.rank, *(value + 1 if value >= 0 else -value for value in whole))
    elif method in ("items", "keys", "values") and not usage.keys:
        usage.keys["x"] = None
