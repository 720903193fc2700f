"""Command lines of scripts, when nobody gives one."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def options_may_be_missing() -> Iterator[list[str]]:
    """Have parsers of command lines give required options what they are by default, or else their first choice.

    Nothing is known of the others, which are None: what a model is made with is seldom among them. Gives their names,
    as they are met.
    """
    missing: list[str] = []
    kind: Any = argparse.ArgumentParser
    original = kind.parse_known_args

    def parse(self: Any, *arguments: Any, **keywords: Any) -> Any:
        required = [action for action in self._actions if action.required]
        for action in required:
            if action.default is None and action.choices and action.nargs != argparse.PARSER:
                action.default = next(iter(action.choices))
            action.required = False
        for group in self._mutually_exclusive_groups:
            group.required = False
        parsed = original(self, *arguments, **keywords)
        unknown = (action for action in required if getattr(parsed[0], action.dest, "") is None)
        missing.extend(max(action.option_strings, key=len, default=action.dest) for action in unknown)
        return parsed

    kind.parse_known_args = parse
    try:
        yield missing
    finally:
        if kind.parse_known_args is parse:
            kind.parse_known_args = original


@contextlib.contextmanager
def command_line(file: str) -> Iterator[None]:
    """Code of a file runs as if nobody gave options: those of this process are none of what parses a command line."""
    arguments, sys.argv = sys.argv, [file]
    try:
        yield
    finally:
        sys.argv = arguments
