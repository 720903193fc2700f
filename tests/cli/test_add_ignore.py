from __future__ import annotations

import ast
import stat
from pathlib import Path

import pytest

from tests.cli.runner import NET, Run, write

HEAD = "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if x.sum() > 0:", "if x.sum() > 0:  # exportlint: ignore[tensor-branch]"),
        ("if x.sum() > 0:   ", "if x.sum() > 0:  # exportlint: ignore[tensor-branch]   "),
        ("if x.sum() > 0:  # why", "if x.sum() > 0:  # why  # exportlint: ignore[tensor-branch]"),
        (
            "if x.sum() > 0:  # exportlint: ignore[EXP002] because",
            "if x.sum() > 0:  # exportlint: ignore[EXP002, tensor-branch] because",
        ),
        (
            "if x.sum() > 0:  # exportlint: ignore[EXP002,]",
            "if x.sum() > 0:  # exportlint: ignore[EXP002, tensor-branch]",
        ),
        (
            "if (\n            x.sum()\n            > 0\n        ):",
            "if (\n            x.sum()\n            > 0\n        ):  # exportlint: ignore[tensor-branch]",
        ),
        ("if x.sum() \\\n            > 0:", "if x.sum() \\\n            > 0:  # exportlint: ignore[tensor-branch]"),
        (
            'if x.sum() > len("""\n  # text\n"""):',
            'if x.sum() > len("""\n  # text\n"""):  # exportlint: ignore[tensor-branch]',
        ),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_comment_goes_to_the_end_of_the_statement(
    root: Path, run: Run, body: str, expected: str, newline: str
) -> None:
    tail = "\n            return x + 1\n        return x * 2\n"
    before, after = ((HEAD + "        " + text + tail).replace("\n", newline) for text in (body, expected))
    write(root, {"model.py": before})
    assert run().code == 1
    result = run("--add-ignore")
    assert (result.code, result.out) == (0, "Added 1 suppression.\n")
    assert (root / "model.py").read_bytes().decode() == after
    again = run()
    assert (again.code, again.out) == (0, "All checks passed!\n")
    assert run("--add-ignore").out == "Added 0 suppressions.\n"


def test_the_reason_follows_the_list(root: Path, run: Run) -> None:
    write(root, {"model.py": NET})
    run("--add-ignore=legacy model, see #12")
    assert (
        "if x.sum() > 0:  # exportlint: ignore[tensor-branch] legacy model, see #12\n"
        in (root / "model.py").read_text()
    )
    assert run().code == 0


def test_a_path_after_the_flag_is_a_path(root: Path, run: Run) -> None:
    write(root, {"a/model.py": NET, "b/model.py": NET})
    assert run("--add-ignore", "a").out == "Added 1 suppression.\n"
    assert (root / "b/model.py").read_text() == NET


def test_bytes_and_permissions_around_it_stay(root: Path, run: Run) -> None:
    file = root / "model.py"
    data = b"\xef\xbb\xbf" + NET.replace("\n", "\r\n").encode() + b"# \xc3\xa9nd \x0c"
    file.write_bytes(data)
    file.chmod(0o755)
    run("--add-ignore")
    assert file.read_bytes() == data.replace(b"> 0:", b"> 0:  # exportlint: ignore[tensor-branch]")
    assert stat.S_IMODE(file.stat().st_mode) == 0o755


def test_a_legacy_encoding_stays(root: Path, run: Run) -> None:
    file = root / "model.py"
    data = b"# coding: latin-1\n# \xe9\n" + NET.encode()
    file.write_bytes(data)
    run("--add-ignore")
    assert file.read_bytes() == data.replace(b"> 0:", b"> 0:  # exportlint: ignore[tensor-branch]")
    file.write_bytes(data)
    result = run("--add-ignore=\N{SNOWMAN}")
    assert result.code == 2
    assert "U+2603 cannot be written as iso-8859-1" in result.err
    assert file.read_bytes() == data


def test_a_link_stays_a_link(root: Path, run: Run) -> None:
    write(root, {"real/model.txt": NET})
    (root / "model.py").symlink_to("real/model.txt")
    run("--add-ignore")
    assert (root / "model.py").is_symlink()
    assert "ignore[tensor-branch]" in (root / "real/model.txt").read_text()


def test_files_with_syntax_errors_are_left(root: Path, run: Run) -> None:
    write(root, {"bad.py": "def f(:\n", "model.py": NET})
    assert run("--add-ignore").out == "Added 1 suppression.\n"
    assert (root / "bad.py").read_text() == "def f(:\n"
    assert run("--output-format", "json").places == [("bad.py", 1, "EXP001")]


def test_several_findings_of_one_statement_share_a_comment(root: Path, run: Run) -> None:
    body = "        y = 1 if x.sum() > 0 else (2 if x.mean() > 0 else 3)\n        return x + y\n"
    write(root, {"model.py": HEAD + body})
    run("--add-ignore")
    text = (root / "model.py").read_text()
    assert text.count("exportlint: ignore[") == 1
    ast.parse(text)
    assert run().code == 0


def test_standard_input_cannot_be_changed(root: Path, run: Run) -> None:
    result = run("-", "--add-ignore", stdin=NET.encode())
    assert result.code == 2
    assert "cannot be used with standard input" in result.err


def test_a_reason_is_needed_where_the_settings_say_so(root: Path, run: Run) -> None:
    write(root, {"a.py": NET, "exportlint.toml": "require-reason = true\n"})
    result = run("--add-ignore")
    assert (result.code, result.out) == (2, "")
    assert result.err.endswith("write `--add-ignore=REASON`\n")
    assert (root / "a.py").read_text() == NET
    assert run("--add-ignore=not exported").code == 0
    assert run().out == "All checks passed!\n"


def test_suppressions_without_a_reason_are_found(root: Path, run: Run) -> None:
    write(root, {"a.py": NET})
    run("--add-ignore")
    assert run().code == 0
    result = run("--require-reason", "--output-format", "concise")
    assert result.code == 1
    assert "a.py:7:26: warning[EXP005 invalid-suppression]: suppression without a reason: write one" in result.out
    write(root, {"exportlint.toml": "require-reason = true\n"})
    assert (run().code, run("--no-require-reason").code) == (1, 0)
