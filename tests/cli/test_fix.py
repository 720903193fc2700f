"""Fixes as users see them: what becomes of files, what is printed, and the exit code."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from exportlint import fixer
from exportlint.fixer import Fixed
from tests.cli.runner import CLEAN, Run, write

DATA = """\
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        y = x * 2
        return y.data + 1
"""
"""A module with one finding, EXP301, that has a safe fix."""

FIXED = DATA.replace(".data", ".detach()")
GROWING = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = []

    def forward(self, x):
        self.kept.append(x)
        return sum(self.kept)
"""
"""A module with one finding, EXP312, whose rule has fixes for others."""

KEPT = "x = 1  # exportlint: ignore[EXP101\n"
"""A file with one finding, EXP005 at 1:8, that has no fix."""

WORDS = "x = 1  # exportlint: ignore[EXP101] type: ignore\n"
"""A file with one finding, EXP002, that has an unsafe fix."""


def test_fix_applies_safe_fixes_and_reports_what_remains(root: Path, run: Run) -> None:
    write(root, {"a.py": DATA, "b.py": KEPT, "c.py": WORDS, "d.py": CLEAN})
    result = run("--fix", "--output-format", "concise")
    assert [(root / name).read_text() for name in ("a.py", "b.py", "c.py", "d.py")] == [FIXED, KEPT, WORDS, CLEAN]
    assert result.out.splitlines()[0].startswith("b.py:1:8: warning[EXP005 invalid-suppression]: suppression")
    assert result.out.splitlines()[2] == "Found 3 findings (1 fixed, 2 remaining)."
    assert (result.code, result.err) == (1, "")


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ("x + time.time() % 10", "only the caller of the program knows when it runs"),
        ("x * 2 if x.is_contiguous() else x * 3", "an exported program cannot branch on the layout of its inputs"),
        ("x * 2 if x.requires_grad else x * 3", "an exported program cannot branch on `requires_grad` of its inputs"),
        (
            "x * 2 if x.dtype == torch.float16 else x * 3",
            "an exported program cannot branch on the dtype of its inputs",
        ),
        ("x * 2 if x is y else x * 3", "an exported program cannot compare the identities of its inputs"),
    ],
)
def test_why_what_is_baked_in_has_no_fix(result: str, reason: str, root: Path, run: Run) -> None:
    head = "import time\n\nimport torch\nfrom torch import Tensor, nn\n\n\nclass Model(nn.Module):\n"
    write(root, {"a.py": head + f"    def forward(self, x: Tensor, y: Tensor):\n        return {result}\n"})
    assert f"note: no fix: {reason}" in run("--fix", "--unsafe-fixes").out.splitlines()


def test_why_what_remains_has_no_fix(root: Path, run: Run) -> None:
    write(root, {"a.py": GROWING})
    reason = "note: no fix: its sizes depend on the inputs, but a buffer needs them in `__init__`"
    assert reason not in run().out
    first, second = run("--fix", "--unsafe-fixes"), run("--fix", "--unsafe-fixes")
    assert reason in first.out.splitlines()
    assert second.out == first.out  # although it is known from before


def test_all_fixed(root: Path, run: Run) -> None:
    write(root, {"a.py": DATA})
    result = run("--fix")
    assert (result.code, result.out) == (0, "Found 1 finding (1 fixed, 0 remaining).\n")
    again = run("--fix")
    assert (again.code, again.out) == (0, "All checks passed!\n")


def test_unsafe_fixes(root: Path, run: Run) -> None:
    write(root, {"a.py": WORDS})
    run("--fix")
    assert (root / "a.py").read_text() == WORDS
    assert run("--unsafe-fixes").code == 1
    assert (root / "a.py").read_text() == WORDS
    assert run("--fix", "--unsafe-fixes").code == 0
    assert (root / "a.py").read_text() == "x = 1  # type: ignore\n"


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        ((), "[*] 1 fixable with `--fix` (1 unsafe fix available with `--fix --unsafe-fixes`)."),
        (("--unsafe-fixes",), "[*] 2 fixable with `--fix`."),
        (("--no-unsafe-fixes",), "[*] 1 fixable with `--fix`."),
        (("--unfixable", "EXP301"), "1 unsafe fix available with `--fix --unsafe-fixes`."),
        (("--unfixable", "ALL"), None),
        (("--fix",), "1 unsafe fix available with `--fix --unsafe-fixes`."),
    ],
)
def test_how_many_can_be_fixed(root: Path, run: Run, argv: tuple[str, ...], line: str | None) -> None:
    write(root, {"a.py": DATA, "b.py": WORDS})
    result = run(*argv, "--output-format", "concise")
    assert result.out.splitlines()[-1:] == ([line] if line else ["Found 2 findings (1 error, 1 warning)."])


def test_what_is_fixable_is_chosen(root: Path, run: Run) -> None:
    write(root, {"a.py": DATA + "# exportlint: file-ignore[EXP101]\n"})
    run("--fix", "--fixable", "linter")
    assert (root / "a.py").read_text() == DATA
    run("--fix", "--unfixable", "EXP3")
    assert (root / "a.py").read_text() == DATA
    run("--fix", "--fixable", "EXP1", "--extend-fixable", "tensor-data")
    assert (root / "a.py").read_text() == FIXED


def test_the_settings_fix_promote_and_demote(root: Path, run: Run) -> None:
    toml = 'fix = true\nextend-safe-fixes = ["EXP002"]\nextend-unsafe-fixes = ["EXP301"]\n'
    write(root, {"a.py": DATA, "b.py": WORDS, "exportlint.toml": toml})
    (kept,) = run("--no-fix", "--output-format", "json", "a.py").findings
    assert kept["fix"]["applicability"] == "unsafe"
    assert "(1 fixed, 1 remaining)" in run().out
    assert ((root / "a.py").read_text(), (root / "b.py").read_text()) == (DATA, "x = 1  # type: ignore\n")


def test_fix_only(root: Path, run: Run) -> None:
    write(root, {"a.py": DATA, "b.py": KEPT, "c.py": WORDS, "bad.py": "def f(:\n"})
    result = run("--fix-only")
    assert result.out == "Fixed 1 finding (1 more fix available with `--unsafe-fixes`).\n"
    assert result.err == "warning: bad.py:1:7: syntax error: invalid syntax\n"
    assert result.code == 0
    assert (root / "a.py").read_text() == FIXED
    again = run("--fix-only", "a.py")
    assert (again.code, again.out) == (0, "")


def test_show_fixes(root: Path, run: Run) -> None:
    write(root, {"sub/a.py": DATA + "        y.data\n        return y.data\n", "b.py": DATA, "c.py": KEPT})
    one = "    1 \N{MULTIPLICATION SIGN} EXP301 (tensor-data)"
    listed = f"Fixed 2 findings:\n- b.py:\n{one}\n- sub/a.py:\n{one}\n\n"
    result = run("--fix", "--show-fixes", "--output-format", "concise")
    assert f"\n\n{listed}Found 3 findings (2 fixed, 1 remaining).\n" in result.out
    assert "Fixed" not in run("--fix", "--show-fixes").out


@pytest.mark.parametrize("output_format", ["json", "jsonl", "github"])
def test_reports_for_programs_hold_what_remains(root: Path, run: Run, output_format: str) -> None:
    write(root, {"a.py": DATA, "b.py": KEPT})
    result = run("--fix", "--show-fixes", "--output-format", output_format)
    assert "EXP005" in result.out
    assert "EXP301" not in result.out
    assert "ixed" not in result.out
    assert result.code == 1


def test_statistics_are_of_what_remains(root: Path, run: Run) -> None:
    write(root, {"a.py": DATA, "b.py": KEPT})
    assert run("--fix", "--statistics").out.splitlines() == [
        "1\twarning\tEXP005\tinvalid-suppression",
        "Found 2 findings (1 fixed, 1 remaining).",
    ]


@pytest.mark.parametrize(
    ("argv", "first", "second"),
    [
        (("--fix",), 0, 0),
        (("--fix", "--exit-non-zero-on-fix"), 1, 0),
        (("--fix-only", "--exit-non-zero-on-fix"), 1, 0),
        (("--fix", "--exit-zero"), 0, 0),
        (("--diff",), 1, 1),
        (("--diff", "--exit-zero"), 0, 0),
    ],
)
def test_exit_codes(root: Path, run: Run, argv: tuple[str, ...], first: int, second: int) -> None:
    write(root, {"a.py": DATA})
    assert [run(*argv).code, run(*argv).code] == [first, second]


def test_quiet(root: Path, run: Run) -> None:
    write(root, {"a.py": DATA})
    assert run("--fix", "--show-fixes", "-q").out == ""
    write(root, {"a.py": DATA})
    assert run("--fix-only", "-q").out == ""
    assert (root / "a.py").read_text() == FIXED


@pytest.mark.parametrize(
    ("argv", "error"),
    [
        (("--diff", "--show-fixes"), "--diff cannot be used together with --show-fixes"),
        (("--diff", "--statistics"), "--diff cannot be used together with --statistics"),
        (("--diff", "-o", "report.txt"), "--diff cannot be used together with --output-file"),
        (("--fix", "--add-ignore"), "--fix cannot be used together with --add-ignore"),
        (("--fix-only", "--add-ignore=why"), "--fix-only cannot be used together with --add-ignore"),
        (("--diff", "--add-ignore"), "--diff cannot be used together with --add-ignore"),
        (("--exit-non-zero-on-fix", "--exit-zero"), "--exit-non-zero-on-fix cannot be used together with --exit-zero"),
        (("--fixable", "EXP7777"), "--fixable: unknown rule selector `EXP7777`"),
        (("--unsafe-fixs",), "unexpected argument `--unsafe-fixs`, did you mean `--unsafe-fixes`?"),
    ],
)
def test_wrong_use(root: Path, run: Run, argv: tuple[str, ...], error: str) -> None:
    write(root, {"a.py": DATA})
    result = run(*argv)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"error: {error}")
    assert result.err.count("\n") == 1
    assert (root / "a.py").read_text() == DATA


def test_suppressions_are_added_although_the_settings_fix(root: Path, run: Run) -> None:
    write(root, {"a.py": DATA, "exportlint.toml": "fix = true\n"})
    assert run("--add-ignore").out == "Added 1 suppression.\n"
    assert ".data + 1  # exportlint: ignore[tensor-data]" in (root / "a.py").read_text()


def test_standard_input_goes_out_fixed(root: Path, run: Run) -> None:
    result = run("-", "--fix", stdin=DATA.encode())
    assert (result.code, result.out, result.err) == (0, FIXED, "Found 1 finding (1 fixed, 0 remaining).\n")
    result = run("-", "--fix", "--output-format", "json", stdin=KEPT.encode())
    assert (result.code, result.out) == (1, KEPT)
    assert json.loads(result.err)[0]["code"] == "EXP005"
    result = run("-", "--fix-only", stdin=DATA.encode())
    assert (result.code, result.out, result.err) == (0, FIXED, "Fixed 1 finding.\n")


@pytest.mark.parametrize("text", ["def f(:\n", "", CLEAN])
def test_standard_input_that_cannot_be_fixed_goes_out_as_it_is(root: Path, run: Run, text: str) -> None:
    result = run("-", "--fix", stdin=text.encode())
    assert result.out == text


def test_standard_input_that_is_excluded_goes_out_as_it_is(root: Path, run: Run) -> None:
    argv = ("-", "--fix", "--stdin-filename", "sub/a.py", "--exclude", "sub", "--force-exclude")
    assert run(*argv, stdin=DATA.encode()).out == DATA


def test_a_file_of_that_name_is_not_written(root: Path, run: Run) -> None:
    write(root, {"a.py": CLEAN})
    assert run("-", "--fix", "--stdin-filename", "a.py", stdin=DATA.encode()).out == FIXED
    assert (root / "a.py").read_text() == CLEAN


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + DATA.replace("\n", "\r\n").encode(),
        b"# coding: latin-1\n# caf\xe9\n" + DATA.encode(),
        DATA.encode() + b"# \xe4\xb8\xad\x0c",
        DATA.replace("    ", "\t").encode(),
        DATA.replace("\n", "\r").encode(),
    ],
)
def test_other_bytes_stay(root: Path, run: Run, data: bytes) -> None:
    file = root / "a.py"
    file.write_bytes(data)
    assert run("--fix").code == 0
    assert file.read_bytes() == data.replace(b".data", b".detach()")


def test_permissions_and_links_stay(root: Path, run: Run) -> None:
    write(root, {"real/net.txt": DATA})
    (root / "a.py").symlink_to("real/net.txt")
    (root / "real/net.txt").chmod(0o754)
    assert run("--fix").code == 0
    assert (root / "a.py").is_symlink()
    assert (root / "real/net.txt").read_text() == FIXED
    assert stat.S_IMODE((root / "real/net.txt").stat().st_mode) == 0o754
    assert sorted(path.name for path in (root / "real").iterdir()) == ["net.txt"]


def test_one_bad_file_does_not_stop_others(root: Path, run: Run) -> None:
    write(root, {"a.py": "def f(:\n    y.data\n", "b.py": DATA})
    (root / "c.py").write_bytes(b'x = "\xe9"\n')
    result = run("--fix", "--output-format", "concise")
    assert (root / "a.py").read_text() == "def f(:\n    y.data\n"
    assert (root / "b.py").read_text() == FIXED
    assert "Found 3 findings (1 fixed, 2 remaining)." in result.out
    assert result.code == 1


def test_a_read_only_file_is_told_and_left(root: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, {"a.py": DATA, "b.py": DATA})
    # As for users whom permissions stop, which root is not.
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "a.py")
    result = run("--fix", "--output-format", "concise")
    assert result.err == f"warning: {root / 'a.py'}: cannot be written: the file is read-only\n"
    assert result.out.startswith("a.py:7:16: error[EXP301 tensor-data]: [*] ")
    assert "Found 2 findings (1 fixed, 1 remaining)." in result.out
    assert result.code == 2
    assert [(root / name).read_text() for name in ("a.py", "b.py")] == [DATA, FIXED]


def test_a_file_that_somebody_else_changes_meanwhile_is_left(
    root: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root, {"a.py": DATA, "b.py": DATA})
    really_write = fixer.write

    def write_late(fixed: Fixed) -> None:
        if fixed.task.path.name == "a.py":
            fixed.task.path.write_text(DATA + "# more\n")
        really_write(fixed)

    monkeypatch.setattr(fixer, "write", write_late)
    result = run("--fix", "--output-format", "concise")
    assert "a.py: changed on disk while it was being fixed" in result.err
    assert result.code == 2
    assert [(root / name).read_text() for name in ("a.py", "b.py")] == [DATA + "# more\n", FIXED]
    assert "Found 2 findings (1 fixed, 1 remaining)." in result.out


def test_several_processes_fix_the_same(root: Path, run: Run) -> None:
    write(root, {f"m{i:02}.py": DATA for i in range(12)})
    result = run("--fix", "-j", "2")
    assert (result.code, result.out) == (0, "Found 12 findings (12 fixed, 0 remaining).\n")
    assert {path.read_text() for path in root.glob("*.py")} == {FIXED}


def test_nothing_is_written_without_need(root: Path, run: Run) -> None:
    write(root, {"a.py": KEPT, "b.py": CLEAN, "c.py": WORDS})
    for path in root.glob("*.py"):
        os.utime(path, ns=(1, 1))
    run("--fix")
    run("--diff", "--unsafe-fixes")
    assert {path.stat().st_mtime_ns for path in root.glob("*.py")} == {1}
