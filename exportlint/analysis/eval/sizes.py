"""Sizes that vary from call to call: arithmetic on them, comparisons, and what Python wants of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from math import ceil, floor, inf, isfinite
from typing import Literal

from exportlint.analysis.domain import dim as dims
from exportlint.analysis.domain import shape as shapes
from exportlint.analysis.domain.dim import (
    ANY_SIZE,
    FIXED,
    LEAST,
    ONE,
    ZERO,
    Approximation,
    Dim,
    Expression,
    Unbacked,
    constant,
    unbacked,
)
from exportlint.analysis.domain.lattice import join, options
from exportlint.analysis.domain.shape import UNSHAPED, TensorShape
from exportlint.analysis.domain.values import (
    Const,
    Guard,
    Origin,
    Python,
    Scalar,
    Sequence,
    Shape,
    Size,
    Tensor,
    Tuple,
    Union,
    Value,
)
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.facts import Construct
from exportlint.analysis.facts.sizes import FixedSize, SizeBranch, SizeConversion

BOOL = Python("bool")
TEXT_USES = frozenset({"dict key", "set element", "comparison", "len()", "getattr()", "int()", "float()"})
"""What makes a difference of a text; messages make none."""
NUMBERS = frozenset({None, "int", "float", "bool", "number"})
"""Types of Python values that may be numbers."""
DATA = Approximation(0, inf, None, is_data=True)
"""A size that data decides, at no place in particular."""
ANY_DATA = Approximation(is_data=True)
"""A number that data decides, at no place in particular."""
BEYOND = 2**30
"""A size or number of elements that the inputs of models stay below."""
SIGNS: dict[type[ast.cmpop], dims.Operator] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip


def size_at(tensor: Tensor, position: int) -> Dim | None:
    """The size of a dimension that varies; None if it does not, or if it is not sure that there is a tensor."""
    found = None if tensor.assumed else tensor.shape.at(position)
    return found if found is not None and found.varies and not found.is_data else None


def any_size(tensor: Tensor) -> Dim:
    """The size of a dimension that is not known: of an input it depends on nothing but the sizes of that."""
    found = [dim for dim in tensor.shape.dims if isinstance(dim, Expression) and dim.varies]
    if not _is_input(tensor) or tensor.dynamic or not found:
        return ANY_SIZE
    lowest = min(1, *(dim.within(specialized=False)[0] for dim in tensor.shape.dims))
    return Approximation(lowest, inf, frozenset().union(*(dim.sources for dim in found)))


def varying_dim(tensor: Tensor) -> Dim:
    """A size that varies, as a loop over all of them meets it; one of which nothing is known if there is none."""
    found = (dim for dim in tensor.shape.dims if isinstance(dim, Expression) and dim.varies)
    return ANY_SIZE if tensor.dynamic or tensor.assumed else next(found, ANY_SIZE)


def _is_input(tensor: Tensor) -> bool:
    """Whether it is an input as it was given, not a part of one, which may be empty."""
    return tensor.origin is Origin.INPUT and bool(tensor.name) and not tensor.assumed


def dim_of(value: Value) -> Dim | None:
    """A number as a size; None for what is none."""
    match value:
        case Size(dim=dim):
            return None if value.kind == "str" else dim
        case Const(value=bool() | int() as number):
            return constant(int(number))
        case Const(value=float() as number) if isfinite(number):
            return constant(int(number)) if number == int(number) else Approximation(floor(number), ceil(number))
        case Scalar(dim=dim):
            return dim or (DATA if value.api == "size" else ANY_DATA)
        case Tensor(kind="int", assumed=False):
            return DATA
        case Python(type=kind):
            return FIXED if kind in NUMBERS else None
    return None


def read_at(frame: Frame, node: ast.AST, position: int | str = 0, lowest: int | None = 0) -> Dim:
    """The number that data decides at a node; it has a name if the node gives one in a call of its function."""
    place = f"{getattr(node, 'lineno', 0)}:{getattr(node, 'col_offset', 0)}.{position}"
    found = unbacked(f"{frame.symbol}:{place}", lowest)
    return dims.approximated(found) if frame.loops else found  # in a loop it is another number in each pass


def data_shape(frame: Frame, shape: TensorShape, positions: Iterable[int], node: ast.AST) -> TensorShape:
    """The shape in which the data of tensors, read at a node, decides the size of some dimensions."""
    for position in positions:
        shape = shape.replaced(position, read_at(frame, node, position))
    return shape


def returned(frame: Frame, value: Value, symbol: str, node: ast.AST) -> Value:
    """What a call at a node of `frame` gives: what its function read is another number in each call."""
    match value:
        case Tensor() if value.shape.dynamic:
            return replace(value, shape=value.shape.mapped(lambda dim: _renamed(frame, dim, symbol, node)))
        case Scalar(dim=Dim() as dim):
            return replace(value, dim=_renamed(frame, dim, symbol, node))
        case Tuple(items=items) if any(_may_be_read(item) for item in items):
            return replace(value, items=tuple([returned(frame, item, symbol, node) for item in items]))
        case Union(options=options) if any(_may_be_read(option) for option in options):
            return join([returned(frame, option, symbol, node) for option in options])
        case Sequence(item=item) if _may_be_read(item):
            return replace(value, item=returned(frame, item, symbol, node))
    return value


def _may_be_read(value: Value) -> bool:
    return isinstance(value, (Tuple, Union, Sequence, Scalar)) or (isinstance(value, Tensor) and bool(value.dynamic))


def _renamed(frame: Frame, dim: Dim, symbol: str, node: ast.AST) -> Dim:
    def renamed(number: Unbacked) -> Dim:
        is_its = number.name.startswith(f"{symbol}:")
        return read_at(frame, node, number.name, number.lowest) if is_its else unbacked(number.name, number.lowest)

    return dims.substituted(dim, renamed) if dim.is_data else dim


def text_of(value: Tensor | Scalar) -> Size:
    """The text of tensor data, in which tracing puts the name of a symbol."""
    return Size(DATA, "str", value.trail)


def expression_of(size: Size, *others: Value, kind: Literal["int", "float", "str"] | None = None) -> Size:
    """A number that a function gives for a size and other numbers."""
    given = [size.dim, *(dim for other in others if (dim := dim_of(other)) is not None)]
    return replace(size, dim=dims.depending(*given), kind=kind or size.kind)


def truth_of(size: Size) -> Guard | None:
    """What has to be settled for the truth of a number: of a remainder, which is 0 for some sizes."""
    test = dims.compare("!=", size.dim, ZERO) if size.kind != "str" else None
    return Guard(size.dim, "order" if test == "constant" else test, size.trail) if isinstance(test, str) else None


def broadcast(values: Iterable[Value]) -> TensorShape:
    """The shape of an elementwise result."""
    found = [value.shape for value in values if isinstance(value, Tensor)]
    return reduce(shapes.broadcast, found) if found else UNSHAPED


def note_fixed_rows(frame: Frame, values: Iterable[Value], node: ast.AST, api: str, *, least_rank: int = 2) -> None:
    """A tensor with a number of rows that the code states meets one whose rows vary.

    `least_rank`: where operands are broadcast, a tensor of one dimension has no rows.
    """
    tensors = [value for value in values if isinstance(value, Tensor) and not value.assumed]
    fixed = next((rows for tensor in tensors if (rows := stated_rows(tensor, least_rank))), 0)
    varying = next((tensor for tensor in tensors if size_at(tensor, 0) is not None), None)
    if fixed and varying is not None and not frame.engine.constructing:
        frame.emit(FixedSize, node, varying, api=api, size=fixed, declared=dims.declared(varying.shape.at(0)))


def stated_rows(tensor: Tensor, least_rank: int) -> int:
    """The number of rows that the code states for a new tensor of enough dimensions: 3 for `zeros(3, 4)`."""
    number = tensor.shape.at(0).number
    return number if len(tensor.shape.dims) >= least_rank and number is not None and number > 1 else 0


def product(tensor: Tensor) -> Size:
    """The number of elements."""
    return Size(tensor.shape.elements(), trail=tensor.trail)


def read_arithmetic(frame: Frame, op: ast.operator, left: Value, right: Value) -> Dim | None:
    """`left op right` of integers, one of which was read from a tensor; None where nothing is known of it."""
    given = [value.dim if isinstance(value, (Scalar, Size)) else dim_of(value) for value in (left, right)]
    one, other = given
    # in a loop it could grow with each pass
    return None if one is None or other is None or frame.loops else _whole(op, one, other)


def are_settled(op: ast.cmpop, left: Value, right: Value) -> bool:
    """Whether `left op right` is known of numbers that data decides, or may be: torch.export may know it as well then.

    It may be of the size of a tensor and another number, if it is not known which numbers are in both.
    """
    one, other, sign = dim_of(left), dim_of(right), SIGNS.get(type(op))
    if one is None or other is None or sign is None:
        return False
    apis = [value.api for value in (left, right) if isinstance(value, Scalar)]
    if len(apis) == 2 and "size" in apis and _may_be_alike(one, other, are_sizes=apis[0] == apis[1]):
        return True
    return _is_settled(sign, one, other)


def _may_be_alike(one: Dim, other: Dim, *, are_sizes: bool) -> bool:
    """Whether two numbers that data decides may be made of the same ones.

    Sizes of which neither is exact are taken for those of different passes of a loop.
    """
    if not (one.is_data and other.is_data) or dims.are_apart(one, other):
        return False
    exact = [isinstance(dim, Expression) for dim in (one, other)]
    return not all(exact) and (any(exact) or not are_sizes)


def are_equal_shapes(left: Value, right: Value) -> bool:
    """Whether torch.export knows of all sizes that data decides if those of two shapes are the same."""
    mine, its = _items(left), _items(right)
    found = [(dim_of(a), dim_of(b)) for a, b in zip(mine, its, strict=False)]
    positions = [shape.tensor.shape.dynamic for shape in (left, right) if isinstance(shape, Shape)]
    if any(max(dynamic, default=-1) >= len(found) for dynamic in positions):
        return False
    return all(
        one is not None and other is not None and _is_settled("==", one, other)
        for one, other in found
        if any(dim is not None and dim.is_data for dim in (one, other))
    )


def _is_settled(sign: dims.Operator, one: Dim, other: Dim) -> bool:
    is_exact = isinstance(one, Expression) and isinstance(other, Expression)
    return is_exact and (isinstance(found := dims.compare(sign, one, other), bool) or found == "one")


def arithmetic(op: ast.operator, left: Value, right: Value) -> Size:
    """`left op right`, one of which is a size."""
    trail = next((o.trail for o in (left, right) if isinstance(o, Size) and o.dim.varies), None)
    trail = trail or next((o.trail for o in (left, right) if isinstance(o, Size) and o.trail is not None), None)
    found = [dim_of(left), dim_of(right)]
    given = [o.dim if isinstance(o, Size) else dim for o, dim in zip((left, right), found, strict=True)]
    depends = dims.depending(*(dim for dim in given if dim is not None))
    if any(isinstance(o, Size) and o.kind == "str" for o in (left, right)):
        return Size(depends, "str", trail)
    one, other = found
    is_float = isinstance(op, ast.Div) or any(_is_float(o) for o in (left, right))
    if one is None or other is None:
        return Size(depends, "float" if is_float else "int", trail)
    if is_float:
        return Size(_float(op, left, right, one, other) or depends, "float", trail)
    return Size(_whole(op, one, other) or depends, "int", trail)


def _whole(op: ast.operator, left: Dim, right: Dim) -> Dim | None:
    match op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.FloorDiv():
            return left // right
        case ast.Mod():
            return left % right
        case ast.Pow() if right.number == LEAST:
            return left * left
    return None


def _float(op: ast.operator, left: Value, right: Value, one: Dim, other: Dim) -> Dim | None:
    for number, dim in ((left, other), (right, one)):
        if isinstance(op, ast.Mult) and isinstance(number, Const) and isinstance(number.value, float):
            return dims.scaled(dim, number.value)
    if isinstance(op, ast.Div):
        return dims.true_divide(one, other)
    found = _whole(op, one, other) if isinstance(op, (ast.Add, ast.Sub)) else None
    return dims.approximated(found) if found is not None else None


def _is_float(value: Value) -> bool:
    if isinstance(value, Size):
        return value.kind == "float"
    return value == Python("float") or (isinstance(value, Const) and isinstance(value.value, float))


def compared_sizes(op: ast.cmpop, left: Value, right: Value) -> Value:
    """`left op right` of sizes."""
    one, other, sign = dim_of(left), dim_of(right), SIGNS.get(type(op))
    if one is None or other is None or sign is None:
        return BOOL
    found = dims.compare(sign, one, other)
    if isinstance(found, str) and not _is_beyond_all_tensors(one, other):
        size = left if isinstance(left, Size) and left.dim.varies else right
        return Guard(one - other, found, size.trail) if isinstance(size, Size) else BOOL
    is_exact = isinstance(found, bool) and all(isinstance(d, Expression) and not d.is_data for d in (one, other))
    is_known = is_exact or (isinstance(found, bool) and _is_of_elements(one, other))
    return Const(found) if found is not None and is_known else BOOL


def note_order(frame: Frame, value: Value, node: ast.AST, target: str) -> None:
    """Python puts the alternatives of a value in order, and that of some sizes is not known.

    TorchDynamo orders constants only.
    """
    found = options(value)
    symbol = next((option for option in found if varying_size(option) is not None), None)
    if symbol is not None and frame.engine.mode == "strict" and not target.startswith("key"):
        note_conversion(frame, symbol, node, target)
        return
    for index, one in enumerate(found):
        for other in found[index + 1 :]:
            verdict = compared_sizes(ast.Lt(), one, other)
            if isinstance(verdict, Guard):
                note_conversion(frame, one if varying_size(one) else other, node, target)
                return


def _is_of_elements(one: Dim, other: Dim) -> bool:
    """Whether some size of an input is compared with 0: no example input is empty."""
    size, number = (other, one) if one.number is not None else (one, other)
    is_of_input = bool(size.sources) and not size.varies
    return number == ZERO and is_of_input and not size.is_data and size.within(specialized=False)[0] >= 1


def _is_beyond_all_tensors(*sizes: Dim) -> bool:
    """Whether a size is compared with a limit of kernels, such as `2**31`: what the program rejects, nobody has."""
    return any(size.number is not None and abs(size.number) >= BEYOND for size in sizes)


def compared_shapes(op: ast.cmpop, left: Value, right: Value) -> Value:
    """`x.shape == (3, 4)`, `x.shape != y.shape`, `(h, w) == (3, 4)`."""
    differs = Const(isinstance(op, ast.NotEq))
    is_equality = isinstance(op, (ast.Eq, ast.NotEq))
    if is_equality and _differ_in_type_or_length(left, right):
        return differs
    for mine, other in zip(_items(left), _items(right), strict=False):
        verdict = compared_sizes(op, mine, other)
        if isinstance(verdict, Guard) or (is_equality and verdict == differs):
            return verdict
    return BOOL


def _differ_in_type_or_length(left: Value, right: Value) -> bool:
    """Whether one is a list and the other is none, or both are lists that differ in length."""
    are_lists = [_is_list(value) for value in (left, right)]
    if None in are_lists or are_lists[0] is not are_lists[1]:
        return None not in are_lists
    are_long = [len(value.items) for value in (left, right) if isinstance(value, Tuple) and value.mutable]
    return len(are_long) == 2 and are_long[0] != are_long[1]


def _is_list(value: Value) -> bool | None:
    if isinstance(value, Shape):
        return None if value.plain else False
    return value.mutable if isinstance(value, Tuple) and not value.lazy else None


def hold_sizes(*values: Value) -> bool:
    """Whether there are sizes in one of some tuples or lists."""
    tuples = (value.items for value in values if isinstance(value, Tuple) and not value.lazy)
    return any(isinstance(item, Size) and item.kind != "str" for items in tuples for item in items)


def _items(value: Value) -> tuple[Value, ...]:
    if isinstance(value, Shape):
        tensor = value.tensor
        return tuple([Size(dim, trail=tensor.trail) for dim in tensor.shape.dims]) if not tensor.assumed else ()
    return value.items if isinstance(value, Tuple) else ()


def note_guard(frame: Frame, value: Value, node: ast.AST) -> None:
    """Python wants the number that a comparison of sizes is, 0 or 1."""
    if isinstance(value, Guard):
        note_branch(frame, value, node, "number", raises=False)


def note_branch(frame: Frame, value: Guard, node: ast.AST, construct: Construct, *, raises: bool) -> None:
    """Python asks for the truth of a comparison of sizes."""
    if not frame.engine.constructing:
        raises = raises or frame.raising > 0
        declared = dims.declared(value.dim)
        frame.emit(SizeBranch, node, value, construct=construct, test=value.test, raises=raises, declared=declared)


def note_conversion(frame: Frame, value: Value, node: ast.AST, target: str, *, refused: bool = False) -> bool:
    """Whether Python wants the number behind a size that varies; then that is a fact. `refused`: it then raises."""
    if not isinstance(value, Size) or frame.engine.constructing:
        return False
    varies = value.dim.varies or value.dim.is_data
    if not varies and value.kind != "float":
        return False
    if value.kind == "str":
        if target not in TEXT_USES:
            return False
        target = "text"
    details = {"varies": varies, "is_float": value.kind == "float", "is_data": value.dim.is_data}
    declared = dims.declared(value.dim)
    frame.emit(SizeConversion, node, value, target=target, refused=refused, declared=declared, **details)
    return varies


def shown_size(value: Value) -> Size | None:
    """The text of a value as one of a size that varies, if the value is or holds one."""
    size = value if isinstance(value, Size) and value.dim.varies else varying_size(value)
    return replace(size, kind="str") if size is not None else None


def note_text_of_sizes(frame: Frame, value: Value, node: ast.AST, api: str) -> None:
    """Python makes text of a size that varies, or of a shape or a list that holds one."""
    size = varying_size(value)
    if size is not None:
        note_conversion(frame, size, node, api)


def varying_size(value: Value) -> Size | None:
    """A size that varies, if a value surely is one or holds one as an item; its text is no size."""
    if isinstance(value, Size):
        return value if value.kind != "str" and value.dim.varies else None
    if isinstance(value, Shape):
        items = _items(value)
    elif isinstance(value, Tuple):
        items = value.items
    else:
        items = (value.item,) if isinstance(value, Sequence) else ()
    return next((item for item in items if isinstance(item, Size) and varying_size(item) is not None), None)


def note_iteration(frame: Frame, tensor: Tensor, node: ast.AST, target: str = "iteration") -> None:
    """Python goes through the first dimension of a tensor."""
    if size_at(tensor, 0) is not None and not frame.engine.constructing:
        declared = dims.declared(tensor.shape.at(0))
        frame.emit(SizeConversion, node, tensor, target=target, varies=True, declared=declared)


def settled(size: Size, kind: Literal["int", "float"]) -> Size:
    """The number that a conversion leaves: it no longer varies."""
    return replace(size, dim=Approximation(*size.dim.within(), frozenset()), kind=kind)


def sliced(frame: Frame, node: ast.Slice, tensor: Tensor, position: int) -> Dim:
    """The size that a slice of a dimension has."""
    size = tensor.shape.at(position)
    if node.lower is None and node.upper is None and node.step is None:
        return size
    lower, upper, step = (
        frame.peek(bound) if bound is not None else None for bound in (node.lower, node.upper, node.step)
    )
    is_open = size_at(tensor, position) is not None and not frame.engine.constructing
    # of a size that is only known in part, such as that of `torch.cat([self.kept, x])`, the least is not known
    for bound in (lower, upper) if is_open and isinstance(size, Expression) else ():
        number = bound.value if isinstance(bound, Const) and isinstance(bound.value, int) else 0
        if abs(number) > LEAST and isinstance(dims.compare(">=", size, constant(abs(number))), str):
            frame.emit(FixedSize, node, tensor, api="slice", size=number, declared=dims.declared(size))
            is_open = False
    start = ZERO if lower is None else _clamped(_bound(lower), size)
    if isinstance(upper, Const) and isinstance(upper.value, int) and upper.value > 0 and size.varies:
        # the program takes sizes on one side of the number only
        end: Dim = constant(upper.value)
        is_exact = dims.compare(">=", size, end) is True
        end = end if is_exact else Approximation(0, upper.value, size.sources)
    else:
        end = size if upper is None else _clamped(_bound(upper), size)
    length = dims.maximum(end - start, ZERO)
    if step is not None:
        by = dim_of(step)
        length = -((-length) // by) if by is not None and by.within()[0] > 0 else dims.depending(length)
    if is_open and isinstance(length, Expression) and _may_leave_one(size, length):
        frame.emit(FixedSize, node, tensor, api="rest", size=0, declared=dims.declared(size))
    return length


def _may_leave_one(size: Dim, length: Dim) -> bool:
    """Whether a slice leaves one row or none of some sizes, which torch.export refuses: of larger ones than 2."""
    is_enough = dims.compare(">=", length, constant(LEAST)) is True
    return length.varies and not is_enough and dims.compare("<=", size - length, ONE) is not True


def _bound(value: Value) -> Dim:
    """A bound of a slice."""
    found = dim_of(value)
    return Approximation(sources=frozenset()) if found is None or found == FIXED else found


def _clamped(bound: Dim, size: Dim) -> Dim:
    """A bound of a slice as a number of elements from the first one on, of `size` of them."""
    low, high = bound.within(specialized=False)
    if high < 0:
        return dims.maximum(size + bound, ZERO)
    if low >= 0:
        end = dims.minimum(bound, size)
        if size == ANY_SIZE and bound.is_data and isinstance(end, Approximation):
            return replace(end, lowest=low)  # a slice to such a bound is taken to have all of these elements
        return end
    sources = None if size.sources is None or bound.sources is None else size.sources | bound.sources
    return Approximation(0, size.within()[1], sources, is_data=size.is_data or bound.is_data)
