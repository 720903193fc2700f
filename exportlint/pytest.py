"""A plugin of pytest: below a failing test that exports a model stands what the error is, and what to write instead.

Run pytest with `-p exportlint.pytest`, or put `pytest_plugins = ["exportlint.pytest"]` into the topmost `conftest.py`.
"""

from __future__ import annotations

import traceback
from collections.abc import Generator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from exportlint.diagnosis import Explainer

_SECTION = "exportlint explain"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, None]:
    """Add a section to the report of a test that fails in torch.export."""
    outcome = yield
    report = outcome.get_result()
    if report.failed and call.excinfo is not None and (text := _explained(call.excinfo.value, item.config.rootpath)):
        report.sections.append((_SECTION, text))


def _explained(error: BaseException, root: Path) -> str:
    """What an exception is, if torch.export raised it and exportlint knows it; else empty."""
    from exportlint.config import ConfigError
    from exportlint.diagnosis import explained, read_errors
    from exportlint.diagnosis.reports import render
    from exportlint.report import Context

    logged = list(read_errors("".join(traceback.format_exception(error)).splitlines()))
    if not any(frame.exports for one in logged for link in one.links for frame in link.frames):
        return ""
    try:
        explainer = _explainer(root)
        known = [one for one in explained(logged, explainer, most=5) if one.is_known]
    except ConfigError as problem:
        return f"error: {problem}"
    return render(known, "text", Context(root, explainer.sources)) if known else ""


@cache
def _explainer(root: Path) -> Explainer:
    from exportlint.config import Configuration
    from exportlint.diagnosis import Explainer

    return Explainer(Configuration(root), [root, Path.cwd()])
