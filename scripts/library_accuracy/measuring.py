"""Lints a library, exports its models, and holds findings against what happened."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import os
import pickle
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import exportlint
from exportlint.config import Configuration, Layer
from exportlint.findings import Finding, Mode, Severity
from exportlint.linter import Task, lint
from exportlint.verify.results import Frame, Run
from exportlint.verify.rulings import Surprise, one_line
from exportlint.verify.run import verify
from exportlint.verify.target import Target
from exportlint.verify.verdicts import judge
from library_accuracy.cases import ZOOS, Case, Library
from library_accuracy.records import Batch, Held, Missed, Record

MODES: tuple[Mode, ...] = ("non-strict", "strict")
BATCHES: Mapping[Batch, tuple[int, ...]] = {"dynamic": (0,), "static": ()}
STARTUP = Path(__file__).with_name("startup")
PROJECT = Path(__file__).parents[2]

_TEXT = 200
"""How many characters of an error are kept."""

Key = tuple[str, Mode, Batch]


class Runs:
    """Where the results of runs are kept, so that findings can be held against them again without running anything."""

    def __init__(self, directory: Path, library: Library) -> None:
        self.directory = directory / f"{library.name}-{library.version}"
        self.directory.mkdir(parents=True, exist_ok=True)

    def get(self, key: Key) -> Run | None:
        """What came of a run, if it is kept."""
        try:
            loaded: Run = pickle.loads(self._file(key).read_bytes())
        except FileNotFoundError:
            return None
        return loaded

    def put(self, key: Key, run: Run) -> None:
        """Keep what came of a run."""
        self._file(key).write_bytes(pickle.dumps(replace(run, files={}, output="")))

    def findings(self, key: object, make: Callable[[], tuple[Finding, ...]]) -> tuple[Finding, ...]:
        """What a linter of these sources found in the library."""
        digest = hashlib.sha256(repr((key, _sources())).encode()).hexdigest()[:16]
        file = self.directory / f"findings-{digest}.pickle"
        if not file.exists():
            file.write_bytes(pickle.dumps(make()))
        loaded: tuple[Finding, ...] = pickle.loads(file.read_bytes())
        return loaded

    def _file(self, key: Key) -> Path:
        return self.directory / (hashlib.sha256(repr(key).encode()).hexdigest()[:24] + ".pickle")


def configuration(mode: Mode, batch: Batch) -> Configuration:
    """The settings that a library is linted with."""
    overrides = {"mode": mode, "dynamic-dims": BATCHES[batch], "torch-version": (2, 13)}
    return Configuration(Path.cwd(), isolated=True, overrides=(Layer(Path.cwd(), overrides),))


def prepare(name: str, python: Path) -> None:
    """Have the library imported by each Python that is started from now on, before it forks runs."""
    code = "import importlib.util as u; assert u.find_spec('torchvision') is None or __import__('torchvision')"
    if subprocess.run([python, "-c", code], capture_output=True, check=False).returncode != 0:
        os.environ["EXPORTLINT_DECLARE"] = "1"
    os.environ["EXPORTLINT_PRELOAD"] = ",".join((name, f"{name}_zoo"))
    own = [str(STARTUP), str(ZOOS)]
    others = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path not in own]
    os.environ["PYTHONPATH"] = os.pathsep.join([*own, *others])


@functools.cache
def _sources() -> str:
    """The digest of the linter itself."""
    package = Path(exportlint.__file__).parent
    files = sorted(file for file in package.rglob("*") if file.suffix in (".py", ".txt") and "verify" not in file.parts)
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


class Bench:
    """Findings of one library, against which runs are held."""

    def __init__(self, library: Library, runs: Runs, kept: Sequence[tuple[Case, Run]], jobs: int) -> None:
        """Lint the files whose code `kept` ran, and what else it fails in."""
        self._library = library
        self._findings: dict[tuple[Mode, Batch], dict[str, list[Finding]]] = {}
        # What is blamed on another package is found where that is linted too.
        blamed = {Path(frame.file) for _, run in kept for failure in run.failures for frame in failure.frames}
        ran = {Path(file) for _, run in kept for file in run.lines} | blamed
        files = sorted(file for file in ran if library.package in file.parents and file.suffix == ".py")
        files += sorted(file for file in blamed if library.package not in file.parents and file.suffix == ".py")
        for mode, batch in itertools.product(MODES, BATCHES):
            by_file = self._findings.setdefault((mode, batch), {})
            make = functools.partial(self._lint, files, mode, batch, jobs)
            for finding in runs.findings((mode, batch, [*map(str, files)]), make):
                by_file.setdefault(finding.filename, []).append(finding)

    def _lint(self, files: Sequence[Path], mode: Mode, batch: Batch, jobs: int) -> tuple[Finding, ...]:
        settings = configuration(mode, batch).for_directory(self._library.package)
        found = lint([Task(file, settings) for file in files], jobs, fixes=False).findings
        internal = next((f for f in found if f.code == "EXP004"), None)
        if internal is not None:
            raise RuntimeError(f"{internal.filename}: {internal.message}")
        return tuple(f for f in found if f.severity is not Severity.INFO and not f.code.startswith("EXP0"))

    def record(self, case: Case, key: Key, run: Run) -> Record:
        """What is on record of a run."""
        _, mode, batch = key
        by_file = self._findings[mode, batch]
        met = {*run.lines, *(frame.file for failure in run.failures for frame in failure.frames)}
        judgement = judge([f for file in sorted(met) for f in by_file.get(file, ())], [run])
        first = next((failure for failure in run.failures if not failure.further), None)
        frame = first.frames[-1] if first and first.frames else None
        file, row = self._place(frame)
        return Record(
            library=self._library.name,
            version=self._library.version,
            torch=run.versions.get("torch", ""),
            name=case.name,
            model=case.model,
            arguments=list(case.arguments),
            keywords=dict(case.keywords),
            inputs=[text[:_TEXT] for text in run.inputs],
            guessed=case.guessed,
            mode=mode,
            batch=batch,
            verdict=run.verdict,
            error=self._text(f"{first.type}: {one_line(first.message)}" if first else run.reason),
            file=file,
            row=row,
            seconds=round(run.seconds, 1),
            findings=tuple(
                sorted(
                    {
                        Held(
                            held.finding.code,
                            held.finding.severity.value,
                            self._shown(held.finding.filename),
                            held.finding.span.start.row,
                            held.ruling,
                        )
                        for held in judgement.findings
                        if held.near and run.verdict != "cannot be built"
                    },
                    key=lambda held: (held.file, held.row, held.rule, held.severity, held.ruling),
                )
            ),
            missed=tuple(self._missed(surprise) for surprise in judgement.missed if not surprise.further),
        )

    def _missed(self, surprise: Surprise) -> Missed:
        file, row = self._place(surprise.frame)
        return Missed(surprise.severity.value, surprise.what, file, row, self._text(surprise.message))

    def _place(self, frame: Frame | None) -> tuple[str, int]:
        return ("", 0) if frame is None else (self._shown(frame.file), frame.row)

    def _shown(self, file: str) -> str:
        """A path from the package on, whatever machine it is on."""
        return self._anywhere(file)

    def _text(self, text: str) -> str:
        return self._anywhere(text)[:_TEXT]

    def _anywhere(self, text: str) -> str:
        for folder in (self._library.package.parent, PROJECT):
            text = text.replace(f"{folder}{os.sep}", "")
        return text


def run_models(
    listed: Sequence[Case],
    known: Mapping[Key, Record],
    python: Path,
    runs: Runs,
    *,
    jobs: int,
    until: float,
    timeout: float,
    memory: int,
) -> None:
    """Export models, but for what is kept or on record, until the time is over (in the time of `time.monotonic`)."""
    keys: dict[str, Key] = {}
    targets: list[Target] = []
    for key, case in keys_of(listed):
        if key not in known and runs.get(key) is None:
            name = "|".join(key)
            keys[name] = key
            target = replace(case.target, name=name, modes=(key[1],), varying=BATCHES[key[2]])
            targets.append(replace(target, timeout=timeout, memory=memory, derived=False))
    with contextlib.closing(verify(targets, python, jobs=jobs)) as results:
        for run in results:
            runs.put(keys[run.target], run)
            if time.monotonic() >= until:
                return


def keys_of(listed: Sequence[Case]) -> Iterator[tuple[Key, Case]]:
    """What is run of each model."""
    for case, batch, mode in itertools.product(listed, BATCHES, MODES):
        yield (case.name, mode, batch), case


def judged(library: Library, listed: Sequence[Case], runs: Runs, jobs: int) -> Iterator[Record]:
    """The records of all runs that are kept."""
    kept = [(key, case, run) for key, case in keys_of(listed) if (run := runs.get(key)) is not None]
    bench = Bench(library, runs, [(case, run) for _, case, run in kept], jobs)
    for key, case, run in kept:
        yield bench.record(case, key, run)
