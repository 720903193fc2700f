"""Starting the server, and how it ends."""

from __future__ import annotations

import os
import sys

from exportlint.server import commands, requests
from exportlint.server.logs import configure
from exportlint.server.server import Server


def serve_stdio() -> int:
    """Serve the client at standard input and output until it leaves.

    Returns:
        0, or 1 if it told the server to exit without asking it to shut down first, as LSP has it.
    """
    configure()
    server = _server()
    # Only messages may go to standard output, whatever prints.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        server.start_io(sys.stdin.buffer, output)
    server.stop()
    return int(server.exited and not server.was_shut_down)


def serve_tcp(host: str, port: int) -> int:
    """Serve the first client that connects. Raises OSError if nothing can listen there."""
    configure()
    server = _server()
    server.start_tcp(host, port)
    server.stop()
    return int(server.exited and not server.was_shut_down)


def _server() -> Server:
    server = Server()
    requests.register_first(server)
    commands.register(server)
    return server
