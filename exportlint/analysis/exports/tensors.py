"""The sizes of the tensors that a script makes."""

from __future__ import annotations

from collections.abc import Callable

from exportlint.analysis.exports.values import Example, sizes
from exportlint.analysis.interpreter.arguments import Arguments
from exportlint.analysis.values import Const, Sequence, Tuple, Value

Shape = tuple[int | None, ...] | None

BY_SIZE = frozenset({"randn", "rand", "zeros", "ones", "empty"})
LIKE = frozenset(
    {"randn_like", "rand_like", "zeros_like", "ones_like", "empty_like", "full_like", "clone", "randint_like"}
)
SAME = frozenset({
    "to", "cuda", "cpu", "float", "half", "double", "bfloat16", "int", "long", "bool", "clone", "detach", "contiguous",
    "requires_grad_", "normal_", "uniform_", "zero_", "fill_", "abs", "div", "mul", "add", "sub", "type", "pin_memory",
})  # fmt: skip
"""Methods of a tensor whose result has its sizes, given numbers or none."""


def made(name: str, arguments: Arguments) -> Example | None:
    """The tensor that a function of torch or numpy makes of these arguments; None if it is none of those known."""
    library, _, function = name.partition(".")
    if library == "numpy" and function == "transpose":
        return _transposed(arguments)
    if library != "torch":
        return None
    if function in BY_SIZE:
        return Example(_sized(arguments.positional or tuple(_given(arguments, "size"))))
    if function in LIKE:
        return Example(_shape(arguments.get(0, "input")))
    if function == "full":
        return Example(_sized((arguments.get(0, "size") or Sequence(Const(0)),)))
    if function == "randint":
        size = next((a for a in (*arguments.positional, *_given(arguments, "size")) if isinstance(a, Tuple)), None)
        return Example(sizes(size.items) if size is not None else None)
    if function in {"arange", "linspace"}:
        start = arguments.positional
        only = start[0].value if len(start) == 1 and isinstance(start[0], Const) else None
        return Example((only if function == "arange" and type(only) is int else None,))
    if function in {"tensor", "as_tensor"}:
        return Example(_literal(arguments.get(0, "data")))
    if function == "permute":
        return _transposed(arguments)
    return Example() if function in {"from_numpy", "stack", "cat", "randperm", "eye", "tril", "triu"} else None


def method(tensor: Example, name: str, arguments: Arguments) -> Value | None:
    """What a method of a tensor gives; None if that is not known."""
    if name in SAME:
        return tensor if not any(isinstance(a, Example) for a in arguments.positional) else Example()
    if name in {"repeat", "expand", "flatten", "squeeze", "reshape_as", "expand_as", "tile", "sum", "mean"}:
        return Example()
    if name in {"dim", "ndimension"} and tensor.shape is not None:
        return Const(len(tensor.shape))
    handler = _METHODS.get(name)
    return Example(handler(tensor.shape, arguments)) if handler is not None else None


def _given(arguments: Arguments, name: str) -> list[Value]:
    return [arguments.keywords[name]] if name in arguments.keywords else []


def _shape(value: Value | None) -> Shape:
    return value.shape if isinstance(value, Example) else None


def _sized(values: tuple[Value, ...]) -> Shape:
    if len(values) == 1 and isinstance(values[0], Tuple):
        return sizes(values[0].items)
    return sizes(values) if all(isinstance(v, Const) for v in values) or len(values) > 1 else None


def _literal(value: Value | None) -> Shape:
    if isinstance(value, Const):
        return ()
    if isinstance(value, Tuple) and value.items:
        inner = {_literal(item) for item in value.items}
        first = inner.pop()
        return (len(value.items), *first) if not inner and first is not None else None
    return None


def _transposed(arguments: Arguments) -> Example:
    order = arguments.get(1, "axes")
    return Example(_permute(_shape(arguments.get(0)), Arguments((order,) if order is not None else ())))


def _permute(shape: Shape, arguments: Arguments) -> Shape:
    order = sizes(arguments.positional)
    if len(arguments.positional) == 1 and isinstance(arguments.positional[0], Tuple):
        order = sizes(arguments.positional[0].items)
    known = [place for place in order if place is not None]
    if shape is None or sorted(place % max(len(shape), 1) for place in known) != list(range(len(shape))):
        return None
    return tuple(shape[place] for place in known)


def _transpose(shape: Shape, arguments: Arguments) -> Shape:
    places = sizes(arguments.positional)
    if shape is None or len(places) != 2:
        return None
    one, other = places
    if one is None or other is None or not all(-len(shape) <= p < len(shape) for p in (one, other)):
        return None
    swapped = list(shape)
    swapped[one], swapped[other] = swapped[other], swapped[one]
    return tuple(swapped)


def _unsqueeze(shape: Shape, arguments: Arguments) -> Shape:
    places = sizes(arguments.positional)
    if shape is None or len(places) != 1 or places[0] is None or not -len(shape) - 1 <= places[0] <= len(shape):
        return None
    at = places[0] if places[0] >= 0 else places[0] + len(shape) + 1
    return (*shape[:at], 1, *shape[at:])


def _view(_: Shape, arguments: Arguments) -> Shape:
    wanted = _sized(arguments.positional)
    return tuple(None if size == -1 else size for size in wanted) if wanted is not None else None


_METHODS: dict[str, Callable[[Shape, Arguments], Shape]] = {
    "permute": _permute, "transpose": _transpose, "unsqueeze": _unsqueeze, "view": _view, "reshape": _view,
}  # fmt: skip
