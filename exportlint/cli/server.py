"""`exportlint server`: the language server."""

from __future__ import annotations

import argparse

from exportlint.cli.output import UsageError


def run(arguments: argparse.Namespace) -> int:
    """Serve one client: the editor that started the process, or the first that connects."""
    from exportlint.server.run import serve_stdio, serve_tcp

    if arguments.tcp is None:
        return serve_stdio()
    host, colon, port = arguments.tcp.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise UsageError(f"--tcp `{arguments.tcp}`: expected HOST:PORT, such as `127.0.0.1:2087`")
    try:
        return serve_tcp(host.strip("[]") or "127.0.0.1", int(port))
    except OSError as error:
        raise UsageError(f"--tcp `{arguments.tcp}`: {error.strerror or error}") from None
