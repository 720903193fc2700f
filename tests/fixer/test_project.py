"""Fixing many files: what holds is kept, what does not is left, whatever else there is to fix."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exportlint.findings import Applicability
from exportlint.fixer import MAX_ROUNDS, FixResult, fix
from exportlint.linter import Task
from tests.fixer.words import tasks

pytestmark = pytest.mark.usefixtures("words")

WORDS = [
    "bad", "named", "poor", "odd", "show", "same", "evil", "deep", "deeper", "mixed", "torn", "late", "api", "first3",
    "good", "x",
]  # fmt: skip


def fixed(tasks: list[Task], most: Applicability = Applicability.SAFE, jobs: int = 1) -> FixResult:
    return fix(tasks, lambda _: most, jobs)


def texts(result: FixResult) -> dict[str, str]:
    return {task.path.name: task.read().text for task in result.tasks}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("bad", "good"),
        ("x = bad + bad\ny = bad\n", "x = good + good\ny = good\n"),
        ("same, bad", "same, good"),  # one that does not hold is no hindrance to others
        ("bad, evil, bad, torn, bad", "good, evil, good, torn, good"),
        ("late", "late"),
        ("bad, late", "good, x"),  # what fails in one round may hold in the next
        ("deep", "good"),  # what it uncovers has a fix
        ("deeper, evil", "good + good, evil"),
        ("mixed, bad", "mixed, good"),  # nothing fixes all that it uncovers
        ("first9", "first0"),
        ("odd, show", "odd, show"),
        ("bad, odd  # exportlint: ignore[EXP101]", "bad, odd  # exportlint: ignore[EXP101]"),
        ("bad = (", "bad = ("),
    ],
)
def test_what_holds_is_kept(before: str, after: str, tmp_path: Path) -> None:
    result = fixed(tasks(tmp_path, {"a.py": before}))
    assert texts(result) == {"a.py": after}
    assert (tmp_path / "a.py").read_text() == before
    assert len(result.fixed) == (before != after)


def test_up_to_an_applicability(tmp_path: Path) -> None:
    result = fixed(tasks(tmp_path, {"a.py": "bad, odd, show"}), Applicability.UNSAFE)
    assert texts(result) == {"a.py": "good, good, show"}
    assert [(f.code, f.span.start.column) for f in result.fixed[0].findings] == [("EXP101", 1), ("EXP202", 6)]
    assert [f.code for f in result.remaining.findings] == ["EXP203"]


def test_a_file_that_is_not_to_be_fixed(tmp_path: Path) -> None:
    files = tasks(tmp_path, {"a.py": "bad", "b.py": "bad"})
    result = fix(files, lambda task: Applicability.SAFE if task.path.stem == "b" else None)
    assert texts(result) == {"a.py": "bad", "b.py": "good"}


def test_fixes_without_end_leave_the_file_as_it_was(tmp_path: Path) -> None:
    result = fixed(tasks(tmp_path, {"a.py": "bad, ping", "b.py": "bad"}))
    assert texts(result) == {"a.py": "bad, ping", "b.py": "good"}
    assert [f.task.path.name for f in result.fixed] == ["b.py"]
    assert [f.code for f in result.remaining.findings if f.filename.endswith("a.py")] == ["EXP004", "EXP101", "EXP401"]
    message = result.remaining.findings[0].message
    assert message.startswith("internal error: the fixes of EXP401 do not converge, so the file is unchanged")
    assert result.remaining.failed


def test_waiting_for_others_is_no_lack_of_an_end(tmp_path: Path) -> None:
    words = (MAX_ROUNDS + 5) * ["named"]
    result = fixed(tasks(tmp_path, {"a.py": f"{words}"}))
    assert texts(result) == {"a.py": f"{words}".replace("named", "good")}
    assert not result.remaining.failed


class TestFilesThatBelongTogether:
    def test_a_finding_that_only_an_importer_sees(self, tmp_path: Path) -> None:
        files = tasks(tmp_path, {"a.py": "import b\nuses", "b.py": "api, bad", "c.py": "import b"})
        result = fixed(files)
        assert texts(result)["b.py"] == "api, good"
        assert [(Path(f.filename).name, f.code) for f in result.remaining.findings] == [("b.py", "EXP601")]

    def test_a_file_alone(self, tmp_path: Path) -> None:
        assert texts(fixed(tasks(tmp_path, {"b.py": "api"}))) == {"b.py": "new"}

    def test_an_importer_that_saw_nothing_before(self, tmp_path: Path) -> None:
        """It is no witness at first, and blames the fix only when it sees the outcome."""
        files = tasks(tmp_path, {"a.py": "uses\nimport b", "b.py": "bad\nfirst3 = api", "d.py": "bad"})
        result = fixed(files)
        assert texts(result) == {"a.py": "uses\nimport b", "b.py": "good\nfirst0 = api", "d.py": "good"}


def test_a_file_that_cannot_be_written_back(tmp_path: Path) -> None:
    (task,) = tasks(tmp_path, {"a.py": ""})
    # Switches to another character set and back for nothing.
    task.path.write_bytes(b"# coding: iso-2022-jp\nbad = '\x1b$B\x1b(B'\n")
    result = fixed([task])
    assert not result.fixed
    assert [str(p) for p in result.problems] == [f"{task.path}: cannot be written back as iso-2022-jp: it is not fixed"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1", "cp1251", "utf-8"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_other_bytes_stay(encoding: str, newline: str, tmp_path: Path) -> None:
    (task,) = tasks(tmp_path, {"a.py": ""})
    before = newline.join(
        [f"# coding: {encoding.removesuffix('-sig')}", "\tx = '§'; bad", "\x0c", "", "# end "]
    ).encode(encoding)
    before = before.replace(b"\tx", b"x")
    task.path.write_bytes(before)
    (one,) = fixed([task]).fixed
    assert one.data == before.replace(b"bad", b"good")


@pytest.mark.thorough
@given(
    st.lists(st.lists(st.sampled_from(WORDS), max_size=6), min_size=2, max_size=3),
    st.sampled_from([Applicability.SAFE, Applicability.UNSAFE]),
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_order_and_repetition_do_not_matter(tmp_path: Path, words: list[list[str]], most: Applicability) -> None:
    heads = ["", "import a\nuses\n", "import a\nimport b\n"]
    files = {name: head + ", ".join(w) for name, head, w in zip(["a.py", "b.py", "c.py"], heads, words, strict=False)}
    given_tasks = tasks(tmp_path, files)
    result = fixed(given_tasks, most)
    for order in itertools.permutations(given_tasks):
        other = fixed(list(order), most)
        assert texts(other) == texts(result)
        assert other.remaining == result.remaining
    again = fixed(list(result.tasks), most)
    assert texts(again) == texts(result)
    assert not again.fixed
    assert again.remaining == result.remaining


@pytest.mark.thorough
def test_processes_do_not_matter(tmp_path: Path) -> None:
    files = {f"f{n}.py": f"{'import f0' if n else ''}\n" + ", ".join(WORDS[n % 7 :]) for n in range(12)}
    given_tasks = tasks(tmp_path, files)
    assert fixed(given_tasks, jobs=2) == fixed(given_tasks, jobs=1)


@pytest.mark.parametrize(
    ("files", "obstacles"),
    [
        ({"a.py": "bad"}, []),
        ({"a.py": "same, bad"}, ["the finding would remain"]),
        ({"a.py": "bad, evil"}, ["it would introduce EXP102 at a.py:1"]),
        ({"a.py": "x = 1\ntorn\n"}, ["the file would not parse"]),
        ({"a.py": "first3, torn, bad"}, ["the file would not parse"]),
        ({"a.py": "ping"}, ["the fixes of the file do not converge"]),
        ({"a.py": "api", "b.py": "import a\nuses"}, ["it would introduce EXP602 at a.py:1"]),
        ({"a.py": "odd, show"}, ["", ""]),  # nobody wants to apply them
    ],
)
def test_why_a_fix_is_not_applied(files: dict[str, str], obstacles: list[str], tmp_path: Path) -> None:
    left = [f.fix.obstacle for f in fixed(tasks(tmp_path, files)).remaining.findings if f.fix is not None]
    assert left == obstacles


@given(
    st.dictionaries(
        st.sampled_from(["a.py", "b.py"]), st.lists(st.lists(st.sampled_from(WORDS), max_size=4), max_size=4)
    )
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
def test_what_is_not_fixed_says_why(tmp_path: Path, files: dict[str, list[list[str]]]) -> None:
    given = tasks(tmp_path, {name: "\n".join(map(", ".join, lines)) for name, lines in files.items()})
    left = [f.fix for f in fixed(given).remaining.findings if f.fix is not None]
    assert all(fix.obstacle for fix in left if fix.applicability is Applicability.SAFE)
