"""What the flags of `exportlint verify` change: of the targets, and of how they are run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from exportlint.cli.output import UsageError
from exportlint.config.quantities import COUNT, SECONDS, parse_memory
from exportlint.findings import Mode
from exportlint.verify.interpreter import Interpreter
from exportlint.verify.target import Script, Target
from exportlint.verify.warm import IDLE, Warmth, default_directory

_T = TypeVar("_T")

_MODES: dict[str, tuple[Mode, ...]] = {
    "non-strict": ("non-strict",),
    "strict": ("strict",),
    "both": ("non-strict", "strict"),
}


def overridden(target: Target, arguments: argparse.Namespace) -> Target:
    """A target as the command line wants it.

    Raises:
        UsageError: a flag has a value that it cannot have.
    """
    changes: dict[str, Any] = {}
    if arguments.modes is not None:
        changes["modes"] = _MODES[arguments.modes]
        if isinstance(target.inputs, Script):
            changes["inputs"] = replace(target.inputs, own_mode=False)
    if arguments.devices:
        changes["devices"] = tuple(dict.fromkeys(arguments.devices))
    if arguments.timeout is not None:
        changes["timeout"] = checked("--timeout", arguments.timeout, lambda text: SECONDS.check(_number(text)))
    if arguments.memory is not None:
        changes["memory"] = checked("--memory", arguments.memory, parse_memory)
    if arguments.gradients:
        changes["gradients"] = True
    return replace(target, **changes)


def jobs(arguments: argparse.Namespace, otherwise: int) -> int:
    """How many processes may run at a time. Raises UsageError."""
    if arguments.jobs is None:
        return otherwise
    number: int = checked("--jobs", arguments.jobs, lambda text: COUNT.check(int(text)))
    return number


def checked(flag: str, text: str, check: Callable[[str], _T]) -> _T:
    """The value of a flag. Raises UsageError."""
    try:
        return check(text)
    except ValueError as error:
        said = str(error)
        raise UsageError(f"{flag} `{text}`: {said}" if f"`{text}`" not in said else f"{flag}: {said}") from None


def warmth(keep_warm: str | None, interpreter: Interpreter) -> Warmth | None:
    """Where a worker waits, and how long one is to wait for the next run, which in a pipeline does not come.

    Raises:
        UsageError: `keep_warm`, the value of the flag, is not a number of seconds.
    """
    directory = default_directory()
    if directory is None:
        return None
    if keep_warm is None:
        return Warmth(directory, interpreter, IDLE if sys.stdout.isatty() else 0.0)
    given: float = checked("--keep-warm", keep_warm, seconds_or_none)
    return Warmth(directory, interpreter, given)


def seconds_or_none(text: str) -> float:
    """Seconds, of which there may be none. Raises ValueError."""
    number = _number(text)
    return 0.0 if number == 0 else SECONDS.check(number)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("expected seconds") from None
