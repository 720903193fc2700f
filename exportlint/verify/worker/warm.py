"""A worker that waits for the next run: it imports torch once, and forks a host for each that connects.

It runs none of the user's code. A host is a worker like any other, and what is left of one is killed when it ends.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import struct
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .forking import below, reaped
from .system import PR_SET_CHILD_SUBREAPER, control

_PATIENCE = 5.0
"""Seconds in which one that connects has to say what it wants."""


class Warm:
    """Listens on a socket of this user. `idle` are the seconds after which it ends where nobody connects."""

    def __init__(self, path: str, idle: float) -> None:
        self._path, self._idle = path, idle
        self._hosts: dict[int, socket.socket] = {}
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen()
        self._inode = os.stat(path).st_ino
        self._woken, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        control(PR_SET_CHILD_SUBREAPER, 1)
        with contextlib.suppress(OSError):  # rather this than an editor, when memory runs out
            Path("/proc/self/oom_score_adj").write_text("500")

    def serve(self, unusable: str, host: Callable[[], None]) -> None:
        """Have hosts run, each in a process whose standard streams are those of who connects, until nobody comes.

        If it is `unusable`, say why to the first one.
        """
        gc.freeze()
        last = time.monotonic()
        while self._hosts or time.monotonic() < last + self._idle:
            listener = self._listener.fileno()
            ready, _, _ = select.select([listener, self._woken], [], [], min(self._idle, 1.0))
            if self._woken in ready:
                os.read(self._woken, 1 << 10)
                self._reap()
            if listener in ready and not self._accept(unusable, host):
                break
            if ready or self._hosts:
                last = time.monotonic()
            if not self._is_found():
                break
        with contextlib.suppress(OSError):
            if self._is_found():
                os.unlink(self._path)
        os._exit(0)

    def _is_found(self) -> bool:
        try:
            return os.stat(self._path).st_ino == self._inode
        except OSError:
            return bool(self._hosts)

    def _accept(self, unusable: str, host: Callable[[], None]) -> bool:
        """Fork a host for one who connects; whether to go on."""
        connection, _ = self._listener.accept()
        with contextlib.suppress(OSError, ValueError, KeyError):
            wanted, descriptors = _received(connection)
            if wanted.get("end"):
                connection.close()
                return bool(self._hosts)
            if unusable:
                os.write(descriptors[1], json.dumps({"unusable": unusable}).encode() + b"\n")
                return False
            self._fork(connection, wanted, descriptors, host)
            return True
        connection.close()
        return True

    def _fork(
        self, connection: socket.socket, wanted: Mapping[str, Any], descriptors: list[int], host: Callable[[], None]
    ) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of 3.12: that a process with threads is forked
            child = os.fork()
        if child:
            for descriptor in descriptors:
                os.close(descriptor)
            self._hosts[child] = connection
            return
        try:
            os.setsid()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for open_one in (self._listener, connection, *self._hosts.values()):
                open_one.close()
            os.close(self._woken)
            for number, descriptor in enumerate(descriptors):
                os.dup2(descriptor, number)
                os.close(descriptor)
            # What was opened on a file asks where in it it is.
            sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - for as long as it lives
            sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
            os.environ.clear()
            os.environ.update(wanted["environment"])
            os.chdir(wanted["directory"])
            threads = os.environ.get("OMP_NUM_THREADS", "")
            if threads.isdigit():
                sys.modules["torch"].set_num_threads(int(threads))
            host()
        except BaseException:
            traceback.print_exc()  # to who connects
        finally:
            os._exit(1)

    def _reap(self) -> None:
        """Take note of hosts that have ended, and kill what they have left: it is this process's child then."""
        ended = {pid: code for pid, code in reaped() if pid in self._hosts}
        for pid, code in ended.items():
            connection = self._hosts.pop(pid)
            self._clear()
            with contextlib.suppress(OSError):
                connection.sendall(json.dumps({"ended": code}).encode() + b"\n")
            connection.close()

    def _clear(self) -> None:
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            known = {process for host in self._hosts for process in (host, *below(host))}
            orphans = set(below(os.getpid())) - known
            if not orphans:
                return
            for orphan in orphans:
                with contextlib.suppress(OSError):
                    os.kill(orphan, signal.SIGKILL)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(orphan, os.WNOHANG)
            time.sleep(0.001)


def _received(connection: socket.socket) -> tuple[Mapping[str, Any], list[int]]:
    """What one who connects wants, and the three streams that are sent with it. Others than this user are refused."""
    connection.settimeout(_PATIENCE)
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    if struct.unpack("3i", credentials)[1] != os.getuid():
        raise OSError("it is another user")
    data, descriptors, _, _ = socket.recv_fds(connection, 1 << 16, 3)
    while not data.endswith(b"\n"):
        more = connection.recv(1 << 16)
        if not more:
            raise ValueError("it ends in the middle")
        data += more
    wanted = json.loads(data)
    if not wanted.get("end") and len(descriptors) != 3:
        raise ValueError("three streams are wanted")
    return wanted, list(descriptors)
