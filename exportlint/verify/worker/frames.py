"""Which lines of the user's code an exception comes from."""

from __future__ import annotations

import functools
import itertools
import os
import re
import sysconfig
from typing import Any

from .lazily import torch
from .own import is_own
from .texts import text_of

_LOCATION = re.compile(r'File "([^"\n]+)", line (\d+), in ([^\s]+)')


Frames = list[dict[str, Any]]


def user_frames(error: BaseException, root: str, strict: bool) -> Frames:
    """The places in the user's code that an exception comes from, those of the project last, the innermost last."""
    chain = chain_of(error)
    found: list[Frames] = []
    if strict:
        stacks = [getattr(link, "real_stack", None) or () for link in chain]
        found = [[frame_event(s.filename, s.lineno, s.name) for s in stack] for stack in stacks]
        if not any(map(_of_users, found)):
            found = [frames_in_text(text.partition("from user code:")[2]) for text in map(text_of, chain)]
    if not any(map(_of_users, found)):
        found = [_frames_of_traceback(link.__traceback__) for link in chain]
    if not any(map(_of_users, found)):
        found = [frames_in_text(text_of(link)) for link in chain]
    return ranked(max(map(_of_users, found), key=len, default=[]), root)


def ranked(frames: Frames, root: str) -> Frames:
    """Frames of the user's code, those of the project last: installed packages are seldom what one can change.

    `lowest` are those below which nothing of the project runs: the innermost one of the project, and what it calls.
    """
    users = _of_users(frames)
    own = [is_of_project(frame["file"], root) for frame in users]
    first = max((i for i, is_own in enumerate(own) if is_own), default=len(users) - 1)
    order = sorted(range(len(users)), key=own.__getitem__)
    return [{**users[i], "lowest": i >= first} for i in order]


def chain_of(error: BaseException | None) -> list[BaseException]:
    """An exception and what it was raised from, or in handling of what."""
    found: list[BaseException] = []
    while error is not None and all(error is not known for known in found):
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def frame_event(file: str, row: int | None, function: str) -> dict[str, Any]:
    """A place as it is told."""
    return {"file": os.path.abspath(file), "row": row or 1, "function": function}


def same_places(some: Frames, others: Frames) -> bool:
    """Whether frames are at the same rows. Only those of a traceback know more."""
    return [(f["file"], f["row"]) for f in some] == [(f["file"], f["row"]) for f in others]


def _frames_of_traceback(trace: Any) -> Frames:
    found: Frames = []
    while trace is not None:
        code = trace.tb_frame.f_code
        if not odd(trace.tb_frame):
            event = frame_event(code.co_filename, trace.tb_lineno, code.co_name)
            found.append({**event, "extent": extent_of(code, trace.tb_lasti)})
        trace = trace.tb_next
    return found


def extent_of(code: Any, instruction: int) -> list[int] | None:
    """The first row and column and the last of the expression that an instruction is of; None before Python 3.11."""
    positions = getattr(code, "co_positions", None)
    if positions is None or instruction < 0:
        return None
    row, last, column, end = next(itertools.islice(positions(), instruction // 2, None), (None,) * 4)
    if row is None or last is None or column is None or end is None:
        return None
    return [row, column, last, end]


def odd(frame: Any) -> bool:
    """Whether a frame is of code that stands in no file."""
    return str(frame.f_code.co_filename).startswith("<")


def frames_in_text(text: str) -> Frames:
    """The places that a text of torch names."""
    return [
        frame_event(file, int(row), name) for file, row, name in _LOCATION.findall(text) if not file.startswith("<")
    ]


def _of_users(frames: Frames) -> Frames:
    return [f for f in frames if is_of_user(f["file"]) and not os.path.basename(f["file"]).startswith("<")]


@functools.lru_cache(maxsize=None)  # noqa: UP033 -- as long as the process lives
def _places() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Where torch lies, with what comes with it, and where Python's own modules lie."""
    packages = os.path.dirname(os.path.dirname(os.path.abspath(torch.__file__)))
    standard = {sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib")}
    standard |= {os.path.realpath(path) for path in standard}
    of_torch = (os.path.join(packages, name, "") for name in ("torch", "torchgen", "functorch", "sympy"))
    return tuple(of_torch), tuple(os.path.join(path, "") for path in standard)


def is_of_user(file: str) -> bool:
    """Whether a file is neither torch's nor Python's, nor this one."""
    path = os.path.abspath(file)
    of_torch, standard = _places()
    installed = "site-packages" in path or "dist-packages" in path
    return not is_own(path) and not path.startswith(of_torch if installed else of_torch + standard)


def is_of_project(file: str, root: str) -> bool:
    """Whether a file lies below the root, and is not installed there."""
    return not is_own(file) and _is_below(os.path.dirname(os.path.abspath(file)), root)


@functools.lru_cache(maxsize=None)  # noqa: UP033 -- thousands of modules lie in a few hundred directories
def _is_below(directory: str, root: str) -> bool:
    for path, above in ((directory, os.path.abspath(root)), (os.path.realpath(directory), os.path.realpath(root))):
        below = os.path.join(path, "")[len(above) :]
        if os.path.join(path, "").startswith(os.path.join(above, "")):
            return "site-packages" not in below and "dist-packages" not in below
    return False
