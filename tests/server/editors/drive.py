"""Running a real editor: the plan that a script beside this file follows, and the report that it writes.

Each script opens a file with the configuration from `editors/`, as it stands, and does what a user would do. It judges
nothing: it reports what the editor showed, and Python compares.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.documents import PROJECT
from tests.server.editors.scenario import Model, State

CONFIGURATIONS = PROJECT / "editors"
EXPORTLINT = ("-m", "exportlint")
WAIT = 60.0
"""Seconds after which an editor reports what it shows even if that is not what was waited for."""
GONE = 10.0
"""Seconds that a server may take to end after its editor has."""


@dataclass
class Project:
    """A directory with one model, and an `exportlint` on PATH of which it is known whether it still runs."""

    root: Path
    model: Model
    command: Sequence[str] = EXPORTLINT
    """What Python is given to be `exportlint`: the real one, or a broken one."""
    environment: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        """Write the files."""
        self.work, home, programs = (self.root / name for name in ("work", "home", "bin"))
        for directory in (self.work, home, programs):
            directory.mkdir()
        self.file = self.work / "model.py"
        self.file.write_text(self.model.text, encoding="utf-8")
        (self.work / "exportlint.toml").touch()
        self._lock, self._starts = self.root / "lock", self.root / "starts"
        self._lock.touch()
        self._starts.touch()
        (programs / "exportlint").write_text(self._program(), encoding="utf-8")
        (programs / "exportlint").chmod(0o755)
        ours = ("EXPORTLINT_", "XDG_")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)} | {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(PROJECT),
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home),
            "TERM": "dumb",
            "EXPORTLINT_ALE": os.environ.get("EXPORTLINT_ALE", "/usr/share/vim-ale"),
            "EXPORTLINT_PLAN": str(self.root / "plan.json"),
        }

    def _program(self) -> str:
        """An `exportlint` that holds a lock for as long as it lives."""
        return (
            f"#!{sys.executable}\n"
            "import fcntl, os, sys\n"
            f"lock = os.open({str(self._lock)!r}, os.O_RDWR)\n"
            "fcntl.flock(lock, fcntl.LOCK_SH)\n"
            "os.set_inheritable(lock, True)\n"
            f"print(*sys.argv[1:], file=open({str(self._starts)!r}, 'a'))\n"
            f"os.execv(sys.executable, [sys.executable, *{list(self.command)!r}, *sys.argv[1:]])\n"
        )

    def drive(self, argv: Sequence[str], configuration: str, wait: float = WAIT) -> Report:
        """Run an editor with its script and the directory of `editors/` with that name."""
        report = self.root / "report.json"
        plan = {
            "file": str(self.file),
            "report": str(report),
            "config": str(CONFIGURATIONS / configuration),
            "wait": int(wait * 1000),
            **self.model.plan(),
        }
        (self.root / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        ran = subprocess.run(
            argv,
            env=self.environment,
            cwd=self.work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60 + 3 * wait,
            check=False,
        )
        said = (ran.stdout + ran.stderr).decode(errors="replace")[-4000:]
        assert report.exists(), f"{argv[0]} wrote no report, exit code {ran.returncode}:\n{said}"
        return Report(self, json.loads(report.read_bytes().decode(errors="replace")), said)

    @property
    def starts(self) -> list[str]:
        """The arguments of each `exportlint` that was run."""
        return self._starts.read_text(encoding="utf-8").splitlines()

    def ended(self) -> bool:
        """Whether all of them have ended, or do so soon."""
        deadline = time.monotonic() + GONE
        while self._held() and time.monotonic() < deadline:
            time.sleep(0.05)
        return not self._held()

    def _held(self) -> bool:
        with self._lock.open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False


@dataclass
class Report:
    """What an editor showed."""

    project: Project
    seen: dict[str, Any]
    said: str

    def state(self, step: str) -> State | None:
        """What was shown after a step; None if the script did not get there."""
        if step not in self.seen:
            return None
        found = self.seen[step]["findings"]
        return State(
            tuple(sorted((each["line"], each["code"], each["text"]) for each in found)), self.seen[step]["text"]
        )

    def differences(self) -> dict[str, str]:
        """The steps after which something else was shown than should have been, in order, and what."""
        model = self.project.model
        found = {
            step: f"{self.state(step)} instead of {expected}"
            for step, expected in model.states().items()
            if self.state(step) != expected
        }
        shown = self.seen.get("hover", "nothing")
        if any(part not in shown for part in model.hover):
            found["hover"] = shown
        if self.project.file.read_text(encoding="utf-8") != model.states()["fixall"].text:
            found["saved"] = "another text is in the file"
        if "error" in self.seen:
            found["error"] = f"{self.seen['error']}\n{self.said}"
        return found

    def check(self) -> None:
        """All was shown as it should be, by one server, which ended with the editor."""
        assert self.differences() == {}
        assert self.project.starts == ["server"]
        assert self.project.ended(), "the server still runs"
