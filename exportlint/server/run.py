"""Starts the server, and returns its exit code."""

from __future__ import annotations

import io
import os
import socket
import sys
from typing import BinaryIO, TextIO, cast

from exportlint.server import commands, logs, requests
from exportlint.server.admission import admit
from exportlint.server.framing import Framed, Outlet
from exportlint.server.server import Server


def serve_stdio(log: TextIO | None = None, *, stores: bool = True) -> int:
    """Serve one client over standard input and output. Log to `log`, by default standard error.

    `stores`: use the cache.

    Returns:
        0, or 1 if the client sent `exit` without `shutdown`, as LSP requires.
    """
    # Only messages may go to standard output, whatever prints.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        logs.start(log)
        return _serve(Framed(sys.stdin.buffer), output, stores=stores)


def serve_tcp(
    host: str, port: int, token: str, *, show_token: bool, log: TextIO | None = None, stores: bool = True
) -> int:
    """Serve the first client that connects and shows the token, as `serve_stdio` does.

    `host` is a loopback address. `show_token`: print the token for the user.

    Raises:
        OSError: nothing can listen there.
    """
    logs.start(log)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listener:
        told = "listening on {}:{}".format(*listener.getsockname()[:2])
        if show_token:
            told += f"\ntoken, to be sent as initializationOptions.token: {token}"
        print(told, file=sys.stderr, flush=True)  # noqa: T201
        connection, sent = admit(listener, token)
    with (
        connection,
        io.BufferedReader(_Continued(sent, connection)) as messages,
        connection.makefile("wb") as output,
    ):
        return _serve(Framed(cast(BinaryIO, messages), strict=True), output, stores=stores)


class _Continued(io.RawIOBase):
    """A connection whose first bytes have already been read."""

    def __init__(self, start: bytes, connection: socket.socket) -> None:
        super().__init__()
        self._start = memoryview(start)
        self._connection = connection

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._start:
            return self._connection.recv_into(buffer)
        count = min(len(buffer), len(self._start))
        buffer[:count] = self._start[:count]
        self._start = self._start[count:]
        return count


def _serve(messages: Framed, output: BinaryIO, *, stores: bool) -> int:
    server = Server(stores=stores)
    requests.register_first(server)
    commands.register(server)
    try:
        server.start_io(cast(BinaryIO, messages), cast(BinaryIO, Outlet(output)))
    finally:
        server.stop()
    return int(server.exited and not server.was_shut_down)
