"""`exportlint server`: the language server."""

from __future__ import annotations

import argparse
import ipaddress
from pathlib import Path

from exportlint.cli.output import UsageError


def run(arguments: argparse.Namespace) -> int:
    """Serve one client: the editor that started the process, or the first that connects and knows the token."""
    from exportlint.source.garbage import gc_paused

    with gc_paused():
        from exportlint.server import tokens
        from exportlint.server.logs import LogFileError, open_log
        from exportlint.server.run import serve_stdio, serve_tcp

    if arguments.tcp is None:
        if arguments.token_file is not None:
            raise UsageError("--token-file: only a server with --tcp asks for a token")
    else:
        host, port = _address(arguments.tcp)
    try:
        token = tokens.given(None if arguments.token_file is None else Path(arguments.token_file))
        log = None if arguments.log_file is None else open_log(Path(arguments.log_file).expanduser())
    except tokens.TokenError as error:
        raise UsageError(str(error)) from None
    except LogFileError as error:
        raise UsageError(f"--log-file `{arguments.log_file}`: {error}") from None
    stores = not arguments.no_cache
    if arguments.tcp is None:
        return serve_stdio(log, stores=stores)
    try:
        return serve_tcp(host, port, token or tokens.fresh(), show_token=token is None, log=log, stores=stores)
    except OSError as error:
        raise UsageError(f"--tcp `{arguments.tcp}`: {error.strerror or error}") from None


def _address(text: str) -> tuple[str, int]:
    """Where to listen: a loopback address, as whoever is served can have files of this machine read."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or not port.isascii() or int(port) > 65535:
        raise UsageError(f"--tcp `{text}`: expected HOST:PORT, such as `127.0.0.1:2087`")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    host = "127.0.0.1" if host == "localhost" else host
    try:
        is_loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_loopback = False
    if not is_loopback:
        raise UsageError(
            f"--tcp `{text}`: the server listens on this machine only, use `127.0.0.1:{port}`, "
            "and a tunnel such as `ssh -L` from elsewhere"
        )
    return host, int(port)
