"""Room for deep recursion: also for Python's own frames, in one piece."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from exportlint.big_stack import on_big_stack


def test_it_returns_and_raises_as_the_function_does() -> None:
    assert on_big_stack(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        on_big_stack(lambda: 1 // 0)


@pytest.mark.skipif(sys.platform != "linux", reason="page faults of a thread are counted on Linux only")
def test_recursion_maps_no_memory() -> None:
    """A call at the end of a chunk of frames must not fetch a new chunk each time."""
    resource = pytest.importorskip("resource")

    def leaf() -> None:
        pass

    def descend(depth: int, then: Callable[[], None]) -> None:
        if depth:
            descend(depth - 1, then)
        else:
            for _ in range(50):
                then()

    def faults() -> int:
        descend(400, leaf)
        before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
        for depth in range(400):
            descend(depth, leaf)
        return int(resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before)

    assert on_big_stack(faults) < 100
