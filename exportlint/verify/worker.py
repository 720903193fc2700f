"""Runs torch.export on a model, under the interpreter of the project that the model belongs to.

One file that needs nothing but the standard library and torch, 2.4 or newer: whatever else is installed there,
exportlint is not. Jobs come in as lines of JSON on standard input, events go out as lines of JSON on what was standard
output; user code gets neither. See `exportlint.verify.protocol` for both.
"""

from __future__ import annotations

import ast
import collections
import contextlib
import copy
import ctypes
import dis
import faulthandler
import functools
import gc
import hashlib
import heapq
import importlib
import importlib.machinery
import importlib.util
import inspect
import io
import itertools
import json
import linecache
import logging
import math
import operator
import os
import random
import re
import runpy
import select
import signal
import sys
import sysconfig
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Job = Mapping[str, Any]
Emit = Callable[[Mapping[str, Any]], None]
Inputs = tuple[tuple[Any, ...], dict[str, Any]]


class _Lazily:
    """A module that is imported when something of it is wanted, as it is only then known to be there."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


torch: Any = _Lazily("torch")
pytree: Any = _Lazily("torch.utils._pytree")


@dataclass(frozen=True)
class Example:
    """What a model is called with. `dynamic` is as `dynamic_shapes` of `torch.export.export`, or None.

    `sizes` are the dimensions that vary by name, with their sizes here; `remake` gives other inputs: for other sizes,
    or for another seed of their numbers, where the example can be made anew, else None. `ranges` are, for each tensor,
    None or the range that its numbers must be in.
    """

    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]
    dynamic: Any = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    remake: Callable[[Mapping[str, int], int], Inputs] | None = None
    ranges: Sequence[Any] = ()


# -- the host: jobs, limits, and what user code must not get hold of ---------------------------------------------------

_OLDEST_TORCH = (2, 4)

_MOST_STARTED = 64
"""How many processes a model may start: loaders of data and calls of tools do not come near it."""

_CROWD = 250
"""How many processes of a job may live at a time, whoever started them."""

_own: set[int] = set()
"""The processes of a job that are the host's own, and not forked by user code."""

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
    gc.set_threshold(100_000, 20, 100)  # importing torch and tracing make much, and little of it is garbage
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
    stage, owner = "start", os.getpid()

    def emit(event: Mapping[str, Any]) -> None:
        nonlocal stage
        if os.getpid() != owner:
            os._exit(0)  # user code has forked, and has not ended the child
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
        emit({"failure": failure(error, stage, [])})
        emit({"stage": "done"})
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # user code may have closed or replaced it
            stream.flush()
    os._exit(0)  # without waiting for threads, and without what user code left to be run at exit


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
    started = 0
    _own.add(os.getpid())
    starts = frozenset({"os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen"})

    def hook(event: str, _: object) -> None:
        nonlocal started
        if event in starts:
            started += 1
            if started > _MOST_STARTED or os.getpid() not in _own:
                raise RuntimeError(f"{event}: the model starts too many processes")

    sys.addaudithook(hook)


class Aside:
    """Something that is done meanwhile by a forked process, for the events it gives, as soon as this is made."""

    @staticmethod
    def is_possible() -> bool:
        """Whether there is a processor for it, and nothing here that a forked process would stumble over."""
        alone = threading.active_count() == 1 and not torch.cuda.is_initialized()
        return sys.platform == "linux" and alone and (os.cpu_count() or 1) > 1

    def __init__(self, work: Callable[[Emit], None]) -> None:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()  # else both write what is in there
        self._reading, writing = os.pipe()
        self._child = os.fork()
        if self._child:
            os.close(writing)
            return
        try:
            _control(_PR_SET_PDEATHSIG, signal.SIGKILL)
            _own.add(os.getpid())
            torch.set_num_threads(1)  # the other threads of torch are not forked
            events: list[Mapping[str, Any]] = []
            work(events.append)
            with open(writing, "wb") as stream:
                stream.write(json.dumps(events, default=str).encode())
        finally:
            os._exit(0)

    def events(self, until: float) -> list[dict[str, Any]] | None:
        """What it told, or None if it has ended without that, or is not done `until` then, or after long."""
        told = b""
        until = min(until, time.monotonic() + 60 + 3 * time.process_time())
        with open(self._reading, "rb", buffering=0) as stream:
            while select.select([stream], [], [], max(0.0, until - time.monotonic()))[0]:
                data = stream.read(1 << 16)
                if not data:
                    break
                told += data
        os.kill(self._child, signal.SIGKILL)
        os.waitpid(self._child, 0)
        try:
            found: list[dict[str, Any]] = json.loads(told)
        except ValueError:
            return None
        return found


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
        gc.freeze()  # what torch has made is not looked at again and again, nor copied by that
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
    for name in os.listdir("/proc"):  # paths take three times as long
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


LARGE = 1 << 20
"""How many numbers a parameter has to have for not being copied before each call."""


@dataclass
class Subject:
    """A model that was built, and how to have it again as it was."""

    model: Any
    rebuild: Callable[[], Any] | None
    copies: bool | None = None
    shared: Mapping[int, Any] = field(default_factory=dict)

    def share(self, called: Any) -> None:
        """From now on, let copies share the parameters that are large, and that a call has not written to."""
        if called is self.model:
            return
        after = dict(called.named_parameters())
        large = ((n, p) for n, p in self.model.named_parameters() if p.numel() >= LARGE and n in after)
        with contextlib.suppress(RuntimeError):  # of dtypes that cannot be compared
            self.shared = {id(p): p for n, p in large if torch.equal(p.detach(), after[n].detach())}

    def fresh(self) -> Any:
        """The model as it was before any call: a copy, the model built anew, or itself where neither is possible."""
        if self.copies is not False:
            try:
                copied = copy.deepcopy(self.model, dict(self.shared))
            except Exception:
                if self.copies:
                    raise
            else:
                self.copies = True
                return copied
        self.copies = False
        if self.rebuild is None:
            return self.model
        again = self.rebuild()
        with contextlib.suppress(Exception):
            again.load_state_dict(self.model.state_dict())
        return again


def build(job: Job) -> Subject:
    """Import what the job names, and make a model of it.

    Raises:
        TypeError: it is no model, and gives none. And whatever the user's code raises.
    """
    reference = job["model"]
    found = load(reference)

    def make() -> Any:
        seed(0)
        if isinstance(found, torch.nn.Module):
            made = found
        elif callable(found):
            made = found(*_constructor_arguments(job), **_constructor_keywords(job))
        else:
            made = found
        if not isinstance(made, torch.nn.Module):
            what = f"gives {_a(made)}" if callable(found) else f"is {_a(found)}"
            raise TypeError(f"{reference['module']}:{reference['name']} {what}, not an nn.Module")
        return _prepared(made, job)

    return Subject(make(), None if isinstance(found, torch.nn.Module) else make)


def _prepared(model: Any, job: Job) -> Any:
    model.train(job["train"])
    return model.to(job["device"])


def _constructor_arguments(job: Job) -> tuple[Any, ...]:
    return _constructor(job)[0]


def _constructor_keywords(job: Job) -> dict[str, Any]:
    return _constructor(job)[1]


def _constructor(job: Job) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What a class or a factory is called with."""
    if not job.get("init_inputs"):
        generator = torch.Generator().manual_seed(0)
        arguments = [make_value(spec, {}, generator, "cpu") for spec in job["arguments"]]
        return tuple(arguments), {n: make_value(s, {}, generator, "cpu") for n, s in job["keywords"].items()}
    given = load({**job["model"], "name": job["init_inputs"]})()
    if isinstance(given, Mapping):
        return (), dict(given)
    if not isinstance(given, (list, tuple)):
        return (given,), {}
    if len(given) == 2 and isinstance(given[0], (list, tuple)) and isinstance(given[1], Mapping):
        return tuple(given[0]), dict(given[1])
    return tuple(given), {}


def _a(value: Any) -> str:
    name = type(value).__name__
    return f"an {name}" if name[:1] in "aeiouAEIOU" else f"a {name}"


def load(reference: Mapping[str, Any]) -> Any:
    """What a reference names. `name` may have dots.

    Raises:
        AttributeError: the module has nothing of that name. And whatever importing it raises.
    """
    module = load_module(reference["module"], reference.get("file"))
    try:
        return functools.reduce(getattr, reference["name"].split("."), module)
    except AttributeError:
        where = getattr(module, "__file__", None) or reference["module"]
        raise AttributeError(f"{where} has no {reference['name']}") from None


def load_module(name: str, file: str | None) -> Any:
    """Import a module: by its name if that leads to `file`, as it does with `paths`; else the file as it lies there."""
    if file is None:
        return importlib.import_module(name)
    if getattr(sys.modules.get(name), "__file__", None) == os.path.abspath(file):
        return sys.modules[name]  # which may have deleted its file
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):  # no such package, or the module of that name is none
        spec = None
    if spec is not None and spec.origin and _same_file(spec.origin, file):
        return importlib.import_module(name)
    alone = name if spec is None and "." not in name else f"{name.replace('.', '_')}__{abs(hash(file)):x}"
    if alone in sys.modules and _same_file(getattr(sys.modules[alone], "__file__", None), file):
        return sys.modules[alone]
    spec = importlib.util.spec_from_file_location(alone, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[alone] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(alone, None)
        raise
    return module


def _same_file(one: str | None, other: str) -> bool:
    if one is None or os.path.abspath(one) == os.path.abspath(other):  # which may be gone by now
        return one is not None
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def make_value(spec: Any, sizes: Mapping[str, int], generator: Any, device: str) -> Any:
    """The value that a spec stands for, its numbers drawn from a generator on the CPU.

    Raises:
        ValueError: torch has no such dtype, or a size is no number for these sizes.
    """
    kind, content = next(iter(spec.items()))
    if kind == "value":
        return content
    if kind == "dict":
        return {name: make_value(item, sizes, generator, device) for name, item in content.items()}
    if kind in ("list", "tuple"):
        items = [make_value(item, sizes, generator, device) for item in content]
        return tuple(items) if kind == "tuple" else items
    dtype = getattr(torch, content["dtype"], None)
    if not isinstance(dtype, torch.dtype):
        raise ValueError(f"torch {torch.__version__} has no dtype {content['dtype']}")
    shape = [evaluate(size, sizes) for size in content["shape"]]
    return _numbers(shape, dtype, content.get("low"), content.get("high"), generator).to(device)


def _numbers(shape: Sequence[int], dtype: Any, low: float | None, high: float | None, generator: Any) -> Any:
    """Random numbers, from `low` up to `high` where these are given.

    Integers of which nothing is known are 0 and 1: these are valid as indices, as labels and as masks.
    """
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator) < 0.5
    if dtype.is_complex:
        return torch.randn(shape, generator=generator, dtype=torch.complex64).to(dtype)
    if dtype.is_floating_point:
        if low is None and high is None:
            return torch.randn(shape, generator=generator).to(dtype)
        if low is not None and high is not None:
            return (low + (high - low) * torch.rand(shape, generator=generator)).to(dtype)
        away = torch.randn(shape, generator=generator).abs() + 1e-3
        return (low + away if low is not None else high - away).to(dtype)
    first = math.ceil(low) if low is not None else min(0, math.ceil(high) - 1) if high is not None else 0
    end = math.ceil(high) if high is not None else 256 if dtype == torch.uint8 and low is None else first + 2
    return torch.randint(first, max(end, first + 1), tuple(shape), generator=generator).to(dtype)


_OPERATORS: Mapping[type, Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
}


def evaluate(size: int | str, sizes: Mapping[str, int]) -> int:
    """A size, given those of the named dimensions.

    Raises:
        ValueError: it is no expression of numbers and these names, or it is negative.
    """
    if isinstance(size, int):
        return size

    def value(node: ast.AST) -> int:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        if isinstance(node, ast.Name) and node.id in sizes:
            return sizes[node.id]
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](value(node.left), value(node.right))
        raise ValueError(f"{size!r} is no size: numbers, {', '.join(sizes) or 'named dimensions'} and + - * // % are")

    try:
        found = value(ast.parse(size, mode="eval").body)
    except (SyntaxError, ZeroDivisionError, RecursionError):
        raise ValueError(f"{size!r} is no size") from None
    if found < 0:
        raise ValueError(f"{size!r} is {found}, which is no size")
    return found


def names_of(size: int | str) -> set[str]:
    """The named dimensions in a size."""
    if isinstance(size, int):
        return set()
    try:
        return {node.id for node in ast.walk(ast.parse(size, mode="eval")) if isinstance(node, ast.Name)}
    except (SyntaxError, RecursionError):
        return set()


def find_example(job: Job, subject: Subject) -> Example:
    """What the model is to be called with, on the device of the job.

    Raises:
        LookupError: there is nothing of the kind. And whatever the user's code raises.
    """
    kind, content = next(iter(job["inputs"].items()))
    if kind == "written":
        return _written(content, subject.model, job["device"])
    if kind == "guessed":
        return infer(subject.fresh(), content, job["varying"], job["device"])
    if kind == "called":
        given, dynamic = load(content["function"])(), content["dynamic"]
    else:
        given, dynamic = _by_convention(job, subject.model, content), None
    arguments, keywords = _to_device(as_inputs(given), job["device"])
    return Example(arguments, keywords, dynamic)


def _written(content: Mapping[str, Any], model: Any, device: str) -> Example:
    arguments, keywords, sizes = content["arguments"], content["keywords"], content["dimensions"]

    def remake(sizes: Mapping[str, int], number: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
        generator = torch.Generator().manual_seed(number)
        made = tuple(make_value(spec, sizes, generator, device) for spec in arguments)
        return made, {name: make_value(spec, sizes, generator, device) for name, spec in keywords.items()}

    def named(spec: Any) -> Any:
        kind, content = next(iter(spec.items()))
        if kind == "dict":
            return {name: named(item) for name, item in content.items()}
        if kind in ("list", "tuple"):
            return [named(item) for item in content]
        if kind == "tensor":
            return {i: size for i, size in enumerate(content["shape"]) if names_of(size)}
        return None

    made, options = remake(sizes, 0)
    ranges = tuple(
        content if content.get("low") is not None or content.get("high") is not None else None
        for content in _tensor_specs([*arguments, *keywords.values()])
    )
    dynamic = None
    if sizes:
        signature = inspect.signature(model.forward)
        bound = signature.bind(*map(named, arguments), **{name: named(spec) for name, spec in keywords.items()})
        dynamic = dict(bound.arguments)
    return Example(made, options, dynamic, dict(sizes), remake, ranges)


def _tensor_specs(specs: Any) -> Iterator[Mapping[str, Any]]:
    for spec in specs:
        kind, content = next(iter(spec.items()))
        if kind == "tensor":
            yield content
        elif kind in ("list", "tuple"):
            yield from _tensor_specs(content)
        elif kind == "dict":
            yield from _tensor_specs(content.values())


def _by_convention(job: Job, model: Any, content: Mapping[str, Any]) -> Any:
    name = content["name"]
    if not content["of_model"]:
        found = load({**job["model"], "name": name})
    elif hasattr(model, name):
        found = getattr(model, name)
    else:
        raise LookupError(f"{type(model).__name__} has no {name}")
    return found() if callable(found) and not isinstance(found, torch.nn.Module) else found


def as_inputs(given: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What a function gives as inputs: a tensor, the arguments, `(arguments, keywords)`, or keywords alone."""
    if isinstance(given, Mapping):
        return (), dict(given)
    if isinstance(given, (list, tuple)) and not hasattr(given, "_fields"):
        if len(given) == 2 and isinstance(given[0], (list, tuple)) and isinstance(given[1], Mapping):
            return tuple(given[0]), dict(given[1])
        return tuple(given), {}
    return (given,), {}


def _to_device(inputs: Any, device: str) -> Any:
    return pytree.tree_map(lambda leaf: leaf.to(device) if isinstance(leaf, torch.Tensor) else leaf, inputs)


class _Reached(BaseException):
    """A script has come to the call that is to be verified. Not an `Exception`, so that no `except` there stops it."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        super().__init__()
        self.arguments = arguments


def run_script(job: Job) -> tuple[Subject, Example]:
    """Run a script up to its call of torch.export at the row of the job, and take over what it calls it with.

    Raises:
        LookupError: it ended before. And whatever it raises itself.
    """
    file, row = os.path.realpath(job["inputs"]["script"]["file"]), job["inputs"]["script"]["row"]
    names = ("export", "export_for_training", "draft_export")
    originals = {name: getattr(torch.export, name) for name in names if hasattr(torch.export, name)}

    def intercept(original: Any) -> Any:
        @functools.wraps(original)
        def call(*arguments: Any, **keywords: Any) -> Any:
            frame = sys._getframe(1)
            if os.path.realpath(frame.f_code.co_filename) == file and row in _rows(frame):
                bound = inspect.signature(original).bind(*arguments, **keywords)
                raise _Reached(bound.arguments)
            return original(*arguments, **keywords)

        return call

    for name, original in originals.items():
        setattr(torch.export, name, intercept(original))
    arguments, sys.argv = sys.argv, [file]
    sys.path.insert(0, os.path.dirname(file))
    try:
        runpy.run_path(file, run_name="__main__")
    except _Reached as reached:
        given = reached.arguments
    except SystemExit as error:
        raise LookupError(f"the script ended with {error!r} before row {row}") from None
    else:
        raise LookupError(f"the script ended without calling torch.export at row {row}")
    finally:
        sys.argv = arguments
        for name, original in originals.items():
            setattr(torch.export, name, original)
    model = given["mod"]
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"torch.export is called with {_a(model)}, not an nn.Module")
    model = model.to(job["device"])
    inputs = _to_device((given["args"], given.get("kwargs") or {}), job["device"])
    if not isinstance(inputs[0], tuple):
        raise TypeError(f"the arguments are {_a(inputs[0])}: torch.export takes a tuple")
    return Subject(model, None), Example(inputs[0], inputs[1], given.get("dynamic_shapes"))


def _rows(frame: Any) -> range:
    """The rows of the call that a frame is at."""
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is not None:
        first, last, *_ = next(itertools.islice(positions(), frame.f_lasti // 2, None))
        if first and last:
            return range(first, last + 1)
    return range(frame.f_lineno, frame.f_lineno + 1)


# -- finding inputs that nobody wrote down -----------------------------------------------------------------------------
#
# A candidate gives each argument a spec as JSON, whose sizes are names, and each name a size. It is called in eager:
# how far the call gets says how good it is, and what goes wrong says how it may be mended, by another size, rank, dtype
# or kind of one of its values. What got farthest is mended first. No model is known by its name here, nor any layer.

Spec = Mapping[str, Any]
Place = tuple[Any, ...]  # an argument, then the indices and keys inside of it
Wish = tuple[
    str, Sequence[str], Mapping[str, int], Any
]  # a dtype, dimensions, sizes of some, and a bound of the numbers

DIMENSIONS: Mapping[int, tuple[str, ...]] = {
    0: (),
    1: ("length",),
    2: ("batch", "features"),
    3: ("batch", "length", "features"),
    4: ("batch", "channels", "height", "width"),
    5: ("batch", "channels", "depth", "height", "width"),
}
SIZES = {"batch": 2, "length": 8, "features": 16, "channels": 3, "depth": 8, "height": 32, "width": 32}
LETTERS = {"b": 2, "c": 3, "d": 16, "h": 32, "w": 32}
USUAL = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 28, 32, 48, 64, 96, 112, 128, 160, 192, 224, 227, 256, 299, 384, 512)
LARGEST = 1 << 20  # numbers in one tensor
BLIND = 10  # what a mending costs to which nothing points
HOPELESS = 4  # after how many errors of the model itself, that no input mends, it is given up

DTYPES = {
    "float": "float32", "floating": "float32", "float32": "float32", "double": "float64", "half": "float16",
    "long": "int64", "int": "int64", "int32": "int64", "int64": "int64", "integer": "int64", "integral": "int64",
    "bool": "bool", "boolean": "bool", "byte": "uint8", "complexfloat": "complex64",
}  # fmt: skip
KINDS: Mapping[str, tuple[Any, ...]] = {
    "index": (1, 2), "integer": (1, 2), "integers": (1, 2), "int": (1, 2), "ints": (1, 2), "float": (0.5,),
    "number": (0.5, 1), "str": ("",), "string": ("",), "bool": (True, False),
}  # fmt: skip

# What messages say of sizes that are found and wanted, of numbers of dimensions, dtypes and kinds of values.
MESSAGES = tuple(
    re.compile(pattern)
    for pattern in (
        r"cannot be multiplied \(\d+x(?P<found>\d+) and (?P<want>\d+)x\d+\)",
        r"to have (?P<want>\d+) channels, but got (?P<found>\d+) channels",
        r"contain (?P<found>\d+) elements not (?P<want>\d+)",
        r"tensor a \((?P<found>\d+)\) must match the size of tensor b \((?P<want>\d+)\)",
        r"tensor a \((?P<want>\d+)\) must match the size of tensor b \((?P<found>\d+)\)",
        r"tensor \((?P<want>\d+)\) must match the existing size \((?P<found>\d+)\)",
        r"shape '?\[.*?(?P<want>\d+)\]'?,? (?:but got|and|expected) input of (?:size|shape) ?\[.*?(?P<found>\d+)\]",
        r"shape \[(?P<want>\d+)\] and input of shape \[\d+, (?P<found>\d+)",
        r"(?:[Ee]xpected|must be equal to) (?:[a-z_]+ )*?(?P<want>\d+),? (?:but )?got (?:[a-z_]+ )*?(?P<found>\d+)",
        r"(?P<found>\d+) ?(?:!=|vs\.?) ?(?P<want>\d+)",
        r"index (?P<index>\d+) is out of bounds for dimension \d+ with size (?P<size>\d+)",
        r"\b(?P<rank>\d) ?-?[dD]\b",
        r"\b(?P<rank>\d)[ -]dim",
        r"is not equal to len\(dims\) = (?P<rank>\d)",
        r"values to unpack \(expected (?P<rank>\d)\b",
        r"range of \[-\d+, \d+\], but got (?P<last>-?\d)",
        r"indices for tensor of dimension (?P<last>\d)",
        r"(?P<deeper>tuple index out of range)",
        r"(?P<matrix>matri(?:x|ces))",
        r"(?P<vector>vector)",
        r"(?<!weight of )[Ss]ize\(?(?: '|:? )?\[(?P<shape>\d+(?:, \d+)*)\]",
        r"(?:types?:?|be|of|to|only|supports?|with|,) (?=(?:torch\.)?(?P<dtype>[A-Za-z]+))",
        r"dtype (?P<dtype>[a-z]+\d+)",
        r"(?P<dtype>[A-Za-z]+?)(?:Tensor)?,? (?:and|but)\b",
        r"not implemented for '(?P<other>\w+)'",
        r"(?P<other>[A-Za-z]+)Tensor",
        r"(?:as an?|be an?|be|to an?|type|real|are|of) '?(?P<kind>[a-z]+)\b",
        r"values to unpack \(expected (?P<count>\d)",
        r"(?P<more>list index out of range|tuple index out of range|Tensors?, not Tensor|(?:tuple|list) of)",
        r"object has no attribute '(?P<attribute>\w+)'",
    )
)
TOO_SMALL = re.compile(
    r"small|more than|greater than|bigger|larger|at least|out of (?:range|bounds)|less than|exceed|empty|negative"
)
GONE = re.compile(r"Legacy autograd|(?:now|been) removed|CUDA|cuda device|NVIDIA")
OF_VALUES = re.compile(
    r"between 0 and 1|constraint|out of (?:range|bounds)|positive|negative|greater|less|smaller|class"
)


@dataclass(frozen=True)
class Candidate:
    """What may be tried: a spec for each argument, and the size of each name in them."""

    specs: Mapping[str, Spec]
    sizes: Mapping[str, int]

    def key(self) -> str:
        """The same for candidates that are the same."""
        used = {dim: self.sizes[dim] for dim in every_dim(self)}
        return json.dumps([self.specs, used], sort_keys=True)

    def put(self, path: Place, spec: Spec) -> Candidate:
        """Another value at a place."""
        return Candidate(replaced(self.specs, path, spec), self.sizes)

    def sized(self, names: Iterable[str], size: int) -> Candidate:
        """Another size for some names."""
        return Candidate(self.specs, {**self.sizes, **dict.fromkeys(names, size)})

    def apart(self, path: Place, index: int, size: int) -> Candidate:
        """Another size for one dimension of one tensor, whatever others of the same name have."""
        tensor = at(self.specs, path)["tensor"]
        name = next(
            f"{DIMENSIONS[1][0]}_{i}" for i in itertools.count(2) if f"{DIMENSIONS[1][0]}_{i}" not in self.sizes
        )
        shape = [name if i == index else dim for i, dim in enumerate(tensor["shape"])]
        return Candidate(replaced(self.specs, path, {"tensor": {**tensor, "shape": shape}}), {**self.sizes, name: size})

    def shaped(self, places: Iterable[Place], shape: Sequence[int | str]) -> Candidate:
        """Other dimensions for some tensors."""
        specs = self.specs
        for place in places:
            specs = replaced(specs, place, {"tensor": {**at(specs, place)["tensor"], "shape": list(shape)}})
        return Candidate(specs, self.sizes)

    def renamed(self, names: Mapping[str, str]) -> Candidate:
        """Other names for some sizes."""
        specs = self.specs
        for path, leaf in leaf_specs(self.specs):
            shape = [names.get(str(dim), dim) for dim in dims_of(leaf)]
            if "tensor" in leaf:
                specs = replaced(specs, path, {"tensor": {**leaf["tensor"], "shape": shape}})
        return Candidate(specs, {**self.sizes, **{new: self.sizes[old] for old, new in names.items()}})

    def weight(self) -> int:
        """What it costs that the tensors are large."""
        numbers = sum(math.prod(map(self.size, dims_of(leaf))) for _, leaf in leaf_specs(self.specs))
        return max(0, numbers.bit_length() - 15) // 2

    def size(self, dim: int | str) -> int:
        """The size of a dimension."""
        known = self.sizes.get(dim) if isinstance(dim, str) else dim
        return evaluate(dim, self.sizes) if known is None else known


@dataclass(frozen=True)
class Trial:
    """What came of a candidate: how far it got, what went wrong, and which of its values seem to be to blame.

    `sizes` are those of parameters in the operation that failed, `layers` those that were given an input as it is.
    """

    depth: int
    error: BaseException | None = None
    blamed: frozenset[Place] = frozenset()
    words: frozenset[str] = frozenset()
    sizes: tuple[int, ...] = ()
    layers: Mapping[Place, Any] = field(default_factory=dict)


class Budget:
    """Seconds that may be worked; on a machine that is busy with other things it may take four times as long."""

    def __init__(self, seconds: float) -> None:
        self.work = time.process_time() + seconds
        self.wall = time.monotonic() + 4 * seconds

    def is_spent(self) -> bool:
        """Whether it is over."""
        return time.process_time() > self.work or time.monotonic() > self.wall


class OutOfTimeError(BaseException):
    """Ends a call that takes too long; no model catches it by catching `Exception`."""


def infer(
    model: Any,
    hints: Mapping[str, Sequence[Any]],
    vary: Sequence[int],
    device: str,
    *,
    seconds: float = 10.0,
    tries: int = 200,
) -> Example:
    """Inputs with which the model runs in eager.

    `hints` are specs for arguments of `forward`, the likeliest first; a size `...` stands for any number of dimensions.
    `vary` are the dimensions that may vary: they do where all the tensors that share a size can have another one.

    Raises:
        LookupError: none were found; the message says what was tried and what was the matter with the best of it.
    """
    search = Search(model, hints, device, Budget(seconds), tries)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return search.example(search.run(), vary)


class Search:
    """Finds inputs of one model within a deadline and a number of tries."""

    def __init__(self, model: Any, hints: Mapping[str, Sequence[Any]], device: str, budget: Budget, tries: int) -> None:
        self.model = duplicate(model)
        self.parameters = parameters_of(model)
        self.device = device
        self.budget = budget
        self.tries = tries
        self.tried = 0
        self.wish = next((wish for layer in model.modules() if (wish := wish_of(layer))), None)
        self.options = {name: [as_json(spec) for spec in hints.get(name, ())] for name in self.parameters}

    def run(self) -> Candidate:
        """The first candidate that runs."""
        queue: list[tuple[int, int, int, int, Candidate]] = []  # what got farthest comes first
        cheap: list[tuple[int, int, int, Candidate]] = []  # what is least far-fetched comes first, however far it got
        order = itertools.count()
        seen: set[str] = set()

        def push(depth: int, cost: int, candidate: Candidate) -> None:
            cost += candidate.weight()
            if cost < 3 * BLIND:
                number = next(order)
                heapq.heappush(queue, (cost // BLIND, -depth, cost, number, candidate))
                heapq.heappush(cheap, (cost, number, depth, candidate))

        for cost, start in enumerate(self.starts()):
            push(0, cost, start)
        best: tuple[int, Candidate | None, Trial] = (-1, None, Trial(0))
        hopeless = 0
        while queue and self.tried < self.tries and not self.budget.is_spent():
            if self.tried % 4 == 3 and cheap:
                cost, _, reached, candidate = heapq.heappop(cheap)
            else:
                _, reached, cost, _, candidate = heapq.heappop(queue)
                reached = -reached
            key = candidate.key()
            if key in seen or not fits(candidate):
                continue
            seen.add(key)
            trial = self.attempt(candidate)
            if trial.error is None:
                return candidate
            if trial.depth > best[0]:
                best = (trial.depth, candidate, trial)
            if is_hopeless(trial.error):
                hopeless += trial.depth >= best[0]
                if hopeless >= HOPELESS:
                    break
                continue
            spent = 0 if trial.depth > reached else cost
            for more, mended in self.mend(candidate, trial):
                push(trial.depth, spent + more, mended)
        said = f"{type(best[2].error).__name__}: {exception_line(best[2].error)}" if best[1] else "no time was left"
        shown = f" with {', '.join(describe(best[1]))}" if best[1] else ""
        raise LookupError(f"no inputs were found in {self.tried} tries; the one that got farthest{shown}: {said}")

    def starts(self) -> Iterator[Candidate]:
        """What is tried first: what the code says, and for the rest what suits the first layer, images, and others."""
        shapes: list[Wish] = [("float32", DIMENSIONS[rank], {}, None) for rank in (4, 3, 2, 5, 1)]
        if self.wish is not None:
            shapes.insert(0, self.wish)
        needed = [name for name, parameter in self.parameters.items() if is_needed(parameter)]
        if not needed:
            needed = [name for name, parameter in self.parameters.items() if parameter.kind == parameter.VAR_POSITIONAL]
        most = max([len(shapes), *(len(self.options[name]) for name in needed)])
        for turn in range(most if needed else 1):
            dtype, dims, sizes, high = shapes[min(turn, len(shapes) - 1)]
            plain = tensor_spec(dtype, dims, high)
            specs = {}
            for name in needed:
                options = self.options[name] or [plain]
                spec = filled(options[min(turn, len(options) - 1)], dims)
                specs[name] = (
                    {"tuple": [spec]} if self.parameters[name].kind == inspect.Parameter.VAR_POSITIONAL else spec
                )
            yield with_sizes(Candidate(specs, {**SIZES, **sizes}))

    # -- trying

    def values(self, candidate: Candidate, seed: int = 0) -> dict[str, Any]:
        """What a candidate stands for, by arguments."""
        generator = torch.Generator().manual_seed(seed)
        return {
            name: make_value(spec, candidate.sizes, generator, self.device) for name, spec in candidate.specs.items()
        }

    def call(self, candidate: Candidate, seed: int = 0) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What a candidate stands for, as a call gives it."""
        return arranged(self.parameters, self.values(candidate, seed))

    def attempt(self, candidate: Candidate) -> Trial:
        """Call the model."""
        self.tried += 1
        model = duplicate(self.model, share=True)
        layers: dict[Place, Any] = {}
        try:
            values = self.values(candidate)
        except Exception as error:
            return Trial(-1, error)
        mark_inputs(candidate, values)
        arguments, keywords = arranged(self.parameters, values)

        def entered(layer: Any, inputs: tuple[Any, ...]) -> None:
            if layer is not model and (wish := wish_of(layer)):
                for value in inputs:
                    if (path := getattr(value, "_exportlint_path", None)) is not None:
                        layers.setdefault(path, wish)

        spy = spy_class()(self.budget)
        hook = torch.nn.modules.module.register_module_forward_pre_hook(entered)
        torch.manual_seed(0)
        random.seed(0)
        try:
            with spy:
                model(*arguments, **keywords)
        except OutOfTimeError:
            return Trial(spy.depth, TimeoutError("the call took too long"))
        except (Exception, SystemExit) as error:
            words, marks = blamed_by(error, self.model)
            marks = spy.marks or marks
            blamed = frozenset(path for path, _ in leaf_specs(candidate.specs) if path in marks)
            return Trial(spy.depth, error, blamed, frozenset(words), spy.sizes, layers)
        finally:
            hook.remove()
        return Trial(spy.depth) if self.runs(candidate) else Trial(spy.depth, RuntimeError("it runs only sometimes"))

    def runs(self, candidate: Candidate, seed: int = 0) -> bool:
        """Whether the model can be called so, with nobody looking."""
        try:
            arguments, keywords = self.call(candidate, seed)
            duplicate(self.model)(*arguments, **keywords)
        except (Exception, SystemExit):
            return False
        return True

    # -- mending

    def mend(self, candidate: Candidate, trial: Trial) -> Iterator[tuple[int, Candidate]]:
        """Candidates that may get farther, each with its cost: the less the error points to it the more."""
        said = Said(trial.error)
        everything = list(leaf_specs(candidate.specs))
        for path, leaf in everything:
            innocent = 0 if not trial.blamed or path in trial.blamed else 3
            for cost, mended in self.mend_leaf(candidate, path, leaf, trial, said):
                yield cost + innocent, mended
        yield from mend_sizes(candidate, trial, said)
        yield from self.mend_arguments(candidate, trial, said)

    def mend_leaf(
        self, candidate: Candidate, path: Place, leaf: Spec, trial: Trial, said: Said
    ) -> Iterator[tuple[int, Candidate]]:
        """Another rank, dtype, range, or kind of one value."""
        tensor = leaf.get("tensor")
        if tensor is not None and path in trial.layers:
            dtype, dims, sizes, high = trial.layers[path]
            wished = Candidate(replaced(candidate.specs, path, tensor_spec(dtype, dims, high)), candidate.sizes)
            yield 0, with_sizes(Candidate(wished.specs, {**wished.sizes, **sizes}))
            alone = {dim: f"{path[0]}_{dim}" for dim in sizes}
            shape = tuple(alone.get(dim, dim) for dim in dims)
            renamed = {alone[dim]: size for dim, size in sizes.items()}
            yield (
                1,
                with_sizes(
                    Candidate(
                        replaced(candidate.specs, path, tensor_spec(dtype, shape, high)), {**candidate.sizes, **renamed}
                    )
                ),
            )
        if tensor is not None:
            shape = tensor["shape"]
            for other in reshaped(shape):
                cost = said.cost_of_rank(len(other), len(shape))
                yield cost + 1, with_sizes(candidate.put(path, {"tensor": {**tensor, "shape": other}}))
                alike = [place for place, spec in leaf_specs(candidate.specs) if dims_of(spec) == shape]
                beside = [place for place in alike if place[:-1] == path[:-1]]
                for group in (alike, beside) if alike != beside else (alike,):
                    if len(group) > 1:
                        yield cost, with_sizes(candidate.shaped(group, other))
            for sizes in said.shapes:
                if sizes != [candidate.size(dim) for dim in shape]:
                    listed = {f"{path[0]}_{i}": size for i, size in enumerate(sizes)}
                    changed = candidate.put(path, {"tensor": {**tensor, "shape": list(listed)}})
                    yield 2, Candidate(changed.specs, {**candidate.sizes, **listed})
            for dtype in ("int64", "float32", "bool", "uint8", "float64", "complex64"):
                if dtype != tensor["dtype"]:
                    yield said.cost_of_dtype(dtype, tensor["dtype"]), candidate.put(path, tensor_spec(dtype, shape))
            cost = 2 if said.of_values else BLIND + 2
            for low, high in ((0, 1),) if "float" in tensor["dtype"] else ((1, 2), (0, 1), (0, 2)):
                if tensor["dtype"] != "bool" and (tensor.get("low"), tensor.get("high")) != (low, high):
                    yield cost, candidate.put(path, {"tensor": {**tensor, "low": low, "high": high}})
        yield from self.mend_kind(candidate, path, leaf, trial, said)

    def mend_kind(
        self, candidate: Candidate, path: Place, leaf: Spec, trial: Trial, said: Said
    ) -> Iterator[tuple[int, Candidate]]:
        """Something else in place of one value."""
        tensor = leaf if "tensor" in leaf else tensor_spec("float32", self.wish[1] if self.wish else DIMENSIONS[4])
        for cost, option in enumerate(self.options[path[0]] if len(path) == 1 else ()):
            if option != leaf:
                yield 3 + cost, with_sizes(candidate.put(path, filled(option, DIMENSIONS[4])))
        named = path[-1] in trial.words or said.type_error
        for kind, values in KINDS.items():
            for value in values:
                if leaf != {"value": value}:
                    yield said.cost_of_kind(kind) + (0 if named else 1), candidate.put(path, {"value": value})
        for number in said.numbers:
            if "value" in leaf and isinstance(leaf["value"], int):
                yield 3, candidate.put(path, {"value": number})
        yield BLIND + 4, candidate.put(path, {"value": None})
        if "tensor" not in leaf:
            yield 2 if said.attribute or said.type_error else BLIND, with_sizes(candidate.put(path, tensor))
        for count in sorted({*said.counts, 1, 2, 3, 4}):
            cost = 2 if count in said.counts else 3 + count if said.more else BLIND + count
            yield cost, with_sizes(candidate.put(path, {"list": [tensor] * count}))
        if said.attribute in dir(dict) or said.missing_key is not None:
            keys = [said.missing_key] if said.missing_key else []
            yield 1, with_sizes(candidate.put(path, {"dict": dict.fromkeys(keys, tensor)}))
        if said.attribute is not None and said.attribute in dir(str):
            yield 1, candidate.put(path, {"value": "a"})

    def mend_arguments(self, candidate: Candidate, trial: Trial, said: Said) -> Iterator[tuple[int, Candidate]]:
        """More arguments, longer lists, and dictionaries with more keys."""
        plain = tensor_spec("float32", self.wish[1] if self.wish else DIMENSIONS[4])
        first = next((leaf for _, leaf in leaf_specs(candidate.specs) if "tensor" in leaf), plain)
        for name, parameter in self.parameters.items():
            if name in candidate.specs or parameter.kind == parameter.VAR_KEYWORD:
                continue
            cost = 1 if name in trial.words else 3
            for index, option in enumerate([*self.options[name], first]):
                if option != {"value": None}:
                    put = {"tuple": [option]} if parameter.kind == parameter.VAR_POSITIONAL else option
                    filled_in = {**candidate.specs, name: filled(put, DIMENSIONS[4])}
                    yield cost + index + (0 if said.none else BLIND), with_sizes(Candidate(filled_in, candidate.sizes))
        for path, spec in containers(candidate.specs):
            kind = next(iter(spec))
            if kind == "dict":
                if said.missing_key is not None and said.missing_key not in spec["dict"]:
                    yield 0, with_sizes(candidate.put(path, {"dict": {**spec["dict"], said.missing_key: first}}))
                continue
            items = spec[kind]
            starred = len(path) == 1 and self.parameters[path[0]].kind == inspect.Parameter.VAR_POSITIONAL
            for count in sorted({*said.counts, len(items) + 1, len(items) - 1}):
                if 0 <= count <= 8 and count != len(items):
                    cost = 1 if count in said.counts or ((said.more or starred) and count > len(items)) else BLIND
                    more = [*items, *[items[-1] if items else first] * count][:count]
                    yield cost, with_sizes(candidate.put(path, {kind: more}))
            if not starred:
                yield 3 if said.type_error or said.attribute else BLIND, with_sizes(candidate.put(path, first))

    # -- what was found

    def example(self, found: Candidate, vary: Sequence[int]) -> Example:
        """A candidate as inputs, with the dimensions that can vary."""
        found, names = self.varying(found, vary)
        arguments, keywords = self.call(found)

        def remake(sizes: Mapping[str, int], seed: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
            return self.call(Candidate(found.specs, {**found.sizes, **sizes}), seed)

        dynamic = {name: dynamic_of(spec, names) for name, spec in found.specs.items()}
        return Example(arguments, keywords, dynamic, {name: found.sizes[name] for name in names}, remake)

    def varying(self, found: Candidate, vary: Sequence[int]) -> tuple[Candidate, list[str]]:
        """The candidate with one name for all that varies together, and these names.

        Together vary the given dimensions of all tensors if they have the same size, or else all that have it. Nothing
        does of a model so slow that no time is left to see.
        """
        names = []
        for size in dict.fromkeys(found.size(dim) for dim in dims_at(found, vary)):
            here = {dim for dim in dims_at(found, vary) if found.size(dim) == size}
            alike = {dim for dim in every_dim(found) if found.size(dim) == size}
            for group in (here, alike):
                if not self.budget.is_spent() and any(
                    self.runs(found.sized(group, other)) for other in (size + 1, 2 * size)
                ):
                    name = "batch" if "batch" in group else min(group)
                    found = found.renamed(dict.fromkeys(group, name))
                    names.append(name)
                    break
        return found, names


class Said:
    """What a message says, as far as it can be put to use."""

    def __init__(self, error: BaseException | None) -> None:
        text = str(error)[:2000]
        matches = [match for pattern in MESSAGES for match in pattern.finditer(text)]
        groups = [match.groupdict() for match in matches]
        self.pairs = list(dict.fromkeys((int(g["found"]), int(g["want"])) for g in groups if "found" in g))
        self.ranks = list(dict.fromkeys(int(g["rank"]) for g in groups if "rank" in g))
        self.ranks += [last + 1 if (last := int(g["last"])) >= 0 else -last for g in groups if "last" in g]
        self.ranks += [2 for g in groups if "matrix" in g] + [1 for g in groups if "vector" in g]
        self.shapes = [[int(size) for size in g["shape"].split(",")] for g in groups if "shape" in g]
        self.ranks += [len(shape) for shape in self.shapes]
        self.deeper = any("deeper" in g for g in groups)
        self.dtypes = {dtype for g in groups if (dtype := DTYPES.get(kind_of(g.get("dtype"))))}
        self.others = {dtype for g in groups if (dtype := DTYPES.get(kind_of(g.get("other"))))}
        self.kinds = {g["kind"] for g in groups if "kind" in g}
        self.counts = {int(g["count"]) for g in groups if "count" in g}
        self.more = any("more" in g for g in groups)
        self.attribute = next((g["attribute"] for g in groups if "attribute" in g), None)
        self.pairs += [(int(g["size"]), int(g["index"]) + 1) for g in groups if "index" in g]
        if total := re.search(r"shape '\[(.*)\]' is invalid for input of size (\d+)", text):
            product = abs(math.prod(int(size) for size in total.group(1).split(",")))
            self.pairs.append((int(total.group(2)), product))
        self.numbers = list(dict.fromkeys(numbers_in(text)))
        self.too_small = bool(TOO_SMALL.search(text))
        self.of_values = bool(OF_VALUES.search(text))
        self.type_error = isinstance(error, TypeError)
        self.none = "NoneType" in text or isinstance(error, (AssertionError, ValueError))
        self.missing_key = (
            error.args[0] if isinstance(error, KeyError) and error.args and isinstance(error.args[0], str) else None
        )

    def cost_of_rank(self, rank: int, now: int) -> int:
        """How far-fetched another number of dimensions is."""
        if rank in self.ranks:
            return 1 if rank == max(self.ranks) else 2
        if self.deeper and rank > now:
            return rank - now
        return BLIND - 3 + abs(rank - now)

    def cost_of_dtype(self, dtype: str, now: str) -> int:
        """How far-fetched another dtype is."""
        if dtype in self.dtypes:
            return 1
        return 2 if now in self.others or now in self.dtypes else BLIND + 2

    def cost_of_kind(self, kind: str) -> int:
        """How far-fetched a number, a text or a truth value is."""
        return 1 if kind in self.kinds else 6 if self.type_error else BLIND + 4


def mend_sizes(candidate: Candidate, trial: Trial, said: Said) -> Iterator[tuple[int, Candidate]]:
    """Other sizes: of all dimensions that have the same, of those with one name, and of a single one."""
    places = [
        (path, index, dim)
        for path, leaf in leaf_specs(candidate.specs)
        if not trial.blamed or path in trial.blamed
        for index, dim in enumerate(dims_of(leaf))
    ]
    groups: dict[int, dict[str, None]] = {}
    for _, _, dim in places:
        if isinstance(dim, str) and dim in candidate.sizes:
            groups.setdefault(candidate.size(dim), {})[dim] = None
    known = {size for _, _, dim in places if (size := candidate.size(dim))}  # nothing comes of a size of 0
    wanted = {size: wanted_instead(size, known, trial, said) for size in known}
    for size, names in groups.items():
        late = 2 if "batch" in names else 0
        for want, cost in wanted.get(size, {}).items():
            yield cost + late, candidate.sized(names, want)
            if len(names) > 1:
                for name in names:
                    yield cost + late + 1, candidate.sized([name], want)
    for path, index, dim in places:
        size = candidate.size(dim)
        for want, cost in wanted.get(size, {}).items():
            if cost < BLIND:
                yield cost + 2 + (2 if index == 0 else 0), candidate.apart(path, index, want)


def wanted_instead(size: int, known: set[int], trial: Trial, said: Said) -> dict[int, int]:
    """Sizes that may be meant instead of one, with their costs."""
    wanted: dict[int, int] = {}

    def want(other: float, cost: int) -> None:
        number = round(other)
        if number != size and 0 < number < 1 << 16 and abs(other - number) < 1e-6:
            wanted[number] = min(cost, wanted.get(number, cost))

    for found, other in said.pairs:
        if found == size:
            want(other, 0)
        elif found not in known:
            # a size that comes of this one: in proportion, as the square of it, or less a constant
            for ratio in ratios(found, other):
                want(size * ratio, 3)
            for usual in USUAL:
                near = min(abs(math.log(usual / (size * ratio))) for ratio in ratios(found, other))
                want(usual, 4 + int(near * 6))
    for number in said.numbers:
        if size in said.numbers or not known.intersection(said.numbers):
            want(number, 2 if size in said.numbers else 5)
        if size in said.numbers and number % size == 0:
            want(number // size, 4)
    for number in trial.sizes:
        want(number, 3 if size in said.numbers else 6)
    if size == SIZES["height"]:
        want(224, 1 if said.too_small else BLIND)  # what most that is made for images of some size is made for
    want(size * 2, 2 if said.too_small else BLIND)
    want(size * 4, 3 if said.too_small else BLIND + 2)
    want(1, BLIND)
    for usual in USUAL:
        want(usual, BLIND + 2 + int(3 * abs(math.log(usual / size))))
    return wanted


def ratios(found: int, want: int) -> tuple[float, ...]:
    """By what a size may have to grow for one that comes of it to be what is wanted."""
    ratio = max(want, 1) / max(found, 1)
    return (ratio, math.sqrt(ratio))


def kind_of(word: str | None) -> str:
    """What a message means by `LongTensor`, `Long` or `long`."""
    return (word or "").lower().replace("tensor", "")


def is_hopeless(error: BaseException) -> bool:
    """Whether the model is to blame, whatever its inputs are: something that it uses is not there."""
    if isinstance(error, AttributeError):
        kind = re.search(r"'(\w+)' object has no attribute", str(error))
        return kind is None or kind.group(1) not in (
            "Tensor",
            "int",
            "float",
            "str",
            "bool",
            "list",
            "tuple",
            "dict",
            "NoneType",
        )
    if isinstance(error, UnboundLocalError):
        return False
    return isinstance(error, (NameError, ImportError, NotImplementedError)) or bool(GONE.search(str(error)))


def numbers_in(text: str) -> Iterator[int]:
    """The sizes that a message mentions, and what lists of them come to."""
    text = re.sub(r"(\d)x(?=\d)", r"\1 x ", text)
    for match in re.finditer(r"(?<![\w.])\d{1,6}(?![\w.]*[A-Za-z_])", text):
        yield int(match.group())
    for match in re.finditer(r"[\[(](\d+(?:, \d+)+)[\])]", text):
        sizes = [int(size) for size in match.group(1).split(",")]
        yield math.prod(sizes)
        yield sum(sizes)


def blamed_by(error: BaseException, model: Any) -> tuple[set[str], set[Place]]:
    """The names on the line of `forward` that failed, and the inputs that the variables there come from."""
    code = getattr(inspect.unwrap(type(model).forward), "__code__", None)
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code is code:
            line = linecache.getline(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
            words = set(re.findall(r"[A-Za-z_]\w*", line))
            variables = trace.tb_frame.f_locals
            held = [variables[word] for word in words if word in variables and word != "self"]
            return words, {path for value in held for tensor in tensors_in(value) for path in marks_of(tensor)}
        trace = trace.tb_next
    return set(re.findall(r"'(\w+)'", str(error))), set()


@functools.cache
def spy_class() -> Any:
    """The class that looks at each operation of torch; made when torch is there."""
    from torch import nn
    from torch.overrides import TorchFunctionMode

    class Spy(TorchFunctionMode):  # type: ignore[misc]  # a class of torch
        """Counts what a call gets done, and follows the inputs to the operation that fails."""

        def __init__(self, budget: Budget) -> None:
            super().__init__()
            self.budget = budget
            self.done: set[Any] = set()
            self.marks: set[Place] = set()
            self.sizes: tuple[int, ...] = ()

        @property
        def depth(self) -> int:
            return len(self.done)

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if self.budget.is_spent():
                raise OutOfTimeError
            given = list(tensors_in([args, kwargs or {}]))
            sources = {path for tensor in given for path in marks_of(tensor)}
            weights = [tensor for tensor in given if isinstance(tensor, nn.Parameter)]
            try:
                result = func(*args, **(kwargs or {}))
            except Exception:
                self.marks = sources
                self.sizes = tuple(size for weight in weights for size in weight.shape)
                raise
            self.marks = set()  # what went wrong before was caught
            frame = user_frame()
            self.done.add((frame, getattr(func, "__name__", ""), *map(id, weights)))
            if sources:
                for tensor in tensors_in(result):
                    if not hasattr(tensor, "_exportlint_path"):
                        tensor._exportlint_from = sources | marks_of(tensor)
            return result

    return Spy


def user_frame() -> tuple[str, int]:
    """The place in the code of others than torch that is being run."""
    inside = (os.path.dirname(torch.__file__), __file__)
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(inside):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def marks_of(tensor: Any) -> frozenset[Place] | set[Place]:
    """The inputs that a tensor was computed from."""
    path = getattr(tensor, "_exportlint_path", None)
    marks: frozenset[Place] | set[Place] = getattr(tensor, "_exportlint_from", frozenset())
    return marks if path is None else marks | {path}


def tensors_in(value: Any) -> Iterator[Any]:
    """The tensors in lists, tuples and dictionaries."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))


def mark_inputs(candidate: Candidate, values: Mapping[str, Any]) -> None:
    """Write on each tensor which input it is."""
    for path, leaf in leaf_specs(candidate.specs):
        if "tensor" in leaf:
            value: Any = values
            for step in path:
                value = value[step]
            value._exportlint_path = path


def wish_of(layer: Any) -> Wish | None:
    """The dtype, dimensions, sizes and bound of the input of a layer, by what its attributes are called."""

    def number(name: str) -> int | None:
        value = layer.__dict__.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None

    weight: Any = getattr(layer, "weight", None)
    rank = weight.dim() if callable(getattr(weight, "dim", None)) else 0
    if entries := number("num_embeddings"):
        return "int64", ("batch", "length"), {}, min(entries, 100)
    if (channels := number("in_channels")) and rank in (3, 4, 5):
        return (
            "float32",
            ("batch", "channels", "length") if rank == 3 else DIMENSIONS[rank],
            {"channels": channels},
            None,
        )
    if (channels := number("num_features")) and (digit := re.search(r"([123])d$", type(layer).__name__)):
        rank = {"1": 2, "2": 4, "3": 5}[digit.group(1)]
        dims = ("batch", "channels") if rank == 2 else DIMENSIONS[rank]
        return "float32", dims, {"channels": channels}, None
    for name, rank in (("in_features", 2), ("in1_features", 2), ("input_size", 3), ("embed_dim", 3), ("d_model", 3)):
        if features := number(name):
            return "float32", DIMENSIONS[rank], {"features": features}, None
    shape = layer.__dict__.get("normalized_shape")
    if isinstance(shape, (tuple, list)) and len(shape) == 1 and isinstance(shape[0], int):
        return "float32", DIMENSIONS[3], {"features": shape[0]}, None
    return None


def duplicate(model: Any, *, share: bool = False) -> Any:
    """A copy, so that no call changes what the next one sees; `share` leaves the parameters as they are, to be fast."""
    memo = {id(parameter): parameter for parameter in model.parameters()} if share else {}
    try:
        return copy.deepcopy(model, memo)
    except Exception:
        return model


def parameters_of(model: Any) -> dict[str, inspect.Parameter]:
    """What `forward` takes."""
    try:
        return dict(inspect.signature(model.forward).parameters)
    except (TypeError, ValueError) as error:
        raise LookupError(f"`forward` does not say what it takes: {error}") from None


def is_needed(parameter: inspect.Parameter) -> bool:
    """Whether a call must give it."""
    return parameter.default is parameter.empty and parameter.kind not in (
        parameter.VAR_KEYWORD,
        parameter.VAR_POSITIONAL,
    )


def arranged(
    parameters: Mapping[str, inspect.Parameter], values: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Values as a call gives them: by position as long as none is left out."""
    arguments: list[Any] = []
    keywords: dict[str, Any] = {}
    for name, parameter in parameters.items():
        if name not in values:
            continue
        if parameter.kind == parameter.VAR_POSITIONAL:
            arguments += values[name]
        elif parameter.kind == parameter.KEYWORD_ONLY or len(arguments) < list(parameters).index(name):
            keywords[name] = values[name]
        else:
            arguments.append(values[name])
    return tuple(arguments), keywords


def tensor_spec(dtype: str, shape: Sequence[int | str], high: float | None = None) -> dict[str, Any]:
    """The spec of a tensor; whole numbers are 0 and 1 unless told."""
    whole = dtype.startswith(("int", "uint"))
    bound = high if high is not None else 2 if whole else None
    return {"tensor": {"dtype": dtype, "shape": list(shape), "low": 0 if whole else None, "high": bound}}


def filled(spec: Spec, dims: Sequence[str]) -> dict[str, Any]:
    """A spec with names for the dimensions that it leaves open."""
    kind, held = next(iter(spec.items()))
    if kind == "dict":
        return {kind: {key: filled(item, dims) for key, item in held.items()}}
    if kind in ("list", "tuple"):
        return {kind: [filled(item, dims) for item in held]}
    if kind == "tensor" and "..." in held["shape"]:
        given = [dim for dim in held["shape"] if dim != "..."]
        at_ = list(held["shape"]).index("...")
        rest = [dim for dim in dims if dim not in given][: max(len(dims) - len(given), 0)]
        held = {**held, "shape": [*given[:at_], *rest, *given[at_:]]}
    if kind == "tensor":
        spec = tensor_spec(held["dtype"], held["shape"], held.get("high"))
        spec["tensor"].update({key: held[key] for key in ("low", "high") if held.get(key) is not None})
    return dict(spec)


def reshaped(shape: Sequence[int | str]) -> Iterator[list[int | str]]:
    """Dimensions of another number: the usual ones, or these without one, or with one of a single entry."""
    for rank, dims in DIMENSIONS.items():
        if rank != len(shape):
            yield [*dims]
    for index in {1, len(shape) - 1}:
        if 0 < index < len(shape):
            yield [*shape[:index], *shape[index + 1 :]]
    yield [*shape[:1], 1, *shape[1:]]
    yield [*shape, 1]


def as_json(spec: Any) -> Any:
    """A spec as JSON has it, for it is compared with others."""
    return json.loads(json.dumps(spec))


def leaf_specs(specs: Mapping[str, Spec]) -> Iterator[tuple[Place, Spec]]:
    """The tensors and constants, each with its place."""
    for path, spec in walk(specs):
        if "tensor" in spec or "value" in spec:
            yield path, spec


def containers(specs: Mapping[str, Spec]) -> Iterator[tuple[Place, Spec]]:
    """The lists, tuples and dictionaries, each with its place."""
    for path, spec in walk(specs):
        if "tensor" not in spec and "value" not in spec:
            yield path, spec


def walk(specs: Mapping[Any, Spec], above: Place = ()) -> Iterator[tuple[Place, Spec]]:
    """All specs, also those inside of others."""
    for name, spec in specs.items():
        yield (*above, name), spec
        held = next(iter(spec.values()))
        if "dict" in spec:
            yield from walk(held, (*above, name))
        elif "list" in spec or "tuple" in spec:
            yield from walk(dict(enumerate(held)), (*above, name))


def at(specs: Mapping[Any, Spec], path: Place) -> Spec:
    """The spec at a place."""
    return next(spec for place, spec in walk(specs) if place == path)


def replaced(specs: Mapping[Any, Spec], path: Place, new: Spec) -> dict[Any, Spec]:
    """The specs with another one at a place."""
    head, rest = path[0], path[1:]
    if not rest:
        return {**specs, head: new}
    kind, held = next(iter(specs[head].items()))
    inner = replaced(held if kind == "dict" else dict(enumerate(held)), rest, new)
    return {**specs, head: {kind: inner if kind == "dict" else [inner[index] for index in sorted(inner)]}}


def dims_of(leaf: Spec) -> Sequence[int | str]:
    """The dimensions of a tensor; those of anything else are none."""
    return leaf["tensor"]["shape"] if "tensor" in leaf else ()


def with_sizes(candidate: Candidate) -> Candidate:
    """A candidate in which every name has a size."""
    sizes = dict(candidate.sizes)
    for _, leaf in leaf_specs(candidate.specs):
        for dim in dims_of(leaf):
            for name in re.findall(r"[A-Za-z_]\w*", dim) if isinstance(dim, str) else ():
                if name not in sizes:
                    known = next((size for letter, size in LETTERS.items() if name.lower().startswith(letter)), None)
                    sizes[name] = known or 4 + 2 * (len(sizes.keys() - SIZES.keys()) % 8)
    return Candidate(candidate.specs, sizes)


def fits(candidate: Candidate) -> bool:
    """Whether its tensors are of a reasonable size."""
    shapes = [[candidate.size(dim) for dim in dims_of(leaf)] for _, leaf in leaf_specs(candidate.specs)]
    return all(math.prod(shape) <= LARGEST and min(shape, default=0) >= 0 for shape in shapes)


def every_dim(candidate: Candidate) -> list[str]:
    """The dimensions that have names."""
    return [str(dim) for _, leaf in leaf_specs(candidate.specs) for dim in dims_of(leaf) if dim in candidate.sizes]


def dims_at(candidate: Candidate, indices: Sequence[int]) -> list[str]:
    """The dimensions at some indices that have names."""
    shapes = [dims_of(leaf) for _, leaf in leaf_specs(candidate.specs)]
    dims = [shape[index] for shape in shapes for index in indices if -len(shape) <= index < len(shape)]
    return [str(dim) for dim in dims if dim in candidate.sizes]


def dynamic_of(spec: Spec, names: Collection[str]) -> Any:
    """The names of what varies of a value."""
    kind, held = next(iter(spec.items()))
    if kind == "dict":
        return {key: dynamic_of(item, names) for key, item in held.items()}
    if kind in ("list", "tuple"):
        return [dynamic_of(item, names) for item in held]
    return {i: dim for i, dim in enumerate(held["shape"]) if dim in names} if kind == "tensor" else None


def describe(candidate: Candidate) -> list[str]:
    """A candidate for people."""
    return [f"{name} = {spec_text(spec, candidate.sizes)}" for name, spec in candidate.specs.items()]


def spec_text(spec: Spec, sizes: Mapping[str, int]) -> str:
    """A spec for people."""
    kind, held = next(iter(spec.items()))
    if kind == "tensor":
        return f"{held['dtype']}{[evaluate(dim, sizes) for dim in held['shape']]}"
    if kind == "value":
        return repr(held)
    if kind == "dict":
        return "{" + ", ".join(f"{key!r}: {spec_text(item, sizes)}" for key, item in held.items()) + "}"
    inner = ", ".join(spec_text(item, sizes) for item in held)
    return f"[{inner}]" if kind == "list" else f"({inner})"


def exception_line(error: BaseException | None) -> str:
    """The first line of a message."""
    return (str(error).strip() or "without a message").splitlines()[0][:300]


# -- what varies -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Size:
    """A dimension that varies: `key` is a name, an expression over names, or a place; `given` is what torch takes."""

    key: str
    given: Any = None


@dataclass
class Varying:
    """Which dimensions of an example vary: for each leaf of the arguments of `forward`, by number.

    `sizes` are those of the example by the keys of `Size` that are no expressions; `limits` those that `Dim`s set.
    """

    signature: inspect.Signature
    leaves: list[dict[int, Size]] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    limits: dict[str, tuple[float, float]] = field(default_factory=dict)

    def add(self, leaf: Any, given: Mapping[int, Any], path: str) -> None:
        """Take up a leaf, with what the user gives for some of its dimensions."""
        found: dict[int, Size] = {}
        for i, size in given.items():
            if not isinstance(leaf, torch.Tensor) or not -leaf.dim() <= i < leaf.dim():
                what = f"{leaf.dim()} dimensions" if isinstance(leaf, torch.Tensor) else _a(leaf)
                raise ValueError(f"dynamic shapes: {path} has no dimension {i}, it is {what}")
            i %= leaf.dim()
            if isinstance(size, int) or size is None or "STATIC" in str(getattr(size, "type", "")):
                continue
            found[i] = self._size(size, leaf.size(i), f"{path}.shape[{i}]")
        self.leaves.append(found)

    def _size(self, given: Any, length: int, place: str) -> Size:
        key = given if isinstance(given, str) else getattr(given, "__name__", None)
        if not isinstance(key, str):  # Dim.AUTO and its like: those that are as long vary together
            same = (k for k, known in self.sizes.items() if known == length and ".shape[" in k)
            key = next(same, place)
        if key.isidentifier() or key == place:
            self.sizes.setdefault(key, length)
        low, high = getattr(given, "min", None), getattr(given, "max", None)
        if isinstance(low, int) or isinstance(high, int):
            self.limits[key] = (low if isinstance(low, int) else 0, high if isinstance(high, int) else math.inf)
        return Size(key, None if isinstance(given, str) else given)


def varying_of(model: Any, example: Example, everywhere: Sequence[int]) -> Varying:
    """What varies of an example: what it says, or else those dimensions of every tensor.

    Raises:
        ValueError: it does not go with the arguments.
    """
    signature = inspect.signature(model.forward)
    arguments = signature.bind(*example.arguments, **example.keywords).arguments
    varying = Varying(signature)
    dynamic = example.dynamic
    if hasattr(dynamic, "dynamic_shapes"):  # torch's ShapesCollection and AdditionalInputs
        dynamic = dynamic.dynamic_shapes(model, example.arguments, dict(example.keywords))
    if isinstance(dynamic, (list, tuple)):
        if len(dynamic) > len(arguments):
            raise ValueError(f"dynamic shapes: there are {len(dynamic)}, and {len(arguments)} arguments")
        dynamic = dict(_zip(arguments, dynamic))
    if dynamic is None and everywhere:
        auto = getattr(torch.export.Dim, "AUTO", "")
        for leaf, path in _leaves(arguments):
            rank = leaf.dim() if isinstance(leaf, torch.Tensor) else 0
            varying.add(leaf, {i: auto or f"d{len(varying.leaves)}_{i}" for i in everywhere if i < rank}, path)
        return varying
    if not isinstance(dynamic or {}, Mapping):
        raise ValueError(f"dynamic shapes: {_a(dynamic)} is neither a list nor a table by parameters")
    if unknown := set(dynamic or ()) - set(arguments):
        raise ValueError(f"dynamic shapes: no argument is called {', '.join(sorted(map(str, unknown)))}")
    for name, value in arguments.items():
        _spread(value, (dynamic or {}).get(name), name, varying)
    return varying


def _zip(one: Iterable[Any], other: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    return zip(one, other)  # noqa: B905 -- `strict` is of Python 3.10


def _leaves(arguments: Mapping[str, Any]) -> Iterator[tuple[Any, str]]:
    """What torch sees in the arguments, with where it is."""
    for name, value in arguments.items():
        parts = pytree.tree_leaves(value)
        single = len(parts) == 1 and parts[0] is value
        yield from ((part, name if single else f"{name}[{i}]") for i, part in enumerate(parts))


def _spread(value: Any, spec: Any, path: str, varying: Varying) -> None:
    """Bring what the user gives for a value to its leaves."""
    children = _children(value)
    if children is None:
        if isinstance(spec, (list, tuple)):
            spec = dict(enumerate(spec))
        if not isinstance(spec or {}, Mapping):
            raise ValueError(f"dynamic shapes: {_a(spec)} for {path} is neither a list nor a table of its dimensions")
        varying.add(value, {int(i): size for i, size in (spec or {}).items()}, path)
        return
    if isinstance(spec, (list, tuple)) and len(spec) != len(children):
        raise ValueError(f"dynamic shapes: {len(spec)} for {path}, which has {len(children)} items")
    for i, (key, item) in enumerate(children):
        given = spec.get(key) if isinstance(spec, Mapping) else None if spec is None else spec[i]
        _spread(item, given, f"{path}[{key!r}]", varying)


def _children(value: Any) -> list[tuple[Any, Any]] | None:
    """What is in a container, with the keys; None if it is none that torch knows."""
    if isinstance(value, dict) and type(value) in pytree.SUPPORTED_NODES:
        return list(value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return list(enumerate(value))
    node = pytree.SUPPORTED_NODES.get(type(value))
    return None if node is None else list(enumerate(node.flatten_fn(value)[0]))


def resized(example: Example, varying: Varying, sizes: Mapping[str, int]) -> Inputs:
    """The inputs of an example with other sizes: its tensors are repeated, or cut."""
    bound = varying.signature.bind(*example.arguments, **example.keywords)
    leaves, structure = pytree.tree_flatten(dict(bound.arguments))
    for number, sized in enumerate(varying.leaves):
        for i, size in sized.items():
            leaf = leaves[number]
            rows = torch.arange(evaluate(size.key, sizes), device=leaf.device) % leaf.size(i)
            leaves[number] = leaf.index_select(i, rows)
    bound.arguments.update(pytree.tree_unflatten(leaves, structure))
    return bound.args, bound.kwargs


def other_sizes(varying: Varying) -> Iterator[tuple[str, dict[str, int]]]:
    """Other sizes of what varies, each dimension by itself, with what to call them."""
    for name, size in varying.sizes.items():
        low, high = varying.limits.get(name, (0, math.inf))
        for other in dict.fromkeys((size + 1, 2 * size, 1)):
            if other != size and low <= other <= high:
                yield f"{name} = {other}", {**varying.sizes, name: other}


def dynamic_shapes(example: Example, varying: Varying, how: str) -> dict[str, Any] | None:
    """What torch.export is told of what varies; `how` is for those dimensions of which the user gives a name only."""
    if not any(varying.leaves):
        return None
    hint = getattr(torch.export.Dim, "DYNAMIC" if how == "dynamic" else "AUTO", None)
    dims: dict[str, Any] = {}

    def dim(size: Size) -> Any:
        if size.given is not None and not (how == "dynamic" and size.given is getattr(torch.export.Dim, "AUTO", None)):
            return size.given
        return hint if hint is not None else _dim(size.key, dims)

    def form(value: Any) -> Any:
        children = _children(value)
        if children is None:
            return {i: dim(size) for i, size in next(remaining).items()} or None
        if isinstance(value, dict):
            return {key: form(item) for key, item in children}
        return tuple(form(item) for _, item in children) if isinstance(value, tuple) else [form(i) for _, i in children]

    remaining = iter(varying.leaves)
    arguments = varying.signature.bind(*example.arguments, **example.keywords).arguments
    return {name: form(value) for name, value in arguments.items()}


def _dim(key: str, known: dict[str, Any]) -> Any:
    """A dimension of torch older than 2.6, which needs names: `batch`, or what is derived from one, as `2*batch`."""
    if key.isidentifier():
        return known.setdefault(key, torch.export.Dim(key))

    def value(node: ast.AST) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return _dim(node.id, known)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](value(node.left), value(node.right))
        raise ValueError(f"torch {torch.__version__} cannot have {key} vary")

    return value(ast.parse(key, mode="eval").body)


# -- calling and comparing ---------------------------------------------------------------------------------------------


@dataclass
class Outcome:
    """What a call left behind: what it gave or raised, its arguments, and the model's state."""

    value: Any = None
    error: BaseException | None = None
    inputs: Any = None
    state: dict[str, Any] = field(default_factory=dict)
    written: frozenset[str] = frozenset()

    @property
    def raised(self) -> str:
        """What was raised, on one line."""
        return "" if self.error is None else f"{type(self.error).__name__}: {first_line(text_of(self.error))}"


def seed(number: int) -> None:
    """Seed everything that can be seeded."""
    torch.manual_seed(number)
    random.seed(number)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(number)


def copied(inputs: Any) -> Any:
    """Inputs that a call may write to. What they share they still share, strides and all."""
    try:
        return copy.deepcopy(inputs)
    except Exception:
        return snapshot(inputs)


def snapshot(value: Any) -> Any:
    """A value that no later call changes."""
    return pytree.tree_map(lambda leaf: leaf.detach().clone() if isinstance(leaf, torch.Tensor) else leaf, value)


def call(module: Any, inputs: Inputs, number: int, keep_state: bool = False) -> Outcome:
    """Call a module, with all that is random seeded."""
    arguments, keywords = given = copied(inputs)
    before = _state(module) if keep_state else {}
    before = {name: tensor.clone() for name, tensor in before.items()}
    outcome = Outcome(inputs=given)
    seed(number)
    try:
        outcome.value = module(*arguments, **keywords)
    except BaseException as error:  # whatever users raise, SystemExit as well
        outcome.error = error
    if keep_state:
        outcome.state = _state(module)
        changed = (n for n, t in outcome.state.items() if n not in before or difference(before[n], t, 0.0) is not None)
        outcome.written = frozenset(changed)
    return outcome


def _state(module: Any) -> dict[str, Any]:
    named = (*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False))
    return {name: tensor.detach() for name, tensor in named}


TOLERANCES: Mapping[str, float] = {"float64": 1e-7, "complex128": 1e-7, "float16": 1e-2, "bfloat16": 5e-2}
"""By which part of the largest number results may differ. Those of eight bits differ by an eighth."""


def difference(one: Any, other: Any, tolerance: float | None) -> tuple[str, float | None] | None:
    """How a value of the program, `other`, is not that of the eager model: in words, and the largest one of numbers."""
    ours, structure = pytree.tree_flatten(one)
    theirs, their_structure = pytree.tree_flatten(other)
    if structure != their_structure:
        return _form_difference(one, other, "result"), None
    worst: tuple[str, float | None] | None = None
    for i, (a, b) in enumerate(_zip(ours, theirs)):
        found = _leaf_difference(a, b, tolerance)
        if found is not None and (worst is None or (found[1] or 0.0) > (worst[1] or 0.0)):
            worst = (found[0] if len(ours) == 1 else f"result {i}: {found[0]}"), found[1]
    return worst


def _form_difference(one: Any, other: Any, path: str) -> str:
    """Where two values, which are not made of the same containers, are not."""
    ours, theirs = _children(one), _children(other)
    if type(one) is not type(other) or ours is None or theirs is None:
        return f"{path} is {_a(one)} in eager, {_a(other)} in the program"
    if [key for key, _ in ours] != [key for key, _ in theirs]:
        return f"{path} has {len(ours)} items in eager, {len(theirs)} in the program" + (
            "" if len(ours) != len(theirs) else ", with other keys"
        )
    for (key, mine), (_, its) in _zip(ours, theirs):
        if pytree.tree_structure(mine) != pytree.tree_structure(its):
            return _form_difference(mine, its, f"{path}[{key!r}]")
    return f"{path} is made in another way"


def _leaf_difference(one: Any, other: Any, tolerance: float | None) -> tuple[str, float | None] | None:
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return _plain_difference(one, other)
    if isinstance(other, torch._subclasses.FakeTensor):
        return "the program gives a FakeTensor, which leaked out of the trace and has no numbers", None
    for what in ("dtype", "shape", "device", "layout"):
        ours, theirs = getattr(one, what), getattr(other, what)
        if ours != theirs:
            ours, theirs = (tuple(s) if what == "shape" else s for s in (ours, theirs))
            return f"eager gives the {what} {ours}, the program {theirs}", None
    if one.device.type == "meta" or one.numel() == 0:
        return None
    return _number_difference(one.detach(), other.detach(), tolerance)


def _plain_difference(one: Any, other: Any) -> tuple[str, float | None] | None:
    if type(one) is not type(other):
        return f"eager gives {_a(one)}, the program {_a(other)}", None
    try:
        same = bool(one == other) or bool(one != one and other != other)
        if not same and getattr(type(one), "__eq__", None) is object.__eq__:
            return difference(vars(one), vars(other), None) if hasattr(one, "__dict__") else None
    except Exception:
        return None
    return None if same else (f"eager gives {short(one)}, the program {short(other)}", None)


def _number_difference(one: Any, other: Any, tolerance: float | None) -> tuple[str, float | None] | None:
    if one.is_quantized:
        one, other = one.dequantize(), other.dequantize()
    if one.layout is not torch.strided:
        one, other = one.to_dense(), other.to_dense()
    kind = str(one.dtype).rsplit(".", 1)[-1]
    if one.is_complex():
        one, other = torch.view_as_real(one.resolve_conj()), torch.view_as_real(other.resolve_conj())
    if not one.is_floating_point():
        differ = one != other
        if not bool(differ.any()):
            return None
        far = (one.to(torch.float64) - other.to(torch.float64)).abs().max().item()
        return f"{int(differ.sum())} of {one.numel()} numbers differ, by up to {far:.6g}", far
    if torch.equal(one, other):
        return None
    part = tolerance if tolerance is not None else TOLERANCES.get(kind, 0.125 if "float8" in kind else 1e-4)
    one, other = one.to(torch.float64), other.to(torch.float64)
    same = (one == other) | (one.isnan() & other.isnan())
    apart = torch.where(same, torch.zeros_like(one), (one - other).abs())
    finite = one[one.isfinite()]
    largest = finite.abs().max().item() if finite.numel() else 1.0
    differ = ~(apart <= part * largest)
    if not bool(differ.any()):
        return None
    far = apart.max().item()
    if math.isnan(far) or math.isinf(far):
        return f"{int(differ.sum())} of {one.numel()} numbers differ, some are not finite", None
    return (
        f"{int(differ.sum())} of {one.numel()} numbers differ, by up to {far:.6g} (the largest is {largest:.6g})",
        far,
    )


_REFUSALS = re.compile(
    r"Guard failed|[Rr]untime assertion failed|Expected input at|input tree spec|Trying to flatten|keyword mismatch"
    r"|positional argument|unexpected keyword|Expecting .* input|specializ|is outside of (?:specified|supported)"
    r"|Invalid value range|data-dependent expression|Runtime assertion"
)


def is_refusal(error: BaseException) -> bool:
    """Whether a program refuses its inputs by what torch put there, rather than by going wrong."""
    if isinstance(error, AssertionError) or _REFUSALS.search(text_of(error)):
        return True
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and re.search(r"torch[\\/]_?export[\\/]", frames[-1].filename) is not None


def text_of(error: BaseException, limit: int = 4000) -> str:
    """What an exception says. Those of users may raise when they are asked."""
    try:
        text = str(error)
    except BaseException as another:
        return f"(its text raises {type(another).__name__})"
    if not text and isinstance(error, MemoryError):
        return "no more memory may be taken"
    return text if len(text) <= limit else f"{text[:limit]} ..."


def first_line(text: str, limit: int = 300) -> str:
    """The first line that says something."""
    return next((line.strip()[:limit] for line in text.splitlines() if line.strip()), "")


def short(value: Any, limit: int = 80) -> str:
    """A value as one would write it, in a few words."""
    try:
        text = repr(value)
    except BaseException:
        return _a(value)
    return text if len(text) <= limit else f"{text[: limit - 4]} ..."


class _NoTimeError(Exception):
    """What is left of the time of the job is not enough to call model and program once more."""


class Comparer:
    """Compares the model with its program in one respect after the other, and tells of each.

    What would take it beyond `until`, a time of `time.monotonic`, is skipped, but for the example.
    """

    def __init__(
        self,
        job: Job,
        subject: Subject,
        program: Any,
        example: Example,
        varying: Varying,
        emit: Emit,
        until: float = math.inf,
    ) -> None:
        self._job = job
        self._until = until
        self._deadline = math.inf
        self._longest = 0.0
        self._subject = subject
        self._program = program
        self._module = program.module()
        self._example = example
        self._varying = varying
        self._emit = emit
        self._numbers = itertools.count(1)
        self._inputs: Inputs = (example.arguments, dict(example.keywords))

    def run(self) -> None:
        """All of it. Nothing that goes wrong in one respect keeps the others from being looked at."""
        # What else becomes of the program is not for fixes to prove. It takes longer than all the rest.
        later = () if self._job.get("trial") else (self._compare_decomposed, self._compare_reloaded)
        finish = [self._aside(compare.__name__[len("_compare_") :], compare) for compare in later]
        self._step("example", self._compare_example)
        self._deadline = self._until
        self._step("again", self._compare_again)
        self._step("values", self._compare_values)
        self._step("values", self._compare_others)
        self._step("size", self._compare_sizes)
        self._step("gradients", self._compare_gradients)
        for step in finish:
            step()
        if not self._job.get("trial"):
            self._step("device", self._compare_device)

    def _aside(self, kind: str, compare: Callable[[], None]) -> Callable[[], None]:
        """Begin to compare in a process of its own. What is returned finishes that, here if need be."""

        def begin(emit: Emit) -> None:
            self._emit, self._deadline = emit, self._until
            self._step(kind, compare)

        def finish() -> None:
            events = running.events(self._until) if running else None
            if events is None:
                self._step(kind, compare)
            for event in events or ():
                self._emit(event)

        running = Aside(begin) if self._job["device"] == "cpu" and Aside.is_possible() else None
        return finish

    def _step(self, kind: str, compare: Callable[[], None]) -> None:
        try:
            compare()
        except _NoTimeError:
            self._tell(kind, kind, "skipped", "there is no time left for it")
        except Exception as error:
            self._tell(kind, kind, "skipped", f"{type(error).__name__}: {first_line(text_of(error))}")

    def _tell(self, kind: str, label: str, agreement: str, detail: str = "", difference: float | None = None) -> None:
        event = {"kind": kind, "label": label, "agreement": agreement, "detail": detail, "difference": difference}
        self._emit({"comparison": event})

    def _fresh_program(self) -> Any:
        return _apart(self._program, self._module, bool(self._subject.shared))

    def _observe(self, label: str, module: Any, who: str, inputs: Inputs, number: int, keep_state: bool) -> Outcome:
        start = time.monotonic()
        if start + self._longest > self._deadline:
            raise _NoTimeError
        self._emit({"probe": f"{who}, {label}"})
        outcome = call(module, inputs, number, keep_state)
        self._longest = max(self._longest, 2 * (time.monotonic() - start))
        return outcome

    def _both(self, kind: str, label: str, inputs: Inputs, state: bool = False) -> None:
        """Call both with the same, and tell how they agree; with `state`, also what they leave behind."""
        number = next(self._numbers)
        one = self._observe(label, self._subject.fresh(), "eager", inputs, number, state)
        other = self._observe(label, self._fresh_program(), "the program", inputs, number, state)
        self._judge(kind, label, one, other, lambda: self._repeated(inputs, number))
        if state and one.error is None and other.error is None:
            self._tell_state(label, one, other)

    def _repeated(self, inputs: Inputs, number: int) -> bool:
        """Whether both give other results each time that they are called, so that none can be compared."""
        for make in (self._subject.fresh, self._fresh_program):
            one, other = call(make(), inputs, number), call(make(), inputs, number)
            if difference(one.value, other.value, self._job["tolerance"]) is None:
                return False
        return True

    def _judge(
        self, kind: str, label: str, one: Outcome, other: Outcome, both_vary: Callable[[], bool] = lambda: False
    ) -> None:
        if one.error is not None:
            kind = "refused" if kind == "values" else kind
            if other.error is not None:
                self._tell(kind, label, "agrees", f"both raise; eager {one.raised}")
            else:
                self._tell(kind, label, "diverges", f"eager raises {one.raised}, and the program does not")
            return
        if other.error is not None:
            agreement = "narrower" if is_refusal(other.error) else "diverges"
            self._tell(kind, label, agreement, f"the program raises {other.raised}")
            return
        found = difference(one.value, other.value, self._job["tolerance"])
        if found is None:
            self._tell(kind, label, "agrees")
        elif both_vary():
            self._tell(kind, label, "skipped", "the model and the program give other results each time")
        else:
            self._tell(kind, label, "diverges", *found)

    def _tell_state(self, label: str, one: Outcome, other: Outcome) -> None:
        tolerance = self._job["tolerance"]
        for name in (*(one.state.keys() & other.state.keys()), *(one.written - other.state.keys())):
            if name not in other.state:
                self._tell("state", label, "diverges", f"{name} is written by eager, and the program has no such state")
                return
            if found := difference(one.state[name], other.state[name], tolerance):
                self._tell("state", label, "diverges", f"{name}: {found[0]}", found[1])
                return
        if found := difference(one.inputs, other.inputs, tolerance):
            self._tell("state", label, "diverges", f"the inputs as the call leaves them: {found[0]}", found[1])
            return
        self._tell("state", label, "agrees")

    def _compare_example(self) -> None:
        self._both("example", "example", self._inputs, state=True)

    def _compare_again(self) -> None:
        """Call the same two objects once more, with other numbers where there are any."""
        model, program = self._subject.fresh(), self._fresh_program()
        others = [made for _, made in changed_values(self._example, next(self._numbers))]
        calls = [self._inputs, others[0] if others else self._inputs, self._inputs]
        for inputs in calls:
            number = next(self._numbers)
            one = self._observe("a later call", model, "eager", inputs, number, keep_state=True)
            other = self._observe("a later call", program, "the program", inputs, number, keep_state=True)
            if one.error is not None and other.error is not None:
                break
            if difference(one.value, other.value, self._job["tolerance"]) is not None or (one.error or other.error):
                vary = functools.partial(self._repeated, self._inputs, number)
                self._judge("again", "a later call", one, other, vary)
                return
        if one.error is None:
            self._tell_state("after several calls", one, other)
        self._tell("again", "a later call", "agrees")

    def _compare_values(self) -> None:
        refused = False
        for label, inputs in changed_values(self._example, next(self._numbers)):
            number = next(self._numbers)
            one = self._observe(label, self._subject.fresh(), "eager", inputs, number, keep_state=False)
            refused |= one.error is not None
            if label == "not numbers" and one.error is None:
                continue  # both give no numbers, of which nothing can be said
            other = self._observe(label, self._fresh_program(), "the program", inputs, number, keep_state=False)
            self._judge("values", label, one, other, functools.partial(self._repeated, inputs, number))
        if not refused:
            self._tell("refused", "refused inputs", "skipped", "eager refuses none of the inputs that were tried")

    def _compare_others(self) -> None:
        if not self._job["others"]:
            return
        for i, given in enumerate(load(self._job["others"])()):
            inputs = _to_device(as_inputs(given), self._job["device"])
            if self._are_of_other_sizes(inputs):
                self._tell("values", f"others[{i}]", "skipped", "it has other sizes, in dimensions that do not vary")
            else:
                self._both("values", f"others[{i}]", inputs, state=True)

    def _are_of_other_sizes(self, inputs: Inputs) -> bool:
        """Whether inputs have other sizes than the example, in dimensions that do not vary."""
        try:
            arguments = self._varying.signature.bind(*inputs[0], **inputs[1]).arguments
        except TypeError:
            return False
        example = self._varying.signature.bind(*self._example.arguments, **self._example.keywords).arguments
        ours, structure = pytree.tree_flatten(dict(example))
        theirs, other = pytree.tree_flatten(dict(arguments))
        if structure != other:
            return False
        for a, b, sized in zip(ours, theirs, self._varying.leaves):  # noqa: B905
            if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
                continue
            if a.dim() != b.dim() or any(a.size(i) != b.size(i) for i in range(a.dim()) if i not in sized):
                return True
        return False

    def _compare_sizes(self) -> None:
        for label, sizes in other_sizes(self._varying):
            try:
                remake = self._example.remake
                inputs = remake(sizes, 1) if remake else resized(self._example, self._varying, sizes)
            except (ValueError, RuntimeError, LookupError) as error:  # noqa: PERF203 - what follows takes longer
                self._tell("size", label, "skipped", first_line(text_of(error)))
            else:
                self._both("size", label, inputs)

    def _compare_gradients(self) -> None:
        if not self._job["gradients"]:
            return
        number = next(self._numbers)
        for label, of_inputs in (("of the parameters", False), ("of inputs and parameters", True)):
            self._emit({"probe": f"eager, gradients {label}"})
            one = gradients(self._subject.fresh(), self._inputs, number, of_inputs)
            self._emit({"probe": f"the program, gradients {label}"})
            other = gradients(self._fresh_program(), self._inputs, number, of_inputs)
            if one.error is not None or other.error is not None:
                self._judge("gradients", label, one, other)
            elif found := gradient_difference(one.value, other.value, self._job["tolerance"]):
                self._tell("gradients", label, "diverges", *found)
            else:
                self._tell("gradients", label, "agrees")

    def _variant(self, kind: str, label: str, make: Callable[[], Any]) -> None:
        """Compare what becomes of the program with the model, on the example."""
        number, one, direct = self._directly
        if one.error or direct.error or difference(one.value, direct.value, self._job["tolerance"]) is not None:
            self._tell(kind, label, "skipped", "the program itself does not agree")  # torch may even crash on it
            return
        self._emit({"probe": f"the program, {label}"})
        try:
            program = make()
            module = _apart(program, program.module(), bool(self._subject.shared))
        except Exception as error:
            self._tell(kind, label, "skipped", f"{type(error).__name__}: {first_line(text_of(error))}")
            return
        with torch.no_grad():  # what switched gradients off is gone from a program that is decomposed
            other = self._observe(label, module, "the program", self._inputs, number, keep_state=False)
        self._judge(kind, label, one, other, lambda: self._is_random(number))

    @functools.cached_property
    def _directly(self) -> tuple[int, Outcome, Outcome]:
        """What the model and the program do with the example, and the seed that they had."""
        number, label = next(self._numbers), "example"
        one = self._observe(label, self._subject.fresh(), "eager", self._inputs, number, keep_state=False)
        other = self._observe(label, self._fresh_program(), "the program", self._inputs, number, keep_state=False)
        return number, one, other

    def _is_random(self, number: int) -> bool:
        """Whether the program draws random numbers, which may come in another order."""
        one, other = (call(self._fresh_program(), self._inputs, n) for n in (number, number + 1000))
        return difference(one.value, other.value, self._job["tolerance"]) is not None

    def _compare_decomposed(self) -> None:
        self._variant("decomposed", "run_decompositions", self._program.run_decompositions)

    def _compare_reloaded(self) -> None:
        def make() -> Any:
            buffer = io.BytesIO()
            torch.export.save(self._program, buffer)
            buffer.seek(0)
            return torch.export.load(buffer)

        self._variant("reloaded", "save and load", make)

    def _compare_device(self) -> None:
        passes = importlib.import_module("torch.export.passes") if _has_module("torch.export.passes") else None
        baked = baked_devices(self._program)
        here = torch.device(self._job["device"]).type
        where = f"the program holds {'; '.join(baked[:3])}{' and more' if len(baked) > 3 else ''}" if baked else ""
        there = "cpu" if here != "cpu" else "cuda" if torch.cuda.is_available() else "meta"
        if passes is None:
            why = "this torch cannot move programs"
            self._tell("device", "another device", "skipped", f"{why}; {where}" if where else why)
            return
        inputs = _to_device(self._inputs, there)
        number = next(self._numbers)
        one = self._observe(there, self._subject.fresh().to(there), "eager", inputs, number, keep_state=False)
        if one.error is not None:
            self._tell("device", there, "skipped", f"eager does not run there: {one.raised}")
            return
        moved = passes.move_to_device_pass(copy.deepcopy(self._program), there).module()
        other = self._observe(there, moved, "the program", inputs, number, keep_state=False)
        if there == "meta" and other.error is not None and "device" not in text_of(other.error):
            self._tell("device", there, "skipped", f"the program does not run there: {other.raised}")
            return
        found = None if other.error else difference(one.value, other.value, self._job["tolerance"])
        if other.error is None and found is None:
            self._tell("device", there, "agrees", f"once it is moved by torch.export.passes: {where}" if where else "")
        elif found is not None and found[0].startswith("eager gives the device"):
            self._tell("device", there, "skipped", f"the pass of torch moves what eager leaves: {found[0]}")
        else:
            self._judge("device", there, one, other, lambda: self._is_random(number))


def _apart(program: Any, module: Any, shares: bool) -> Any:
    """A copy of the module of a program, whose state calls do not change in the program as well.

    `shares`: the model does not write to its large parameters, which need not be copied then.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of torch, about how torch copies it
            shared = {id(p): p for p in module.parameters() if p.numel() >= LARGE} if shares else {}
            return copy.deepcopy(module, shared)
    except Exception:  # a FakeTensor that leaked into it has no data to copy
        return program.module()


def _has_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False


def gradients(module: Any, inputs: Inputs, number: int, of_inputs: bool) -> Outcome:
    """Which results have a gradient, and the gradients of their sum, weighted, by parameter or position of an input."""
    leaves, structure = pytree.tree_flatten(snapshot(inputs))
    wanted: dict[str, Any] = {}
    if of_inputs:
        for i, leaf in enumerate(leaves):
            if isinstance(leaf, torch.Tensor) and (leaf.is_floating_point() or leaf.is_complex()):
                wanted[f"input {i}"] = leaf.requires_grad_()
                leaves[i] = leaf.clone()  # no leaf, so that the model may write to it
    wanted.update((name, p) for name, p in module.named_parameters() if p.requires_grad)
    arguments, keywords = pytree.tree_unflatten(leaves, structure)
    outcome = Outcome()
    seed(number)
    try:
        made = [leaf for leaf in pytree.tree_leaves(module(*arguments, **keywords)) if isinstance(leaf, torch.Tensor)]
        total = sum(_weighted(leaf) for leaf in made if leaf.requires_grad)
        found: tuple[Any, ...] = (None,) * len(wanted)
        if isinstance(total, torch.Tensor) and wanted:
            found = torch.autograd.grad(total, list(wanted.values()), allow_unused=True)
        grads = {n: torch.zeros_like(w) if g is None else g for (n, w), g in _zip(wanted.items(), found)}
        outcome.value = [bool(leaf.requires_grad) for leaf in made], grads
    except BaseException as error:
        outcome.error = error
    return outcome


def gradient_difference(one: Any, other: Any, tolerance: float | None) -> tuple[str, float | None] | None:
    """How what `gradients` gives for the program is not what it gives for the eager model."""
    for i, (ours, theirs) in enumerate(_zip(one[0], other[0])):
        if ours != theirs:
            has, lacks = ("eager", "the program") if ours else ("the program", "eager")
            return f"result {i} has a gradient in {has}, and none in {lacks}", None
    for name, gradient in one[1].items():
        if name not in other[1]:
            if bool(gradient.any()):
                return f"the program has no gradient for {name}", None
        elif found := difference(gradient, other[1][name], tolerance):
            return f"that of {name}: {found[0]}", found[1]
    return None


def _weighted(tensor: Any) -> Any:
    """A sum in which each number counts differently."""
    flat = tensor.reshape(-1)
    weights = torch.cos(torch.arange(flat.numel(), device=flat.device, dtype=torch.float64)) + 1.5
    return (flat * weights).real.sum() if flat.is_complex() else (flat.to(torch.float64) * weights).sum()


def changed_values(example: Example, number: int) -> list[tuple[str, Inputs]]:
    """The example with other numbers, with what was done to them. Integers stay in the range of those seen."""
    inputs: Inputs = (example.arguments, dict(example.keywords))
    ranges = iter(example.ranges)
    leaves, structure = pytree.tree_flatten(inputs)
    limits = [next(ranges, None) if isinstance(leaf, torch.Tensor) else None for leaf in leaves]
    generator = torch.Generator().manual_seed(number)
    found: list[tuple[str, Inputs]] = []
    changes: Sequence[tuple[str, Callable[[Any, Any], Any]]] = (
        ("random", lambda tensor, _: _random(tensor, generator)),
        ("negated", _negated),
        ("zeros", _zeros),
        ("not numbers", lambda tensor, _: torch.full_like(tensor, math.nan) if tensor.is_floating_point() else tensor),
    )
    for label, change in changes:
        if label == "random" and example.remake is not None:
            found.append((label, example.remake(example.sizes, number)))
            continue
        made = [
            change(leaf, limit) if isinstance(leaf, torch.Tensor) and leaf.numel() else leaf
            for leaf, limit in _zip(leaves, limits)
        ]
        if any(new is not old for new, old in _zip(made, leaves)):
            found.append((label, pytree.tree_unflatten(made, structure)))
    return found


def _random(tensor: Any, generator: Any) -> Any:
    if tensor.dtype == torch.bool:
        made = torch.rand(tensor.shape, generator=generator) < 0.5
    elif tensor.is_floating_point() or tensor.is_complex():
        wide = tensor.detach().to("cpu", torch.complex128 if tensor.is_complex() else torch.float64)
        scale = wide.std().abs().item() if tensor.numel() > 1 else 0.0
        scale = scale if math.isfinite(scale) and scale > 0 else 1.0
        made = torch.randn(tensor.shape, generator=generator, dtype=wide.dtype) * scale
    else:
        low, high = int(tensor.min()), int(tensor.max())
        made = torch.randint(low, high + 1, tuple(tensor.shape), generator=generator)
    return _as(made, tensor)


def _negated(tensor: Any, limits: Any) -> Any:
    if tensor.dtype == torch.bool:
        return ~tensor
    if tensor.is_floating_point() or tensor.is_complex():
        return tensor if limits else -tensor
    return (tensor.min() + tensor.max()) - tensor


def _zeros(tensor: Any, limits: Any) -> Any:
    if tensor.dtype == torch.bool or ((tensor.is_floating_point() or tensor.is_complex()) and not limits):
        return torch.zeros_like(tensor)
    return tensor


def _as(made: Any, tensor: Any) -> Any:
    """Numbers in the dtype, on the device and in the layout of a tensor."""
    return torch.empty_like(tensor).copy_(made)


def baked_devices(program: Any) -> list[str]:
    """What in a program names a device, with the line of the user's code it comes from."""
    found: dict[str, None] = {}
    for module in program.graph_module.modules():
        for node in getattr(getattr(module, "graph", None), "nodes", ()):
            device = node.kwargs.get("device")
            if device is None and "to.device" in str(node.target) and len(node.args) > 1:
                device = node.args[1]
            if device is None:
                continue
            frames = frames_in_text(node.meta.get("stack_trace") or "")
            place = f" (line {frames[-1]['row']} of {os.path.basename(frames[-1]['file'])})" if frames else ""
            found[f"{node.target} on {device}{place}"] = None
    constants = getattr(program, "constants", {})
    found.update((f"the constant {name} on {c.device}", None) for name, c in constants.items() if hasattr(c, "device"))
    return list(found)


# -- fixes that are to be proven ---------------------------------------------------------------------------------------


def see_instead(texts: Mapping[str, str]) -> None:
    """Have Python import other texts than files hold, by their paths. Each is the bytes of a file, as Latin-1."""
    found = {os.path.realpath(path): text.encode("latin-1") for path, text in texts.items()}
    loader = importlib.machinery.SourceFileLoader
    get_data, path_stats = loader.get_data, loader.path_stats

    def data(self: Any, path: Any) -> bytes:
        text = found.get(os.path.realpath(path))
        return get_data(self, path) if text is None else text

    def stats(self: Any, path: Any) -> Mapping[str, Any]:
        if os.path.realpath(path) in found:
            raise OSError(f"{path} is not to be taken from, or put into, a cache")
        return path_stats(self, path)

    loader.get_data, loader.path_stats = data, stats  # type: ignore[method-assign]
    for path in texts:  # for `inspect.getsource`, and for tracebacks
        with contextlib.suppress(SyntaxError, ValueError):
            lines = importlib.util.decode_source(found[os.path.realpath(path)]).splitlines(keepends=True)
            linecache.cache[path] = (len(lines), None, lines, path)


Probe = tuple[str, str, Inputs]
"""How a model is called: what to call it, whether `once`, on the same object as `before`, or for `gradients`."""


def probes(example: Example, varying: Varying) -> Iterator[Probe]:
    """The calls by which two models are compared."""
    inputs: Inputs = (example.arguments, dict(example.keywords))
    changed = changed_values(example, 1)
    yield "example", "once", inputs
    for label, others in changed:
        yield label, "once", others
    for label, sizes in other_sizes(varying):
        with contextlib.suppress(ValueError, RuntimeError, LookupError):
            yield label, "once", example.remake(sizes, 1) if example.remake else resized(example, varying, sizes)
    for others in (inputs, changed[0][1] if changed else inputs, inputs):
        yield "a later call", "before", others
    yield "gradients", "gradients", inputs


def observed(subject: Subject, calls: Iterable[Probe]) -> Iterator[Outcome]:
    """What comes of each call."""
    lasting = subject.fresh()
    for number, (_, how, inputs) in enumerate(calls, 1):
        if how == "gradients":
            yield gradients(subject.fresh(), inputs, number, of_inputs=True)
        else:
            yield call(lasting if how == "before" else subject.fresh(), inputs, number, keep_state=True)


def note_outcomes(file: str, subject: Subject, example: Example, varying: Varying) -> None:
    """Write down what comes of calls, for a model with fixes to be compared with.

    Raises:
        Exception: it cannot be written, as it holds something that cannot be pickled.
    """
    calls = list(probes(example, varying))
    first, again = (next(observed(subject, calls[:1])) for _ in range(2))
    outcomes = []
    for outcome in observed(subject, calls):
        written = {name: outcome.state[name] for name in outcome.written}  # of the state, which may be large
        outcomes.append((outcome.raised, snapshot((outcome.value, outcome.inputs, written))))
    varies = difference(first.value, again.value, None) is not None
    noted = {"calls": calls, "outcomes": outcomes, "state": list(_state(subject.model)), "varies": varies}
    torch.save({**noted, "leaves": len(pytree.tree_leaves(calls[0][2]))}, file)


def compare_outcomes(file: str, subject: Subject, tolerance: float | None) -> tuple[str, str]:
    """Whether a model does what was written down of another one, and how it does not."""
    options = {"weights_only": False} if "weights_only" in inspect.signature(torch.load).parameters else {}
    noted = torch.load(file, **options)
    if noted["varies"]:
        return "skipped", "each call of the original gives something else, or something that cannot be compared"
    # A class that torch has come to know has tensors in it now, of which there are gradients.
    same = noted["leaves"] == len(pytree.tree_leaves(noted["calls"][0][2]))
    seen = observed(subject, noted["calls"])
    for (label, how, _), ((raised, one), outcome) in _zip(noted["calls"], _zip(noted["outcomes"], seen)):
        if how == "gradients" and not same:
            continue
        if raised or outcome.error is not None:
            if not raised or outcome.error is None:
                what = f"the original raises {raised}, and this does not" if raised else f"this raises {outcome.raised}"
                return "diverges", f"{label}: {what}"
            continue
        value, inputs, written = one
        names = sorted(name for name in written if name in outcome.state)
        pairs = (
            ("", value, outcome.value),
            ("the inputs after the call: ", inputs, outcome.inputs),
            ("state: ", {name: written[name] for name in names}, {name: outcome.state[name] for name in names}),
        )
        for what, ours, theirs in pairs:
            found = difference(ours, theirs, tolerance)
            if found is not None:
                text = re.sub(
                    r"\beager gives", "the original gives", re.sub(r"\bin eager\b", "in the original", found[0])
                )
                return "diverges", f"{label}: {what}{text.replace('the program', 'this one')}"
    return "agrees", f"in {len(noted['calls'])} calls"


# -- exporting ---------------------------------------------------------------------------------------------------------


def examine(job: Job, emit: Emit) -> None:
    """Build the model of a job, export it, and compare the program with it."""
    steps = _Steps(job, emit)
    try:
        steps.run()
    except BaseException as error:  # whatever users raise, SystemExit as well
        frames = user_frames(error, job["root"], strict=False)
        emit({"failure": failure(error, steps.stage, frames)})
    emit({"files": imported_files(job["root"])})
    emit({"stage": "done"})


_FOR_ALL = 0.8
"""The part of a job's time after which nothing more is compared: a verdict is worth more than all comparisons."""


class _Steps:
    """What is done one after the other. What raises is the end of it."""

    def __init__(self, job: Job, emit: Emit) -> None:
        self.stage = "start"
        self._rows: Mapping[str, set[int]] = {}
        self._job = job
        self._emit = emit

    def _enter(self, stage: str) -> None:
        self.stage = stage
        self._emit({"stage": stage})

    def run(self) -> None:
        job, emit, start = self._job, self._emit, time.monotonic()
        trial = job.get("trial")
        if trial:
            see_instead(trial["texts"])
        emit({"versions": versions()})
        self._enter("import")
        for path in reversed(job["paths"]):
            if path not in sys.path:
                sys.path.insert(0, path)
        if "script" in job["inputs"]:
            subject, example = run_script(job)
            self._enter("inputs")
        else:
            load_module(job["model"]["module"], job["model"]["file"])
            self._enter("build")
            subject = build(job)
            self._enter("inputs")
            example = find_example(job, subject)
        varying = varying_of(subject.model, example, job["varying"])
        emit({"inputs": described(example, varying)})
        self._enter("eager")
        inputs = (example.arguments, dict(example.keywords))
        with rows_that_run(lambda file: is_of_project(file, job["root"])) as rows:
            model = subject.fresh()
            outcome = call(model, inputs, 0)
        subject.share(model)
        del model
        self._rows = rows
        emit({"lines": {file: sorted(found) for file, found in rows.items()}})
        emit({"files": imported_files(job["root"])})
        # Operators such as `torch.cond` have Dynamo trace them in eager, too: what it refuses is refused by export.
        if outcome.error is not None and not type(outcome.error).__module__.startswith("torch._dynamo"):
            raise outcome.error
        refused, outcome = outcome.error, Outcome()
        if trial and trial["texts"]:
            agreement, detail = compare_outcomes(trial["outcomes"], subject, job["tolerance"])
            told = {"kind": "original", "label": "original", "agreement": agreement, "detail": detail}
            emit({"comparison": {**told, "difference": None}})
        elif trial:
            note_outcomes(trial["outcomes"], subject, example, varying)
        self._enter("export")
        program = self._export(subject, example, varying)
        if refused is not None and program is not None:
            self.stage = "eager"
            raise refused
        if program is not None:
            self._enter("compare")
            Comparer(job, subject, program, example, varying, emit, start + _FOR_ALL * job["timeout"]).run()

    def _export(self, subject: Subject, example: Example, varying: Varying) -> Any:
        """The program, or None after telling why there is none."""
        strict = self._job["mode"] == "strict"
        shapes = dynamic_shapes(example, varying, self._job["dynamic"])

        def export(function: Any) -> Any:
            torch._dynamo.reset()
            seed(12345)
            arguments, keywords = copied((example.arguments, dict(example.keywords)))
            options = {"strict": strict} if "strict" in inspect.signature(function).parameters else {}
            return function(subject.fresh(), arguments, keywords, dynamic_shapes=shapes, **options)

        try:
            return export(torch.export.export)
        except BaseException as error:
            first = error
        root = self._job["root"]
        frames = user_frames(first, root, strict) or frames_in_graph(first, root)
        if not frames and "fake tensor" in text_of(first):
            frames = frames_of_data(lambda: export(torch.export.export), root)
            frames = frames or frames_of_line(r"\.data\b", subject.model, self._rows)
        if not frames and "output" in text_of(first):
            frames = frames_of_line(r"^\s*return\b", subject.model, self._rows)
        suggest_checks(first, root)
        self._emit({"failure": failure(first, "export", frames)})
        if isinstance(first, Exception) and not isinstance(first, MemoryError) and not self._job.get("trial"):
            with contextlib.suppress(Exception):  # of drafts, which are nobody's promise
                for found in further_failures(export, root, strict):
                    if not frames or found["frames"][-1:] != frames[-1:]:
                        self._emit({"failure": found})
        return None


def versions() -> dict[str, str]:
    """What the results depend on."""
    found = {"python": sys.version.split()[0], "torch": str(torch.__version__)}
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        found["numpy"] = str(numpy.__version__)
    if torch.cuda.is_available():
        found["cuda"], found["gpu"] = str(torch.version.cuda), torch.cuda.get_device_name()
    return found


def described(example: Example, varying: Varying) -> list[str]:
    """The example as one would write it down: `x: float32[batch=2, 3]`."""
    arguments = varying.signature.bind(*example.arguments, **example.keywords).arguments
    found = []
    for (leaf, path), sized in _zip(_leaves(arguments), varying.leaves):
        if isinstance(leaf, torch.Tensor):
            sizes = [f"{sized[i].key}={n}" if i in sized else str(n) for i, n in enumerate(leaf.shape)]
            found.append(f"{path}: {str(leaf.dtype)[len('torch.') :]}[{', '.join(sizes)}]")
        else:
            found.append(f"{path}: {short(leaf)}")
    return found


# -- what is to blame --------------------------------------------------------------------------------------------------

_LOCATION = re.compile(r'File "([^"\n]+)", line (\d+), in ([^\s]+)')
_HINT = re.compile(r"^\s*(?:\d+\.\s+)?`?(torch\._check(?:_is_size)?\(.*\))`?\s*$", re.MULTILINE)

Frames = list[dict[str, Any]]


def failure(error: BaseException, stage: str, frames: Frames, further: bool = False) -> dict[str, Any]:
    """What an exception is told as."""
    text = text_of(error)
    hints = list(dict.fromkeys(_HINT.findall(text)))
    name = type(error).__name__
    return _failure(stage, name, text, frames, hints, further)


def _failure(stage: str, name: str, text: str, frames: Frames, hints: list[str], further: bool) -> dict[str, Any]:
    return {"stage": stage, "type": name, "message": text, "frames": frames, "hints": hints, "further": further}


def user_frames(error: BaseException, root: str, strict: bool) -> Frames:
    """The places in the user's code that an exception comes from, those of the project last, the innermost last."""
    chain = _chain(error)
    found: list[Frames] = []
    if strict:
        stacks = [getattr(link, "real_stack", None) or () for link in chain]
        found = [[_frame(s.filename, s.lineno, s.name) for s in stack] for stack in stacks]
        if not any(map(_of_users, found)):
            found = [frames_in_text(text.partition("from user code:")[2]) for text in map(text_of, chain)]
    if not any(map(_of_users, found)):
        found = [_frames_of_traceback(link.__traceback__) for link in chain]
    if not any(map(_of_users, found)):
        found = [frames_in_text(text_of(link)) for link in chain]
    return ranked(max(map(_of_users, found), key=len, default=[]), root)


def suggest_checks(error: BaseException, root: str) -> None:
    """Have torch say in terms of the user's variables what it wants to know, where it could and does not by itself."""
    shapes = sys.modules.get("torch.fx.experimental.symbolic_shapes")
    suggest = getattr(shapes, "_suggest_torch_checks", None)
    if suggest is None or getattr(error, "cond", None) is None or _HINT.search(text_of(error)):
        return
    frames = [f for f, _ in traceback.walk_tb(error.__traceback__) if is_of_project(f.f_code.co_filename, root)]
    names: dict[str, list[str]] = collections.defaultdict(list)
    for name, value in frames[-1].f_locals.items() if frames else ():
        if isinstance(value, torch.SymInt):
            names[str(value.node.expr)].append(name)
        elif isinstance(value, torch.Tensor):
            sizes = ((i, n) for i, n in enumerate(value.shape) if isinstance(n, torch.SymInt))
            for i, size in sizes:
                names[str(size.node.expr)].append(f"{name}.shape[{i}]")
    with contextlib.suppress(Exception), _silent("torch.fx"):
        suggest(error, names)


def ranked(frames: Frames, root: str) -> Frames:
    """Frames of the user's code, those of the project last: installed packages are seldom what one can change."""
    return sorted(_of_users(frames), key=lambda frame: is_of_project(frame["file"], root))


def _chain(error: BaseException | None) -> list[BaseException]:
    """An exception and what it was raised from, or in handling of what."""
    found: list[BaseException] = []
    while error is not None and all(error is not known for known in found):
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def _frame(file: str, row: int | None, function: str) -> dict[str, Any]:
    return {"file": os.path.abspath(file), "row": row or 1, "function": function}


def _frames_of_traceback(trace: Any) -> Frames:
    entries = traceback.walk_tb(trace)
    return [_frame(frame.f_code.co_filename, row, frame.f_code.co_name) for frame, row in entries if not _odd(frame)]


def _odd(frame: Any) -> bool:
    return str(frame.f_code.co_filename).startswith("<")


def frames_in_text(text: str) -> Frames:
    """The places that a text of torch names."""
    return [_frame(file, int(row), name) for file, row, name in _LOCATION.findall(text) if not file.startswith("<")]


def _of_users(frames: Frames) -> Frames:
    return [frame for frame in frames if is_of_user(frame["file"])]


@functools.lru_cache(maxsize=None)  # noqa: UP033 -- as long as the process lives
def _places() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Where torch lies, with what comes with it, and where Python's own modules lie."""
    packages = os.path.dirname(os.path.dirname(os.path.abspath(torch.__file__)))
    standard = {sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib")}
    standard |= {os.path.realpath(path) for path in standard}
    of_torch = (os.path.join(packages, name, "") for name in ("torch", "torchgen", "functorch", "sympy"))
    return tuple(of_torch), tuple(os.path.join(path, "") for path in standard)


def is_of_user(file: str) -> bool:
    """Whether a file is neither torch's nor Python's, nor this one."""
    path = os.path.abspath(file)
    of_torch, standard = _places()
    installed = "site-packages" in path or "dist-packages" in path
    return path != os.path.abspath(__file__) and not path.startswith(of_torch if installed else of_torch + standard)


def is_of_project(file: str, root: str) -> bool:
    """Whether a file lies below the root, and is not installed there."""
    return _is_below(os.path.dirname(os.path.abspath(file)), root)


@functools.lru_cache(maxsize=None)  # noqa: UP033 -- thousands of modules lie in a few hundred directories
def _is_below(directory: str, root: str) -> bool:
    for path, above in ((directory, os.path.abspath(root)), (os.path.realpath(directory), os.path.realpath(root))):
        below = os.path.join(path, "")[len(above) :]
        if os.path.join(path, "").startswith(os.path.join(above, "")):
            return "site-packages" not in below and "dist-packages" not in below
    return False


def frames_in_graph(error: BaseException, root: str) -> Frames:
    """Where what the message names came into the graph, for what is found only after tracing."""
    text = text_of(error)
    named = re.findall(r"attribute: ([\w.]+)|(lifted_tensor_\d+)|(?:node|target)[ :=]+([\w.]+)", text)
    names = {name for group in named for name in group if name}
    for link in _chain(error) if names else ():
        for graph in reversed(list(_graphs(link.__traceback__))):
            for node in graph.nodes:
                if not any(str(node.target).endswith(name) or node.name.endswith(name) for name in names):
                    continue
                for user in (*node.users, node):
                    frames = ranked(frames_in_text(user.meta.get("stack_trace") or ""), root)
                    if frames:
                        return frames
    return []


def _graphs(trace: Any) -> Iterator[Any]:
    """The graphs that the functions of a traceback held."""
    for frame, _ in traceback.walk_tb(trace):
        for value in list(frame.f_locals.values()):
            if type(value).__name__ == "ExportArtifact":
                value = value.aten.gm
            value = getattr(value, "graph_module", value) if type(value).__name__ == "ExportedProgram" else value
            if isinstance(value, torch.fx.GraphModule):
                yield value.graph
            elif isinstance(value, torch.fx.Graph):
                yield value


def frames_of_data(export: Callable[[], Any], root: str) -> Frames:
    """Where `.data` is used first: that is how tensors of a trace get among the constants of a program."""
    hit: list[Frames] = []
    overrides = importlib.import_module("torch.overrides")

    class Spy(overrides.TorchFunctionMode):  # type: ignore[name-defined,misc]
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if not hit and getattr(function, "__self__", None) is torch.Tensor.data:
                frames = [
                    _frame(frame.f_code.co_filename, row, frame.f_code.co_name)
                    for frame, row in traceback.walk_stack(sys._getframe(1))
                    if not _odd(frame)
                ]
                mine = next((i for i, f in enumerate(frames) if f["file"] == os.path.abspath(__file__)), len(frames))
                hit.append(ranked(frames[:mine][::-1], root))
            return function(*args, **(kwargs or {}))

    with contextlib.suppress(BaseException), Spy():
        export()
    return hit[0] if hit else []


def frames_of_line(pattern: str, model: Any, rows: Mapping[str, set[int]]) -> Frames:
    """The last line of the model's own `forward` that ran and looks like that, for what torch blames on no line."""
    code = getattr(inspect.unwrap(type(model).forward), "__code__", None)
    if code is None:
        return []
    lines = {row for _, row in dis.findlinestarts(code) if row}
    for row in sorted(lines & rows.get(os.path.abspath(code.co_filename), set()), reverse=True):
        if re.search(pattern, linecache.getline(code.co_filename, row)):
            return [_frame(code.co_filename, row, code.co_name)]
    return []


def further_failures(export: Callable[[Any], Any], root: str, strict: bool) -> Iterator[dict[str, Any]]:
    """What `draft_export` trips over, which goes on where export stops. From torch 2.6 on."""
    try:
        drafts: Any = importlib.import_module("torch.export._draft_export")
    except ImportError:
        return
    logged: list[tuple[str, Any]] = []
    record = drafts.LogRecord

    class Record(record):  # type: ignore[misc,valid-type]
        def try_add(self, element: Any) -> Any:
            logged.append(element)
            return super().try_add(element)

    error: BaseException | None = None
    variable = getattr(sys.modules["torch._logging._internal"], "DTRACE_ENV_VAR", "TORCH_TRACE")
    before = os.environ.get(variable)
    with tempfile.TemporaryDirectory() as directory:
        os.environ[variable] = directory  # where it writes a report that nobody asked for
        drafts.LogRecord = Record
        try:
            with contextlib.redirect_stdout(io.StringIO()), _silent("torch.export", "torch.fx", "torch._dynamo"):
                export(drafts.draft_export)
        except Exception as raised:
            error = raised
        finally:
            drafts.LogRecord = record
            os.environ.pop(variable)
            if before is not None:
                os.environ[variable] = before
    seen: list[Frames] = []
    for name, data in logged:
        found = _logged_failure(name, data, root)
        if found is not None and found["frames"] not in seen:
            seen.append(found["frames"])
            yield found
    if error is not None:
        frames = user_frames(error, root, strict)
        if frames and frames not in seen:
            yield failure(error, "export", frames, further=True)


@contextlib.contextmanager
def _silent(*names: str) -> Iterator[None]:
    """Have what comes with drafts said once only, as failures."""
    loggers = [logging.getLogger(name) for name in logging.root.manager.loggerDict if name.startswith(names)]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in _zip(loggers, levels):
            logger.setLevel(level)


def _logged_failure(name: str, data: Any, root: str) -> dict[str, Any] | None:
    if name.startswith("propagate_real_tensors"):
        kind = "GuardOnDataDependentSymNode"
        text = f"Could not guard on data-dependent expression {data.get('expr')}"
    elif name == "guard_added" and data.get("symbol_to_sources") and data.get("prefix") != "runtime_assert":
        if not str(data.get("expr", "")).startswith("Eq("):
            return None
        sources = ", ".join(f"{symbol} is {source}" for symbol, source in data["symbol_to_sources"].items())
        kind, text = "ConstraintViolation", f"This holds only where {data['expr']}, where {sources}"
    elif name in ("missing_fake_kernel", "mismatched_fake_kernel"):
        what = name.replace("_", " ")
        return _failure("export", "FakeKernel", f"{what}: {data.get('op')}", [], [], True)
    else:
        return None
    table = getattr(importlib.import_module("torch._logging.structured"), "INTERN_TABLE", {})
    files = {number: file for file, number in table.items()}
    stack = data.get("user_stack") or data.get("stack") or []
    frames = [_frame(str(files.get(f["filename"], f["filename"])), f["line"], f["name"]) for f in stack]
    frames = ranked(frames, root)
    return _failure("export", kind, text, frames, [], True) if frames else None


# -- what ran ----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def rows_that_run(wanted: Callable[[str], bool]) -> Iterator[dict[str, set[int]]]:
    """The rows of each wanted file that run meanwhile, as they come."""
    rows: dict[str, set[int]] = {}
    known: dict[str, set[int] | None] = {}

    def rows_of(file: str) -> set[int] | None:
        if file not in known:
            path = os.path.abspath(file)
            known[file] = rows.setdefault(path, set()) if not file.startswith("<") and wanted(file) else None
        return known[file]

    with _monitored(rows_of) if hasattr(sys, "monitoring") else _traced(rows_of):
        yield rows
    for file in [file for file, found in rows.items() if not found]:
        del rows[file]


@contextlib.contextmanager
def _monitored(rows_of: Callable[[str], set[int] | None]) -> Iterator[None]:
    """Each line is told of once only, from Python 3.12 on."""
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
    tool = next(number for number in range(6) if monitoring.get_tool(number) is None)

    def note(code: Any, row: int) -> Any:
        rows = rows_of(code.co_filename)
        if rows is not None:
            rows.add(row)
        return monitoring.DISABLE

    monitoring.use_tool_id(tool, "exportlint")
    monitoring.register_callback(tool, monitoring.events.LINE, note)
    monitoring.set_events(tool, monitoring.events.LINE)
    try:
        yield
    finally:
        monitoring.set_events(tool, 0)
        monitoring.register_callback(tool, monitoring.events.LINE, None)
        monitoring.free_tool_id(tool)
        monitoring.restart_events()


@contextlib.contextmanager
def _traced(rows_of: Callable[[str], set[int] | None]) -> Iterator[None]:
    def enter(frame: Any, _event: str, _: Any) -> Any:
        rows = rows_of(frame.f_code.co_filename)
        if rows is None:
            return None

        def line(frame: Any, event: str, _: Any) -> Any:
            if event == "line":
                rows.add(frame.f_lineno)
            return line

        return line

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        yield
    finally:
        sys.settrace(before)


def imported_files(root: str) -> dict[str, str]:
    """The digests of the files of the project that were imported, as far as they are still there."""
    found: dict[str, str] = {}
    for module in list(sys.modules.values()):
        file = getattr(module, "__dict__", {}).get("__file__")
        if isinstance(file, str) and is_of_project(file, root):
            with contextlib.suppress(OSError):
                found[os.path.abspath(file)] = hashlib.sha256(Path(file).read_bytes()).hexdigest()
    return found


if __name__ == "__main__":
    main()
