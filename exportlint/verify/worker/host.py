"""The host: takes jobs, and keeps what it tells apart from what user code prints."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys

from .forking import Forking
from .streams import Commands, Events
from .work import serve_one

_OLDEST_TORCH = (2, 4)


def main() -> None:
    """Work on the jobs that come in until there are no more.

    With `--fork`, each is done by a forked process of its own, so torch is imported once for all. Else the first one
    is done here, and ends this process.
    """
    if "--warm" in sys.argv[1:]:
        _wait_warm(*sys.argv[sys.argv.index("--warm") + 1 :][:2])
    commands, events = _take_streams()
    gc.set_threshold(100_000, 20, 100)  # importing torch and tracing make much, and little of it is garbage
    reason = _import_torch()
    if reason:
        events.send({"unusable": reason})
        return
    events.send({"ready": True})
    if "--fork" in sys.argv[1:]:
        Forking(commands, events).serve()
    else:
        serve_one(commands, events)


def _wait_warm(path: str, idle: str) -> None:
    """Import torch, and fork a host for each that connects to a socket, on which the first one waits already."""
    from .warm import Warm

    warm = Warm(path, float(idle))
    gc.set_threshold(100_000, 20, 100)

    def host() -> None:
        commands, events = _take_streams()
        events.send({"ready": True, "pid": os.getpid()})
        Forking(commands, events).serve()

    warm.serve(_import_torch(), host)


def _take_streams() -> tuple[Commands, Events]:
    """Keep standard input and output for the host: others read nothing, and what they print is standard error's."""
    commands, events = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)  # type: ignore[union-attr]
    return Commands(commands), Events(events)


def _import_torch() -> str:
    """Import what every job needs; why that is not possible, or nothing."""
    if sys.version_info < (3, 9):  # noqa: UP036 - exportlint's own Python is another one
        return f"it is Python {sys.version.split()[0]}, and 3.9 or newer is needed"
    try:
        import torch
        import torch.export

        with contextlib.suppress(ImportError):
            # What takes long when export is called for the first time, as far as it is there.
            importlib.import_module("torch.export._trace")
    except ModuleNotFoundError as error:
        if error.name == "torch":
            return "torch is not installed there"
        return f"torch cannot be imported: {type(error).__name__}: {error}"
    except BaseException as error:  # a broken installation raises anything
        return f"torch cannot be imported: {type(error).__name__}: {error}".split("\n", 1)[0]
    numbers = torch.__version__.split(".")[:2]
    if tuple(map(int, numbers)) < _OLDEST_TORCH:
        return f"torch {torch.__version__} is too old, 2.4 or newer is needed"
    return ""
