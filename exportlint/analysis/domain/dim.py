"""Sizes: constants, symbols of inputs, numbers that data decides, and arithmetic on them.

A `Dim` is an `Expression`, which is exact, or an `Approximation`: a range, and what the number depends on. They form a
lattice: `leq` is "tells as much or more", `join` the least that both tell. `compare` settles a comparison, or says what
torch.export has to guard for it.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import field
from math import ceil, floor, gcd, inf
from typing import Literal, get_args

from exportlint.analysis.domain import interval
from exportlint.analysis.domain.immutable import immutable
from exportlint.analysis.domain.interval import Bound, Interval

LEAST = 2
"""The smallest value that torch.export assumes for a dynamic size: 0 and 1 are specialized."""

MAX_TERMS = 8
MAX_DEGREE = 6
MAX_DEPTH = 4
"""The most levels of nested quotients and remainders in an expression."""
MAX_NUMBER = 2**40
"""The largest coefficient or constant of an exact expression."""
MAX_SOURCES = 8

Test = Literal["one", "constant", "order"]
"""What an undecided comparison distinguishes: 1 from larger sizes, one number from all others, or a range."""

Declared = Literal["auto", "dynamic", "named"]
"""What code says of a size that varies: no more than that torch.export may fix it, as `Dim.AUTO` does; that it must not
become one number, as `Dim.DYNAMIC` says; or that all sizes within its bounds are taken, as `Dim("batch")` says."""
DECLARATIONS: tuple[Declared, ...] = get_args(Declared)

Operator = Literal["==", "!=", "<", "<=", ">", ">="]


@immutable
class Symbol:
    """A dynamic size of an input, from `lowest` to `highest`, which is None if there is no largest."""

    name: str
    lowest: int = LEAST
    highest: int | None = None
    declared: Declared = "auto"

    def within(self, *, specialized: bool) -> Interval:
        """The range of the size. Without `specialized`, it includes 1 if only specialization excludes it."""
        lowest = 1 if self.lowest == LEAST and not specialized else self.lowest
        return lowest, inf if self.highest is None else self.highest


@immutable
class Unbacked:
    """A number that depends on tensor data (an unbacked symbol), identified by the place that reads it."""

    name: str
    lowest: int | None = 0

    def within(self, *, specialized: bool) -> Interval:  # noqa: ARG002
        """The range of the number."""
        return (-inf if self.lowest is None else self.lowest), inf


@immutable
class Quotient:
    """`dividend // divisor` that cannot be simplified."""

    dividend: Expression
    divisor: Expression

    @property
    def name(self) -> str:
        """The source of it."""
        return f"(({self.dividend}) // ({self.divisor}))"

    def within(self, *, specialized: bool) -> Interval:
        """The range of the number."""
        parts = (self.dividend.within(specialized=specialized), self.divisor.within(specialized=specialized))
        return interval.floor_divide(*parts)


@immutable
class Remainder:
    """`dividend % divisor`."""

    dividend: Expression
    divisor: Expression

    @property
    def name(self) -> str:
        """The source of it."""
        return f"(({self.dividend}) % ({self.divisor}))"

    def within(self, *, specialized: bool) -> Interval:
        """The range of the number."""
        return interval.modulo(
            self.dividend.within(specialized=specialized), self.divisor.within(specialized=specialized)
        )


Source = Symbol | Unbacked
Atom = Symbol | Unbacked | Quotient | Remainder
Monomial = tuple[Atom, ...]
"""A product, in the order of the names."""


class Dim:
    """A size, or a number computed from sizes, as far as it is known."""

    __slots__ = ()

    @property
    def sources(self) -> frozenset[Source] | None:
        """The symbols that it can depend on; None if it can depend on anything."""
        raise NotImplementedError

    @property
    def varies(self) -> bool:
        """Whether it certainly varies with a size of an input."""
        raise NotImplementedError

    @property
    def is_data(self) -> bool:
        """Whether it certainly depends on tensor data."""
        raise NotImplementedError

    @property
    def is_remainder(self) -> bool:
        """Whether it is a remainder, which is the same for many sizes."""
        raise NotImplementedError

    @property
    def number(self) -> int | None:
        """Its value if it is a known constant, else None."""
        return None

    def within(self, *, specialized: bool = True) -> Interval:
        """The range of its values. With `specialized`, every dynamic size is at least 2."""
        raise NotImplementedError

    def __add__(self, other: Dim | int) -> Dim:
        return _add(self, _dim(other))

    def __sub__(self, other: Dim | int) -> Dim:
        return _add(self, _multiply(_dim(other), MINUS_ONE))

    def __neg__(self) -> Dim:
        return _multiply(self, MINUS_ONE)

    def __mul__(self, other: Dim | int) -> Dim:
        return _multiply(self, _dim(other))

    def __floordiv__(self, other: Dim | int) -> Dim:
        return _floor_divide(self, _dim(other))

    def __mod__(self, other: Dim | int) -> Dim:
        return _modulo(self, _dim(other))


@immutable
class Expression(Dim):
    """An exact number: a constant and products of atoms with their coefficients, in the order of their names."""

    constant: int
    terms: tuple[tuple[Monomial, int], ...] = ()
    _hash: int = field(init=False, repr=False, compare=False)
    _sources: frozenset[Source] = field(init=False, repr=False, compare=False)
    _within: Interval = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.constant, self.terms)))
        found: set[Source] = set()
        for atom in self.atoms:
            if isinstance(atom, (Symbol, Unbacked)):
                found.add(atom)
            else:
                found |= atom.dividend.sources | atom.divisor.sources
        object.__setattr__(self, "_sources", frozenset(found))
        object.__setattr__(self, "_within", self._range(specialized=True))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return Expression, (self.constant, self.terms)

    def __str__(self) -> str:
        parts = ["*".join([str(coefficient), *(a.name for a in mono)]) for mono, coefficient in self.terms]
        return " + ".join([*parts, str(self.constant)] if self.constant or not parts else parts)

    @property
    def atoms(self) -> Iterable[Atom]:
        """The symbols, quotients and remainders in it."""
        return (atom for monomial, _ in self.terms for atom in monomial)

    @property
    def depth(self) -> int:
        """The number of levels of nested quotients and remainders."""
        inner = [a for a in self.atoms if isinstance(a, (Quotient, Remainder))]
        return max((1 + max(a.dividend.depth, a.divisor.depth) for a in inner), default=0)

    @property
    def sources(self) -> frozenset[Source]:
        """What it depends on."""
        return self._sources

    @property
    def varies(self) -> bool:
        """Whether a size of an input is in it."""
        return any(isinstance(source, Symbol) for source in self._sources)

    @property
    def is_data(self) -> bool:
        """Whether a number that data decides is in it."""
        return any(isinstance(source, Unbacked) for source in self._sources)

    @property
    def is_remainder(self) -> bool:
        """Whether a remainder is in it."""
        return any(isinstance(atom, Remainder) for atom in self.atoms)

    @property
    def number(self) -> int | None:
        """The constant that it is; None if it is not a constant."""
        return None if self.terms else self.constant

    def within(self, *, specialized: bool = True) -> Interval:
        """The range of its values."""
        return self._within if specialized else self._range(specialized=False)

    def _range(self, *, specialized: bool) -> Interval:
        found: Interval = (self.constant, self.constant)
        for monomial, coefficient in self.terms:
            part: Interval = (coefficient, coefficient)
            for atom in monomial:
                part = interval.multiply(part, atom.within(specialized=specialized))
            found = interval.add(found, part)
        for monomial, coefficient in self.terms:
            divisor = monomial[0].divisor.number if isinstance(monomial[0], Quotient) and len(monomial) == 1 else None
            if divisor is not None and divisor > 0 and len(self.terms) > 1:
                found = interval.intersection(found, self._without(monomial, coefficient, specialized=specialized))
        return found

    def _without(self, monomial: Monomial, coefficient: int, *, specialized: bool) -> Interval:
        """The range, as far as a quotient follows its dividend: `a // k` is between `(a - k + 1) / k` and `a / k`."""
        quotient = monomial[0]
        assert isinstance(quotient, Quotient)
        divisor = quotient.divisor.constant
        rest = (self - Expression(0, ((monomial, coefficient),))) * divisor
        ends = [rest + quotient.dividend * coefficient, rest + (quotient.dividend - (divisor - 1)) * coefficient]
        low = min(end.within(specialized=specialized)[0] for end in ends)
        high = max(end.within(specialized=specialized)[1] for end in ends)
        by = (divisor, divisor)
        lowest = interval.negate(interval.floor_divide((-low, -low), by))[0]
        return lowest, interval.floor_divide((high, high), by)[1]


@immutable
class Approximation(Dim):
    """A number of which only the range and the symbols it depends on are known: `sources`, or anything if that is None.

    `varies`: it surely varies with a size of an input; `is_data`: data surely decides it; `is_remainder`: it is one.
    """

    lowest: Bound = -inf
    highest: Bound = inf
    sources: frozenset[Source] | None = None
    varies: bool = False
    is_data: bool = False
    is_remainder: bool = False

    def __post_init__(self) -> None:
        if self.sources is not None and len(self.sources) > MAX_SOURCES:
            object.__setattr__(self, "sources", None)

    def within(self, *, specialized: bool = True) -> Interval:
        """The range of its values."""
        is_specialized = self.varies and self.lowest == LEAST and not specialized
        return (1 if is_specialized else self.lowest), self.highest


@functools.lru_cache(maxsize=512)
def constant(number: int) -> Dim:
    """The dim that is a number."""
    if abs(number) <= MAX_NUMBER:
        return Expression(number)
    return Approximation(*interval.bounded(number, number), frozenset())


@functools.lru_cache(maxsize=512)
def symbol(name: str, lowest: int = LEAST, highest: int | None = None, declared: Declared = "auto") -> Dim:
    """The size of an input that varies within bounds, from the least on that torch.export takes."""
    return Expression(0, (((Symbol(name, max(lowest, LEAST), highest, declared),), 1),))


def declared(dim: Dim) -> Declared:
    """The most that code says of a size of an input on which a number depends."""
    said = [source.declared for source in dim.sources or () if isinstance(source, Symbol)]
    return max(said, key=DECLARATIONS.index, default="auto")


@functools.lru_cache(maxsize=512)
def unbacked(name: str, lowest: int | None = 0) -> Dim:
    """The number that data decides at a place."""
    return Expression(0, (((Unbacked(name, lowest),), 1),))


MINUS_ONE = constant(-1)
ZERO, ONE = constant(0), constant(1)

ANY_NUMBER = Approximation()
"""The top of the lattice."""
ANY_SIZE = Approximation(lowest=1)
"""A size of a tensor of which nothing is known: with elements, as nearly all are."""
FIXED = Approximation(1, inf, frozenset())
"""A number that does not vary, and that the code does not state."""


def _dim(value: Dim | int) -> Dim:
    return value if isinstance(value, Dim) else constant(value)


def approximated(dim: Dim) -> Approximation:
    """The number without its expression: its range and what it depends on."""
    if isinstance(dim, Approximation):
        return dim
    return Approximation(*dim.within(), dim.sources, dim.varies, dim.is_data, dim.is_remainder)


def leq(one: Dim, other: Dim) -> bool:
    """Whether `one` <= `other`: everything that `other` claims is true of `one`."""
    if one == other:
        return True
    if isinstance(other, Expression):
        return False
    flags = [(one.varies, other.varies), (one.is_data, other.is_data), (one.is_remainder, other.is_remainder)]
    if not all(mine or not its for mine, its in flags) or not interval.contains(other.within(), one.within()):
        return False
    return other.sources is None or (one.sources is not None and one.sources <= other.sources)


def join(one: Dim, other: Dim) -> Dim:
    """The least upper bound. For different expressions, it is their common range and what they depend on."""
    if one == other:
        return one
    return _mixed(one, other, interval.hull(one.within(), other.within()), surely=True)


def widen(old: Dim, new: Dim) -> Dim:
    """The join, in which a bound that moved becomes infinite, so that repeated widening ends."""
    if leq(new, old):
        return old
    joined = join(old, new)
    lowest, highest = old.within()
    within = joined.within()
    moved = (within[0] if within[0] == lowest else -inf, within[1] if within[1] == highest else inf)
    return _mixed(old, new, moved, surely=True)


def _mixed(one: Dim, other: Dim, within: Interval, *, surely: bool = False) -> Approximation:
    """A number that depends on one and the other or, `surely` being true, that is one of them."""
    combine = all if surely else any
    sources = None if one.sources is None or other.sources is None else one.sources | other.sources
    return Approximation(
        *within,
        sources,
        combine((one.varies, other.varies)),
        combine((one.is_data, other.is_data)),
        surely and one.is_remainder and other.is_remainder,
    )


def _canceling(one: Dim, other: Dim, within: Interval) -> Approximation:
    """The same for an operation in which the one may cancel out the other: data may decide both, and not the result."""
    found = _mixed(one, other, within)
    is_remaining = _is_bounded(one) != _is_bounded(other) or are_apart(one, other)
    is_data = found.is_data and (not (one.is_data and other.is_data) or is_remaining)
    return Approximation(found.lowest, found.highest, found.sources, found.varies, is_data)


def are_apart(one: Dim, other: Dim) -> bool:
    """Whether no number that data decides is in both."""
    return (
        one.sources is not None
        and other.sources is not None
        and not any(isinstance(source, Unbacked) for source in one.sources & other.sources)
    )


def _is_bounded(dim: Dim) -> bool:
    low, high = dim.within()
    return low > -inf and high < inf


def _have_one_sign(one: Dim, other: Dim) -> bool:
    ranges = one.within(), other.within()
    return all(low >= 0 for low, _ in ranges) or all(high <= 0 for _, high in ranges)


def _expression(number: int, terms: Counter[Monomial]) -> Dim | None:
    """The expression in its normal form; None if it is too large."""
    kept = [(monomial, coefficient) for monomial, coefficient in terms.items() if coefficient]
    if not kept:
        return constant(number)
    is_large = len(kept) > MAX_TERMS or any(len(monomial) > MAX_DEGREE for monomial, _ in kept)
    if is_large or any(abs(value) > MAX_NUMBER for value in (number, *(c for _, c in kept))):
        return None
    found = Expression(number, tuple(sorted(kept, key=lambda term: [atom.name for atom in term[0]])))
    return found if found.depth <= MAX_DEPTH else None


def _add(left: Dim, right: Dim) -> Dim:
    if isinstance(left, Expression) and isinstance(right, Expression):
        terms = Counter(dict(left.terms))
        terms.update(dict(right.terms))
        found = _expression(left.constant + right.constant, terms)
        if found is not None:
            return found
    if ZERO in (left, right):
        return right if left == ZERO else left
    within = interval.add(left.within(), right.within())
    return _mixed(left, right, within) if _have_one_sign(left, right) else _canceling(left, right, within)


def _multiply(left: Dim, right: Dim) -> Dim:
    if isinstance(left, Expression) and isinstance(right, Expression):
        terms: Counter[Monomial] = Counter()
        for mine, times in (*left.terms, ((), left.constant)):
            for other, by in (*right.terms, ((), right.constant)):
                terms[tuple(sorted(mine + other, key=lambda atom: atom.name))] += times * by
        found = _expression(terms.pop((), 0), terms)
        if found is not None:
            return found
    if ZERO in (left, right):
        return ZERO
    if ONE in (left, right):
        return right if left == ONE else left
    return _mixed(left, right, interval.multiply(left.within(), right.within()))


def _floor_divide(left: Dim, right: Dim) -> Dim:
    if isinstance(left, Expression) and isinstance(right, Expression):
        number = right.number
        found = _exact_quotient(left, right) if number is None else _quotient(left, number) if number else None
        if found is not None:
            return found
    if right == ONE:
        return left
    return _canceling(left, right, interval.floor_divide(left.within(), right.within()))


def _exact_quotient(dividend: Expression, divisor: Expression) -> Dim | None:
    """By what varies: what comes out even, or a quotient that is kept as it is."""
    if dividend == divisor:
        return ONE
    if divisor.constant == 0 and len(divisor.terms) == 1 and dividend.constant == 0:
        ((factors, by),) = divisor.terms
        terms: Counter[Monomial] = Counter()
        for monomial, coefficient in dividend.terms:
            left = Counter(monomial)
            left.subtract(factors)
            if coefficient % by or min(left.values()) < 0:
                break
            terms[tuple(sorted(left.elements(), key=lambda atom: atom.name))] = coefficient // by
        else:
            return _expression(terms.pop((), 0), terms)
    return _expression(0, Counter({(Quotient(dividend, divisor),): 1}))


def _quotient(dividend: Expression, divisor: int) -> Dim | None:
    """By a number: what comes out even stands outside of the quotient."""
    if divisor < 0:
        negative = -dividend
        return _quotient(negative, -divisor) if isinstance(negative, Expression) else None
    whole = Counter({m: c // divisor for m, c in dividend.terms if c % divisor == 0})
    rest = Counter({m: c for m, c in dividend.terms if c % divisor})
    number, left = divmod(dividend.constant, divisor)
    if not rest:
        return _expression(number, whole)
    common = gcd(divisor, *rest.values())
    rest = Counter({m: c // common for m, c in rest.items()})
    inner = _expression(left // common, rest)
    by = divisor // common
    if not isinstance(inner, Expression):
        return None
    ((factors, coefficient), *others) = inner.terms
    is_nested = len(factors) == 1 and coefficient == 1 and not others and not inner.constant
    atom = factors[0] if is_nested else None
    if isinstance(atom, Quotient) and (of := atom.divisor.number) is not None and of > 0:
        inner, by = atom.dividend, by * of  # `n // 2 // 3` is `n // 6`
    low, high = inner.within(specialized=False)
    if by > 1 and not (low >= 0 and high < by):
        whole[(Quotient(inner, _plain(by)),)] += 1
    elif by == 1:
        whole.update(dict(inner.terms))
        number += inner.constant
    return _expression(number, whole)


def _plain(number: int) -> Expression:
    return Expression(number)


def _modulo(left: Dim, right: Dim) -> Dim:
    if isinstance(left, Expression) and isinstance(right, Expression):
        number = right.number
        found = _exact_remainder(left, right) if number is None else _remainder(left, number) if number else None
        if found is not None:
            return found
    if right in (ONE, MINUS_ONE):
        return ZERO
    found = _canceling(left, right, interval.modulo(left.within(), right.within()))
    return Approximation(found.lowest, found.highest, found.sources, found.varies, found.is_data, is_remainder=True)


def _exact_remainder(dividend: Expression, divisor: Expression) -> Dim | None:
    whole = _exact_quotient(dividend, divisor)
    if isinstance(whole, Expression) and whole * divisor == dividend:
        return ZERO
    return _expression(0, Counter({(Remainder(dividend, divisor),): 1}))


def _remainder(dividend: Expression, divisor: int) -> Dim | None:
    if divisor < 0:
        return _expression(0, Counter({(Remainder(dividend, _plain(divisor)),): 1}))
    terms: Counter[Monomial] = Counter()
    number = dividend.constant
    for monomial, coefficient in dividend.terms:
        atom = monomial[0] if len(monomial) == 1 else None
        by = atom.divisor.number if isinstance(atom, Remainder) else None
        if isinstance(atom, Remainder) and by is not None and by % divisor == 0:  # `n % 4 % 2` is `n % 2`
            number += coefficient * atom.dividend.constant
            for factors, times in atom.dividend.terms:
                terms[factors] += coefficient * times
        else:
            terms[monomial] += coefficient
    terms = Counter({m: c % divisor for m, c in terms.items() if c % divisor})
    number %= divisor
    if not terms:
        return constant(number)
    common = gcd(divisor, *terms.values())
    number, left = divmod(number, common)
    inner = _expression(number, Counter({m: c // common for m, c in terms.items()}))
    if not isinstance(inner, Expression):
        return None
    by = divisor // common
    low, high = inner.within(specialized=False)
    is_whole = low >= 0 and high < by
    rest = inner if is_whole else _expression(0, Counter({(Remainder(inner, _plain(by)),): 1}))
    return None if rest is None else rest * common + left


def raised(dim: Dim, lowest: int) -> Dim:
    """A number that data decides, of which it is known that it is not below `lowest`; of other dims nothing changes."""
    match dim:
        case Expression(constant=0, terms=(((Unbacked() as number,), 1),)):
            return unbacked(number.name, lowest if number.lowest is None else max(number.lowest, lowest))
        case Approximation(is_data=True):
            return Approximation(max(dim.lowest, lowest), dim.highest, dim.sources, dim.varies, is_data=True)
    return dim


def substituted(dim: Dim, numbers: Callable[[Unbacked], Dim]) -> Dim:
    """The dim in which each unbacked number is replaced by what `numbers` returns for it."""
    if not isinstance(dim, Expression):
        return Approximation(*dim.within(), None, dim.varies, dim.is_data, dim.is_remainder) if dim.is_data else dim
    found = constant(dim.constant)
    for monomial, coefficient in dim.terms:
        part = constant(coefficient)
        for atom in monomial:
            part = part * _atom(atom, numbers)
        found = found + part
    return found


def _atom(atom: Atom, numbers: Callable[[Unbacked], Dim]) -> Dim:
    match atom:
        case Unbacked():
            return numbers(atom)
        case Quotient():
            return substituted(atom.dividend, numbers) // substituted(atom.divisor, numbers)
        case Remainder():
            return substituted(atom.dividend, numbers) % substituted(atom.divisor, numbers)
    return Expression(0, (((atom,), 1),))


def true_divide(left: Dim, right: Dim) -> Dim:
    """`left / right`, a float: the integers that it lies between."""
    low, high = interval.floor_divide(left.within(), right.within())
    return _mixed(left, right, interval.bounded(low, high + 1))


def scaled(dim: Dim, factor: float) -> Dim:
    """`dim * factor` for a float: the integers that it lies between."""
    ends = [0 if 0 in (end, factor) else end * factor for end in dim.within()]
    low, high = min(ends), max(ends)
    within = interval.bounded(low if abs(low) == inf else floor(low), high if abs(high) == inf else ceil(high))
    return Approximation(*within, dim.sources, dim.varies, dim.is_data)


def depending(*dims: Dim) -> Dim:
    """The result of some function of `dims`: only what it depends on is known."""
    found: Dim = Approximation(-inf, inf, frozenset())
    for dim in dims:
        found = _mixed(found, dim, interval.EVERYTHING)
    return found


def minimum(left: Dim, right: Dim) -> Dim:
    """The smaller of two."""
    is_less = _settled("<=", left - right, specialized=True)
    if is_less is not None:
        return left if is_less else right
    one, other = left.within(), right.within()
    return _mixed(left, right, (min(one[0], other[0]), min(one[1], other[1])))


def maximum(left: Dim, right: Dim) -> Dim:
    """The larger of two."""
    is_less = _settled("<=", left - right, specialized=True)
    if is_less is not None:
        return right if is_less else left
    one, other = left.within(), right.within()
    return _mixed(left, right, (max(one[0], other[0]), max(one[1], other[1])))


def compare(operator: Operator, left: Dim, right: Dim) -> bool | Test | None:
    """The truth of `left operator right` if it is certain, else the kind of guard that torch.export needs.

    None if it may not depend on a dynamic size, or if something unknown here may decide it.
    """
    difference = left - right
    is_exact = isinstance(difference, Expression)
    truth = _settled(operator, difference, specialized=True)
    varies = left.varies or right.varies
    if truth is not None:
        is_one = varies and _settled(operator, difference, specialized=False) is None
        return "one" if is_one else truth
    if not varies or (not is_exact and _are_related(left, right)):
        return None
    is_equality = operator in {"==", "!="}
    is_number = left.number is not None or right.number is not None
    return "constant" if is_equality and is_number and not (left.is_remainder or right.is_remainder) else "order"


def _are_related(left: Dim, right: Dim) -> bool:
    """Whether two numbers depend on the same, so that they may be equal whatever that is."""
    if not (left.varies and right.varies):
        return False
    return left.sources is None or right.sources is None or bool(left.sources & right.sources)


def _settled(operator: Operator, difference: Dim, *, specialized: bool) -> bool | None:
    """The truth of `difference operator 0` for all values of the sizes."""
    low, high = difference.within(specialized=specialized)
    match operator:
        case "==" | "!=":
            if low == high == 0:
                return operator == "=="
            return operator == "!=" if low > 0 or high < 0 or _never_zero(difference) else None
        case "<" | ">=":
            found = True if high < 0 else False if low >= 0 else None
        case _:
            found = True if high <= 0 else False if low > 0 else None
    return found if found is None or operator in {"<", "<="} else not found


def _never_zero(difference: Dim) -> bool:
    """`2*n + 1`: all coefficients have a divisor that the constant does not have."""
    if not isinstance(difference, Expression) or not difference.terms:
        return False
    return difference.constant % gcd(*(coefficient for _, coefficient in difference.terms)) != 0
