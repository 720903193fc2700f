"""Workers that wait for the next run: found again, contained as others are, and gone when they are to be."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from exportlint.cli import main
from exportlint.verify.interpreter import ask
from exportlint.verify.slot import Slot
from exportlint.verify.warm import Warmth, connect, stop
from tests.patience import PATIENCE
from tests.verify.workshop import SECONDS, module, result, running, target

pytestmark = pytest.mark.thorough

if sys.platform != "linux":
    pytest.skip("only there processes are forked", allow_module_level=True)

PYTHON = Path(sys.executable)
HIDES = f"""
if os.fork() == 0:
    os.setsid()
    os.environ.clear()
    time.sleep(60)
subprocess.Popen(['sleep', '{SECONDS}'], start_new_session=True, env={{}})
return x + 1
"""


@pytest.fixture(scope="module")
def warmth() -> Iterator[Warmth]:
    with own_warmth() as made:
        yield made


@contextlib.contextmanager
def own_warmth() -> Iterator[Warmth]:
    with tempfile.TemporaryDirectory(prefix="warm") as directory:  # the names of sockets are short
        place = Path(directory, "private")
        yield Warmth(place, ask(PYTHON), idle=PATIENCE)
        stop(place)
        wait_until(lambda: not waiting(place))
    assert running() == []


def waiting(directory: Path) -> list[int]:
    """The processes of the workers that wait there."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                command = (process / "cmdline").read_bytes().split(b"\0")
                parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            hosts = any(os.fspath(directory).encode() in part for part in command) and b"--warm" in command
            if hosts and parent not in found:
                found.append(int(process.name))
    return found


def wait_until(holds: object) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.02)


def verdict(warmth: Warmth, directory: Path, code: str, **options: Any) -> tuple[str, str]:
    """What comes of a model in a slot of its own, as in a run of its own; and what it printed."""
    slot = Slot(PYTHON, threads=1, warmth=warmth)
    try:
        run = result(slot, target(directory, code, **options)).run
        return run.verdict, run.output
    finally:
        slot.close()


def test_the_next_run_finds_it_and_has_its_own_environment(
    warmth: Warmth, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = module("print('told', os.environ.get('TOLD'), os.getcwd())\nreturn x + 1")
    pids = []
    for number in range(2):
        monkeypatch.setenv("TOLD", str(number))
        monkeypatch.chdir(tmp_path)
        found, output = verdict(warmth, tmp_path, code)
        assert found == "exports"
        assert output.startswith(f"told {number} {tmp_path}\n")
        pids.append(waiting(warmth.directory))
    assert pids[0] == pids[1]
    assert len(pids[0]) == 1


@pytest.mark.parametrize("processors", [2, 64])
def test_plans_and_proofs_find_it(processors: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    net = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        if x.sum() > 0:\n"
    net += "            return x + 1\n        return x * 2\n\n\ndef get_inputs():\n    return [torch.ones(2, 3)]\n"
    (tmp_path / "net.py").write_text(net)
    (tmp_path / "exportlint.toml").write_text(f"verify.python = {sys.executable!r}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.cpu_count", lambda: processors)  # the threads of torch depend on it
    started: list[Path] = []
    with own_warmth() as warmth:

        def warm(_: object, interpreter: object) -> Warmth:
            started.append(tmp_path)
            return warmth

        monkeypatch.setattr("exportlint.cli.fix_plan.warmth", warm)
        monkeypatch.setattr("exportlint.cli.proving.warmth", warm)
        assert main(["fix-plan", "net.py", "-q"]) == 0
        before = waiting(warmth.directory)
        assert main(["check", "--fix", "--verify", "net.py"]) == 0
        assert "torch.where" in (tmp_path / "net.py").read_text()
        assert (len(before), waiting(warmth.directory), len(started)) == (1, before, 2)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (HIDES, "exports"),
        ("os.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(60)", "cannot be built"),
        ("os.closerange(0, 256)\nreturn x + 1", "cannot be built"),
        ("while True:\n    os.fork()", "cannot be built"),
    ],
    ids=["processes that hide", "kills its host", "closes everything", "fork bomb"],
)
def test_nothing_is_left_of_a_job(body: str, expected: str, warmth: Warmth, tmp_path: Path) -> None:
    found, _ = verdict(warmth, tmp_path, module(body))
    assert found == expected
    wait_until(lambda: running() == [])
    assert verdict(warmth, tmp_path, module(), name="after")[0] == "exports"


def test_a_client_that_is_killed_takes_its_job_with_it(warmth: Warmth, tmp_path: Path) -> None:
    code = module(f"subprocess.run(['sleep', '{SECONDS}'])\nreturn x")
    of = target(tmp_path, code)
    script = (
        "import sys, pathlib\nfrom exportlint.verify.interpreter import ask\n"
        "from exportlint.verify.slot import Slot\nfrom exportlint.verify.warm import Warmth\n"
        "from tests.verify.workshop import result, target\n"
        "python = pathlib.Path(sys.executable)\n"
        f"warmth = Warmth(pathlib.Path({str(warmth.directory)!r}), ask(python), 60)\n"
        "slot = Slot(python, threads=1, warmth=warmth)\n"
        f"result(slot, target(pathlib.Path({str(tmp_path)!r}), {code!r}))\n"
    )
    client = subprocess.Popen([sys.executable, "-c", script], cwd=Path(__file__).parents[2])
    assert of.name
    wait_until(lambda: any(SECONDS in command for command in running()))
    client.send_signal(signal.SIGKILL)
    client.wait()
    wait_until(lambda: not any(SECONDS in command for command in running()))


def test_what_counts_when_torch_is_imported_wants_another_one(warmth: Warmth) -> None:
    now = warmth.path({"TERM": "xterm"})
    assert now == warmth.path({"TERM": "dumb"})
    assert now != warmth.path({"PYTHONPATH": "/elsewhere"})
    assert now != warmth.path({"OMP_NUM_THREADS": "2"})


def test_a_directory_that_others_can_write_to_is_not_used(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    assert connect(Warmth(shared, ask(PYTHON)), dict(os.environ), 1.0, lambda: False) is None
    assert list(shared.iterdir()) == []


def test_it_ends_when_nobody_comes(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="warm") as directory:
        brief = Warmth(Path(directory, "private"), ask(PYTHON), idle=0.2)
        assert verdict(brief, tmp_path, module())[0] == "exports"
        wait_until(lambda: waiting(brief.directory) == [])
        wait_until(lambda: list(brief.directory.glob("*.socket")) == [])


def test_one_that_is_dying_is_done_without(tmp_path: Path) -> None:
    """It takes the connection, and no more."""
    with tempfile.TemporaryDirectory(prefix="warm") as directory:
        dying = Warmth(Path(directory), ask(PYTHON), idle=0)
        environment = {**os.environ, "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")}
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(os.fspath(dying.path(environment)))
        listener.listen()
        accepted: list[socket.socket] = []
        threading.Thread(target=lambda: accepted.append(listener.accept()[0]) or accepted[0].close()).start()  # type: ignore[func-returns-value]
        assert verdict(dying, tmp_path, module())[0] == "exports"
        listener.close()
        assert accepted


def test_without_time_to_wait_none_is_left(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="warm") as directory:
        none = Warmth(Path(directory, "private"), ask(PYTHON), idle=0)
        assert verdict(none, tmp_path, module())[0] == "exports"
        assert waiting(none.directory) == []


def test_a_run_can_be_cancelled_while_its_worker_starts_and_leaves_none(tmp_path: Path) -> None:
    python, said = tmp_path / "python", tmp_path / "said"
    python.write_text(f"#!/bin/sh\necho $$ >> {said}\nexec sleep 1000\n")
    python.chmod(0o755)
    with own_warmth() as warmth:
        slot = Slot(python, warmth=replace(warmth, interpreter=replace(warmth.interpreter, path=python)))
        outcomes: list[str] = []
        thread = threading.Thread(target=lambda: outcomes.append(slot.run({}, lambda _event: None).end.how))
        thread.start()
        wait_until(lambda: said.exists() and said.read_text().endswith("\n"))
        (pid,) = map(int, said.read_text().split())
        slot.close()
        thread.join(10)
        assert (thread.is_alive(), outcomes) == (False, ["cancelled"])
        assert not Path(f"/proc/{pid}").exists()
        assert said.read_text() == f"{pid}\n"  # nothing else was started
