"""Starting the server, and how it ends."""

from __future__ import annotations

import os
import socket
import sys
from typing import BinaryIO, cast

from exportlint.server import commands, requests
from exportlint.server.framing import Framed, Outlet
from exportlint.server.logs import configure
from exportlint.server.server import Server


def serve_stdio() -> int:
    """Serve the client at standard input and output until it leaves.

    Returns:
        0, or 1 if it told the server to exit without asking it to shut down first, as LSP has it.
    """
    # Only messages may go to standard output, whatever prints.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        return _serve(sys.stdin.buffer, output)


def serve_tcp(host: str, port: int) -> int:
    """Serve the first client that connects, as `serve_stdio` does. Raises OSError if nothing can listen there."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listener:
        print("listening on {}:{}".format(*listener.getsockname()[:2]), file=sys.stderr, flush=True)  # noqa: T201
        connection, _ = listener.accept()
    with connection, connection.makefile("rb") as messages, connection.makefile("wb") as output:
        return _serve(messages, output)


def _serve(messages: BinaryIO, output: BinaryIO) -> int:
    configure()
    server = Server()
    requests.register_first(server)
    commands.register(server)
    try:
        server.start_io(cast(BinaryIO, Framed(messages)), cast(BinaryIO, Outlet(output)))
    finally:
        server.stop()
    return int(server.exited and not server.was_shut_down)
