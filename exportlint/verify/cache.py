"""The outcome of tasks, kept for as long as nothing that it depends on changes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from exportlint import __version__
from exportlint.verify import worker
from exportlint.verify.interpreter import Interpreter
from exportlint.verify.protocol import job
from exportlint.verify.results import Comparison, Failure, Frame, ModelClass, Run
from exportlint.verify.task import Task, is_unmet, next_of


class Cache:
    """Runs in files below a directory. An entry that cannot be read, or written, is none."""

    def __init__(self, directory: Path, interpreter: Interpreter) -> None:
        """`interpreter` is the one that the tasks are run by: its versions, and what is installed there, count."""
        self._directory = directory
        self._interpreter = interpreter
        self._digests: dict[str, str | None] = {}

    @property
    def settled(self) -> Path:
        """The directory with an empty file for each program that keeps its results, for these versions of all."""
        versions = _digest(json.dumps((__version__, _WORKER, asdict(self._interpreter)), default=str).encode())
        return self._directory / "programs" / versions[:32]

    def known(self, first: Task) -> tuple[list[Run], Task | None]:
        """The outcomes of a task and of those that follow from it, and the first of them that has to be run."""
        found: list[Run] = []
        task: Task | None = first
        while task is not None and (run := self.get(task)) is not None:
            if not is_unmet(task, run):
                found.append(run)
            task = next_of(task, run)
        return found, task

    def get(self, task: Task) -> Run | None:
        """The outcome of the task, if each file that ran is as it was then."""
        try:
            checksum, text = self._file(task).read_text(encoding="utf-8").split("\n", 1)
            if checksum != _digest(text.encode()):
                return None
            run = _read(json.loads(text))
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None
        return (
            replace(run, cached=True)
            if all(self._digest_of(file) == digest for file, digest in run.files.items())
            else None
        )

    def put(self, task: Task, run: Run) -> None:
        """Keep the outcome of a task. Without the files that it depends on, there is no telling for how long."""
        if not run.files:
            return
        text = json.dumps(asdict(run))
        file = self._file(task)
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=".")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as stream:
                    stream.write(f"{_digest(text.encode())}\n{text}")
                Path(temporary).replace(file)
            except OSError:
                Path(temporary).unlink(missing_ok=True)

    def _file(self, task: Task) -> Path:
        about = (__version__, _WORKER, asdict(self._interpreter), job(task.target, task.mode, task.device, 0))
        name = _digest(json.dumps(about, sort_keys=True, default=str).encode())
        return self._directory / name[:2] / f"{name[2:]}.json"

    def _digest_of(self, file: str) -> str | None:
        if file not in self._digests:
            try:
                self._digests[file] = _digest(Path(file).read_bytes())
            except OSError:
                self._digests[file] = None
        return self._digests[file]


def default_directory() -> Path:
    """Where the runs of all projects of the user are kept."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("exportlint", appauthor=False)) / "verify"


def clean(directory: Path) -> None:
    """Forget everything that is kept there."""
    shutil.rmtree(directory, ignore_errors=True)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


_WORKER = _digest(b"".join(file.read_bytes() for file in sorted(Path(worker.__file__).parent.glob("*.py"))))


def _read(data: dict[str, Any]) -> Run:
    failures = (
        Failure(**{**failure, "frames": tuple(Frame(**f) for f in failure["frames"]), "hints": tuple(failure["hints"])})
        for failure in data["failures"]
    )
    return Run(
        **{
            **data,
            "failures": tuple(failures),
            "comparisons": tuple(Comparison(**comparison) for comparison in data["comparisons"]),
            "lines": {file: tuple(rows) for file, rows in data["lines"].items()},
            "inputs": tuple(data["inputs"]),
            "model": ModelClass(**data["model"]) if data["model"] else None,
            "deleted": tuple(data["deleted"]),
            "call": Frame(**data["call"]) if data["call"] else None,
        }
    )
