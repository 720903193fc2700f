"""Finds out which of several fixes hold together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

from exportlint.verify.bench import Objection

T = TypeVar("T")

Test = Callable[[Sequence[T]], Objection | None]


def largest(
    items: Sequence[T],
    test: Test[T],
    is_own: Callable[[Objection], bool],
    is_hopeless: Callable[[Sequence[T], Objection], bool],
) -> tuple[list[T], dict[T, Objection]]:
    """As many items as there is nothing against, and what there is against each of the others.

    `is_own` are objections to items that leaving others out does not answer: those items are found by halves. Others,
    such as that export fails, some items may answer that others raise: then parts are left out, ever smaller ones,
    unless it `is_hopeless`.
    """
    against: dict[T, Objection] = {}

    def settle(good: list[T], more: Sequence[T], holds: Callable[[Objection], bool]) -> list[T]:
        if not more:
            return good
        objection = test([*good, *more])
        if objection is None or holds(objection):
            return [*good, *more]
        if len(more) == 1:
            against[more[0]] = objection
            return good
        half = len(more) // 2
        return settle(settle(good, more[:half], holds), more[half:], holds)

    chosen = settle([], items, lambda objection: not is_own(objection))
    objection = test(chosen) if chosen else None
    if objection is None:
        return chosen, against
    parts = 2
    while not is_hopeless(chosen, objection) and len(chosen) > 1:
        for part in _parts(chosen, parts):
            rest = [item for item in chosen if item not in part]
            if rest and test(rest) is None:
                return settle(rest, part, lambda _: False), against
        if parts >= len(chosen):
            break
        parts = min(2 * parts, len(chosen))
    return [], {**against, **dict.fromkeys(chosen, objection)}


def _parts(items: Sequence[T], count: int) -> list[Sequence[T]]:
    bounds = [len(items) * i // count for i in range(count + 1)]
    return [items[low:high] for low, high in pairwise(bounds) if low < high]


def smallest(items: Sequence[T], holds: Callable[[Sequence[T]], bool]) -> list[T]:
    """Of items that hold together a part that does, and of which none can be left out (QuickXplain).

    Where more items can break what fewer hold, the part is one that holds, and need not be the smallest.
    """
    if not items:
        return []

    def needed(known: list[T], more: Sequence[T]) -> list[T]:
        if len(more) == 1:
            return list(more)
        low, high = more[: len(more) // 2], more[len(more) // 2 :]
        if holds([*known, *low]):
            return needed(known, low)
        if holds([*known, *high]):
            return needed(known, high)
        first = needed([*known, *high], low)
        return [*first, *needed([*known, *first], high)]

    found = needed([], items)
    return found if holds(found) else list(items)
