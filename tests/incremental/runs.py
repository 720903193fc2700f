"""Which classes the analysis runs."""

from __future__ import annotations

import pytest

from exportlint.analysis import analyze
from exportlint.analysis.eval.engine import Engine
from exportlint.syntax.definitions import Class


def noted_runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the classes whose entry points are run from now on."""
    names: list[str] = []
    export = analyze._export

    def noting(engine: Engine, cls: Class, entry_point: str) -> None:
        names.append(cls.node.name)
        export(engine, cls, entry_point)

    monkeypatch.setattr(analyze, "_export", noting)
    return names
