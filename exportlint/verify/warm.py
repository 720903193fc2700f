"""Workers that have imported torch, and wait for the next run of this user: how to find one, or to leave one."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from exportlint.verify.interpreter import Interpreter

IDLE = 300.0
"""Seconds that a worker waits for the next run, where nothing else is said."""

_SINCE_IMPORT = (
    "PYTHON",
    "TORCH",
    "PYTORCH",
    "OMP_",
    "MKL_",
    "KMP_",
    "LD_",
    "CUDA",
    "NUMEXPR",
    "LANG",
    "LC_",
    "HOME",
    "TMP",
)
"""The beginnings of the environment variables that count when torch is imported: others may be other ones later."""

_CONNECTS = 0.05


@dataclass(frozen=True, slots=True)
class Warmth:
    """Where workers wait, for how many seconds, and what they must have been started with."""

    directory: Path
    interpreter: Interpreter
    idle: float = IDLE
    script: Path = field(default_factory=lambda: Path(__file__).parent / "worker")

    def path(self, environment: Mapping[str, str]) -> Path:
        """The socket of the worker that would do as one that is started now."""
        code = b"".join(file.read_bytes() for file in sorted(self.script.glob("*.py")))
        counts = sorted(item for item in environment.items() if item[0].startswith(_SINCE_IMPORT))
        known = (str(self.interpreter.path), self.interpreter.installed, os.fspath(self.script), counts)
        digest = hashlib.sha256(json.dumps(known).encode() + code).hexdigest()[:24]
        return self.directory / f"{digest}.socket"


def default_directory() -> Path | None:
    """Where the workers of this user wait; None where that cannot be private."""
    if sys.platform != "linux":
        return None
    import platformdirs

    runtime = os.environ.get("XDG_RUNTIME_DIR")
    base = Path(runtime) if runtime else Path(platformdirs.user_cache_dir("exportlint", appauthor=False))
    return base / "exportlint-workers"


def _is_private(directory: Path) -> bool:
    with contextlib.suppress(OSError):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = directory.lstat()
        return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077
    return False


class WarmHost:
    """A host that a waiting worker has forked, with the streams of a `Popen`. Made by `connect`."""

    def __init__(self, connection: socket.socket, stdin: IO[bytes], stdout: IO[bytes], stderr: IO[bytes]) -> None:
        self.stdin, self.stdout, self.stderr = stdin, stdout, stderr
        self.pid = 0
        """Of the process, which it tells as soon as it is ready."""
        self._connection = connection
        self._code: int | None = None

    @property
    def process(self) -> WarmHost:
        """Itself, as a `Family` has a process."""
        return self

    def wait(self, timeout: float) -> int:
        """The exit code, as of a `Popen`.

        Raises:
            subprocess.TimeoutExpired: it runs still.
        """
        if self._code is None:
            self._connection.settimeout(max(timeout, 0.001))
            try:
                data = self._connection.recv(1 << 10)
                self._code = json.loads(data)["ended"] if data else -signal.SIGKILL
            except TimeoutError:
                raise subprocess.TimeoutExpired("worker", timeout) from None
            except OSError:
                self._code = -signal.SIGKILL
            self._connection.close()
        return self._code

    def kill(self, patience: float = 0.0) -> None:
        """Kill it with all that it has started: the worker that waits sees to what it leaves."""
        with contextlib.suppress(OSError):
            self.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(patience)
        if self._code is None and self.pid:
            with contextlib.suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.wait(5.0)


def connect(
    warmth: Warmth, environment: Mapping[str, str], seconds: float, is_cancelled: Callable[[], bool]
) -> WarmHost | None:
    """A host of the worker that waits, which is started if there is none; None if there cannot be one.

    A worker that is starting is killed once it `is_cancelled`, or has not answered within `seconds`.
    """
    import fcntl  # Windows has none

    path = warmth.path(environment)
    if not _is_private(warmth.directory) or len(os.fsencode(path)) > 100:
        return None
    with contextlib.suppress(OSError), path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        connection = _connected(path)
        if connection is None and warmth.idle > 0:
            path.unlink(missing_ok=True)
            command: list[str | os.PathLike[str]] = [
                warmth.interpreter.path,
                warmth.script,
                "--warm",
                path,
                str(warmth.idle),
            ]
            none = subprocess.DEVNULL
            started = subprocess.Popen(
                command, env=dict(environment), cwd="/", start_new_session=True, stdin=none, stdout=none, stderr=none
            )
            connection = _when_it_listens(path, started, seconds, is_cancelled)
        return None if connection is None else _host(connection, environment)
    return None


def _when_it_listens(
    path: Path, started: subprocess.Popen[bytes], seconds: float, is_cancelled: Callable[[], bool]
) -> socket.socket | None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and started.poll() is None and not is_cancelled():
        connection = _connected(path)
        if connection is not None:
            started.returncode = 0  # it outlives this process, which is not to warn of that
            return connection
        time.sleep(_CONNECTS)
    started.kill()
    started.wait()
    return None


def _connected(path: Path) -> socket.socket | None:
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(os.fspath(path))
    except OSError:
        connection.close()
        return None
    return connection


def _host(connection: socket.socket, environment: Mapping[str, str]) -> WarmHost:
    (his_input, stdin), (stdout, his_output), (stderr, his_errors) = os.pipe(), os.pipe(), os.pipe()
    theirs = [his_input, his_output, his_errors]
    wanted = json.dumps({"environment": dict(environment), "directory": os.fspath(Path.cwd())}).encode() + b"\n"
    try:
        sent = socket.send_fds(connection, [wanted], theirs)
        connection.sendall(wanted[sent:])
    finally:
        for descriptor in theirs:
            os.close(descriptor)
    return WarmHost(connection, os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb"), os.fdopen(stderr, "rb"))


def stop(directory: Path) -> int:
    """End the workers that wait there; how many there were. One that is at work ends after that."""
    count = 0
    for path in sorted(directory.glob("*.socket")):
        connection = _connected(path)
        if connection is not None:
            count += 1
            with contextlib.suppress(OSError):
                connection.sendall(b'{"end": true}\n')
            connection.close()
        path.unlink(missing_ok=True)
        path.with_suffix(".lock").unlink(missing_ok=True)
    return count
