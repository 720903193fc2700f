"""Edits: what goes together, and what comes of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exportlint.edits import apply, compatible, places
from exportlint.findings import Applicability, Edit, Fix
from exportlint.fixer.shifts import Chain, Shift
from exportlint.source import LineIndex

TEXT = st.text(st.sampled_from("ab\n\r\t é𝒳\x0c#"), max_size=30)


@st.composite
def texts_and_fixes(draw: st.DrawFn) -> tuple[LineIndex, list[Fix]]:
    lines = LineIndex(draw(TEXT))
    fixes = []
    for _ in range(draw(st.integers(0, 6))):
        # Offsets between `\r` and `\n` are no place of their own.
        ends = draw(st.lists(st.integers(0, len(lines.text)), min_size=2, max_size=6).map(sorted))
        ends = [lines.offset(lines.position(end)) for end in ends]
        pairs = [(a, b) for a, b in zip(ends[::2], ends[1::2], strict=False)]
        edits = [
            Edit(lines.span(a, b), draw(st.sampled_from(["", "x", "y\n", "\nimport a", "\nimport b"])))
            for a, b in pairs
        ]
        kept = [edit for edit, (a, _), before in zip(edits, pairs, [(0, -1), *pairs], strict=False) if a > before[1]]
        names = draw(st.sets(st.sampled_from([(0, "n"), (3, "n")]), max_size=1))
        fixes.append(
            Fix(draw(st.sampled_from(Applicability)), draw(st.sampled_from("mn")), tuple(kept), frozenset(names))
        )
    return lines, fixes


def naive(edits: list[Edit], lines: LineIndex) -> str:
    """From the last to the first, so that none moves another."""
    text = lines.text
    for start, end, content in reversed(places(edits, lines)):
        text = text[:start] + content + text[end:]
    return text


@given(texts_and_fixes())
def test_what_goes_together_does_not_meet(case: tuple[LineIndex, list[Fix]]) -> None:
    lines, fixes = case
    chosen = compatible(fixes, lines)
    edits = [edit for fix in chosen for edit in fix.edits]
    assert apply(edits, lines) == naive(edits, lines)
    for one, fix in enumerate(chosen):
        for other in chosen[:one]:
            assert fix.names.isdisjoint(other.names)
            for a in places(fix.edits, lines):
                for b in places(other.edits, lines):
                    meet = a[0] <= b[1] and b[0] <= a[1]
                    assert not meet or a == b or (a[2].startswith("\nimport") and b[2].startswith("\nimport"))
    # Nothing is left out for nothing.
    assert all(fix in chosen or len(compatible([*chosen, fix], lines)) <= len(chosen) for fix in fixes)


@given(texts_and_fixes(), st.randoms())
def test_order_does_not_matter(case: tuple[LineIndex, list[Fix]], random: object) -> None:
    lines, fixes = case
    shuffled = fixes[:]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    edits, others = ([edit for fix in compatible(order, lines) for edit in fix.edits] for order in (fixes, shuffled))
    assert apply(edits, lines) == apply(others, lines)


@given(texts_and_fixes())
def test_text_outside_of_edits_stays(case: tuple[LineIndex, list[Fix]]) -> None:
    lines, fixes = case
    edits = [edit for fix in compatible(fixes, lines) for edit in fix.edits]
    after = LineIndex(apply(edits, lines))
    shift = Shift(edits, lines, after)
    end = position = 0
    for start, stop, content in [*places(edits, lines), (len(lines.text), len(lines.text), "")]:
        kept = lines.text[end:start]
        assert after.text[position : position + len(kept)] == kept
        position += len(kept) + len(content)
        end = stop
    for start in range(len(lines.text)):
        span = lines.span(start, start + 1)
        moved = shift.span(span)
        if not shift.is_edited(span) and "\r" not in lines.text + after.text:
            assert moved is not None
            assert after.slice(moved) == lines.slice(span)
            assert shift.reach(span) == moved == Chain((shift,)).span(span)
        elif moved is not None and "\r" not in lines.text + after.text:
            reach = shift.reach(span)
            assert reach.start <= moved.start <= moved.end <= reach.end


def shifted(text: str, *edits: tuple[str, str]) -> tuple[LineIndex, LineIndex, Shift]:
    lines = LineIndex(text)
    made = [Edit(lines.span(text.index(old), text.index(old) + len(old)), new) for old, new in edits]
    after = LineIndex(apply(made, lines))
    return lines, after, Shift(made, lines, after)


def test_where_code_is_after_edits() -> None:
    lines, after, shift = shifted("f(aa, bb) + cc", ("f(", "pad("), ("bb", "b[0]"))

    def now(part: str) -> str | None:
        start = lines.text.index(part)
        moved = shift.span(lines.span(start, start + len(part)))
        return None if moved is None else after.slice(moved)

    assert now("cc") == "cc"
    assert now("aa") == "aa"
    assert now("aa, bb") == "aa, b[0]"
    assert now("f(aa, bb)") == "pad(aa, b[0])"
    assert now("bb") == "b[0]"
    assert now("b) +") is None  # it starts within what was replaced


def test_imports_go_together_and_are_shared() -> None:
    lines = LineIndex("import os\nx\ny\nz")
    end = lines.span(9, 9)

    def fix(row: int, name: str) -> Fix:
        place = lines.line_start(row)
        edits = (Edit(end, f"\nimport {name}"), Edit(lines.span(place, place + 1), f"{name}.x"))
        return Fix(Applicability.SAFE, "", edits)

    chosen = compatible([fix(2, "torch"), fix(3, "math"), fix(4, "torch")], lines)
    assert len(chosen) == 3
    edits = [edit for one in chosen for edit in one.edits]
    assert apply(edits, lines) == "import os\nimport math\nimport torch\ntorch.x\nmath.x\ntorch.x"


@pytest.mark.thorough
def test_many_fixes_take_no_time() -> None:
    text = "a b " * 20_000
    lines = LineIndex(text)
    fixes = [Fix(Applicability.SAFE, "", (Edit(lines.span(at, at + 1), "c"),)) for at in range(0, len(text), 2)]
    assert len(compatible(fixes, lines)) == 40_000
