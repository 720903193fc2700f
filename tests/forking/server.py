"""A process that has imported exportlint, and forks for each `client` that asks: `server.py SOCKET`.

Nearly all of the second of processor time that a language server takes to start is imports. What is forked has the
streams, arguments, directory and environment of its client, and `sys.path` as they make it. But it has another process
id, the hash seed and limits of the fork server and little left to import: tests of those, and of signals, start Python
itself.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
import threading
from pathlib import Path

MODEL = b"""\
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x.item()
"""


def serve(path: str) -> None:
    """Fork for each client, until standard input closes."""
    _warm_up()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(path)
        listener.listen()
        print("ready", flush=True)  # noqa: T201
        while 0 not in select.select([listener.fileno(), 0], [], [])[0]:
            connection, _ = listener.accept()
            if not os.fork():
                listener.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                _keep(connection)
                return
            connection.close()


def _warm_up() -> None:
    """Import all of it, and have it read its tables. What packages of rules are installed is left to each process."""
    import exportlint.cli
    import exportlint.rules
    import exportlint.server.diagnostics
    from exportlint.analysis.analyze import Interpretation
    from exportlint.analysis.eval.engine import Options
    from exportlint.analysis.project import Project
    from exportlint.source import from_bytes

    for package in (exportlint.cli, exportlint.rules, exportlint.server):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(found.name)
    project = Project()
    module = project.add(from_bytes(MODEL, Path("model.py"), "model.py"))
    Interpretation(module, project, Options()).analysis()
    exportlint.server.diagnostics.converter()


def _keep(connection: socket.socket) -> None:
    """Fork what was asked for, wait for it, and pass its exit status on."""
    size, streams, *_ = socket.recv_fds(connection, 8, 3)
    with connection.makefile("rb") as sent:
        request = json.loads(sent.read(int.from_bytes(size, "big")))
    forked = os.fork()
    if not forked:
        connection.close()
        _become(streams, **request)
        return
    for stream in streams:
        os.close(stream)

    def end() -> None:
        connection.recv(1)
        with contextlib.suppress(ProcessLookupError):
            os.kill(forked, signal.SIGKILL)

    threading.Thread(target=end, daemon=True).start()
    code = os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1])
    with contextlib.suppress(OSError):
        connection.sendall(bytes([code % 256]))
    os._exit(0)


def _become(streams: list[int], words: list[str], directory: str, environment: dict[str, str]) -> None:
    for to, stream in enumerate(streams):
        os.dup2(stream, to)
        os.close(stream)
    os.chdir(directory)
    others = sys.path[1 + len(_python_path()) :]
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:] = [directory, *_python_path(), *others]
    how, what, *sys.argv[1:] = words
    if how == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        sys.argv[0] = how
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})


def _python_path() -> list[str]:
    return list(filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)))


if __name__ == "__main__":
    serve(sys.argv[1])
