"""`--baseline` and `--update-baseline`: what is accepted stays accepted through edits, and what is new is reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.notebooks import NET_CELL, notebook
from tests.cli.runner import CLEAN, NET, Result, Run, write

NAME = "exportlint-baseline.jsonl"
CONFIGURED = {"exportlint.toml": f'baseline = "{NAME}"\n'}
AGAIN = NET.replace(
    "            return x + 1\n", "            x = x + 1\n        if x.sum() > 0:\n            x = x - 1\n"
)
TWO = NET + "\n\nclass Second(nn.Module):\n    def forward(self, x):\n        return x.data\n"


def entries(root: Path, name: str = NAME) -> list[dict[str, str]]:
    head, *rows = (root / name).read_text(encoding="ascii").splitlines()
    assert json.loads(head) == {"exportlint-baseline": 1}
    return [json.loads(row) for row in rows]


def accept(run: Run, *arguments: str) -> Result:
    result = run("--update-baseline", *arguments)
    assert result.code == 0, result
    return result


def test_what_is_accepted_is_not_reported(root: Path, run: Run) -> None:
    write(root, {"pkg/net.py": TWO})
    assert run("--baseline", NAME).err.endswith("does not exist: write it with `--update-baseline`\n")
    result = accept(run, "--baseline", NAME)
    assert result.out.splitlines() == [
        "All checks passed!",
        "2 findings accepted by the baseline.",
        f"The baseline {NAME} holds 2 findings (2 added, 0 removed).",
    ]
    assert [(e["path"], e["code"], e["symbol"], e["severity"]) for e in entries(root)] == [
        ("pkg/net.py", "EXP101", "Net.forward", "error"),
        ("pkg/net.py", "EXP301", "Second.forward", "error"),
    ]
    again = run("--baseline", NAME)
    assert (again.code, again.out) == (0, "All checks passed!\n2 findings accepted by the baseline.\n")
    assert run().code == 1
    assert run("--baseline", NAME, "--output-format", "json").findings == []


def test_the_setting_names_it_from_the_configuration(root: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, {**CONFIGURED, "pkg/net.py": NET})
    accept(run)
    monkeypatch.chdir(root / "pkg")
    assert run().code == 0
    assert run("--baseline", "").code == 1


EDITS = {
    "moved lines": ("import torch\n", "# a comment\n\nimport torch\nimport math\n"),
    "other code": ("        return x * 2\n", "        y = x * 3\n        return y.sin()\n"),
    "another layout": ("if x.sum() > 0:", "if (\n            x.sum()\n            > 0\n        ):"),
    "line ends": ("\n", "\r\n"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_it_outlasts(edit: str, root: Path, run: Run) -> None:
    write(root, {**CONFIGURED, "net.py": NET})
    accept(run)
    write(root, {"net.py": NET.replace(*EDITS[edit])})
    assert run("-q") == (0, "", "")


def test_what_is_new_is_reported(root: Path, run: Run) -> None:
    write(root, {**CONFIGURED, "net.py": NET})
    accept(run)
    write(root, {"net.py": TWO, "other.py": NET})
    assert run("--output-format", "json").places == [("net.py", 14, "EXP301"), ("other.py", 7, "EXP101")]


def test_one_more_of_the_same_is_new(root: Path, run: Run) -> None:
    write(root, {**CONFIGURED, "net.py": NET})
    accept(run)
    write(root, {"net.py": AGAIN})
    assert len(run("--output-format", "json").findings) == 1


def test_what_becomes_graver_is_reported(root: Path, run: Run) -> None:
    write(root, {**CONFIGURED, "net.py": NET})
    accept(run)
    text = (root / NAME).read_text()
    (root / NAME).write_text(text.replace('"error"', '"warning"'))
    assert run().code == 1
    accept(run)
    assert (root / NAME).read_text() == text


def test_infos_are_accepted_only_where_they_are_shown(root: Path, run: Run) -> None:
    write(root, {**CONFIGURED, "net.py": NET.replace("if x.sum() > 0:", "print(x)\n        if self.training:")})
    accept(run, "--output-format", "json")
    assert entries(root) == []
    accept(run, "--show-info")
    assert [entry["severity"] for entry in entries(root)] == ["info", "info"]
    accept(run)  # they are hidden, and still there
    assert len(entries(root)) == 2


def test_stale_entries_are_told_and_removed(root: Path, run: Run) -> None:
    write(root, {**CONFIGURED, "net.py": TWO, "gone.py": NET, "more.py": NET})
    accept(run)
    write(root, {"net.py": NET})
    (root / "gone.py").unlink()
    told = f"2 entries are stale in the baseline {NAME}; `--update-baseline` removes them."
    assert told in run().out.splitlines()
    assert run("--output-format", "json").err == f"warning: {told}\n"
    assert "stale" not in run("more.py").out, "only a run over everything can tell"
    assert "(0 added, 2 removed)" in accept(run).out
    assert [entry["path"] for entry in entries(root)] == ["more.py", "net.py"]
    assert "stale" not in run().out


def test_what_was_not_looked_at_is_not_stale(root: Path, run: Run) -> None:
    write(root, {**CONFIGURED, "net.py": TWO, "pkg/net.py": NET})
    accept(run)
    before = (root / NAME).read_bytes()
    accept(run, "--select", "EXP3")
    accept(run, "pkg")
    assert (root / NAME).read_bytes() == before
    write(root, {"net.py": "def f(:\n"})
    broken = run("--update-baseline")
    assert (broken.code, "syntax-error" in broken.out) == (1, True)
    assert (root / NAME).read_bytes() == before


def test_findings_by_way_of_importers_stay(root: Path, run: Run) -> None:
    helper = "def dark(x):\n    return bool(x.mean() < 0)\n"
    write(root, {**CONFIGURED, "net.py": "from ops.dark import dark\n" + NET.replace("x.sum() > 0", "dark(x)")})
    write(root, {"ops/__init__.py": "", "ops/dark.py": helper})
    accept(run)
    before = (root / NAME).read_bytes()
    assert "ops/dark.py" in before.decode()
    accept(run, "ops")
    assert (root / NAME).read_bytes() == before


def test_it_is_sorted_and_written_only_if_it_changes(root: Path, run: Run) -> None:
    write(root, {**CONFIGURED, "b.py": TWO, "a.py": NET})
    accept(run)
    lines = (root / NAME).read_text().splitlines()
    assert [json.loads(line)["path"] for line in lines[1:]] == ["a.py", "b.py", "b.py"]
    before = (root / NAME).stat()
    accept(run, "-j", "2", "--no-cache")
    after = (root / NAME).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_both_sides_of_a_merge_hold(root: Path, run: Run) -> None:
    write(root, {**CONFIGURED, "a.py": NET})
    accept(run)
    one = (root / NAME).read_text()
    write(root, {"b.py": NET})
    accept(run)
    both = (root / NAME).read_text()
    (root / NAME).write_text(one + both)
    assert run().code == 0
    (root / NAME).write_text(one + "<<<<<<< HEAD\n" + both)
    result = run()
    assert (result.code, result.out) == (2, "")
    assert result.err == f"error: {root / NAME}:3: a merge conflict: keep the lines of both sides and remove this one\n"


DAMAGED = {
    "nothing": b"",
    "something else": b"import torch\n",
    "no head": b'{"path": "a.py"}\n',
    "a list": b"[]\n",
    "no entry": b'{"exportlint-baseline": 1}\n{"path": "a.py"}\n',
    "no severity": b'{"exportlint-baseline": 1}\n'
    b'{"path": "a.py", "code": "EXP101", "symbol": "", "fingerprint": "0", "severity": "none"}\n',
    "a later version": b'{"exportlint-baseline": 2}\n',
    "no text": b"\xff\xfe\x00",
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("update", [False, True], ids=["used", "updated"])
@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_one_is_one_line_and_stays(damage: str, update: bool, root: Path, run: Run) -> None:
    write(root, {**CONFIGURED, "net.py": NET})
    (root / NAME).write_bytes(DAMAGED[damage])
    result = run(*(["--update-baseline"] if update else []))
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert str(root / NAME) in result.err
    assert (root / NAME).read_bytes() == DAMAGED[damage]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--update-baseline"], "name the file with `--baseline FILE` or the setting `baseline`"),
        (["--update-baseline", "--baseline", "b", "--diff"], "--diff cannot be used together with --update-baseline"),
        (
            ["--update-baseline", "--baseline", "b", "--add-ignore"],
            "--add-ignore cannot be used together with --update-baseline",
        ),
        (["--update-baseline", "--baseline", "b", "-"], "cannot be used with standard input"),
        (["--baseline", "net.py/b"], "cannot read the baseline"),
        (["--baseline", "."], "cannot read the baseline"),
        (["--baseline", "net.py/b", "--update-baseline"], "cannot write the baseline"),
    ],
)
def test_wrong_use(arguments: list[str], said: str, root: Path, run: Run) -> None:
    write(root, {"net.py": NET})
    result = run(*arguments, stdin=NET.encode())
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert said in result.err


def test_standard_input(root: Path, run: Run) -> None:
    write(root, {**CONFIGURED, "pkg/net.py": NET})
    accept(run)
    arguments = ("-", "--stdin-filename", "pkg/net.py", "-q")
    assert run(*arguments, stdin=b"# moved\n" + NET.encode()) == (0, "", "")
    assert run(*arguments, stdin=TWO.encode()).code == 1
    assert "stale" not in run(*arguments[:-1], stdin=CLEAN.encode()).out


def test_notebooks(root: Path, run: Run) -> None:
    write(root, {**CONFIGURED, "net.ipynb": notebook("from torch import nn", NET_CELL)})
    accept(run)
    write(root, {"net.ipynb": notebook("%matplotlib inline\nimport math", "from torch import nn", "1 + 1", NET_CELL)})
    assert run("-q") == (0, "", "")


def test_cache_processes_and_fixes_agree(root: Path, run: Run) -> None:
    write(root, {**CONFIGURED, **{f"net{number}.py": TWO for number in range(20)}})
    accept(run, "-j", "2")
    cold = run("-j", "2", "--no-cache")
    assert cold == run("-j", "1") == run()
    assert cold.code == 0
    fixed = run("--fix")
    assert fixed.code == 0
    assert "stale" in fixed.out, "fixes apply to what is accepted, too"


def test_no_comments_are_added_for_what_is_accepted(root: Path, run: Run) -> None:
    write(root, {**CONFIGURED, "net.py": NET})
    accept(run)
    write(root, {"net.py": TWO})
    assert run("--add-ignore").out == "Added 1 suppression.\n"
    assert (root / "net.py").read_text() == TWO.replace("x.data\n", "x.data  # exportlint: ignore[tensor-data]\n")


def test_each_configuration_has_its_own(root: Path, run: Run) -> None:
    write(root, {**CONFIGURED, "net.py": NET, "sub/exportlint.toml": 'baseline = "b"\n', "sub/net.py": NET})
    accept(run)
    assert [entry["path"] for entry in entries(root)] == ["net.py"]
    assert [entry["path"] for entry in entries(root / "sub", "b")] == ["net.py"]
    assert run().code == 0


def test_fingerprints_of_reports_do_not_depend_on_it(root: Path, run: Run) -> None:
    write(root, {"net.py": AGAIN})
    all_of_them = [issue["fingerprint"] for issue in json.loads(run("--output-format", "gitlab").out)]
    write(root, {**CONFIGURED, "net.py": NET})
    accept(run)
    write(root, {"net.py": AGAIN})
    (new,) = json.loads(run("--output-format", "gitlab").out)
    assert new["fingerprint"] == all_of_them[1]
