"""Running a real editor: the plan that a script beside this file follows, and the report that it writes.

Each script opens a file with the configuration from `editors/`, as it stands, and does what a user would do. It judges
nothing: it reports what the editor showed, and Python compares.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.documents import PROJECT
from tests.server.editors.scenario import Model, State

HERE = Path(__file__).parent
CONFIGS = PROJECT / "editors"
import os as _os
EXPORTLINT = ("/tmp/ED/fake.py",) if _os.environ.get("EDFAKE") else ("-m", "exportlint")
WAIT = int(_os.environ.get("EDWAIT", "30"))
"""Seconds after which an editor reports what it shows even if that is not what was waited for."""
GONE = 10
"""Seconds that a server may take to end after its editor has."""


def find(program: str, variable: str) -> str:
    """The editor that the environment names, or that is on PATH; without one the test is skipped, or fails if required."""
    found = os.environ.get(variable) or shutil.which(program)
    if found is None:
        reason = f"no {program} on PATH, and {variable} names none"
        if os.environ.get("EXPORTLINT_EDITORS") == "require":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@dataclass
class Project:
    """A directory with one model, and an `exportlint` on PATH that knows whether servers still run."""

    root: Path
    model: Model
    command: Sequence[str] = EXPORTLINT
    """What Python is given to be `exportlint`: the real one, or a broken one."""
    environment: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        """Write the files."""
        work = self.root / "work"
        for directory in (work, self.root / "bin", self.root / "home"):
            directory.mkdir()
        self.file = work / "model.py"
        self.file.write_text(self.model.text, encoding="utf-8")
        (work / "exportlint.toml").write_text("", encoding="utf-8")
        self.lock = self.root / "lock"
        self.starts = self.root / "starts"
        self.starts.touch()
        program = self.root / "bin" / "exportlint"
        program.write_text(
            f"#!{sys.executable}\nimport fcntl, os, sys\n"
            f"lock = os.open({str(self.lock)!r}, os.O_RDWR | os.O_CREAT)\n"
            "fcntl.flock(lock, fcntl.LOCK_SH)\nos.set_inheritable(lock, True)\n"
            f"print(*sys.argv[1:], file=open({str(self.starts)!r}, 'a'))\n"
            f"os.execv(sys.executable, [sys.executable, *{list(self.command)!r}, *sys.argv[1:]])\n",
            encoding="utf-8",
        )
        program.chmod(0o755)
        home = str(self.root / "home")
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("EXPORTLINT_", "XDG_"))},
            "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(PROJECT),
            "HOME": home,
            "XDG_CONFIG_HOME": home,
            "TERM": "dumb",
            "EXPORTLINT_PLAN": str(self.root / "plan.json"),
        }

    def drive(self, argv: Sequence[str], config: str, wait: float = WAIT) -> Report:
        """Run an editor with its script, and the configuration directory of that name."""
        report = self.root / "report.json"
        paths = {"file": str(self.file), "report": str(report), "config": str(CONFIGS / config)}
        plan = {**paths, "wait": int(wait * 1000), **self.model.plan()}
        (self.root / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        ran = subprocess.run(
            argv,
            env=self.environment,
            cwd=self.file.parent,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60 + 10 * wait,
            check=False,
        )
        said = (ran.stdout + ran.stderr).decode(errors="replace")[-4000:]
        assert report.exists(), f"{argv[0]} wrote no report, exit code {ran.returncode}:\n{said}"
        return Report(self, json.loads(report.read_text(encoding="utf-8")), said)


@dataclass
class Report:
    """What an editor showed."""

    project: Project
    seen: dict[str, Any]
    said: str

    def state(self, step: str) -> State:
        """Findings and text after a step; of a step that the script did not reach, none."""
        state = self.seen.get(step) or {"findings": [], "text": ""}
        return State(
            tuple(sorted((found["line"], found["code"], found["text"]) for found in state["findings"])), state["text"]
        )

    def differences(self) -> list[str]:
        """The steps in which the editor did not show what it should have, in order, each with what it showed."""
        model = self.project.model
        found = [
            f"{step}: {self.state(step)!r} is not {expected!r}"
            for step, expected in model.states().items()
            if self.state(step) != expected
        ]
        if any(part not in self.seen.get("hover", "") for part in model.hover):
            found.append(f"hover: {self.seen.get('hover')!r}")
        if self.project.file.read_text(encoding="utf-8") != model.states()["fixall"].text:
            found.append("saved: another text is in the file")
        if "error" in self.seen:
            found.append(f"error: {self.seen['error']}")
        return found

    def servers_started(self) -> list[str]:
        """The arguments of each `exportlint` that the editor ran."""
        return self.project.starts.read_text(encoding="utf-8").splitlines()

    def servers_ended(self) -> bool:
        """Whether all of them have ended: each holds a lock for as long as it lives."""
        with self.project.lock.open("w") as lock:
            for _ in range(GONE * 20):
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    time.sleep(0.05)
                else:
                    return True
        return False
