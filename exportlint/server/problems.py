"""What is wrong with configuration files, shown in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from lsprotocol import types

from exportlint.config import ConfigError, Settings
from exportlint.config.toml import error_at
from exportlint.server import uris
from exportlint.server.diagnostics import SOURCE


class ConfigNoticeError(ConfigError):
    """Something to change in a configuration that can be used all the same."""


def notice_of(settings: Settings) -> ConfigNoticeError | None:
    """The first thing to change in a configuration file, if there is something."""
    for notice in settings.notices:
        if notice.file is not None:
            found = error_at(notice.text, notice.file, (notice.key,))
            return ConfigNoticeError(found.message, found.file, found.line)
    return None


class ConfigurationProblems:
    """Pushed to every client, because nobody asks for them; each once."""

    def __init__(self, publish: Callable[[types.PublishDiagnosticsParams], None]) -> None:
        self._publish = publish
        self._shown: dict[Path, types.Diagnostic] = {}

    def show(self, problems: Mapping[Path, ConfigError]) -> None:
        """Have exactly these shown, by file."""
        wanted = {file: _diagnostic(problem) for file, problem in problems.items()}
        for file in self._shown.keys() | wanted.keys():
            if self._shown.get(file) != wanted.get(file):
                shown = [wanted[file]] if file in wanted else []
                self._publish(types.PublishDiagnosticsParams(uris.from_path(file), shown))
        self._shown = wanted


def _diagnostic(problem: ConfigError) -> types.Diagnostic:
    row = (problem.line or 1) - 1
    place = types.Range(types.Position(row, 0), types.Position(row, 10_000))
    severity = (
        types.DiagnosticSeverity.Warning if isinstance(problem, ConfigNoticeError) else types.DiagnosticSeverity.Error
    )
    return types.Diagnostic(place, problem.message, severity, source=SOURCE)
