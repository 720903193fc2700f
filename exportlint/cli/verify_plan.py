"""What the flags of `exportlint verify` change: of the targets, and of how they are run."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from exportlint.cli.output import UsageError
from exportlint.config.quantities import COUNT, SECONDS, parse_memory
from exportlint.findings import Mode
from exportlint.verify.target import Target

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


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("expected seconds") from None
