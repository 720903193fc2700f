"""The examples of ExportDB, which come with torch: nothing is claimed to break in those that export supports."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.config.toml import check
from exportlint.config.torch_version import parse_torch_version
from exportlint.findings import Finding, Mode
from exportlint.linter import Task, lint
from exportlint.pages import MODES

torch = pytest.importorskip("torch")
examples = pytest.importorskip("torch._export.db.examples")

CASES: dict[str, Any] = dict(sorted(examples.all_examples().items()))
"""By name, as `torch._export.db.case.ExportCase` describes them."""


def is_supported(case: Any) -> bool:
    return bool(case.support_level.name == "SUPPORTED")


def varying(case: Any) -> list[int]:
    """The dimensions that a case is exported with as dynamic ones, of whichever input."""
    shapes = (case.dynamic_shapes or {}).values()
    return sorted({dimension for shape in shapes if shape for dimension in shape})


def findings(name: str, mode: Mode) -> tuple[Finding, ...]:
    """What the linter finds in the file of a case, if the case's own dimensions vary."""
    case = CASES[name]
    file = Path(inspect.getfile(type(case.model)))
    settings = check({"mode": mode, "dynamic-dims": varying(case)}, None)
    settings["torch-version"] = parse_torch_version(torch.__version__)
    task = Task(file, combine([Layer(file.parent, settings)], file.parent), data=file.read_bytes())
    return lint([task]).findings


def test_the_cases_are_there() -> None:
    assert len(CASES) > 30
    assert {is_supported(case) for case in CASES.values()} == {True, False}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if is_supported(case)])
def test_nothing_breaks_in_what_export_supports(name: str, mode: Mode) -> None:
    # A case has no mode of its own: torch supports them in both.
    assert [found for found in findings(name, mode) if found.severity != "info"] == []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not is_supported(case)])
def test_what_export_does_not_support_is_found(name: str, mode: Mode) -> None:
    # What export refuses of sizes depends on how it is told of them; without sizes it refuses for sure.
    severities = {found.severity for found in findings(name, mode)}
    assert "error" in severities or (severities and CASES[name].dynamic_shapes)
