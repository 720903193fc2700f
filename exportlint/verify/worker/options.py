"""Command lines of scripts, when nobody gives one."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def options_may_be_missing() -> Iterator[None]:
    """Have parsers of command lines give required options what they are by default, or else their first choice.

    Nothing is known of the others, which are None: what a model is made with is seldom among them.
    """
    kind: Any = argparse.ArgumentParser
    original = kind.parse_known_args

    def parse(self: Any, *arguments: Any, **keywords: Any) -> Any:
        for action in self._actions:
            if action.required and action.default is None and action.choices and action.nargs != argparse.PARSER:
                action.default = next(iter(action.choices))
            action.required = False
        for group in self._mutually_exclusive_groups:
            group.required = False
        return original(self, *arguments, **keywords)

    kind.parse_known_args = parse
    try:
        yield
    finally:
        if kind.parse_known_args is parse:
            kind.parse_known_args = original
