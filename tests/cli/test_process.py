"""What only a real process shows."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from exportlint.cli import main
from tests.cli.runner import NET, write
from tests.patience import PATIENCE
from tests.sampling import one_in

COMMAND = [sys.executable, "-m", "exportlint"]


def start(root: Path, *argv: str, **environment: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, *argv], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **environment}
    )


def test_module_and_exit_code(root: Path) -> None:
    write(root, {"model.py": NET})
    process = start(root, "--output-format", "concise", "--isolated")
    out, err = process.communicate(timeout=PATIENCE)
    assert out.startswith(b"model.py:7:12: error[EXP101 tensor-branch]: ")
    assert (process.returncode, err) == (1, b"")


@pytest.mark.thorough
def test_the_process_ends_without_a_last_garbage_collection(root: Path) -> None:
    write(root, {"model.py": NET})
    code = (
        "import gc, os, sys; from exportlint.cli import main; sys.argv[1:] = ['model.py', '--isolated'];"
        "main(); gc.callbacks.append(lambda phase, _: os.write(1, b'collects'))"
    )
    process = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, timeout=PATIENCE, check=True)
    assert b"EXP101" in process.stdout
    assert b"collects" not in process.stdout


@pytest.mark.thorough
def test_a_reader_that_goes_away_is_no_error(root: Path) -> None:
    write(root, {f"m{i}.py": NET for i in range(8)})
    (root / "big.py").write_text("x = 1  # exportlint: ignore[EXP101]\n" * 2000)
    process = start(root, "--isolated")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(60) == 1


def test_output_that_cannot_show_everything(root: Path) -> None:
    write(root, {"model.py": NET.replace("x.sum() > 0", "x.sum() > 0 and 'é中\N{SNOWMAN}'")})
    process = start(root, "--isolated", PYTHONIOENCODING="ascii")
    out, err = process.communicate(timeout=PATIENCE)
    assert b"'\\xe9\\u4e2d\\u2603'" in out
    assert (process.returncode, err) == (1, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("jobs", one_in(2, ["1", "2"]))
def test_ctrl_c(root: Path, jobs: str) -> None:
    # A file that takes many seconds keeps the process busy.
    busy = NET + "".join(f"        if x.shape[0] > {i}: x = x + y{i}\n" for i in range(20_000)).join(
        ["\n\nclass Busy(nn.Module):\n    def forward(self, x):\n", "        return x\n"]
    )
    write(root, {**{f"m{i:02}.py": NET for i in range(12)}, "z.py": busy})
    process = start(root, "--isolated", "-j", jobs, *sorted(path.name for path in root.iterdir()))
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (130, b"", b"error: interrupted\n")


def test_what_a_small_run_does_not_import(root: Path) -> None:
    write(root, {"model.py": NET})
    heavy = {"asyncio", "concurrent.futures", "multiprocessing", "pathspec", "pygls", "rich", "torch"}
    code = (
        "import sys; from exportlint.cli import main; main(['--isolated', 'model.py']);"
        f"print([m for m in {sorted(heavy)!r} if m in sys.modules])"
    )
    process = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert process.stdout.splitlines()[-1] == "[]"


def test_ctrl_c_while_a_class_is_made(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Python 3.11 wraps what `__set_name__` raises, as those of dataclasses' fields may at any moment of an import."""

    def made(_: object) -> int:
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setattr("exportlint.cli._run", made)
    assert main(["--isolated"]) == 130
    assert capsys.readouterr().err == "error: interrupted\n"
