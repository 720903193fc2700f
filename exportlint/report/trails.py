"""Trails as people read them: the steps that explain a finding, and how many there are besides."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from exportlint.findings import Step

MAX_STEPS = 7
_FIRST = 2

_Numbered = tuple[int, Step]
"""A step, and its index in the whole trail."""


def shortened(trail: Sequence[Step], limit: int = MAX_STEPS) -> tuple[Step, ...]:
    """At most `limit` steps of a trail; what is left out in the middle is one step that counts them.

    Left out first is code that hands the value on as it is, then the inside of calls that have returned, the innermost
    first.
    """
    steps = _without_detours(trail)
    while len(shown := _without_repetition(steps)) > limit and (shorter := _folded(steps)) != steps:
        steps = shorter
    if len(shown) <= limit:
        return tuple(step for _, step in shown)
    first, last = shown[:_FIRST], shown[_FIRST + 1 - limit :]
    start = first[-1][0] + 1
    missing = trail[start]
    rest = Step(missing.filename, missing.span, f"{last[0][0] - start} more steps", missing.cell)
    return (*(step for _, step in first), rest, *(step for _, step in last))


def _without_detours(trail: Sequence[Step]) -> list[_Numbered]:
    """The steps without those that hand the value on, and without calls that do nothing else."""
    kept: list[_Numbered] = []
    handed_on: Step | None = None
    for number, step in enumerate(trail):
        if step.role == "return" and not step.changes and kept and kept[-1][1].role == "call":
            _, call = kept.pop()
            handed_on = step
            if call.changes:  # in `f(x + 1)`, the argument is news
                kept.append((number, step))
        elif step.role == "value" and (not step.changes or _names_again(step, handed_on, kept)):
            continue
        else:
            handed_on = None
            kept.append((number, step))
    return kept


def _names_again(step: Step, handed_on: Step | None, kept: Sequence[_Numbered]) -> bool:
    """Whether a step is the `y = f(x)` of a call that handed on what it was passed."""
    is_left_out = not kept or kept[-1][1] is not handed_on
    return handed_on is not None and is_left_out and _is_at(step, handed_on)


def _without_repetition(steps: Sequence[_Numbered]) -> list[_Numbered]:
    """The steps without a return where the next one says what became of it: `y = f(x)`."""
    following = [step for _, step in steps[1:]]
    return [
        (number, step)
        for (number, step), after in zip_longest(steps, following)
        if not (step.role == "return" and after is not None and after.role == "value" and _is_at(after, step))
    ]


def _folded(steps: Sequence[_Numbered]) -> list[_Numbered]:
    """The steps without the inside of the innermost calls that have returned, of which the return stays."""
    opened: list[int] = []
    calls: dict[int, list[tuple[int, int]]] = {}
    for index, (_, step) in enumerate(steps):
        if step.role == "call":
            opened.append(index)
        elif step.role == "return" and opened:
            calls.setdefault(len(opened), []).append((opened.pop(), index))
    inside = {index for start, end in calls[max(calls)] for index in range(start, end)} if calls else set()
    return [numbered for index, numbered in enumerate(steps) if index not in inside]


def _is_at(step: Step, other: Step) -> bool:
    return (step.filename, step.cell, step.span) == (other.filename, other.cell, other.span)
