"""Where operators take the dimensions that vary from call to call: the batch stays the batch.

What is not listed here loses them, so that nothing is claimed about the sizes of its result.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from exportlint.analysis.facts.sizes import FixedSize
from exportlint.analysis.interpreter.arguments import Arguments
from exportlint.analysis.interpreter.frame import Frame
from exportlint.analysis.interpreter.sizes import broadcast, derived, note_conversion, note_fixed_rows, symbol_at
from exportlint.analysis.joins import tensors_in
from exportlint.analysis.layers import keeps_rows
from exportlint.analysis.values import Const, Shape, Size, Symbols, Tensor, Tuple, Value

Rule = Callable[[Symbols, tuple[Value, ...], dict[str, Value]], Symbols]
"""Gives the dimensions of a result, for those of the first tensor, and the other arguments."""

NOWHERE: Symbols = frozenset()


def _dim(given: tuple[Value, ...], keywords: dict[str, Value], place: int, *names: str) -> int | None:
    """A dimension that is given as a number from 0 on, if it is known."""
    value = next((keywords[name] for name in names if name in keywords), None)
    if value is None and len(given) > place:
        value = given[place]
    return value.value if isinstance(value, Const) and type(value.value) is int else None


def _listed(given: tuple[Value, ...]) -> tuple[Value, ...]:
    """The sizes or dimensions that are given one by one or as one tuple."""
    return given[0].items if given and isinstance(given[0], Tuple) else given


def _same(dims: Symbols, given: tuple[Value, ...], keywords: dict[str, Value]) -> Symbols:
    return dims


def _first(dims: Symbols, given: tuple[Value, ...], keywords: dict[str, Value]) -> Symbols:
    return frozenset(d for d in dims if d[0] == 0)


def _reduced(dims: Symbols, given: tuple[Value, ...], keywords: dict[str, Value]) -> Symbols:
    axes = keywords.get("dim") or keywords.get("axis") or (given[0] if given else None)
    numbers = axes.items if isinstance(axes, Tuple) else (axes,)
    known = [n.value for n in numbers if isinstance(n, Const) and type(n.value) is int]
    if len(known) != len(numbers) or axes is None:
        return NOWHERE
    kept = [(d, symbol) for d, symbol in dims if d not in known]
    if keywords.get("keepdim") == Const(True) or Const(True) in given[1:2]:
        return frozenset(kept)
    return frozenset((d - sum(0 <= n < d for n in known), symbol) for d, symbol in kept)


def _swapped(dims: Symbols, given: tuple[Value, ...], keywords: dict[str, Value]) -> Symbols:
    one, other = _dim(given, keywords, 0, "dim0", "axis0"), _dim(given, keywords, 1, "dim1", "axis1")
    if one is None or other is None or one < 0 or other < 0:
        return NOWHERE
    return frozenset((other if d == one else one if d == other else d, symbol) for d, symbol in dims)


def _transposed(dims: Symbols, given: tuple[Value, ...], keywords: dict[str, Value]) -> Symbols:
    return frozenset((1 - d, symbol) for d, symbol in dims if d <= 1)


def _permuted(dims: Symbols, given: tuple[Value, ...], keywords: dict[str, Value]) -> Symbols:
    numbers = [n.value if isinstance(n, Const) else None for n in _listed(given)]
    return frozenset((numbers.index(d), symbol) for d, symbol in dims if d in numbers)


def _unsqueezed(dims: Symbols, given: tuple[Value, ...], keywords: dict[str, Value]) -> Symbols:
    at = _dim(given, keywords, 0, "dim")
    if at is None:
        return NOWHERE
    return frozenset((d + (0 <= at <= d), symbol) for d, symbol in dims)


def _squeezed(dims: Symbols, given: tuple[Value, ...], keywords: dict[str, Value]) -> Symbols:
    at = _dim(given, keywords, 0, "dim")
    if at is None:
        return _first(dims, given, keywords)
    return frozenset((d - (0 <= at < d), symbol) for d, symbol in dims)


def _flattened(dims: Symbols, given: tuple[Value, ...], keywords: dict[str, Value]) -> Symbols:
    start = _dim(given, keywords, 0, "start_dim")
    first = 0 if start is None and not given and "start_dim" not in keywords else start
    if first is None or first < 0:
        return NOWHERE
    kept = {(d, symbol) for d, symbol in dims if d < first}
    merged = min((symbol for d, symbol in dims if d >= first), default="")
    return frozenset(kept | {(first, derived(merged))}) if merged else frozenset(kept)


def _sized(dims: Symbols, given: tuple[Value, ...], keywords: dict[str, Value]) -> Symbols:
    """`zeros(n, 4)`: as the arguments say."""
    sizes = keywords.get("size") or keywords.get("shape") or (given[0] if given else None)
    if isinstance(sizes, Shape):
        return sizes.tensor.symbolic
    items = sizes.items if isinstance(sizes, Tuple) else given
    return frozenset((d, item.symbol) for d, item in enumerate(items) if isinstance(item, Size) and item.symbol)


def _counted(dims: Symbols, given: tuple[Value, ...], keywords: dict[str, Value]) -> Symbols:
    symbol = next((v.symbol for v in (*given[:2], *keywords.values()) if isinstance(v, Size) and v.symbol), "")
    return frozenset({(0, symbol)}) if symbol else NOWHERE


def _viewed(dims: Symbols, given: tuple[Value, ...], keywords: dict[str, Value]) -> Symbols:
    """`view(n, -1)`: as the arguments say, and what they do not name is in the -1."""
    named = _sized(dims, given, keywords)
    items = _listed(given)
    rest = {symbol for _, symbol in dims} if not named else set()
    for at, item in enumerate(items):
        if item == Const(-1) and rest:
            named |= {(at, derived(min(rest)))}
    return named


def _expanded(dims: Symbols, given: tuple[Value, ...], keywords: dict[str, Value]) -> Symbols:
    items = _listed(given)
    kept = {(d, symbol) for d, symbol in dims if d < len(items) and items[d] == Const(-1)}
    return _sized(dims, given, keywords) | kept


def _like(dims: Symbols, given: tuple[Value, ...], keywords: dict[str, Value]) -> Symbols:
    return given[0].symbolic if given and isinstance(given[0], Tensor) else NOWHERE


def _joined(dims: Symbols, given: tuple[Value, ...], keywords: dict[str, Value]) -> Symbols:
    at = _dim(given, keywords, 0, "dim", "axis")
    if at is None and (given or "dim" in keywords or "axis" in keywords):
        return NOWHERE
    return frozenset((d, derived(symbol) if d == (at or 0) else symbol) for d, symbol in dims)


def _stacked(dims: Symbols, given: tuple[Value, ...], keywords: dict[str, Value]) -> Symbols:
    at = _dim(given, keywords, 0, "dim", "axis") or 0
    return frozenset((d + (0 <= at <= d), symbol) for d, symbol in dims)


def _selected(dims: Symbols, given: tuple[Value, ...], keywords: dict[str, Value]) -> Symbols:
    at = _dim(given, keywords, 0, "dim")
    return NOWHERE if at is None else frozenset(d for d in dims if d[0] != at)


def _rules(rule: Rule, names: str) -> dict[str, Rule]:
    return dict.fromkeys(names.split(), rule)


RULES: dict[str, Rule] = {
    **_rules(_same, """
        abs add addcdiv addcmul bitwise_and bitwise_not bitwise_or ceil clamp clamp_max clamp_min clone contiguous cos
        cumprod cumsum detach div dropout empty_like eq erf exp expm1 flip floor fmod full_like ge gelu gt hardtanh
        isfinite isinf isnan layer_norm le leaky_relu lerp log log1p log2 log_softmax logical_and logical_not
        logical_or lt masked_fill maximum minimum mul nan_to_num ne neg normalize ones_like pow rand_like randn_like
        reciprocal relu relu6 remainder roll round rsqrt scatter scatter_add sigmoid sign silu sin softmax softplus
        sqrt square sub tan tanh to tril triu trunc type_as where zeros_like"""),
    **_rules(_first, """
        adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d avg_pool1d avg_pool2d
        avg_pool3d baddbmm batch_norm bmm conv1d conv2d conv3d conv_transpose1d conv_transpose2d embedding fold
        grid_sample group_norm instance_norm interpolate linear matmul max_pool1d max_pool2d max_pool3d mm one_hot
        pad pixel_shuffle pixel_unshuffle scaled_dot_product_attention unfold upsample"""),
    **_rules(_reduced, "all amax amin any argmax argmin logsumexp max mean min norm prod std sum var"),
    **_rules(_swapped, "transpose swapaxes swapdims"),
    **_rules(_transposed, "t"),
    **_rules(_permuted, "permute"),
    **_rules(_unsqueezed, "unsqueeze"),
    **_rules(_squeezed, "squeeze"),
    **_rules(_flattened, "flatten ravel"),
    **_rules(_sized, "empty full new_empty new_full new_ones new_zeros ones rand randn zeros"),
    **_rules(_counted, "arange eye randperm"),
    **_rules(_viewed, "view reshape"),
    **_rules(_expanded, "expand repeat"),
    **_rules(_like, "expand_as reshape_as view_as"),
    **_rules(_joined, "cat concat concatenate"),
    **_rules(_stacked, "stack"),
    **_rules(_selected, "index_select narrow select gather topk chunk split unbind"),
}  # fmt: skip


def result_dims(name: str, operands: Iterable[Value], arguments: Arguments | None) -> Symbols:
    """The dimensions of the result of an operator or module that vary."""
    library, _, short = name.rpartition(".")
    tensors = [tensor for operand in operands for tensor in tensors_in(operand, 2)]
    if arguments is None:  # a module
        return _first(broadcast(tensors[:1]), (), {}) if keeps_rows(name) else NOWHERE
    rule = RULES.get(short)
    if rule is None:
        return NOWHERE
    makes = rule in (_sized, _counted)
    given = arguments.positional[1:] if library and not makes else arguments.positional
    return rule(broadcast(tensors if rule in (_same, _joined) else tensors[:1]), given, arguments.keywords)


def stated_rows(name: str, arguments: Arguments | None) -> int:
    """The number of rows that the code states for a new tensor of several dimensions: 3 for `zeros(3, 4)`."""
    if arguments is None or RULES.get(name.rpartition(".")[2]) not in (_sized, _expanded):
        return 0
    given = arguments.positional
    if given and isinstance(given[-1], Tuple):
        given = given[-1].items
    elif given and isinstance(given[0], Tensor):
        given = given[1:]
    first = given[0] if len(given) > 1 else None
    return first.value if isinstance(first, Const) and type(first.value) is int and first.value > 1 else 0


def note_sizes(frame: Frame, name: str, operands: tuple[Value, ...], arguments: Arguments, node: ast.AST) -> None:
    """Record that an operator takes a tensor apart along a dimension that varies, or is given a number for one."""
    library, _, short = name.rpartition(".")
    if short in {"cat", "concat", "concatenate"}:
        note_fixed_rows(frame, tensors_in(operands[0], 1) if operands else (), node, f"{short}()")
    first = operands[0] if operands else None
    if not isinstance(first, Tensor) or not first.symbolic or first.assumed:
        return
    given = arguments.positional[1:] if library else arguments.positional
    if short == "unbind":
        dim = _dim(given, arguments.keywords, 0, "dim") if given or arguments.keywords else 0
        symbol = symbol_at(first, dim) if dim is not None else ""
        note_conversion(frame, Size(symbol, trail=first.trail), node, "unbind()")
    elif short == "split":
        dim = _dim(given, arguments.keywords, 1, "dim") if len(given) > 1 or "dim" in arguments.keywords else 0
        pieces = given[0] if given else arguments.keywords.get("split_size_or_sections")
        if dim is not None and isinstance(pieces, (Size, Const)) and symbol_at(first, dim):
            note_conversion(frame, Size(symbol_at(first, dim), trail=first.trail), node, "split()")
    elif short in {"view", "reshape", "expand"} and symbol_at(first, 0):
        size = _listed(given)[:1]
        if size and isinstance(size[0], Const) and type(size[0].value) is int and size[0].value > 1:
            frame.emit(FixedSize, node, first, api=f"{short}()", size=size[0].value)
