"""Ranges of integers, and arithmetic on them: each result holds whatever the operands within theirs can give."""

from __future__ import annotations

from math import inf
from typing import Literal

Bound = float
"""An integer, or plus or minus infinity."""

Interval = tuple[Bound, Bound]
"""The smallest and the largest number, both included."""

Sign = Literal["<", "<=", ">", ">=", "=="]

EVERYTHING: Interval = (-inf, inf)
LARGEST = 2**62
"""A bound beyond this is as good as none."""


def bounded(lowest: Bound, highest: Bound) -> Interval:
    """The interval between two bounds, without those that are too large to matter."""
    low = min(lowest, LARGEST) if lowest >= -LARGEST else -inf
    return low, max(highest, -LARGEST) if highest <= LARGEST else inf


def contains(outer: Interval, inner: Interval) -> bool:
    """Whether all numbers of one interval are in the other."""
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def range_of(sign: Sign, number: int) -> Interval:
    """The integers that are `sign` a number: `<`, `<=`, `>`, `>=` or `==`."""
    low = {">": number + 1, ">=": number, "==": number}.get(sign, -inf)
    high = {"<": number - 1, "<=": number, "==": number}.get(sign, inf)
    return low, high


def hull(one: Interval, other: Interval) -> Interval:
    """The smallest interval with both in it."""
    return min(one[0], other[0]), max(one[1], other[1])


def intersection(one: Interval, other: Interval) -> Interval:
    """The numbers that are in both."""
    return max(one[0], other[0]), min(one[1], other[1])


def add(left: Interval, right: Interval) -> Interval:
    """All sums."""
    return bounded(left[0] + right[0], left[1] + right[1])


def negate(operand: Interval) -> Interval:
    """All negatives."""
    return -operand[1], -operand[0]


def multiply(left: Interval, right: Interval) -> Interval:
    """All products."""
    found = [0 if 0 in (a, b) else a * b for a in left for b in right]
    return bounded(min(found), max(found))


def _divisors(interval: Interval) -> list[Interval]:
    """The negative and the positive part of the divisors, whichever there is: nothing is divided by 0."""
    negative, positive = (interval[0], min(interval[1], -1)), (max(interval[0], 1), interval[1])
    return [part for part in (negative, positive) if part[0] <= part[1]]


def _quotient(dividend: Bound, divisor: Bound) -> Bound:
    if abs(divisor) == inf:
        return 0 if dividend == 0 or (dividend > 0) is (divisor > 0) else -1
    if abs(dividend) == inf:
        return dividend if divisor > 0 else -dividend
    return dividend // divisor


def floor_divide(left: Interval, right: Interval) -> Interval:
    """All quotients, rounded down; everything if there is no divisor but 0."""
    found = [_quotient(a, b) for part in _divisors(right) for a in left for b in part]
    return bounded(min(found), max(found)) if found else EVERYTHING


def modulo(left: Interval, right: Interval) -> Interval:
    """All remainders, whose sign is that of the divisor; everything if there is no divisor but 0."""
    found: list[Interval] = []
    for low, high in _divisors(right):
        if low < 0:
            found.append((low + 1, 0))
        elif left[0] >= 0 and left[1] < low:
            found.append(left)
        else:
            found.append((0, min(high - 1, left[1]) if left[0] >= 0 else high - 1))
    return (min(part[0] for part in found), max(part[1] for part in found)) if found else EVERYTHING
