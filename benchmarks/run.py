"""What exportlint costs beside other linters on the same files, as whole processes from start to end.

    python benchmarks/run.py [DIRECTORY] [--files N] [--jobs N...] [--repeat N] [--peers PYTHON]... [--peer-timeout S]

The package that the directory is in is copied, so that times of files can be changed and caches start empty. Linters
are run in turns: exportlint and Ruff `--repeat` times, slow peers once, each for every number of `--jobs`. What counts
is the median of the processor time of all processes of a run, as the machine may have other things to do. Wall time and
the peak memory of the largest process are shown, too. The last column is the processor time in that of exportlint
without cache.

`no cache`, `warm` and `unchanged` are exportlint's: without cache; with one, for files whose times are new, as in a
checkout of CI; with one and nothing changed. Ruff is run without its cache.

`--peers` names the Python of an environment with torchfix, fixit, pylint or ruff, which need not be the same one, as
they may want different versions of libcst; those that are not there are left out. One that takes longer than
`--peer-timeout` is ended, and counts with what it took until then. fixit has no option for the number of processes: it
takes all processors. exportlint also reads the files that the given ones import, so a sample shows it slower than a
whole tree does; it does not look for files that import them, as none of the others does. `--json` has all runs up to
now after each one. For POSIX systems only.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from sample import OWN, count_lines, sample

MAX_RSS_UNIT = 1 if sys.platform == "darwin" else 1024
"""Bytes a unit of `ru_maxrss`."""
QUICK_FILES = 12
SECONDS_TO_SETTLE = 3
"""How old a file has to be for its times to be believed, and more."""
REFERENCE = "exportlint, no cache"


@dataclass(frozen=True, slots=True)
class Run:
    """What a command took, with all the processes that it started: `cpu` and `wall` are seconds.

    `end` is the exit code, or says that it was ended.
    """

    cpu: float
    wall: float
    peak_bytes: int
    end: str


@dataclass(frozen=True, slots=True)
class Linter:
    """How to run a linter; the files are still to be added. `prepare` is done before each run and not measured."""

    name: str
    jobs: int
    command: Sequence[str]
    prepare: Callable[[], None] = lambda: None
    is_slow: bool = False


def main() -> None:
    """Print a line for each linter and number of processes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, nargs="?", default=OWN, help="[exportlint itself]")
    parser.add_argument("--files", type=int, metavar="N", help=f"take N files evenly [all, with --quick {QUICK_FILES}]")
    parser.add_argument("-j", "--jobs", type=int, nargs="+", default=[1, 2], help="processes of each linter [1 2]")
    parser.add_argument("--repeat", type=int, metavar="N", help="run everything N times [3, with --quick 1]")
    parser.add_argument("--peers", action="append", default=[], metavar="PYTHON", help="environment with other linters")
    parser.add_argument("--peer-timeout", type=float, metavar="S", help="seconds for a peer [1800, with --quick 30]")
    parser.add_argument("--quick", action="store_true", help="a few files, once")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all runs there, too")
    arguments = parser.parse_args()
    chosen = sample(arguments.directory, arguments.files or (QUICK_FILES if arguments.quick else None))
    timeout = arguments.peer_timeout or (30 if arguments.quick else 1800)
    lines = count_lines(chosen)
    print(f"{len(chosen)} files, {lines:,} lines, {os.cpu_count()} processors")
    runs: dict[tuple[str, int], list[Run]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        files = copied(chosen, Path(temporary, "copy"))
        paths = files if arguments.files or arguments.quick else [common(files)]
        linters = [
            linter for jobs in arguments.jobs for linter in own(jobs, files, paths, Path(temporary, f"cache{jobs}"))
        ]
        for jobs in arguments.jobs:
            linters += peers(jobs, arguments.peers, is_first=jobs == arguments.jobs[0])
        for turn in range(arguments.repeat or (1 if arguments.quick else 3)):
            for linter in linters:
                if turn and linter.is_slow:
                    continue
                linter.prepare()
                run = measure([*linter.command, *map(str, paths)], timeout if linter.is_slow else None)
                runs.setdefault((linter.name, linter.jobs), []).append(run)
                print(f"{linter.name} {linter.jobs}: {run.cpu:.2f} s, {run.end}", file=sys.stderr, flush=True)
                if arguments.json is not None:
                    found = [{"name": n, "jobs": j, "runs": [*map(asdict, done)]} for (n, j), done in runs.items()]
                    what = {"files": len(files), "lines": lines, "linters": found}
                    arguments.json.write_text(json.dumps(what, indent=1) + "\n", encoding="utf-8")
    base = statistics.median(run.cpu for run in runs[REFERENCE, arguments.jobs[0]])
    print(f"{'linter':<22}{'jobs':>5}{'cpu [s]':>10}{'wall [s]':>10}{'lines/cpu s':>13}{'MiB':>7}{'times':>8}  end")
    for (name, jobs), done in runs.items():
        cpu, wall = (statistics.median(times) for times in ([r.cpu for r in done], [r.wall for r in done]))
        peak = max(run.peak_bytes for run in done)
        figures = f"{cpu:>10.2f}{wall:>10.2f}{lines / cpu:>13,.0f}{peak / 2**20:>7,.0f}{cpu / base:>8.2f}"
        print(f"{name:<22}{jobs or 'all':>5}{figures}  {done[-1].end}")


def copied(files: Sequence[Path], target: Path) -> list[Path]:
    """The files in a copy of the package that they are in, which imports lead to."""
    root = common(files)
    while (root / "__init__.py").exists():
        root = root.parent
    package = next(part for part in (files[0].resolve().relative_to(root)).parts)
    source = root / package if (root / package / "__init__.py").exists() else root
    place = target / source.name
    shutil.copytree(source, place, ignore=shutil.ignore_patterns("__pycache__", ".git"))
    return [place / file.resolve().relative_to(source) for file in files]


def common(files: Sequence[Path]) -> Path:
    """The directory that all files are in."""
    return Path(os.path.commonpath([file.resolve().parent for file in files]))


def own(jobs: int, files: Sequence[Path], paths: Sequence[Path], cache: Path) -> list[Linter]:
    """The runs of exportlint; `cache` is where it may keep results."""
    check = [sys.executable, "-m", "exportlint", "check", f"-j{jobs}", "--exit-zero", "--isolated", "--quiet"]
    check += ["--follow-importers", "never"]
    kept = [*check, "--cache-dir", str(cache)]

    def fill() -> None:
        """Have results kept for files whose times are not too new to be believed."""
        if not cache.exists():
            measure([*kept, *map(str, paths)], None)
            time.sleep(SECONDS_TO_SETTLE)
            measure([*kept, *map(str, paths)], None)

    def forget_times() -> None:
        """Let the kept times of all files differ from theirs: a copy of the cache for another place of the files."""
        fill()
        shutil.rmtree(f"{cache}-warm", ignore_errors=True)
        shutil.copytree(cache, f"{cache}-warm")
        now = time.time_ns()
        for file in files:
            os.utime(file, ns=(now, now))

    def settle() -> None:
        """Have the times of the files noted once more, after they have changed."""
        fill()
        time.sleep(SECONDS_TO_SETTLE)
        measure([*kept, *map(str, paths)], None)

    return [
        Linter(REFERENCE, jobs, [*check, "--no-cache"]),
        Linter("exportlint, warm", jobs, [*check, "--cache-dir", f"{cache}-warm"], forget_times),
        Linter("exportlint, unchanged", jobs, kept, settle),
    ]


def peers(jobs: int, environments: Sequence[str], *, is_first: bool) -> list[Linter]:
    """The runs of other linters that are there. Ruff may come with exportlint's own environment.

    Those that choose how many processes they take are run only for the first number.
    """
    words = {
        "torchfix": ["--jobs", str(jobs)],
        "pylint": [f"-j{jobs}", "--rcfile=/dev/null", "--exit-zero", "--score=n"],
    }
    if is_first:
        words["ruff"] = ["check", "--isolated", "--no-cache", "--exit-zero", "--quiet"]
        words["fixit"] = ["--quiet", "lint"]
    found: dict[str, Linter] = {}
    for directory in (Path(python).parent for python in (*environments, sys.executable)):
        for name, options in words.items():
            if (directory / name).is_file() and name not in found:
                processes = 0 if name in {"ruff", "fixit"} else jobs
                found[name] = Linter(name, processes, [str(directory / name), *options], is_slow=name != "ruff")
    return list(found.values())


def measure(command: Sequence[str], timeout: float | None) -> Run:
    """Run a command to its end, or for a time, without its output."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, cwd=tempfile.gettempdir()
    )
    used = 0.0
    while True:
        done, status, usage = os.wait4(process.pid, os.WNOHANG)
        if done:
            break
        if timeout is not None and time.perf_counter() - start > timeout:
            used = group_seconds(process.pid)
            os.killpg(process.pid, signal.SIGKILL)
            _, status, usage = os.wait4(process.pid, 0)
            break
        time.sleep(0.01)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    end = "ended" if used else str(process.returncode)
    return Run(max(cpu, used), wall, usage.ru_maxrss * MAX_RSS_UNIT, end)


def group_seconds(group: int) -> float:
    """The processor time of the processes of a group that are running, where the system tells."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[2]) == group:
                ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
