"""A fingerprint outlasts edits elsewhere, and no two findings of a file have the same."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from exportlint.findings import Finding, Position, Severity, Span
from exportlint.fingerprints import fingerprinted
from exportlint.source import SourceFile, from_text

NAME = "/project/net.py"
LINES = ("a.item()", "b . data", "if a > b:", "", "    x = (1,\n         2)")


def _find(lines: list[str]) -> tuple[SourceFile, list[Finding]]:
    """A file of these lines, and a finding about each that holds code."""
    source = from_text("\n".join(lines), Path(NAME))
    found, offset = [], 0
    for line in lines:
        if line:
            span = source.lines.span(offset, offset + len(line))
            found.append(Finding("EXP202", "tensor-to-number", Severity.ERROR, f"line {span.start.row}", NAME, span))
        offset += len(line) + 1
    return source, found


def _fingerprints(lines: list[str]) -> list[str]:
    source, found = _find(lines)
    return [finding.fingerprint for finding in fingerprinted(reversed(found), {NAME: source}.get)]


lines = st.lists(st.sampled_from(LINES), max_size=12)


@given(lines)
def test_they_are_unique_in_a_file(code: list[str]) -> None:
    found = _fingerprints(code)
    assert len(set(found)) == len(found)
    assert all(len(one) == 16 for one in found)


@given(lines, st.lists(st.integers(0, 12)))
def test_moved_lines_keep_theirs(code: list[str], blank: list[int]) -> None:
    moved = list(code)
    for place in blank:
        moved.insert(place, "")
    assert _fingerprints(moved) == _fingerprints(code)


@given(lines, st.integers(0, 12))
def test_other_code_leaves_them_alone(code: list[str], place: int) -> None:
    more = [*code[:place], "another.tolist()", *code[place:]]
    assert set(_fingerprints(code)) < set(_fingerprints(more))


def test_layout_makes_no_difference_and_code_does() -> None:
    assert _fingerprints(["f(a, b)"]) == _fingerprints(["f(a,\n  b)"]) != _fingerprints(["f(a, c)"])


def test_equal_findings_are_numbered_and_the_first_stay() -> None:
    once, twice = _fingerprints(["a"]), _fingerprints(["a", "a"])
    assert twice[:1] == once
    assert twice[0] != twice[1]


def test_rule_and_function_count_and_words_do_not() -> None:
    source, _ = _find(["a"])
    span = Span(Position(1, 1), Position(1, 2))

    def of(code: str = "EXP202", symbol: str = "", message: str = "m", severity: Severity = Severity.ERROR) -> str:
        one = Finding(code, "x", severity, message, NAME, span, symbol)
        return fingerprinted([one], {NAME: source}.get)[0].fingerprint

    assert of() == of(message="other") == of(severity=Severity.INFO)
    assert len({of(), of(code="EXP203"), of(symbol="Net.forward")}) == 3


def test_a_file_that_cannot_be_read_any_more() -> None:
    _, found = _find(["a", "b"])
    assert len({finding.fingerprint for finding in fingerprinted(found, lambda _name: None)}) == 2
