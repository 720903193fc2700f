"""Model and inputs of a call of torch.export in a script."""

from __future__ import annotations

import functools
import inspect
import itertools
import os
import runpy
import sys
from collections.abc import Mapping
from typing import Any

from .inputs import to_device
from .lazily import torch
from .models import Subject
from .texts import with_article
from .words import Example, Job


class _Reached(BaseException):
    """A script has come to the call that is to be verified. Not an `Exception`, so that no `except` there stops it."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        super().__init__()
        self.arguments = arguments


def run_script(job: Job) -> tuple[Subject, Example]:
    """Run a script up to its call of torch.export at the row of the job, and take over what it calls it with.

    Raises:
        LookupError: it ended before. And whatever it raises itself.
    """
    file, row = os.path.realpath(job["inputs"]["script"]["file"]), job["inputs"]["script"]["row"]
    names = ("export", "export_for_training", "draft_export")
    originals = {name: getattr(torch.export, name) for name in names if hasattr(torch.export, name)}

    def intercept(original: Any) -> Any:
        @functools.wraps(original)
        def call(*arguments: Any, **keywords: Any) -> Any:
            frame = sys._getframe(1)
            if os.path.realpath(frame.f_code.co_filename) == file and row in _rows(frame):
                bound = inspect.signature(original).bind(*arguments, **keywords)
                raise _Reached(bound.arguments)
            return original(*arguments, **keywords)

        return call

    for name, original in originals.items():
        setattr(torch.export, name, intercept(original))
    arguments, sys.argv = sys.argv, [file]
    sys.path.insert(0, os.path.dirname(file))
    try:
        runpy.run_path(file, run_name="__main__")
    except _Reached as reached:
        given = reached.arguments
    except SystemExit as error:
        raise LookupError(f"the script ended with {error!r} before row {row}") from None
    else:
        raise LookupError(f"the script ended without calling torch.export at row {row}")
    finally:
        sys.argv = arguments
        for name, original in originals.items():
            setattr(torch.export, name, original)
    model = given["mod"]
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"torch.export is called with {with_article(model)}, not an nn.Module")
    model = model.to(job["device"])
    inputs = to_device((given["args"], given.get("kwargs") or {}), job["device"])
    if not isinstance(inputs[0], tuple):
        raise TypeError(f"the arguments are {with_article(inputs[0])}: torch.export takes a tuple")
    return Subject(model, None), Example(inputs[0], inputs[1], given.get("dynamic_shapes"))


def _rows(frame: Any) -> range:
    """The rows of the call that a frame is at."""
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is not None:
        first, last, *_ = next(itertools.islice(positions(), frame.f_lasti // 2, None))
        if first and last:
            return range(first, last + 1)
    return range(frame.f_lineno, frame.f_lineno + 1)
