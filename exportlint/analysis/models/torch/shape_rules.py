"""The shapes of what operators give. Nothing is known of the sizes of what is not listed here."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import partial, reduce

from exportlint.analysis.domain.dim import (
    ANY_NUMBER,
    ANY_SIZE,
    ONE,
    ZERO,
    Dim,
    Expression,
    constant,
    declared,
    depending,
    maximum,
)
from exportlint.analysis.domain.lattice import tensors_in
from exportlint.analysis.domain.shape import UNSHAPED, TensorShape, broadcast, convolved, multiplied, transformed
from exportlint.analysis.domain.values import FALSE, TRUE, Const, Scalar, Sequence, Shape, Size, Tensor, Tuple, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.demands import data_of
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.sizes import ANY_DATA, DATA, dim_of, note_conversion, note_fixed_rows, size_at
from exportlint.analysis.facts.sizes import FixedSize
from exportlint.analysis.torch.layers import LayerShape, find_layer
from exportlint.analysis.torch.operator import ShapeRule
from exportlint.analysis.torch.registry import find

Rule = Callable[[tuple[TensorShape, ...], tuple[Value, ...], dict[str, Value]], TensorShape]
"""Gives the shape of a result, for those of the tensors, and the other arguments."""


def _dim(given: tuple[Value, ...], keywords: dict[str, Value], place: int, *names: str) -> int | None:
    """A dimension that is given as a number, if it is known."""
    value = next((keywords[name] for name in names if name in keywords), None)
    if value is None and len(given) > place:
        value = given[place]
    return value.value if isinstance(value, Const) and type(value.value) is int else None


def _dim_or(default: int, given: tuple[Value, ...], keywords: dict[str, Value], place: int) -> int | None:
    """The argument `dim`, if it is known, or what stands for it where there is none."""
    is_given = len(given) > place or "dim" in keywords or "axis" in keywords
    return _dim(given, keywords, place, "dim", "axis") if is_given else default


def _listed(given: tuple[Value, ...]) -> tuple[Value, ...]:
    """The sizes or dimensions that are given one by one or as one tuple."""
    return given[0].items if given and isinstance(given[0], Tuple) else given


def _same(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    return reduce(broadcast, shapes)


def _first(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    return shapes[0].first(1)


def _reduced(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    axes = keywords.get("dim") or keywords.get("axis") or (given[0] if given else None)
    numbers = axes.items if isinstance(axes, Tuple) else (axes,)
    known = [n.value for n in numbers if isinstance(n, Const) and type(n.value) is int]
    if len(known) != len(numbers) or axes is None:
        return UNSHAPED
    if keywords.get("keepdim") == TRUE or TRUE in given[1:2]:
        return reduce(lambda shape, position: shape.replaced(position, ONE), known, shapes[0])
    return shapes[0].removed(*known)


def _swapped(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    one, other = _dim(given, keywords, 0, "dim0", "axis0"), _dim(given, keywords, 1, "dim1", "axis1")
    shape = shapes[0]
    places = [None if dim is None else shape.index(dim) for dim in (one, other)]
    if one is None or other is None or None in places:
        return TensorShape((), shape.rank)
    return shape.swapped(one, other)


def _transposed(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    rank = shapes[0].rank
    return TensorShape(tuple(reversed(shapes[0].up_to(2 if rank is None else rank))), rank)


def _permuted(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    items = _listed(given)
    numbers = [n.value for n in items if isinstance(n, Const) and type(n.value) is int]
    if len(numbers) != len(items):
        return UNSHAPED
    return TensorShape(shapes[0].dims, len(numbers)).permuted(numbers)


def _unsqueezed(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    at = _dim(given, keywords, 0, "dim")
    return UNSHAPED if at is None else shapes[0].inserted(at)


def _squeezed(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    at = _dim(given, keywords, 0, "dim")
    if at is None:
        sizes = shapes[0].up_to(shapes[0].rank or 0)
        if shapes[0].rank is None or given or keywords or any(size.number is None for size in sizes):
            return shapes[0].first(1)
        left = tuple(size for size in sizes if size.number != 1)
        return TensorShape(left, len(left))
    known = shapes[0].at(at)
    if known.number == 1:
        return shapes[0].removed(at)
    is_there = known.varies or known.is_data or known.number is not None
    return shapes[0] if is_there else TensorShape(shapes[0].removed(at).dims)


def _flattened(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    shape, keys = shapes[0], {"start_dim", "end_dim"}
    start = _dim(given, keywords, 0, "start_dim") if given or "start_dim" in keywords else 0
    end = _dim(given, keywords, 1, "end_dim") if len(given) > 1 or "end_dim" in keywords else -1
    first = None if start is None else shape.index(start)
    if first is None or end is None or keywords.keys() - keys:
        return UNSHAPED
    last = shape.index(end)
    if last is None:  # all that there is, or all but some of it
        merged = TensorShape(shape.dims[first:]).elements()
        return TensorShape((*shape.up_to(first), merged), first + 1 if end == -1 else None)
    merged = TensorShape(shape.up_to(last + 1)[first:], last + 1 - first).elements()
    rank = None if shape.rank is None else shape.rank - (last - first)
    return TensorShape((*shape.up_to(first), merged, *shape.dims[last + 1 :]), rank)


def _stated(given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    """The shape that arguments state, one by one or as a tuple: -1 is a size of which nothing is known."""
    sizes = keywords.get("size") or keywords.get("shape") or (given[0] if given else None)
    if isinstance(sizes, Shape):
        return sizes.tensor.shape
    items = sizes.items if isinstance(sizes, Tuple) else given
    if not isinstance(sizes, Tuple) and len(items) == 1 and not isinstance(items[0], (Const, Size, Scalar)):
        return UNSHAPED  # a number, or a tuple
    if any(isinstance(item, Sequence) for item in items):
        return UNSHAPED
    found = [dim if (dim := dim_of(item)) is not None and item != Const(-1) else ANY_SIZE for item in items]
    return TensorShape(tuple(found), len(found)) if isinstance(sizes, Tuple) or found else UNSHAPED


def _sized(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    """`zeros(n, 4)`: as the arguments say."""
    return _stated(given, keywords)


def _filled(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    """`full((n, 4), 0.0)`: as the first argument says."""
    return _stated(given[:1], keywords)


def _drawn(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    """`randint(10, (n, 4))`: as the last argument says."""
    return _stated(given[1:][-1:], keywords)


def _counted(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    """`arange(n)`, `arange(1, n)`, `randperm(n)`."""
    named = [keywords[name] for name in ("start", "end", "step", "n") if name in keywords]
    found = [dim for value in (*given[:3], *named) if (dim := dim_of(value)) is not None]
    if len(found) == 1:
        return TensorShape((found[0],), 1)
    is_range = len(found) == 2 and all(isinstance(dim, Expression) for dim in found)
    return TensorShape((maximum(found[1] - found[0], ZERO) if is_range else depending(*found),), 1)


def _squared(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    """`eye(n)`, `eye(n, m)`."""
    found = [dim_of(value) or ANY_SIZE for value in given[:2]]
    return TensorShape((found[0], found[-1]), 2) if found else UNSHAPED


def _viewed(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    """`view(n, -1)`: as the arguments say, and what they do not name is in the -1."""
    named, items = _stated(given, keywords), _listed(given)
    if Const(-1) not in items:
        return named
    position = items.index(Const(-1))
    others = named.removed(position)
    elements, stated = shapes[0].elements(), others.elements()
    rest = elements // stated
    if not isinstance(rest, Expression):
        # what varies in the number of elements is in a size that is named, or in this one
        rest = ANY_SIZE if stated.varies or stated.is_data else rest
    return named.replaced(position, rest)


def _expanded(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    """`expand(n, -1)`: as the arguments say, and what is -1 stays."""
    shape, items, named = shapes[0], _listed(given), _stated(given, keywords)
    more = 0 if shape.rank is None or named.rank is None else named.rank - shape.rank
    for position, item in enumerate(items if named.rank is not None else ()):
        if item == Const(-1) and position >= more:
            named = named.replaced(position, shape.at(position - more))
    return named


def _repeated(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    """`repeat(n, 1)`: each size as many times."""
    shape, times = shapes[0], _stated(given, keywords)
    if times.rank is None:
        return UNSHAPED
    more = 0 if shape.rank is None else times.rank - shape.rank
    found = [shape.at(i - more) * times.at(i) if i >= more else times.at(i) for i in range(times.rank)]
    return TensorShape(tuple(found), times.rank)


def _like(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    return given[0].shape if given and isinstance(given[0], Tensor) else UNSHAPED


def _of_one_rank(shapes: tuple[TensorShape, ...]) -> tuple[TensorShape, ...]:
    """Shapes of tensors that have as many dimensions as each other: all of them, if that is known of one."""
    rank = next((shape.rank for shape in shapes if shape.rank is not None), None)
    return tuple([shape if shape.rank is not None else TensorShape(shape.dims, rank) for shape in shapes])


def _joined(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    at = _dim_or(0, given, keywords, 0)
    if at is None:
        return UNSHAPED
    shapes = _of_one_rank(shapes)
    whole = reduce(broadcast, shapes)
    return whole.replaced(at, reduce(lambda found, dim: found + dim, [shape.at(at) for shape in shapes]))


def _stacked(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    at = _dim_or(0, given, keywords, 0)
    count = ANY_SIZE if UNSHAPED in shapes else constant(len(shapes))
    return UNSHAPED if at is None else reduce(broadcast, shapes).inserted(at, count)


def _aligned(
    shapes: tuple[TensorShape, ...],
    given: tuple[Value, ...],
    keywords: dict[str, Value],
    *,
    is_counted: bool = True,
) -> TensorShape:
    """`pad_sequence([x, y], batch_first=True)`: with the length of the longest."""
    is_first = keywords.get("batch_first") or (given[0] if given else FALSE)
    if not isinstance(is_first, Const):
        return UNSHAPED
    shapes = _of_one_rank(shapes)
    lengths = [shape.at(0) for shape in shapes]
    is_known = all(length.varies or length.is_data or length.number is not None for length in lengths)
    length = reduce(maximum, lengths) if is_known else ANY_SIZE
    count = constant(len(shapes)) if is_counted else ANY_SIZE
    rest = reduce(broadcast, [shape.removed(0) for shape in shapes])
    row = rest.inserted(0, length if is_counted or not is_known else depending(length))
    return row.inserted(0 if is_first.value else 1, count)


def _picked(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    """`select`, `unbind`: without one dimension."""
    at = _dim_or(0, given, keywords, 0)
    return UNSHAPED if at is None else shapes[0].removed(at)


def _selected(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    """`index_select`: with as much of one dimension as there are indices."""
    at, index = _dim(given, keywords, 0, "dim"), _index(given, keywords)
    return UNSHAPED if at is None else shapes[0].replaced(at, index.at(0))


def _indexed(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    """`gather`: that of the index."""
    return _index(given, keywords)


def _index(given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    index = keywords.get("index") or (given[1] if len(given) > 1 else None)
    return index.shape if isinstance(index, Tensor) else UNSHAPED


def _unflattened(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    """`unflatten`: with sizes in place of one, -1 for what is left."""
    at, shape = _dim(given, keywords, 0, "dim"), shapes[0]
    index = None if at is None else shape.index(at)
    sizes = keywords.get("sizes") or (given[1] if len(given) > 1 else None)
    named = _viewed((TensorShape((shape.at(index),), 1),), (sizes,), {}) if index is not None and sizes else UNSHAPED
    if index is None or named.rank is None:
        return UNSHAPED if index is None else TensorShape(shape.up_to(index))
    rank = None if shape.rank is None else shape.rank - 1 + named.rank
    return TensorShape((*shape.up_to(index), *named.dims, *shape.dims[index + 1 :]), rank)


def _narrowed(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    at = _dim(given, keywords, 0, "dim")
    length = keywords.get("length") or (given[2] if len(given) > 2 else None)
    size = None if length is None else dim_of(length)
    return UNSHAPED if at is None else shapes[0].replaced(at, ANY_SIZE if size is None else size)


def _divided(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    """`chunk`, `split`: each with a part of one dimension."""
    at = _dim_or(0, given, keywords, 1)
    sizes = next(iter(given), None) or keywords.get("split_size_or_sections") or keywords.get("split_sizes")
    return UNSHAPED if at is None else shapes[0].replaced(at, DATA if sizes and _are_read(sizes) else ANY_SIZE)


def _are_read(sizes: Value) -> bool:
    """Whether a list or tuple surely holds nothing but numbers read from tensors."""
    items = sizes.items if isinstance(sizes, Tuple) else (sizes.item,) if isinstance(sizes, Sequence) else ()
    return bool(items) and all(isinstance(data_of(item), Scalar) for item in items)


def _multiplied(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    return multiplied(shapes[0], shapes[1] if len(shapes) > 1 else UNSHAPED)


def _transformed(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    return transformed(shapes[0], shapes[1].at(0) if len(shapes) > 1 else ANY_SIZE)


def _padded(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    """`pad`: longer by two numbers for each dimension, the last one first."""
    shape = shapes[0]
    amounts = keywords.get("pad") or (given[0] if given else None)
    if not isinstance(amounts, Tuple):
        return shape.first(1)
    added = [_amount(item) for item in amounts.items]
    if shape.rank is None:
        # what is added follows from the first size: that is the one that is padded
        sources = shape.at(0).sources or frozenset()
        return UNSHAPED if any(sources & (dim.sources or frozenset()) for dim in added) else shape.first(1)
    for i, (before, after) in enumerate(zip(added[::2], added[1::2], strict=False)):
        shape = shape.replaced(-1 - i, shape.at(-1 - i) + before + after)
    return shape


def _amount(value: Value) -> Dim:
    """By how much a dimension is padded: `pad` reads the number in a tensor."""
    if isinstance(data_of(value), Tensor):
        return ANY_DATA
    found = dim_of(value)
    return ANY_NUMBER if found is None else found


def _topmost(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    """`topk`: with `k` of one dimension."""
    at = _dim_or(-1, given, keywords, 1)
    count = keywords.get("k") or (given[0] if given else None)
    size = None if count is None else dim_of(count)
    return UNSHAPED if at is None else shapes[0].replaced(at, ANY_SIZE if size is None else size)


def _moved(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    """`movedim(0, -1)`, `movedim((0, 1), (1, 2))`."""
    shape = shapes[0]
    source = keywords.get("source") or (given[0] if given else None)
    target = keywords.get("destination") or (given[1] if len(given) > 1 else None)
    if shape.rank is None or source is None or target is None:
        return TensorShape((), shape.rank)
    pairs = [[shape.index(n) for n in _numbers(value) or ()] for value in (source, target)]
    sources, targets = [[place for place in places if place is not None] for places in pairs]
    if len(sources) != len(targets) or not sources:
        return TensorShape((), shape.rank)
    left = iter([i for i in range(shape.rank) if i not in sources])
    at = dict(zip(targets, sources, strict=True))
    return shape.permuted([at[i] if i in at else next(left) for i in range(shape.rank)])


def _numbers(value: Value) -> list[int] | None:
    items = value.items if isinstance(value, Tuple) else (value,)
    known = [item.value for item in items if isinstance(item, Const) and type(item.value) is int]
    return known if len(known) == len(items) else None


def _outer(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    return TensorShape(tuple([shape.at(0) for shape in shapes]), 2) if len(shapes) == 2 else UNSHAPED


def _grid(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    """`meshgrid(x, y)`; with `indexing="xy"`, the first two dimensions are swapped."""
    found = TensorShape(tuple([ONE if shape.rank == 0 else shape.at(0) for shape in shapes]), len(shapes))
    is_plain = keywords.get("indexing", Const("ij")) == Const("ij")
    return found if is_plain or len(shapes) < 2 else found.swapped(0, 1)


def _contracted(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    """`einsum("bqd,bkd->bqk", q, k)`."""
    equation = given[0].value if given and isinstance(given[0], Const) else None
    if not isinstance(equation, str) or "..." in equation:
        return UNSHAPED
    operands, arrow, result = equation.replace(" ", "").partition("->")
    terms = operands.split(",")
    if len(terms) != len(shapes):
        return UNSHAPED
    if not arrow:
        result = "".join(sorted(letter for letter in set(operands) - {","} if operands.count(letter) == 1))
    sizes: dict[str, list[TensorShape]] = {}
    for term, shape in zip(terms, shapes, strict=True):
        for place, letter in enumerate(term):
            sizes.setdefault(letter, []).append(TensorShape((shape.at(place),), 1))
    if not sizes.keys() >= set(result):  # torch raises
        return UNSHAPED
    return TensorShape(tuple([reduce(broadcast, sizes[letter]).at(0) for letter in result]), len(result))


def _resized(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    """`fft.rfft(x, dim=1)`, `glu`, `diff`: the dimension is `dim`, which stands behind what else there is."""
    numbers = [value for value in given if isinstance(value, Const) and type(value.value) is int]
    if "dim" not in keywords and numbers:
        return UNSHAPED
    at = _dim_or(-1, (), keywords, 0)
    if at is None or (shapes[0].rank is None and at < 0):
        return UNSHAPED if at is None else shapes[0].first(1)
    return shapes[0].replaced(at, ANY_SIZE)


def _windowed(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    """`x.unfold(1, size, step)`."""
    at = _dim(given, keywords, 0, "dimension")
    size = keywords.get("size") or (given[1] if len(given) > 1 else None)
    if at is None or size is None:
        return UNSHAPED
    shape = shapes[0].replaced(at, ANY_SIZE)
    return shape if shape.rank is None else shape.inserted(shape.rank, dim_of(size) or ANY_SIZE)


def _abreast(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    """`hstack`: in the first dimension if there is no other."""
    ranks = {shape.rank for shape in shapes}
    return _joined(shapes, (Const(0 if ranks <= {0, 1} else 1),), {}) if None not in ranks else shapes[0].first(1)


def _atop(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    """`vstack`: of rows, if there is one dimension alone."""
    if None in {shape.rank for shape in shapes}:
        return UNSHAPED
    return _joined(tuple([shape if (shape.rank or 0) > 1 else shape.inserted(0) for shape in shapes]), (), {})


def _behind(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    """`dstack` of tensors with three dimensions at least."""
    is_known = all(shape.rank is not None and shape.rank > 2 for shape in shapes)
    return _joined(shapes, (Const(2),), {}) if is_known else UNSHAPED


def _interleaved(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    """`repeat_interleave(n, dim=1)`."""
    repeats = keywords.get("repeats") or (given[0] if given else None)
    at = _dim(given, keywords, 1, "dim")
    if at is None or repeats is None:
        return UNSHAPED
    size = None if isinstance(repeats, Tensor) else dim_of(repeats)
    return shapes[0].replaced(at, ANY_SIZE if size is None else shapes[0].at(at) * size)


def _batched(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    return UNSHAPED if shapes[0].rank == 1 else shapes[0].first(1)


def _paired(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    other = shapes[1] if len(shapes) > 1 else UNSHAPED
    return transformed(shapes[0], ANY_SIZE if other.rank is None else other.at(-2))


def _tiled(shapes: tuple[TensorShape, ...], given: tuple[Value, ...], keywords: dict[str, Value]) -> TensorShape:
    times = keywords.get("dims") or (given[0] if given else None)
    items = times.items if isinstance(times, Tuple) else given
    rank = shapes[0].rank
    if rank is None:
        return UNSHAPED
    ones = (Const(1),) * max(rank - len(items), 0)
    return _repeated(shapes, (Tuple((*ones, *items)),), {})


def _like_layer(layer: Callable[[TensorShape], TensorShape]) -> Rule:
    """The rule of a function that does what a module does."""
    return lambda shapes, _given, _keywords: layer(shapes[0])


LAYERS: dict[LayerShape, Callable[[TensorShape], TensorShape]] = {
    "same": lambda shape: shape, "rows": lambda shape: shape.first(1), "features": transformed,
    "signal": partial(convolved, dimensions=1), "image": partial(convolved, dimensions=2),
    "volume": partial(convolved, dimensions=3),
}  # fmt: skip
"""What the shape of a module's result is, for that of its input."""


RULES: dict[ShapeRule, Rule] = {
    "same": _same, "elementwise": _same, "first": _first, "reduced": _reduced, "swapped": _swapped,
    "transposed": _transposed, "permuted": _permuted, "unsqueezed": _unsqueezed, "squeezed": _squeezed,
    "flattened": _flattened, "sized": _sized, "filled": _filled, "drawn": _drawn, "counted": _counted,
    "squared": _squared, "viewed": _viewed, "expanded": _expanded, "repeated": _repeated, "like": _like,
    "joined": _joined, "stacked": _stacked, "selected": _selected, "narrowed": _narrowed, "picked": _picked,
    "divided": _divided, "topmost": _topmost, "indexed": _indexed, "unflattened": _unflattened,
    "multiplied": _multiplied, "transformed": _transformed, "padded": _padded, "moved": _moved, "outer": _outer,
    "grid": _grid, "contracted": _contracted, "resized": _resized, "windowed": _windowed, "abreast": _abreast,
    "atop": _atop, "behind": _behind, "interleaved": _interleaved, "batched": _batched, "paired": _paired,
    "tiled": _tiled, "aligned": _aligned, "signal": _like_layer(LAYERS["signal"]),
    "image": _like_layer(LAYERS["image"]), "volume": _like_layer(LAYERS["volume"]),
}  # fmt: skip
"""What each rule of a record gives; of an operator without one, or under a rule that is not here, nothing is known."""


CREATES: frozenset[Rule] = frozenset({_sized, _filled, _drawn, _counted, _squared})
"""Rules of functions that take no tensor."""


LISTS: frozenset[Rule] = frozenset({_joined, _stacked, _abreast, _atop, _behind})
"""Rules of functions that take a list of tensors."""


def result_shape(name: str, operands: Iterable[Value], arguments: Arguments | None) -> TensorShape:
    """The shape of the result of an operator or module."""
    library = name.rpartition(".")[0]
    operands = tuple(operands)
    shapes = tuple([tensor.shape for operand in operands for tensor in tensors_in(operand, 2)])
    if arguments is None:  # a module
        layer = find_layer(name)
        return UNSHAPED if not shapes or layer is None or layer.shape is None else LAYERS[layer.shape](shapes[0])
    named = find(name).shape
    rule = RULES.get(named) if named is not None else None
    if rule is None or (not shapes and rule not in CREATES):
        return UNSHAPED
    if rule in LISTS and not _are_tensors(operands[0]):
        shapes = (*shapes, UNSHAPED)  # more of them, or others
    if rule is _aligned and not _are_tensors(operands[0]):
        rule = partial(_aligned, is_counted=False)
    if rule in {_grid, _contracted} and not all(map(_is_counted, operands)):
        return UNSHAPED
    is_behind = library and rule not in CREATES and rule is not _contracted
    given = arguments.positional[1:] if is_behind else arguments.positional
    return rule(shapes[:1] if named == "same" else shapes, given, arguments.keywords)


def _is_counted(value: Value) -> bool:
    """Whether it is known how many tensors a value is."""
    return isinstance(value, (Tensor, Const)) or _are_tensors(value)


def _are_tensors(value: Value) -> bool:
    """Whether a value is a tuple or list of which each item is one tensor."""
    return isinstance(value, Tuple) and all(isinstance(item, Tensor) for item in value.items)


def note_sizes(frame: Frame, name: str, operands: tuple[Value, ...], arguments: Arguments, node: ast.AST) -> None:
    """Record that an operator takes a tensor apart along a dimension that varies, or is given a number for one."""
    library, _, short = name.rpartition(".")
    record = find(name)
    if short in {"cat", "concat", "concatenate"} or record.rows is not None or record.shape == "elementwise":
        fitted = operands if record.shape == "elementwise" else operands[:2]
        tensors = [tensor for operand in fitted for tensor in tensors_in(operand, 1)]
        note_fixed_rows(frame, tensors, node, f"{short}()", least_rank=1 if record.rows == "equal" else 2)
    first = operands[0] if operands else None
    if not isinstance(first, Tensor) or not first.shape.varying or first.assumed:
        return
    given = arguments.positional[1:] if library else arguments.positional
    if short == "split" and node is frame.unpacked:
        return  # eager takes as many pieces only
    if short == "unbind":
        dim = _dim(given, arguments.keywords, 0, "dim") if given or arguments.keywords else 0
        size = size_at(first, dim) if dim is not None else None
        if size is not None:
            note_conversion(frame, Size(size, trail=first.trail), node, "unbind()")
    elif short == "split":
        dim = _dim(given, arguments.keywords, 1, "dim") if len(given) > 1 or "dim" in arguments.keywords else 0
        pieces = given[0] if given else arguments.keywords.get("split_size_or_sections")
        size = size_at(first, dim) if dim is not None else None
        comes_out_even = isinstance(pieces, Size) and size is not None and (size // pieces.dim).number is not None
        if size is not None and isinstance(pieces, (Size, Const)) and not comes_out_even:
            note_conversion(frame, Size(size, trail=first.trail), node, "split()")
    elif short in {"view", "reshape", "expand"} and size_at(first, 0) is not None:
        stated = _listed(given)[:1]
        if stated and isinstance(stated[0], Const) and type(stated[0].value) is int and stated[0].value > 1:
            said = declared(first.shape.at(0))
            if said == "dynamic" and Const(-1) in _listed(given):
                said = "auto"  # sizes that divide evenly are left
            frame.emit(FixedSize, node, first, api=f"{short}()", size=stated[0].value, declared=said)
