"""`in` of a list: sizes among numbers, and tensors among tensors.

Of a size, the program is for those that take the branch of the example.
"""

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


@pytest.mark.parametrize(("items", "code"), [("[x, y]", None), ("(x,)", None), ("[y, x]", "EXP103"), ("[y]", "EXP103")])
def test_a_tensor_is_in_a_list_that_begins_with_it(items: str, code: str | None) -> None:
    """Python compares the objects before their values, so nothing asks for these."""
    text = FORWARD + f"        y = x * 2\n        return x * 2 if x in {items} else x * 3\n"
    settings = combine([Layer(ROOT, {"torch-version": (2, 13), "mode": "non-strict"})], ROOT)
    found = check_file(from_bytes(text.encode(), ROOT / "model.py", "model.py"), Project(), settings)
    assert [finding.code for finding in found] == ([code] if code else [])
