"""A plugin of flake8: each finding is a violation with the code of its rule.

flake8 finds it by its entry point, gives it the text of a file, and applies `# noqa` itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from flake8.exceptions import ExecutionError

from exportlint import __version__
from exportlint.api import shown_of, task_of
from exportlint.config import ConfigError, Configuration, Layer
from exportlint.linter import lint

_STDIN = "-"
_DEFAULTS = Layer(Path(), {"min-severity": "warning"})
"""What holds where the configuration says nothing: flake8 has no severities, so an info would look like an error."""


class Plugin:
    """What flake8 makes of each file and runs."""

    name: ClassVar[str] = "exportlint"
    version: ClassVar[str] = __version__

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:  # noqa: ARG002 - flake8 runs plugins without a tree only on single lines
        self._filename = None if filename in (_STDIN, "stdin") else filename
        self._text = "".join(lines)

    def run(self) -> Iterator[tuple[int, int, str, type[Plugin]]]:
        """The row from 1, the column from 0, the code and message, and the plugin of each finding.

        Raises:
            ExecutionError: the configuration of the file cannot be used. flake8 shows the message and ends.
        """
        try:
            task = task_of(self._text, self._filename, Configuration(Path.cwd(), defaults=(_DEFAULTS,)))
            findings = shown_of([task], lint([task], fixes=False), task.settings)
        except ConfigError as error:
            raise ExecutionError(f"exportlint: {error}") from None
        for finding in findings:
            start = finding.span.start
            yield start.row, start.column - 1, f"{finding.code} {finding.message}", type(self)
