from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exportlint.findings import Finding, Position, Severity, Span
from exportlint.registry import expand
from exportlint.source import read
from exportlint.suppressions import find_suppressions
from exportlint.suppressions.add import add_ignores
from exportlint.suppressions.logical import LogicalLines

ALL = expand("ALL")


def finding(row: int, code: str = "EXP001", name: str = "syntax-error", filename: str = "a.py") -> Finding:
    span = Span(Position(row, 1), Position(row, 2))
    return Finding(code, name, Severity.ERROR, "text", filename, span)


def reported(text: str, enabled: frozenset[str] = ALL, *, require_reason: bool = False) -> list[str]:
    """What is reported of a text with a finding `EXP001` in each row that has the word BAD, `EXP003` for WORSE."""
    rows = text.split("\n")
    findings = [finding(row) for row, line in enumerate(rows, 1) if "BAD" in line]
    findings += [finding(row, "EXP003") for row, line in enumerate(rows, 1) if "WORSE" in line]
    kept = find_suppressions(text).apply(findings, enabled, "a.py", "non-strict", require_reason=require_reason)
    return sorted(f"{f.span.start.row}:{f.code}" for f in kept)


@pytest.mark.parametrize(
    "text",
    [
        "BAD  # exportlint: ignore[EXP001] masks only",
        "BAD  # exportlint: ignore[EXP001] - #12 says why",
        "BAD  # exportlint: ignore[EXP001]: \N{CJK UNIFIED IDEOGRAPH-7406}",
        "BAD  # exportlint: ignore masks only",
        "# exportlint: ignore[EXP001] masks only\nBAD",
        "# exportlint: file-ignore[EXP001] masks only\nBAD",
        "# exportlint: disable[EXP001] masks only\nBAD\n# exportlint: enable[EXP001]",
        "BAD  # noqa: EXP001 masks only",
        "BAD  # noqa: E501, EXP001 - masks only",
        "BAD  # noqa",
        "x = 1  # noqa: E501",
        "x = 1  # type: ignore[x]",
    ],
)
def test_a_reason_is_what_stands_behind(text: str) -> None:
    assert reported(text, require_reason=True) == []


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("BAD  # exportlint: ignore[EXP001]", 1),
        ("BAD  # exportlint: ignore", 1),
        ("BAD  # exportlint: ignore[EXP001] --", 1),
        ("BAD  # exportlint: ignore[EXP001]  # noqa: F401", 1),
        ("BAD  # masks only  # exportlint: ignore[EXP001]", 1),
        ("x = 1\n# exportlint: file-ignore[EXP001]\nBAD", 2),
        ("# exportlint: disable[EXP001]\nBAD\n# exportlint: enable[EXP001] masks only", 1),
        ("BAD  # noqa: EXP001", 1),
        ("BAD  # noqa:E501,EXP001", 1),
    ],
)
def test_a_suppression_without_a_reason_is_reported_and_holds(text: str, row: int) -> None:
    assert reported(text, require_reason=True) == [f"{row}:EXP005"]
    assert reported(text) == []
    assert reported(text, ALL - {"EXP005"}, require_reason=True) == []


def test_nothing_is_said_of_reasons_where_the_file_cannot_be_parsed() -> None:
    found = find_suppressions("x = 1  # exportlint: ignore[EXP101]").partial()
    assert found.apply([], ALL, "a.py", "non-strict", require_reason=True) == []


SUPPRESSED = [
    "BAD  # exportlint: ignore[EXP001]",
    "BAD  # exportlint: ignore[syntax-error]",
    "BAD  # exportlint: ignore[EXP0]",
    "BAD  # exportlint: ignore[linter]",
    "BAD  # exportlint: ignore[EXP001] the reason, with [brackets] and #12",
    "BAD  # exportlint: ignore",
    "BAD  # exportlint: ignore with a reason",
    "BAD  #exportlint:ignore[EXP001]",
    "BAD  # exportlint : ignore [ EXP001 , ]",
    "BAD  # type: ignore[x]  # exportlint: ignore[EXP001]  # noqa: F401",
    "BAD or WORSE  # exportlint: ignore[EXP001, unreadable-file]",
    "BAD or WORSE  # exportlint: ignore[EXP001]  # exportlint: ignore[EXP003]",
    # A trailing comment covers its whole logical line, from whichever row.
    "f(  # exportlint: ignore[EXP001]\n    BAD,\n)",
    "f(\n    BAD,\n    1,  # exportlint: ignore[EXP001]\n    BAD)",
    "f(\n    BAD,\n    # exportlint: ignore[EXP001]\n    1)",
    "BAD + \\\n    1  # exportlint: ignore[EXP001]",
    'x = BAD, """\n#\n"""  # exportlint: ignore[EXP001]',
    "if BAD: x = BAD  # exportlint: ignore[EXP001]",
    # Alone on its row it covers the next logical line.
    "# exportlint: ignore[EXP001]\nBAD",
    "# exportlint: ignore[EXP001]\n\n# text\n\nBAD",
    "# exportlint: ignore[EXP001]\nf(\n    BAD,\n    BAD,\n)",
    "if x:\n    # exportlint: ignore[EXP001]\n    BAD",
    "# exportlint: ignore[EXP001]\ndef f(a,\n      BAD=1):\n    pass",
    "# exportlint: ignore[EXP001]\n@decorator\n@BAD\n# text\ndef f(a=BAD):\n    pass",
    "@decorator\n# exportlint: ignore[EXP001]\ndef f(a=BAD):\n    pass",
    # The file.
    "x = 1\n# exportlint: file-ignore[EXP001]\nBAD",
    "BAD\nif x:\n    BAD\n# exportlint: file-ignore[EXP001] generated\n",
    "# exportlint: file-ignore\nBAD\nWORSE",
    # Ranges.
    "# exportlint: disable[EXP001]\nBAD\nif x:\n    BAD\n# exportlint: enable[EXP001]",
    "if x:\n    # exportlint: disable[EXP001, EXP003]\n    BAD\n    WORSE\n    # exportlint: enable[EXP003, EXP001]\n",
    "# exportlint: disable\nBAD\nWORSE\n# exportlint: enable",
    (
        "# exportlint: disable[EXP001]\nBAD\n# exportlint: disable[EXP003]\nWORSE\n"
        "# exportlint: enable[EXP001]\nWORSE\n# exportlint: enable[EXP003]"
    ),
    # The comments of other linters.
    "BAD  # noqa: EXP001",
    "BAD  # NOQA:EXP001",
    "BAD  # noqa: F401, EXP001 reason",
    "BAD  # noqa: F401 EXP001",
    "BAD  # noqa: exp001",
    "BAD  # noqa",
    "BAD  # noqa because",
    'BAD, """\n"""  # noqa: EXP001',
]


@pytest.mark.parametrize("text", SUPPRESSED)
def test_suppressed(text: str) -> None:
    assert reported(text) == []
    assert reported(text.replace("# ", "# -").replace("#exportlint", "#-exportlint")) != []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Of another place.
        ("x  # exportlint: ignore[EXP001]\nBAD", ["1:EXP002", "2:EXP001"]),
        ("# exportlint: ignore[EXP001]\nx\nBAD", ["1:EXP002", "3:EXP001"]),
        ("# exportlint: ignore[EXP001]\nif x:\n    BAD", ["1:EXP002", "3:EXP001"]),
        ("# exportlint: ignore[EXP001]\nclass A:\n    BAD", ["1:EXP002", "3:EXP001"]),
        ("# exportlint: ignore[EXP001]\n@d\ndef f():\n    BAD", ["1:EXP002", "4:EXP001"]),
        ("BAD\n# exportlint: ignore[EXP001]", ["1:EXP001", "2:EXP002"]),
        ("# noqa: EXP001\nBAD", ["1:EXP002", "2:EXP001"]),
        # Of other rules.
        ("BAD  # exportlint: ignore[EXP003]", ["1:EXP001", "1:EXP002"]),
        ("BAD  # exportlint: ignore[EXP003, EXP001]", ["1:EXP002"]),
        ("BAD  # exportlint: ignore[EXP001, EXP001]", ["1:EXP002"]),
        ("BAD  # noqa: F401", ["1:EXP001"]),
        ("BAD  # noqa: EXPENSIVE001", ["1:EXP001"]),
        ("x  # noqa", []),
        ("x  # noqa: F401, EXP003", ["1:EXP002"]),
        ("x  # exportlint: ignore", ["1:EXP002"]),
        ("# exportlint: file-ignore[EXP001]\nx", ["1:EXP002"]),
        # No comment at all.
        ('BAD, "# exportlint: ignore[EXP001]"', ["1:EXP001"]),
        ('"""\n# exportlint: ignore[EXP001]\n"""; BAD', ["3:EXP001"]),
        ('f("""\n# noqa: EXP001""",  BAD)', ["2:EXP001"]),
        ("BAD  # to exportlint: ignore[EXP001]", ["1:EXP001"]),
        # Ranges end.
        ("# exportlint: disable[EXP001]\nBAD\n# exportlint: enable[EXP001]\nBAD", ["4:EXP001"]),
        ("# exportlint: disable[EXP001]\nx\n# exportlint: enable[EXP001]\n", ["1:EXP002"]),
        ("# exportlint: disable[EXP001]\nBAD\n", ["1:EXP005"]),
        ("if x:\n    # exportlint: disable[EXP001]\n    BAD\nBAD", ["2:EXP005", "4:EXP001"]),
        (
            "if x:\n    # exportlint: disable[EXP001]\n    BAD\n# exportlint: enable[EXP001]\nBAD",
            ["2:EXP005", "4:EXP005", "5:EXP001"],
        ),
        (
            "if x:\n    # exportlint: disable[EXP001]\n    BAD\nelse:\n    # exportlint: enable[EXP001]\n    BAD",
            ["2:EXP005", "5:EXP005", "6:EXP001"],
        ),
        ("# exportlint: disable[EXP001]\nBAD\n# exportlint: enable[EXP003]\nBAD", ["1:EXP005", "3:EXP005"]),
        # What is written wrongly.
        ("BAD  # exportlint: ignroe[EXP001]", ["1:EXP001", "1:EXP005"]),
        ("BAD  # exportlint:", ["1:EXP001", "1:EXP005"]),
        ("BAD  # exportlint: ignore[EXP001", ["1:EXP001", "1:EXP005"]),
        ("BAD  # exportlint: ignore[]", ["1:EXP001", "1:EXP005"]),
        ("BAD  # exportlint: ignore[,]", ["1:EXP001", "1:EXP005"]),
        ("BAD  # exportlint: ignore[EXP777]", ["1:EXP001", "1:EXP005"]),
        ("BAD  # exportlint: ignore[EXP777, EXP001]", ["1:EXP005"]),
        ("BAD  # exportlint: ignore[EXP001 EXP003]", ["1:EXP001", "1:EXP005"]),
        ("BAD  # noqa: EXP777", ["1:EXP001", "1:EXP005"]),
        ("BAD  # exportlint: file-ignore[EXP001]", ["1:EXP001", "1:EXP005"]),
        ("if x:\n    # exportlint: file-ignore[EXP001]\n    BAD", ["2:EXP005", "3:EXP001"]),
        ("BAD  # exportlint: disable[EXP001]", ["1:EXP001", "1:EXP005"]),
        ("f(\n# exportlint: disable[EXP001]\nBAD)", ["2:EXP005", "3:EXP001"]),
        # What is said about suppressions can be suppressed, but only by name.
        ("x  # exportlint: ignore[EXP001, EXP002]", []),
        ("x  # exportlint: ignore[EXP001, unused-suppression]", []),
        ("# exportlint: file-ignore[EXP005]\nx  # exportlint: ignroe", []),
    ],
)
def test_not_suppressed(text: str, expected: list[str]) -> None:
    assert reported(text) == expected


@pytest.mark.parametrize(
    ("text", "enabled", "expected"),
    [
        ("x  # exportlint: ignore[EXP001]", {"EXP002"}, []),
        ("x  # exportlint: ignore[EXP001]", {"EXP001"}, []),
        ("x  # exportlint: ignore[EXP001]", {"EXP001", "EXP002"}, ["1:EXP002"]),
        ("x  # exportlint: ignore[EXP0]", {"EXP001", "EXP002"}, []),
        ("x  # exportlint: ignore", ALL - {"EXP001"}, []),
        ("x  # noqa: EXP001", {"EXP002"}, []),
        ("x  # exportlint: ignroe", ALL - {"EXP005"}, []),
    ],
)
def test_unused_only_of_what_was_looked_for(text: str, enabled: set[str], expected: list[str]) -> None:
    assert reported(text, frozenset(enabled)) == expected


@pytest.mark.parametrize(
    ("text", "start", "end", "message"),
    [
        ("x  # exportlint: ignore[EXP001, EXP003]  ", 25, 31, "unused suppression: no `EXP001` finding here"),
        ("é中 = 1  # noqa: F401, EXP001", 23, 29, "unused suppression: no `EXP001` finding here"),
        ("x  # text  # exportlint: ignore because", 12, 32, "unused suppression: no finding here"),
        ("x  # exportlint: ignroe[EXP1]  ", 4, 30, "unknown `ignroe`, did you mean `ignore`?"),
        ("x  # exportlint: ignore[ EXP00x ]  ", 26, 32, "unknown rule selector `EXP00x`, did you mean `EXP00"),
        ("x  # exportlint: ignore[EXP001  # more", 4, 31, "the list of rules has no closing `]`"),
    ],
)
def test_the_place_is_exact(text: str, start: int, end: int, message: str) -> None:
    first = find_suppressions(text).apply([], ALL, "a.py", "strict")[0]
    assert first.span == Span(Position(1, start), Position(1, end))
    assert message in first.message
    assert (first.filename, first.mode, first.severity) == ("a.py", "strict", Severity.WARNING)


STATEMENTS = st.sampled_from(
    [
        "x = 1",
        "if x: y = 2",
        "f(\n    1,  # text\n    2,\n)",
        's = """\n# exportlint: ignroe\n"""',
        "x = 1 + \\\n    2",
        "def f(\n    a,\n): return a",
        "@d\nclass A: pass",
        "for i in x:\n    if i:\n        y = (\n            i)\n    else:\n        pass",
        "# text",
        "",
        "x = 'a' 'b'  # why",
        "x = f'{y!r:>{z}}'",
        "lambda: (yield)",
        "\x0cx = 2",
    ]
)


@given(st.lists(STATEMENTS, min_size=1, max_size=6), st.data(), st.sampled_from(["\n", "\r\n", "\r"]))
def test_added_suppressions_parse_and_suppress(
    tmp_path_factory: pytest.TempPathFactory, statements: list[str], data: st.DataObject, newline: str
) -> None:
    text = "\n".join(statements) + "\n"
    tree = ast.parse(text)
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.expr)]
    if not nodes:
        return
    chosen = data.draw(st.lists(st.sampled_from(nodes), min_size=1, max_size=4))
    file = tmp_path_factory.mktemp("add") / "a.py"
    file.write_bytes(text.replace("\n", newline).encode())
    findings = [finding(node.lineno, "EXP101", "tensor-branch", str(file)) for node in chosen]
    names = {"EXP101": "syntax-error"}
    # Any rule will do; those about the linter itself are never suppressed by `add_ignores`.
    findings = [Finding(f.code, names[f.code], f.severity, f.message, f.filename, f.span) for f in findings]
    before = file.read_bytes()
    add_ignores(read(file), findings, "why")
    after = read(file)
    assert ast.dump(ast.parse(after.text)) == ast.dump(tree)
    kept = find_suppressions(after.text).apply([finding(f.span.start.row) for f in findings], ALL, str(file), "strict")
    assert kept == []
    lines = zip(before.split(newline.encode()), after.data.split(newline.encode()), strict=True)
    assert all(new.startswith(old) for old, new in lines)


@given(st.lists(STATEMENTS, max_size=6))
def test_logical_lines_are_the_statements(statements: list[str]) -> None:
    text = "\n".join(statements) + "\n"
    lines = LogicalLines(text)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            line = lines.at(node.lineno)
            assert line is not None
            assert line.first <= node.lineno <= (node.end_lineno or 0) <= line.last


@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_no_comment_raises(text: str) -> None:
    for pragma in (f"# exportlint: {text}", f"# exportlint: ignore[{text}]", f"# noqa: {text}"):
        reported(f"BAD  {pragma}")


def test_spans_lie_in_their_comment(tmp_path: Path) -> None:
    text = "x = 1  # exportlint: ignore[EXP001, EXP777]  # exportlint: nothing"
    for f in find_suppressions(text).apply([], ALL, "a.py", "strict"):
        assert text[f.span.start.column - 1 : f.span.end.column - 1] in ("EXP001", "EXP777", "# exportlint: nothing")
