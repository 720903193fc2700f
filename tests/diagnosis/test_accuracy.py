"""Recorded errors lead to their rule and line, as often as docs/explain.md says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.diagnosis.measuring import cases, scores, table

PROJECT = Path(__file__).parents[2]
GOAL = 0.85


@pytest.mark.thorough
def test_the_page_says_how_often_it_is_right() -> None:
    page = (PROJECT / "docs" / "explain.md").read_text(encoding="utf-8")
    assert table() in page, "python scripts/generate_explain_doc.py"


@pytest.mark.thorough
def test_rule_and_line_are_right_where_the_sources_are() -> None:
    with_sources, _, public = scores()
    assert with_sources.both >= GOAL * with_sources.total, with_sources.wrong
    assert public.both >= GOAL * public.total, public.wrong
    assert with_sources.total + public.total >= 80


def test_each_case_has_a_source() -> None:
    assert all(case.source.startswith("https://github.com/") or "torch" in case.source for case in cases())
