"""When Python's garbage collector does not walk what is known to be alive."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_OBJECTS = 300_000
"""So many objects take about 30 MB."""
_FILES = 200
"""Garbage of about so many files that survived the end of its file is collected together."""


@contextmanager
def gc_paused() -> Iterator[None]:
    """Keeps the garbage collector from walking a tree, again and again, while the tree is being built."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def collector() -> Callable[[], None]:
    """What collects garbage where it is called, while the collector is paused, once there are many new objects."""
    before = sys.getallocatedblocks()

    def collect() -> None:
        nonlocal before
        if sys.getallocatedblocks() - before > _OBJECTS:
            gc.collect(0)
            before = sys.getallocatedblocks()

    return collect


@contextmanager
def gc_between_files() -> Iterator[None]:
    """Lets the collections after a file walk what that file made, and not what earlier files left for all."""
    young, middle, old = gc.get_threshold()
    gc.set_threshold(young, max(middle, _FILES), old)
    try:
        yield
    finally:
        gc.set_threshold(young, middle, old)
