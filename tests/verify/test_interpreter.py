"""Which Python a project is verified with, and what is said of those that will not do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from exportlint.verify import interpreter
from exportlint.verify.interpreter import InterpreterError, ask, find_interpreter
from exportlint.verify.process import StartError
from exportlint.verify.run import verify
from exportlint.verify.slot import Slot
from tests.patience import PATIENCE
from tests.verify.workshop import module, running, target

if os.name == "nt":
    pytest.skip("the wrong interpreters are scripts of a shell", allow_module_level=True)

OURS = Path(sys.executable)


def script(directory: Path, text: str) -> Path:
    file = directory / "python"
    file.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    file.chmod(0o755)
    return file


def environment(directory: Path, torch: str | None) -> Path:
    """The Python of a virtual environment without packages, but for one that says it is torch."""
    subprocess.run([OURS, "-m", "venv", "--without-pip", directory], check=True, timeout=PATIENCE)
    packages = next(directory.glob("lib/python3*/site-packages"))
    if torch is not None:
        (packages / "torch").mkdir()
        (packages / "torch" / "__init__.py").write_text(f"__version__ = {torch!r}\n", encoding="utf-8")
        (packages / "torch" / "export.py").touch()
        metadata = packages / f"torch-{torch}.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Name: torch\nVersion: {torch}\n", encoding="utf-8")
    return directory / "bin" / "python"


@pytest.fixture(autouse=True)
def _no_active_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)


def test_our_own() -> None:
    found = ask(OURS)
    assert found.path == OURS
    assert found.python == ".".join(map(str, sys.version_info[:3]))
    assert found.torch


@pytest.mark.parametrize(
    ("text", "asked", "started"),
    [
        (
            "exit 3",
            "is not Python 3.9 or newer",
            "not a Python that can run exportlint's worker: it ended with exit code 3",
        ),
        ("cat $1", "is not Python 3.9 or newer", "not a Python that can run exportlint's worker"),
        ("echo oh no >&2", "is not Python 3.9 or newer", "exportlint's worker: it says `oh no`"),
        ("echo '[\"exportlint\"]'", "is not Python 3.9 or newer", "not a Python that can run exportlint's worker"),
        ("sleep 300 & wait", "does not answer within 0.5 seconds", "has not answered within 0.5 seconds"),
        (
            'echo \'["exportlint", "", [3, 8, 10], "2.4.1", []]\'',
            "is Python 3.8.10, 3.9 or newer is needed",
            "not a Python that can run exportlint's worker",
        ),
    ],
)
def test_no_python(text: str, asked: str, started: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = script(tmp_path, text)
    monkeypatch.setattr(interpreter, "_TIMEOUT", 0.5)
    with pytest.raises(InterpreterError) as error:
        ask(python)
    assert str(error.value) == f"`{python}` {asked}"
    slot = Slot(python, start_timeout=0.5)
    for _ in range(2):
        with pytest.raises(StartError) as refused:
            slot.run({"id": 1, "timeout": 1.0}, lambda _: None)
        assert started in str(refused.value)
        assert "\n" not in str(refused.value)
    assert running() == []


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ("nowhere/python", "cannot be run: No such file or directory"),
        ("data.txt", "cannot be run: Permission denied"),
        ("empty", "cannot be run: No such file or directory"),
    ],
)
def test_nothing_to_run(wanted: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "data.txt").touch()
    (tmp_path / "empty").mkdir()
    with pytest.raises(InterpreterError, match=reason):
        find_interpreter(wanted, tmp_path, tmp_path)
    (run,) = verify([target(tmp_path, module())], tmp_path / "data.txt")
    assert run.verdict == "cannot be built"
    assert run.reason == f"`{tmp_path}/data.txt` cannot be used: it cannot be run: Permission denied"


def test_torch_that_is_missing_or_too_old(tmp_path: Path) -> None:
    bare = environment(tmp_path / "bare", None)
    with pytest.raises(InterpreterError) as error:
        find_interpreter("bare", tmp_path, tmp_path)
    advice = f"`{bare} -m pip install torch`, or name another by `--python` or `python` in [tool.exportlint.verify]"
    assert str(error.value) == f"`{bare}` has no torch: {advice}"
    one, other = verify([target(tmp_path, module(), modes=("non-strict", "strict"))], bare)
    assert one.verdict == other.verdict == "cannot be built"
    assert one.reason == other.reason == f"`{bare}` cannot be used: torch is not installed there"

    old = environment(tmp_path / "old", "2.3.1+cpu")
    with pytest.raises(InterpreterError) as error:
        find_interpreter(str(old), tmp_path, tmp_path)
    assert str(error.value) == f"`{old}` has torch 2.3.1+cpu, 2.4 or newer is needed"
    (run,) = verify([target(tmp_path, module())], old)
    assert run.reason == f"`{old}` cannot be used: torch 2.3.1+cpu is too old, 2.4 or newer is needed"


def test_torch_that_is_broken(tmp_path: Path) -> None:
    python = environment(tmp_path / "broken", "2.9.0")
    package = next((tmp_path / "broken").glob("lib/*/site-packages")) / "torch" / "__init__.py"
    package.write_text("raise OSError('libtorch.so: no such file\\nand more')\n", encoding="utf-8")
    (run,) = verify([target(tmp_path, module())], python)
    assert run.verdict == "cannot be built"
    assert run.reason == f"`{python}` cannot be used: torch cannot be imported: OSError: libtorch.so: no such file"


def test_each_python_without_torch_is_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = """echo '["exportlint", "", [3, 11, 0], null, []]'"""
    environment = tmp_path / "venv" / "bin"
    environment.mkdir(parents=True)
    python = script(environment, answer).rename(environment / "python")
    (environment / "python3").symlink_to("python")
    monkeypatch.setenv("VIRTUAL_ENV", str(environment.parent))
    monkeypatch.setenv("PATH", f"{environment}:/usr/bin:/bin")
    monkeypatch.setattr(sys, "executable", str(environment / "python3"))
    with pytest.raises(InterpreterError) as raised:
        find_interpreter(None, tmp_path, tmp_path, "FLAG")
    install = f"`{python} -m pip install torch`, or name one by FLAG"
    assert str(raised.value) == f"no Python with torch 2.4 or newer was found: {install}; `{python}` has no torch"


def test_the_first_that_has_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path, "exit 1").rename(tmp_path / "python3")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert find_interpreter(None, tmp_path, tmp_path).path == OURS
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python3"))
    with pytest.raises(InterpreterError, match=r"^no Python with torch 2\.4 .*name one by `--python`.*is not Python"):
        find_interpreter(None, tmp_path, tmp_path)
    environment(tmp_path / ".venv", None)
    inner = environment(tmp_path / "venv", "2.5.1")
    assert find_interpreter(None, tmp_path, tmp_path).path == inner
    active = environment(tmp_path / "active", "2.6.0")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    found = find_interpreter(None, tmp_path, tmp_path)
    assert (found.path, found.torch) == (active, "2.6.0")
    assert found.installed != find_interpreter("venv", tmp_path, tmp_path).installed
