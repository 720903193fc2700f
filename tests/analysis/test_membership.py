"""`in` of a size and several numbers: the program is for the sizes that take the branch of the example."""

from __future__ import annotations

from pathlib import Path

import pytest

from exportlint.analysis.project import Project
from exportlint.check import check_file
from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.source import from_bytes
from tests.analysis.cases import FORWARD

ROOT = Path("/nowhere")
SIZE, ONE = "EXP401", "EXP406"


@pytest.mark.parametrize(
    ("items", "code"),
    [("(1, 3)", SIZE), ("(3, 1)", SIZE), ("(1,)", ONE), ("(0, 1)", ONE), ("(4, 8)", SIZE), ("(-1, 0)", None)],
)
def test_the_order_of_the_numbers_does_not_matter(items: str, code: str | None) -> None:
    text = FORWARD + f"        return x * 2 if x.shape[0] in {items} else x * 3\n"
    settings = combine([Layer(ROOT, {"torch-version": (2, 13)})], ROOT)
    found = check_file(from_bytes(text.encode(), ROOT / "model.py", "model.py"), Project(), settings)
    assert [finding.code for finding in found] == ([code] if code else [])
