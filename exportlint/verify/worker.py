"""Runs torch.export on a model, under the interpreter of the project that the model belongs to.

One file that needs nothing but the standard library and torch, 2.4 or newer: whatever else is installed there,
exportlint is not. Jobs come in as lines of JSON on standard input, events go out as lines of JSON on what was standard
output; user code gets neither. See `exportlint.verify.protocol` for both.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import gc
import importlib
import json
import os
import select
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Job = Mapping[str, Any]
Emit = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True)
class Example:
    """What a model is called with. `dynamic` is as `dynamic_shapes` of `torch.export.export`, or None.

    `sizes` are the dimensions that vary by name, with their sizes here; `remake` gives other inputs: for other sizes,
    or for another seed of their numbers, where the example can be made anew, else None.
    """

    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]
    dynamic: Any = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    remake: Callable[[Mapping[str, int], int], tuple[tuple[Any, ...], dict[str, Any]]] | None = None


# -- the host: jobs, limits, and what user code must not get hold of ---------------------------------------------------

_OLDEST_TORCH = (2, 4)

_MOST_STARTED = 100
"""How many processes a model may start: loaders of data and calls of tools do not come near it."""

_CROWD = 250
"""How many processes of a job may live at a time, whoever started them."""

_LOOK = 0.5
"""How often these are counted, in seconds."""

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
"""Properties of a process, as <linux/prctl.h> numbers them."""

CLOSED = 113
"""The exit code of a process whose user code has closed what events are written to."""


def main() -> None:
    """Work on the jobs that come in until there are no more.

    With `--fork`, each is done by a forked process of its own, so torch is imported once for all. Else the first one
    is done here, and ends this process.
    """
    here = Path(__file__).resolve().parent  # whose modules have names that the user's may have, too
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != here]
    commands, events = _take_streams()
    reason = _import_torch()
    if reason:
        events.send({"unusable": reason})
        return
    events.send({"ready": True})
    if "--fork" in sys.argv[1:]:
        _Forking(commands, events).serve()
    else:
        _serve_one(commands, events)


def _take_streams() -> tuple[_Commands, _Events]:
    """Keep standard input and output for the host: others read nothing, and what they print is standard error's."""
    commands, events = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)  # type: ignore[union-attr]
    return _Commands(commands), _Events(events)


def _import_torch() -> str:
    """Import what every job needs; why that is not possible, or nothing."""
    if sys.version_info < (3, 9):  # noqa: UP036 - exportlint's own Python is another one
        return f"it is Python {sys.version.split()[0]}, and 3.9 or newer is needed"
    try:
        import torch
        import torch.export

        with contextlib.suppress(ImportError):
            # What takes long when export is called for the first time, as far as it is there.
            importlib.import_module("torch.export._trace")
    except ModuleNotFoundError as error:
        if error.name == "torch":
            return "torch is not installed there"
        return f"torch cannot be imported: {type(error).__name__}: {error}"
    except BaseException as error:  # a broken installation raises anything
        return f"torch cannot be imported: {type(error).__name__}: {error}".split("\n", 1)[0]
    numbers = torch.__version__.split(".")[:2]
    if tuple(map(int, numbers)) < _OLDEST_TORCH:
        return f"torch {torch.__version__} is too old, 2.4 or newer is needed"
    return ""


class _Commands:
    """Lines of JSON from the parent, the end of which means that the parent is gone or wants no more."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._rest = b""

    def read(self) -> list[dict[str, Any]] | None:
        """The lines that came in, after waiting for some if there are none; None at the end."""
        data = os.read(self.descriptor, 1 << 16)
        if not data:
            return None
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [json.loads(line) for line in lines]


class _Events:
    """Lines of JSON to the parent."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._pipe = self._identity()

    def _identity(self) -> tuple[int, int]:
        status = os.fstat(self.descriptor)
        return status.st_dev, status.st_ino

    def send(self, event: Mapping[str, Any]) -> None:
        """Tell the parent. Ends the process if the descriptor was closed, and perhaps is a file of the user's now."""
        # The line before may be half a one, of a process that was killed while it wrote.
        data = f"\n{json.dumps(event, default=str)}\n".encode()
        try:
            if self._identity() != self._pipe:
                os._exit(CLOSED)
            while data:
                data = data[os.write(self.descriptor, data) :]
        except OSError:
            os._exit(CLOSED)


def _serve_one(commands: _Commands, events: _Events) -> None:
    lines: list[dict[str, Any]] | None = []
    while not lines:
        lines = commands.read()
        if lines is None:
            return
    threading.Thread(target=_end_with_parent, args=(commands,), daemon=True).start()
    _work(lines[0], events)


def _end_with_parent(commands: _Commands) -> None:
    while commands.read() is not None:
        pass
    if hasattr(os, "killpg") and os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _work(job: Job, events: _Events) -> None:
    """Do a job in this process, which is good for nothing else then, and end it."""
    stage = "start"

    def emit(event: Mapping[str, Any]) -> None:
        nonlocal stage
        stage = event.get("stage", stage)
        events.send({"id": job["id"], **event})

    emit({"stage": stage})
    # Says where it hangs, to standard error, just before the parent ends it.
    faulthandler.enable(sys.__stderr__ or 2)
    faulthandler.dump_traceback_later(job["timeout"], file=sys.__stderr__ or 2)
    _limit_itself(job["memory"])
    _refuse_swarms()
    try:
        examine(job, emit)
    except BaseException as error:  # also SystemExit: nothing that user code raises ends the host
        emit({"failure": _escaped(error, stage)})
        emit({"stage": "done"})
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # user code may have closed or replaced it
            stream.flush()
    os._exit(0)  # without waiting for threads, and without what user code left to be run at exit


def _escaped(error: BaseException, stage: str) -> dict[str, Any]:
    message = str(error)
    if isinstance(error, MemoryError):
        message = message or "no more memory may be taken"
    return {
        "stage": stage,
        "type": type(error).__name__,
        "message": message,
        "frames": [],
        "hints": [],
        "further": False,
    }


def _limit_itself(memory: int | None) -> None:
    """Leave this process so many bytes on top of what torch takes, half of the machine's if nothing is said."""
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform != "linux":
        return  # elsewhere there are such limits, and nothing enforces them
    limit = _taken() + (memory or _half_of_memory())
    # Not the address space, of which torch and CUDA reserve more than they take.
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or limit < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    # When the system is short of memory nevertheless, this is what is to go, and not the editor.
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _taken() -> int:
    for line in _read("/proc/self/status").splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) << 10
    return 0


def _half_of_memory() -> int:
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    group = _read("/sys/fs/cgroup/memory.max").strip()
    return min(machine, int(group) if group.isdigit() else machine) // 2


def _read(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""


def _refuse_swarms() -> None:
    """Let no process that is forked here start others, and this one only so many."""
    owner, started = os.getpid(), 0
    starts = frozenset({"os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen"})

    def hook(event: str, _: object) -> None:
        nonlocal started
        if event in starts:
            started += 1
            if started > _MOST_STARTED or os.getpid() != owner:
                raise RuntimeError(f"{event}: the model starts too many processes")

    sys.addaudithook(hook)


class _Forking:
    """Has each job done by a forked process, and sees to it that nothing of a job lives longer than that."""

    def __init__(self, commands: _Commands, events: _Events) -> None:
        self._commands = commands
        self._events = events
        self._job: Job | None = None
        self._child = 0
        self._code: int | None = None
        self._crowded = False
        self._woken, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        _control(_PR_SET_CHILD_SUBREAPER, 1)

    def serve(self) -> None:
        """Work until the parent is gone."""
        while True:
            ready, _, _ = select.select([self._commands.descriptor, self._woken], [], [], _LOOK if self._job else None)
            if self._woken in ready:
                os.read(self._woken, 1 << 10)
                self._reap()
            if self._commands.descriptor in ready:
                commands = self._commands.read()
                if commands is None:
                    break
                for command in commands:
                    self._obey(command)
            elif not ready and self._job and len(_below(os.getpid())) > _CROWD:
                self._crowded = True
                self._kill()
        self._kill()
        self._clear()
        os._exit(0)  # taking torch down takes half a second

    def _obey(self, command: dict[str, Any]) -> None:
        if "kill" not in command:
            self._start(command)
        elif self._job and command["kill"] == self._job["id"]:
            self._kill()

    def _start(self, job: Job) -> None:
        self._job, self._code, self._crowded = job, None, False
        gc.freeze()  # what torch has made is not looked at again and again, nor copied for it
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of 3.12: that a process with threads is forked
            self._child = os.fork()
        if self._child:
            return
        try:
            _control(_PR_SET_PDEATHSIG, signal.SIGKILL)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setsid()
            for descriptor in (self._commands.descriptor, self._woken):
                os.close(descriptor)
            _work(job, self._events)
        finally:
            os._exit(1)

    def _kill(self) -> None:
        if not self._job:
            return
        for kill in (os.killpg, os.kill):  # a shell's bomb dies only all at once; the other is for a moved leader
            with contextlib.suppress(OSError):
                kill(self._child, signal.SIGKILL)

    def _reap(self) -> None:
        """Take note of what has ended; with the job's process ends the job."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if not pid:
                break
            if pid == self._child and self._job:
                self._code = os.waitstatus_to_exitcode(status)
        if self._job and self._code is not None:
            self._kill()
            self._clear()
            os.write(2, mark(self._job["id"]))
            self._events.send({"id": self._job["id"], "ended": self._code, "crowded": self._crowded})
            self._job = None

    def _clear(self) -> None:
        """Kill what is left of a job. What lost its parent has come to be a child of this process, in any session."""
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid:
                continue
            for orphan in _below(os.getpid()):
                with contextlib.suppress(OSError):
                    os.kill(orphan, signal.SIGKILL)
            time.sleep(0.001)


def mark(identity: int) -> bytes:
    """What stands in standard error behind all that a job has printed."""
    return b"\0%d\0" % identity


def _below(ancestor: int) -> list[int]:
    """The processes that descend from one, which has to be alive."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - paths take three times as long
        if name.isdigit():
            # The name of the program, in parentheses, may hold anything.
            fields = _read(f"/proc/{name}/stat").rpartition(")")[2].split()
            if fields:
                parents[int(name)] = int(fields[1])
    found = [ancestor]
    for parent in found:
        found += [pid for pid, its in parents.items() if its == parent]
    return found[1:]


def _control(option: int, value: int) -> None:
    """Set a property of this process that Linux has and Python does not offer."""
    ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


# -- building models and inputs ----------------------------------------------------------------------------------------


# -- finding inputs that nobody wrote down -----------------------------------------------------------------------------


def infer(model: Any, hints: Mapping[str, Sequence[Any]], vary: Sequence[int], device: str) -> Example:
    """Inputs with which the model runs in eager.

    Raises:
        LookupError: none were found; the message says what was tried and what was the matter at last.
    """
    raise LookupError("no inputs are known")


# -- exporting and comparing -------------------------------------------------------------------------------------------


def examine(job: Job, emit: Emit) -> None:
    """Build the model of a job, export it, and compare the program with it."""
    raise NotImplementedError


# -- what ran ----------------------------------------------------------------------------------------------------------


def lines_of_run(function: Callable[[], Any], wanted: Callable[[str], bool]) -> Iterator[tuple[str, set[int]]]:
    """The rows of each wanted file that run while a function is called."""
    raise NotImplementedError


if __name__ == "__main__":
    main()
