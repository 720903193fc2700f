"""Many targets: side by side, with progress, cancelled, and cut short; nothing is left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from exportlint.verify.results import Run
from exportlint.verify.run import verify
from exportlint.verify.slot import Slot
from exportlint.verify.target import Target
from exportlint.verify.task import Progress
from tests.patience import PATIENCE
from tests.verify.workshop import HEAD, SECONDS, module, result, running, target

pytestmark = pytest.mark.thorough

PYTHON = Path(sys.executable)

needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="what is left running is found by /proc")


def slow(directory: Path, name: str = "slow") -> Target:
    """A target that does not end by itself, of which a process that has left its session knows as well."""
    hide = f"subprocess.Popen(['sleep', '{SECONDS}'], start_new_session=True, env={{}})\n"
    return target(directory, module(f"{hide}time.sleep(10**6)\nreturn x"), name)


@needs_proc
def test_side_by_side(tmp_path: Path) -> None:
    targets = [target(tmp_path, module(), f"good{number}", modes=("non-strict", "strict")) for number in range(2)]
    broken = target(tmp_path, HEAD + "raise ValueError('no\\nmore')", "broken")
    told: list[Progress] = []
    threads = set()

    def tell(progress: Progress) -> None:
        told.append(progress)
        threads.add(threading.current_thread())

    runs = list(verify([*targets, broken], PYTHON, jobs=2, tell=tell))
    assert {(run.target, run.mode, run.device): run.verdict for run in runs} == {
        ("good0", "non-strict", "cpu"): "exports",
        ("good0", "strict", "cpu"): "exports",
        ("good1", "non-strict", "cpu"): "exports",
        ("good1", "strict", "cpu"): "exports",
        ("broken", "non-strict", "cpu"): "cannot be built",
    }
    assert threads == {threading.current_thread()}
    stages = [progress.stage for progress in told if (progress.target, progress.mode) == ("good0", "strict")]
    assert stages[:3] == ["start", "import", "build"]
    assert stages[-1] == "done"
    assert running() == []


def test_nothing_to_do() -> None:
    assert list(verify([], PYTHON)) == []


@needs_proc
@pytest.mark.parametrize(("how", "jobs"), [("cancelled", 2), ("closed", 1)])
def test_cut_short(how: str, jobs: int, tmp_path: Path) -> None:
    """One is running in each worker, and one waits."""
    cancelled = threading.Event()
    busy = set()

    def tell(progress: Progress) -> None:
        if progress.stage == "eager":
            busy.add(progress.target)
        if how == "cancelled" and len(busy) == jobs:
            cancelled.set()

    first = target(tmp_path, HEAD + "raise ValueError", "first")
    slows = [slow(tmp_path, f"slow{number}") for number in range(3)]
    runs = verify([first, *slows], PYTHON, jobs=jobs, tell=tell, cancelled=cancelled)
    assert next(runs).target == "first"
    if how == "closed":
        runs.close()
    else:
        assert list(runs) == []
    assert running() == []


@needs_proc
def test_cancelled_while_a_worker_starts(tmp_path: Path) -> None:
    cancelled = threading.Event()
    threading.Timer(0.2, cancelled.set).start()
    assert list(verify([slow(tmp_path)], PYTHON, cancelled=cancelled)) == []
    assert running() == []


PROGRAM = """
import sys
from pathlib import Path
from exportlint.verify.run import verify
from tests.verify.test_run import slow

def tell(progress):
    if progress.stage == "eager":
        print("running", flush=True)

for run in verify([slow(Path(sys.argv[1]))], Path(sys.executable), tell=tell):
    print(run)
"""


@needs_proc
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=lambda number: number.name)
def test_the_end_of_our_own_process(number: signal.Signals, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "running\n"
        assert running() != []
        os.kill(process.pid, number)
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == -number
    assert errors.count("KeyboardInterrupt") == (number == signal.SIGINT)
    end = time.monotonic() + PATIENCE
    while running() != [] and time.monotonic() < end:
        time.sleep(0.05)
    assert running() == []


@needs_proc
def test_a_system_that_does_not_fork(tmp_path: Path) -> None:
    """Each job has a process of its own then, which ends with it."""
    slot = Slot(PYTHON, forks=False, threads=1)
    late: Run = result(slot, target(tmp_path, module("print('so far')\nwhile True: pass"), "late", timeout=1.0)).run
    assert late.verdict == "times out"
    assert "in forward" in late.reason
    assert late.output.startswith("so far\n")
    assert running() == []
    good = result(
        slot, target(tmp_path, module(f"print('I run')\nos.system('sleep {SECONDS} &')\nreturn x + 1"), "good")
    ).run
    assert (good.verdict, good.reason) == ("exports", "")
    assert good.output.startswith("I run\n")
    slot.close()
    assert running() == []
