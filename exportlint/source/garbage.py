"""When Python's garbage collector does not walk what is known to be alive."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

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


@contextmanager
def gc_between_files() -> Iterator[None]:
    """Lets the collections after a file walk what that file made, and not what earlier files left for all."""
    young, middle, old = gc.get_threshold()
    gc.set_threshold(young, max(middle, _FILES), old)
    try:
        yield
    finally:
        gc.set_threshold(young, middle, old)
