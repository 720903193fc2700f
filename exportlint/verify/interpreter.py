"""The Python that a project runs with, which has torch; exportlint's own need not."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from exportlint.config.torch_version import OLDEST
from exportlint.verify.family import Family

_TIMEOUT = 30.0
"""Seconds in which a Python has to say what it is."""

_TICK = 0.1
"""Seconds between two looks at whether it was cancelled."""

_OLDEST_PYTHON = (3, 9)

_QUESTION = """
import sys
sys.path[:] = [entry for entry in sys.path if entry]
import importlib.util, json, os
installed = sorted({name for entry in sys.path if os.path.isdir(entry) for name in os.listdir(entry)
                    if name.endswith((".dist-info", ".egg-info", ".egg-link", ".pth"))})
torch = None
if importlib.util.find_spec("torch"):
    from importlib.metadata import version
    try:
        torch = version("torch")
    except Exception:
        torch = ""
print(json.dumps(["exportlint", sys.executable, list(sys.version_info[:3]), torch, installed]))
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python with torch. `torch` is its version as the installation says, or empty where it does not.

    `installed` is a digest of the names and versions of everything that is installed there.
    """

    path: Path
    python: str
    torch: str
    installed: str


class InterpreterError(Exception):
    """There is no Python to verify with; the message says why, and what to do, in one line."""


NAMED_IN_FILES = "`python` in [tool.exportlint.verify]"
"""How a Python is named where there is no flag for it."""
NAMED_BY_FLAG = f"`--python` or {NAMED_IN_FILES}"


def find_interpreter(
    wanted: str | None,
    root: Path,
    cwd: Path,
    named_by: str = NAMED_BY_FLAG,
    cancelled: threading.Event | None = None,
) -> Interpreter:
    """The Python to verify the project at `root` with.

    `wanted` is what the user names: a Python, or the directory of a virtual environment, relative to `cwd`. Else it is
    the first of these that has torch: the active environment, `.venv` and `venv` in `root`, what is on the path, and
    exportlint's own. `named_by` is where the user can name another one, in the words of messages. Once it is
    `cancelled`, what is being asked is killed.

    Raises:
        InterpreterError: that one cannot be used, or there is none.
    """
    if wanted is not None:
        return ask(_named(wanted, cwd), named_by, cancelled)
    problems: dict[Path, str] = {}
    for python in _different(_candidates(root)):
        try:
            return ask(python, "", cancelled)
        except InterpreterError as error:  # noqa: PERF203 - starting a Python takes longer
            problems[python] = str(error)
    bare = next((python for python, problem in problems.items() if problem.endswith("has no torch")), None)
    install = "" if bare is None else f"`{bare} -m pip install torch`, or "
    raise InterpreterError(
        f"no Python with torch 2.4 or newer was found: {install}name one by {named_by}; {'; '.join(problems.values())}"
    )


def _different(pythons: Iterator[Path]) -> Iterator[Path]:
    """Those that are not another name of one before, such as `python3` for `python` in an environment."""
    seen: set[tuple[Path, str]] = set()
    for python in pythons:
        # a link to the Python of the system is another environment: its folder makes the difference
        key = python.parent, os.path.realpath(python)
        if key not in seen:
            seen.add(key)
            yield python


def ask(python: Path, named_by: str = NAMED_BY_FLAG, cancelled: threading.Event | None = None) -> Interpreter:
    """What a Python is. `named_by` is where the user can name another one; empty if the message is not to say it.

    Raises:
        InterpreterError: it is none, or too old, or has no torch, or one that is too old.
    """
    shown = f"`{python}`"
    try:
        name, executable, version, torch, installed = json.loads(_answer(python, cancelled).strip().splitlines()[-1])
        if name != "exportlint":
            raise ValueError
    except (ValueError, TypeError, IndexError):
        raise InterpreterError(f"{shown} is not Python 3.9 or newer") from None
    python_version = ".".join(map(str, version))
    if tuple(version[:2]) < _OLDEST_PYTHON:
        raise InterpreterError(f"{shown} is Python {python_version}, 3.9 or newer is needed")
    if torch is None:
        advice = f": `{python} -m pip install torch`, or name another by {named_by}" if named_by else ""
        raise InterpreterError(f"{shown} has no torch{advice}")
    numbers = re.match(r"(\d+)\.(\d+)", torch)
    if numbers and (int(numbers[1]), int(numbers[2])) < OLDEST:
        raise InterpreterError(f"{shown} has torch {torch}, 2.4 or newer is needed")
    digest = hashlib.sha256("\n".join(installed).encode()).hexdigest()
    return Interpreter(Path(executable or python), python_version, torch, digest)


def _answer(python: Path, cancelled: threading.Event | None) -> str:
    try:
        family = Family([python, "-c", _QUESTION], os.environ)
    except OSError as error:
        raise InterpreterError(f"`{python}` cannot be run: {error.strerror or error}") from None
    deadline = time.monotonic() + _TIMEOUT
    try:
        while cancelled is None or not cancelled.is_set():
            with contextlib.suppress(subprocess.TimeoutExpired):
                left = max(deadline - time.monotonic(), 0)
                said = family.process.communicate(timeout=min(left, _TICK) if cancelled else left)[0]
                return said.decode(errors="replace")
            if time.monotonic() >= deadline:
                raise InterpreterError(f"`{python}` does not answer within {_TIMEOUT:g} seconds")
        raise InterpreterError(f"`{python}` did not finish before the run was cancelled")
    finally:
        family.kill()


def _named(wanted: str, cwd: Path) -> Path:
    found = shutil.which(wanted) if Path(wanted).name == wanted else None
    path = Path(found) if found else cwd / Path(wanted).expanduser()
    return _inside(path) if path.is_dir() else path


def _candidates(root: Path) -> Iterator[Path]:
    active = [os.environ.get("VIRTUAL_ENV"), os.environ.get("CONDA_PREFIX")]
    for environment in (*(Path(path) for path in active if path), root / ".venv", root / "venv"):
        python = _inside(environment)
        if python.exists():
            yield python
    on_path = shutil.which("python" if os.name == "nt" else "python3")
    if on_path:
        yield Path(on_path)
    yield Path(sys.executable)


def _inside(environment: Path) -> Path:
    """The Python of an environment."""
    if os.name != "nt":
        return environment / "bin" / "python"
    # conda has it at the top
    return next((p for p in (environment / "Scripts" / "python.exe",) if p.exists()), environment / "python.exe")
