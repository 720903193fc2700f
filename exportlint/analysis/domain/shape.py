"""The shape of a tensor: how many dimensions it has, and their sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from functools import reduce

from exportlint.analysis.domain import dim as sizes
from exportlint.analysis.domain.dim import ANY_SIZE, ONE, Approximation, Dim
from exportlint.analysis.domain.immutable import immutable


@immutable
class TensorShape:
    """The sizes of the first dimensions; of all if `rank`, the number of dimensions, is known, else it is None.

    Of a tensor whose rank is not known, a dimension that is counted from the last one is taken to be behind the first
    ones: operators leave those as they are.
    """

    dims: tuple[Dim, ...] = ()
    rank: int | None = None
    _hash: int = field(init=False, repr=False, compare=False)
    dynamic: frozenset[int] = field(init=False, repr=False, compare=False)
    """The dimensions whose size data surely decides."""
    varying: frozenset[int] = field(init=False, repr=False, compare=False)
    """The dimensions whose size surely varies from call to call, as that of an input does."""

    def __post_init__(self) -> None:
        kept = [ANY_SIZE if sizes.leq(ANY_SIZE, dim) else dim for dim in self.dims[: self.rank]]
        while self.rank is None and kept and kept[-1] is ANY_SIZE:
            kept.pop()
        if self.rank is not None:
            kept += [ANY_SIZE] * (self.rank - len(kept))
        object.__setattr__(self, "dims", tuple(kept))
        object.__setattr__(self, "_hash", hash((self.dims, self.rank)))
        object.__setattr__(self, "dynamic", frozenset([i for i, dim in enumerate(self.dims) if dim.is_data]))
        varying = [i for i, dim in enumerate(self.dims) if dim.varies and not dim.is_data]
        object.__setattr__(self, "varying", frozenset(varying))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return TensorShape, (self.dims, self.rank)

    def __bool__(self) -> bool:
        """Whether anything is known of it."""
        return bool(self.dims) or self.rank is not None

    def index(self, position: int) -> int | None:
        """A dimension counted from the first one; None if that is not known, or if there is no such dimension."""
        if self.rank is not None:
            return position % self.rank if -self.rank <= position < self.rank else None
        return position if position >= 0 else None

    def at(self, position: int) -> Dim:
        """The size of a dimension, which may be counted from the last one."""
        index = self.index(position)
        return self.dims[index] if index is not None and index < len(self.dims) else ANY_SIZE

    def up_to(self, count: int) -> tuple[Dim, ...]:
        """The sizes of the first dimensions, as many as are asked for."""
        return tuple([self.at(i) for i in range(count)])

    def replaced(self, position: int, size: Dim) -> TensorShape:
        """With another size of one dimension."""
        index = self.index(position)
        if index is None:
            return self
        dims = list(self.up_to(max(index + 1, len(self.dims))))
        dims[index] = size
        return TensorShape(tuple(dims), self.rank)

    def swapped(self, one: int, other: int) -> TensorShape:
        """With the sizes of two dimensions in each other's place."""
        return self.replaced(one, self.at(other)).replaced(other, self.at(one))

    def removed(self, *positions: int) -> TensorShape:
        """Without some dimensions."""
        found = {self.index(position) for position in positions}
        rank = None if self.rank is None else self.rank - len(found - {None})
        return TensorShape(tuple([dim for i, dim in enumerate(self.dims) if i not in found]), rank)

    def inserted(self, position: int, size: Dim = ONE) -> TensorShape:
        """With one more dimension, in front of the one that was there."""
        rank = None if self.rank is None else self.rank + 1
        index = position + rank if rank is not None and position < 0 else position
        if index < 0:
            return self
        return TensorShape((*self.up_to(index), size, *self.dims[index:]), rank)

    def permuted(self, order: Iterable[int]) -> TensorShape:
        """With the dimensions in another order: of all of them."""
        positions = tuple(order)
        return TensorShape(tuple([self.at(position) for position in positions]), len(positions))

    def first(self, count: int) -> TensorShape:
        """The first dimensions only; the others are forgotten, and how many there are."""
        return TensorShape(self.dims[:count])

    def mapped(self, function: Callable[[Dim], Dim]) -> TensorShape:
        """With what a function gives for each size that is known."""
        return TensorShape(tuple([function(dim) for dim in self.dims]), self.rank)

    def without_data(self) -> TensorShape:
        """With no size that data decides."""
        return self.mapped(lambda dim: ANY_SIZE if dim.is_data else dim) if self.dynamic else self

    def elements(self) -> Dim:
        """The number of elements."""
        known: Dim = reduce(lambda found, dim: found * dim, self.dims, ONE)
        return known if self.rank is not None else known * ANY_SIZE

    def leq(self, other: TensorShape) -> bool:
        """Whether all that `other` tells is true of this one."""
        if other.rank is not None and other.rank != self.rank:
            return False
        return all(dim == ANY_SIZE or sizes.leq(self.at(i), dim) for i, dim in enumerate(other.dims))

    def join(self, other: TensorShape) -> TensorShape:
        """What is true of both."""
        return self._merged(other, sizes.join)

    def widen(self, other: TensorShape) -> TensorShape:
        """The join, of which chains end."""
        return self._merged(other, sizes.widen)

    def _merged(self, other: TensorShape, merge: Callable[[Dim, Dim], Dim]) -> TensorShape:
        if self == other:
            return self
        rank = self.rank if self.rank == other.rank else None
        count = max(len(self.dims), len(other.dims)) if rank is None else rank
        return TensorShape(tuple([merge(self.at(i), other.at(i)) for i in range(count)]), rank)


UNSHAPED = TensorShape()
SCALAR = TensorShape((), 0)


def broadcast(one: TensorShape, other: TensorShape) -> TensorShape:
    """The shape of an elementwise result. Tensors of which the rank is not known are taken to have as many dimensions.

    A size of 1 gives way; two that may differ have to be equal.
    """
    if one.rank is not None and other.rank is not None:
        rank = max(one.rank, other.rank)
        pairs = [(_from_back(one, i), _from_back(other, i)) for i in range(-rank, 0)]
        return TensorShape(tuple([_broadcast(a, b) for a, b in pairs]), rank)
    if 0 in (one.rank, other.rank):
        return other if one.rank == 0 else one
    count = max(len(one.dims), len(other.dims))
    return TensorShape(tuple([_broadcast(one.at(i), other.at(i)) for i in range(count)]))


def _from_back(shape: TensorShape, position: int) -> Dim:
    return shape.at(position) if shape.rank is not None and -position <= shape.rank else ONE


def _broadcast(one: Dim, other: Dim) -> Dim:
    for mine, its in ((one, other), (other, one)):
        if mine == ONE:
            return its
    if one == other:
        return one
    numbers = [dim for dim in (one, other) if dim.number is not None]
    telling = [dim for dim in (one, other) if dim.varies or dim.is_data]
    return (telling or numbers or [one])[0]


def multiplied(one: TensorShape, other: TensorShape) -> TensorShape:
    """The shape of a product of matrices, or of batches of them."""
    if one.rank is None or other.rank is None:
        is_batch = one.rank is None or one.rank > 2 or (other.rank is not None and other.rank <= 2)
        return one.first(1) if is_batch or other == UNSHAPED else UNSHAPED
    if one.rank < 2:
        return other.removed(-2)
    if other.rank < 2:
        return one.removed(-1)
    batch = broadcast(one.removed(-2, -1), other.removed(-2, -1))
    return TensorShape((*batch.dims, one.at(-2), other.at(-1)), max(one.rank, other.rank))


def transformed(shape: TensorShape, features: Dim = ANY_SIZE) -> TensorShape:
    """With another size of the last dimension."""
    return shape.first(1) if shape.rank is None else shape.replaced(-1, features)


_WINDOWS = Approximation(lowest=1, is_data=True)
"""How many windows fit into a size that data decides."""


def convolved(shape: TensorShape, dimensions: int) -> TensorShape:
    """The shape of what slides a window over the last dimensions: a batch, unless the rank says otherwise.

    A size there that comes from data stays one that does, and is not 0: torch.export notes that a window fits.
    """
    rank = dimensions + 2 if shape.rank is None else shape.rank
    if rank not in (dimensions + 1, dimensions + 2):
        return shape.first(1)
    leading = rank - dimensions - 1
    slid = [_WINDOWS if dim.is_data else ANY_SIZE for dim in shape.up_to(rank)[leading + 1 :]]
    return TensorShape((*shape.up_to(leading), ANY_SIZE, *slid), rank)
