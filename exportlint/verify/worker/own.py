"""The worker's own code, which is nobody's model."""

from __future__ import annotations

import os

HERE = os.path.dirname(os.path.abspath(__file__))


def is_own(file: str) -> bool:
    """Whether a file is one of the worker's."""
    return os.path.dirname(os.path.abspath(file)) == HERE
