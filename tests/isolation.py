"""What code of examples changes for the whole process, put back."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import torch


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Undo what a model changes for the whole process: the environment, torch's default dtype and gradient mode."""
    environment, dtype = dict(os.environ), torch.get_default_dtype()
    try:
        with torch.set_grad_enabled(torch.is_grad_enabled()):
            yield
    finally:
        os.environ.clear()
        os.environ.update(environment)
        torch.set_default_dtype(dtype)
