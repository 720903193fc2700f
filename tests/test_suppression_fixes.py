"""Fixes of suppressions that suppress nothing or cannot work."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exportlint.edits import apply, compatible
from exportlint.findings import Applicability, Finding, Position, Severity, Span
from exportlint.registry import expand
from exportlint.source import LineIndex
from exportlint.suppressions import find_suppressions

ALL = expand("ALL")
SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE


def problems(text: str) -> list[Finding]:
    """What is said about the suppressions of a text with a finding `EXP101` in each row that has the word BAD."""
    findings = [
        Finding("EXP101", "tensor-branch", Severity.ERROR, "", "a.py", Span(Position(row, 1), Position(row, 2)))
        for row, line in enumerate(text.splitlines(), 1)
        if "BAD" in line.partition("#")[0]
    ]
    return find_suppressions(text).apply(findings, ALL, "a.py", "non-strict")


def fixed(text: str, most: Applicability = SAFE) -> str:
    """The text after as many rounds of fixes as there is something to fix."""
    while fixes := [f.fix for f in problems(text) if f.fix is not None and f.fix.applicability.rank <= most.rank]:
        lines = LineIndex(text)
        edits = {edit for fix in compatible(fixes, lines) for edit in fix.edits}
        after = apply(edits, lines)
        assert after != text
        text = after
    return text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x  # exportlint: ignore[EXP101]", "x"),
        ("x\t#exportlint:ignore \t", "x"),
        ("x  # exportlint: ignore[EXP101, EXP102]\ny", "x\ny"),
        ("x  # exportlint: ignore[EXP101]  # why", "x  # why"),
        ("x  # why  # exportlint: ignore[EXP101]", "x  # why"),
        ("x  # exportlint: ignore[EXP101] as it is traced", "x  # as it is traced"),
        ("x  # exportlint: ignore[EXP101]: traced", "x  # traced"),
        ("x  # why  # exportlint: ignore[EXP101] - traced", "x  # why  # traced"),
        ("x  # exportlint: ignore[EXP101]  # exportlint: ignore[EXP102]  # type: ignore", "x  # type: ignore"),
        ("BAD  # exportlint: ignore[EXP101, EXP102] why", "BAD  # exportlint: ignore[EXP101] why"),
        ("BAD  # exportlint: ignore[EXP102,EXP101]", "BAD  # exportlint: ignore[EXP101]"),
        ("BAD  # exportlint: ignore[ EXP102 , EXP101 , EXP103 , ]", "BAD  # exportlint: ignore[ EXP101 , ]"),
        ("BAD  # exportlint: ignore[EXP101, EXP101]", "BAD  # exportlint: ignore[EXP101]"),
        ("x  # noqa: EXP101", "x"),
        ("x  # noqa: EXP101,E501", "x  # noqa: E501"),
        ("x  # NOQA:E501 EXP101 exp102 W605 why", "x  # NOQA:E501 W605 why"),
        ("BAD  # noqa: F401, EXP101, EXP103", "BAD  # noqa: F401, EXP101"),
        ("a\n    # exportlint: ignore[EXP101]\r\nb\r\n", "a\nb\r\n"),
        ("a\n# exportlint: file-ignore", "a\n"),
        ("a\n# exportlint: file-ignore[EXP101] generated\nb", "a\n# generated\nb"),
        ("# exportlint: disable[EXP101]\nx\n# exportlint: enable[EXP101]\ny", "x\ny"),
        ("# exportlint: disable\n# exportlint: enable\ny", "y"),
        (
            "# exportlint: disable[EXP101, EXP102]\nBAD\n# exportlint: enable[EXP102,EXP101] again",
            "# exportlint: disable[EXP101]\nBAD\n# exportlint: enable[EXP101] again",
        ),
        ("x\n# exportlint: disable[EXP101]\ny", "x\ny"),
        # What cannot work.
        ("x\n# exportlint: enable[EXP101]\ny", "x\ny"),
        ("x  # exportlint: ignore[]", "x"),
        ("x  # exportlint: ignore[QQQ]", "x"),
        ("BAD  # exportlint: ignore[QQQ, EXP101]", "BAD  # exportlint: ignore[EXP101]"),
    ],
)
def test_safe(before: str, after: str) -> None:
    assert fixed(before) == after
    assert problems(after) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("BAD  # exportlint: ignroe[EXP101]", "BAD  # exportlint: ignore[EXP101]"),
        ("x  # exportlint: file-ignore[sytnax-error]", "x  # exportlint: file-ignore[syntax-error]"),
        # The words behind it would become an instruction.
        ("x  # exportlint: ignore[EXP101] type: ignore", "x  # type: ignore"),
        ("x  # exportlint: ignore[EXP101] noqa", "x  # noqa"),
        ("BAD  # exportlint: ignore[EXP102] exportlint: ignore[EXP101]", "BAD  # exportlint: ignore[EXP101]"),
        ("x  # noqa: EXP101 pragma: no cover", "x  # pragma: no cover"),
    ],
)
def test_unsafe(before: str, after: str) -> None:
    assert fixed(before) == before
    assert fixed(before, UNSAFE) == after


@pytest.mark.parametrize(
    "text",
    [
        "x  # exportlint: ignore[EXP00x]",  # several names are near
        "x  # exportlint: ignore[EXP101",
        "x  # exportlint: qqq",
        "x  # exportlint: disable[EXP101]",
        "BAD\n# exportlint: disable[EXP101]\nBAD",
        "BAD  # exportlint: ignore[EXP101]",
        "x  # noqa",
    ],
)
def test_left_to_people(text: str) -> None:
    assert fixed(text, UNSAFE) == text


def count(findings: list[Finding], code: str) -> int:
    return sum(finding.code == code for finding in findings)


STATEMENTS = st.sampled_from(
    [
        "x = 1",
        "BAD = 2",
        "if BAD:\n    pass",
        "f(\n    BAD,\n    2,\n)",
        's = """\n# exportlint: ignore\n"""',
        "x = BAD + \\\n    2",
        "def f(\n    a,\n): return a",
        "@d\nclass A: pass",
        "for i in x:\n    if i:\n        y = (\n            BAD)\n    else:\n        pass",
        "x = f'{BAD!r:>{z}}'",
        "",
    ]
)
RULES = st.lists(st.sampled_from(["EXP101", "EXP102", "tensor-branch", "EXP1", "mutation"]), max_size=3)


@st.composite
def comments(draw: st.DrawFn) -> str:
    """A comment with suppressions and other text."""
    parts = []
    for kind in draw(st.lists(st.sampled_from(["ignore", "file-ignore", "disable", "enable", "noqa", "text"]))):
        rules = draw(RULES)
        listed = draw(st.sampled_from([", ", ",", " , "])).join(rules)
        if kind == "text":
            parts.append("# why")
        elif kind == "noqa":
            parts.append(f"# noqa: {', '.join(['E501', *(r for r in rules if r.isupper())])}")
        else:
            parts.append(f"# exportlint: {kind}" + (f"[{listed}]" if rules else ""))
        parts[-1] += draw(st.sampled_from(["", "", " ", " because", " - so"]))
    return draw(st.sampled_from(["  ", "", " "])).join(parts)


@settings(max_examples=30)
@given(st.lists(st.tuples(STATEMENTS, st.lists(comments(), max_size=4)), max_size=5), st.data())
def test_nothing_unused_remains_and_the_code_is_the_same(
    parts: list[tuple[str, list[str]]], data: st.DataObject
) -> None:
    lines: list[str] = []
    for statement, remarks in parts:
        lines += statement.split("\n")
        for remark in remarks:
            # Behind the statement, or on a line of its own before the next one.
            if data.draw(st.booleans()) and not lines[-1].startswith("#"):
                lines[-1] += "  " + remark
            else:
                lines.append(remark)
    text = data.draw(st.sampled_from(["\n", "\r\n"])).join([*lines, ""])
    after = fixed(text, UNSAFE)
    assert count(problems(after), "EXP002") == 0
    assert ast.dump(ast.parse(after)) == ast.dump(ast.parse(text))
    assert count(problems(after), "EXP101") == count(problems(text), "EXP101")
