"""`exit`: end the process, in failure if nobody asked for `shutdown` first."""

from __future__ import annotations

from lsprotocol import types

from exportlint.server.server import Server

METHOD = types.EXIT


def handle(server: Server, params: None = None) -> None:
    """Note that this is how it ended; pygls does the rest."""
    server.exited = True
    server.stop()
