"""`--diff`: what it prints is what `--fix` does, and what `patch` and `git apply` make of it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.runner import CLEAN, Run, write
from tests.cli.test_fix import DATA, FIXED, KEPT, WORDS
from tests.forking import python
from tests.patience import PATIENCE
from tests.sampling import each_value

DIFFERENCE = """\
--- {0}
+++ {0}
@@ -4,4 +4,4 @@
 class Net(nn.Module):
     def forward(self, x):
         y = x * 2
-        return y.data + 1
+        return y.detach() + 1

"""

TEXTS = {
    "plain.py": DATA.encode(),
    "crlf.py": DATA.replace("\n", "\r\n").encode(),
    "open end.py": DATA.rstrip("\n").encode(),
    "bom.py": b"\xef\xbb\xbf" + DATA.encode(),
    "latin.py": b"# coding: latin-1\n" + DATA.replace("x * 2", "x * 2  # caf\u00e9").encode("latin-1"),
    "sub/caf\u00e9.py": DATA.encode() + b"# end \x0c\x1b[31m",
    "whole.py": b"# exportlint: file-ignore[EXP101]\n",
    "last.py": b"x = 1\n# exportlint: file-ignore[EXP101]",
    "cr.py": DATA.replace("\n", "\r").encode(),
}


def test_it_prints_and_writes_nothing(root: Path, run: Run) -> None:
    write(root, {"sub/a.py": DATA, "b.py": KEPT, "c.py": WORDS})
    result = run("--diff")
    assert result.out == DIFFERENCE.format("sub/a.py")
    assert result.err == "Would fix 1 finding (1 more fix available with `--unsafe-fixes`).\n"
    assert result.code == 1
    assert (root / "sub/a.py").read_text() == DATA


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CLEAN, ""),
        (KEPT, ""),
        (WORDS, "Would fix nothing (1 fix available with `--unsafe-fixes`).\n"),
        ("def f(:\n", "warning: a.py:1:7: syntax error: invalid syntax\n"),
    ],
)
def test_without_a_difference(root: Path, run: Run, text: str, said: str) -> None:
    write(root, {"a.py": text})
    assert run("--diff") == (0, "", said)
    assert run("--diff", "-q").out == ""


def test_settings_of_reports_do_not_matter(root: Path, run: Run) -> None:
    write(root, {"a.py": DATA, "exportlint.toml": 'output-format = "json"\nfix = true\n'})
    assert run("--diff").out == DIFFERENCE.format("a.py")
    assert run("--diff", "-q").err == ""
    assert (root / "a.py").read_text() == DATA


def test_files_elsewhere_have_their_whole_path(root: Path, run: Run) -> None:
    write(root.parent, {"elsewhere/a.py": DATA})
    file = root.parent / "elsewhere/a.py"
    assert run("--diff", file).out == DIFFERENCE.format(file)


def test_standard_input(root: Path, run: Run) -> None:
    result = run("-", "--diff", stdin=DATA.encode())
    assert (result.code, result.out, result.err) == (1, DIFFERENCE.format("-"), "Would fix 1 finding.\n")
    named = run("-", "--diff", "--stdin-filename", "sub/a.py", stdin=DATA.encode())
    assert named.out == DIFFERENCE.format("sub/a.py")
    assert run("-", "--diff", stdin=FIXED.encode()) == (0, "", "")


def test_colours_are_for_people(root: Path, run: Run) -> None:
    write(root, {"a.py": DATA.replace("x * 2", "x * 2  # \x1b[7m")})
    shown = run("--diff", "--color", "always").out
    assert "\x1b[31m-        return y.data + 1\x1b[0m\n\x1b[32m+        return y.detach() + 1\x1b[0m\n" in shown
    assert "# \N{SYMBOL FOR ESCAPE}[7m" in shown


@pytest.mark.parametrize(
    ("name", "command"), each_value([*TEXTS], [["git", "apply", "-p0"], ["patch", "-p0", "--binary", "-s"]])
)
def test_it_can_be_applied(root: Path, run: Run, name: str, command: list[str]) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"there is no {command[0]}")
    file = root / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(TEXTS[name])
    difference = difference_in(root)
    assert file.read_bytes() == TEXTS[name]
    subprocess.run(command, input=difference, cwd=root, check=True, timeout=PATIENCE)
    patched = file.read_bytes() if file.exists() else b""  # what becomes empty is removed
    file.write_bytes(TEXTS[name])
    assert run("--fix").code == 0
    assert patched == file.read_bytes() != TEXTS[name]


def test_several_files_in_one(root: Path, run: Run) -> None:
    write(root, dict.fromkeys(("a.py", "b c.py", "sub/d.py"), DATA))
    subprocess.run(["git", "apply", "-p0"], input=difference_in(root), cwd=root, check=True, timeout=PATIENCE)
    assert {(root / name).read_text() for name in ("a.py", "b c.py", "sub/d.py")} == {FIXED}


def difference_in(root: Path) -> bytes:
    """What a process prints, as it is."""
    command = [*python(), "-m", "exportlint", "--diff", "--isolated"]
    return subprocess.run(command, cwd=root, capture_output=True, check=False, timeout=PATIENCE).stdout
