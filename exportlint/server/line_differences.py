"""Which lines of two texts differ, fast also where thousands of lines are the same."""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

_FEW = 400
"""Up to so many lines are compared with each other; more that have no line of their own count as different."""

Difference = tuple[int, int, int, int]
"""From where to where in the one text, and in the other."""


def differences(before: Sequence[str], after: Sequence[str]) -> Iterator[Difference]:
    """The parts that differ, in order.

    Lines that are in both texts once hold the texts together; what stands between two of them is compared by itself.
    """
    start = new_start = 0
    for end, new_end in [*_anchors(before, after), (len(before), len(after))]:
        yield from _between(before, start, end, after, new_start, new_end)
        start, new_start = end, new_end


def _between(
    before: Sequence[str], start: int, end: int, after: Sequence[str], new: int, new_end: int
) -> Iterator[Difference]:
    while start < end and new < new_end and before[start] == after[new]:
        start, new = start + 1, new + 1
    while start < end and new < new_end and before[end - 1] == after[new_end - 1]:
        end, new_end = end - 1, new_end - 1
    if start == end and new == new_end:
        return
    if max(end - start, new_end - new) > _FEW:
        yield start, end, new, new_end
        return
    matcher = difflib.SequenceMatcher(None, before[start:end], after[new:new_end], autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag != "equal":
            yield start + i, start + j, new + k, new + m


def _anchors(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Where lines stand that are in both texts once: the most of them that are in the same order in both."""
    counts, new_counts = Counter(before), Counter(after)
    places = {line: at for at, line in enumerate(after) if new_counts[line] == 1}
    pairs = [(at, places[line]) for at, line in enumerate(before) if line in places and counts[line] == 1]
    # The longest increasing subsequence: the lowest end and the last pair of one of each length.
    ends: list[int] = []
    last: list[int] = []
    previous: list[int] = []
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        previous.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [index]
    chain: list[tuple[int, int]] = []
    index = last[-1] if last else -1
    while index >= 0:
        chain.append(pairs[index])
        index = previous[index]
    return chain[::-1]
