"""Exceptions as they are told."""

from __future__ import annotations

import collections
import contextlib
import logging
import re
import sys
import traceback
import warnings
from collections.abc import Iterator
from typing import Any

from .frames import Frames, is_of_project
from .lazily import torch
from .system import memory_limit
from .texts import is_of_memory, text_of
from .varying import zipped

_HINT = re.compile(r"^\s*(?:\d+\.\s+)?`?(torch\._check(?:_is_size)?\(.*\))`?\s*$", re.MULTILINE)


def failure(error: BaseException, stage: str, frames: Frames, further: bool = False) -> dict[str, Any]:
    """What an exception is told as."""
    text = text_of(error) or _line_that_raised(error)
    if memory_limit and is_of_memory(error):
        text = f"{text.rstrip()} ({memory_limit[0]})"
    hints = list(dict.fromkeys(_HINT.findall(text)))
    name = type(error).__name__
    return told_as_failure(stage, name, text, frames, hints, further)


def _line_that_raised(error: BaseException) -> str:
    """The line of code that raised, for what says nothing itself, as most `assert` do."""
    frames = traceback.extract_tb(error.__traceback__)
    return (frames[-1].line or "") if frames else ""


def told_as_failure(
    stage: str, name: str, text: str, frames: Frames, hints: list[str], further: bool
) -> dict[str, Any]:
    """What is told of something that raised."""
    return {"stage": stage, "type": name, "message": text, "frames": frames, "hints": hints, "further": further}


def suggest_checks(error: BaseException, root: str) -> None:
    """Have torch say in terms of the user's variables what it wants to know, where it could and does not by itself."""
    shapes = sys.modules.get("torch.fx.experimental.symbolic_shapes")
    suggest = getattr(shapes, "_suggest_torch_checks", None)
    if suggest is None or getattr(error, "cond", None) is None or _HINT.search(text_of(error)):
        return
    frames = [f for f, _ in traceback.walk_tb(error.__traceback__) if is_of_project(f.f_code.co_filename, root)]
    names: dict[str, list[str]] = collections.defaultdict(list)
    for name, value in frames[-1].f_locals.items() if frames else ():
        if isinstance(value, torch.SymInt):
            names[str(value.node.expr)].append(name)
        elif isinstance(value, torch.Tensor):
            sizes = ((i, n) for i, n in enumerate(value.shape) if isinstance(n, torch.SymInt))
            for i, size in sizes:
                names[str(size.node.expr)].append(f"{name}.shape[{i}]")
    with contextlib.suppress(Exception), silent("torch.fx"):
        suggest(error, names)


@contextlib.contextmanager
def silent(*names: str) -> Iterator[None]:
    """Have what comes with drafts said once only, as failures."""
    loggers = [logging.getLogger(name) for name in logging.root.manager.loggerDict if name.startswith(names)]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zipped(loggers, levels):
            logger.setLevel(level)
