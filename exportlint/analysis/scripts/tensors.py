"""The sizes of the tensors that a script makes."""

from __future__ import annotations

from collections.abc import Callable

from exportlint.analysis.domain.script_values import Example, sizes
from exportlint.analysis.domain.values import Const, Sequence, Tuple, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.torch import table
from exportlint.analysis.torch.operator import ShapeRule
from exportlint.analysis.torch.registry import find

Shape = tuple[int | None, ...] | None


def made(name: str, arguments: Arguments) -> Example | None:
    """The tensor that a function of torch or numpy makes of these arguments; None if it makes none."""
    library, _, function = name.partition(".")
    if library == "numpy" and function == "transpose":
        return _transposed(arguments)
    if library != "torch":
        return None
    if function == "randint":
        size = next((a for a in (*arguments.positional, *_given(arguments, "size")) if isinstance(a, Tuple)), None)
        return Example(sizes(size.items) if size is not None else None)
    rule = find(name).shape
    if rule in _MAKERS:
        return Example(_MAKERS[rule](arguments))
    first = arguments.get(0, "input")
    rest = Arguments(arguments.positional[1:], arguments.keywords)
    found = method(first, name, rest) if isinstance(first, Example) and rule is not None else None
    if isinstance(found, Example):
        return found
    return Example() if _gives_tensor(table.lookup(name)) else None


def method(tensor: Example, name: str, arguments: Arguments) -> Value | None:
    """What a method of a tensor gives; None if that is not known."""
    record, api = find(name), table.tensor_member(name)
    if name in {"dim", "ndimension"} and tensor.shape is not None:
        return Const(len(tensor.shape))
    is_itself = api is not None and any(overload.returns.kind == "self" for overload in api.overloads)
    if is_itself or record.shape in {"same", "elementwise"} or record.storage == "unchanged":
        return tensor if not any(isinstance(a, Example) for a in arguments.values) else Example()
    if record.shape in _METHODS:
        return Example(_METHODS[record.shape](tensor.shape, arguments))
    return Example() if record.shape is not None or _gives_tensor(api) else None


def _gives_tensor(api: table.Api | None) -> bool:
    is_call = api is not None and api.kind in {"function", "method"}
    return api is not None and is_call and {overload.returns.kind for overload in api.overloads} == {"tensor"}


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


def _by_size(arguments: Arguments) -> Shape:
    return _sized(arguments.positional or tuple(_given(arguments, "size")))


def _filled(arguments: Arguments) -> Shape:
    return _sized((arguments.get(0, "size") or Sequence(Const(0)),))


def _counted(arguments: Arguments) -> Shape:
    end = arguments.positional
    only = end[0].value if len(end) == 1 and isinstance(end[0], Const) else None
    return (only if type(only) is int else None,)


_MAKERS: dict[ShapeRule | None, Callable[[Arguments], Shape]] = {
    "sized": _by_size,
    "filled": _filled,
    "drawn": lambda arguments: _sized((arguments.get(2, "size") or arguments.get(1) or Sequence(Const(0)),)),
    "counted": _counted,
    "spaced": lambda _: (None,),
    "listed": lambda arguments: _literal(arguments.get(0, "data")),
}
_METHODS: dict[ShapeRule | None, Callable[[Shape, Arguments], Shape]] = {
    "permuted": _permute,
    "swapped": _transpose,
    "unsqueezed": _unsqueeze,
    "viewed": _view,
}
