"""Admits a client over TCP: the first one that sends the token."""

from __future__ import annotations

import contextlib
import hmac
import json
import logging
import selectors
import socket
import time
from dataclasses import dataclass, field

from lsprotocol import types

from exportlint.server.framing import NotLspError, first_body

log = logging.getLogger(__name__)

_MOST_WAITING = 16
"""The most open connections without the token. If there is one more, the oldest is closed."""

_PATIENCE = 10.0
"""Seconds within which a connection has to send the token."""

_MAX_BODY = 1 << 20
_PIECE = 1 << 16


@dataclass
class _Visitor:
    """A connection that has not sent the token yet, and the bytes it has sent."""

    connection: socket.socket
    since: float
    sent: bytearray = field(default_factory=bytearray)


def admit(listener: socket.socket, token: str) -> tuple[socket.socket, bytes]:
    """Wait for a client whose first message is `initialize` with the token in `initializationOptions.token`.

    Other connections are closed without delaying that client. Returns its connection and the bytes it has sent.
    """
    with _Door(listener, token) as door:
        while True:
            admitted = door.wait()
            if admitted is not None:
                return admitted


class _Door:
    def __init__(self, listener: socket.socket, token: str) -> None:
        self._listener = listener
        self._token = token
        self._visitors: dict[socket.socket, _Visitor] = {}
        self._selector = selectors.DefaultSelector()

    def __enter__(self) -> _Door:
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ)
        return self

    def __exit__(self, *_: object) -> None:
        for visitor in list(self._visitors.values()):
            self._close(visitor)
        self._selector.close()

    def wait(self) -> tuple[socket.socket, bytes] | None:
        """Wait for the next data. Returns the connection if it is admitted now."""
        for key, _ in self._selector.select(1.0 if self._visitors else None):
            if key.fileobj is self._listener:
                self._accept()
            elif (visitor := self._visitors.get(key.fileobj)) is not None and self._hear(visitor):  # type: ignore[call-overload]
                self._selector.unregister(visitor.connection)
                del self._visitors[visitor.connection]
                visitor.connection.setblocking(True)
                return visitor.connection, bytes(visitor.sent)
        late = time.monotonic() - _PATIENCE
        for visitor in [one for one in self._visitors.values() if one.since < late]:
            self._refuse(visitor, "it did not send the token in time")
        return None

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:  # gone again
            return
        if len(self._visitors) == _MOST_WAITING:
            self._refuse(next(iter(self._visitors.values())), "too many connections are waiting")
        connection.setblocking(False)
        self._visitors[connection] = _Visitor(connection, time.monotonic())
        self._selector.register(connection, selectors.EVENT_READ)

    def _hear(self, visitor: _Visitor) -> bool:
        """Read from one connection. Returns whether to admit it."""
        try:
            data = visitor.connection.recv(_PIECE)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self._close(visitor)
            return False
        visitor.sent += data
        try:
            body = first_body(bytes(visitor.sent), _MAX_BODY)
            if body is None:
                return False
            if _shows(body, self._token):
                return True
        except NotLspError as error:
            self._refuse(visitor, str(error))
            return False
        self._refuse(visitor, "its first message is not `initialize` with the token", _answer(body))
        return False

    def _refuse(self, visitor: _Visitor, why: str, answer: bytes = b"") -> None:
        log.warning("refused a connection: %s", why)
        with contextlib.suppress(OSError):
            visitor.connection.send(answer)
        self._close(visitor)

    def _close(self, visitor: _Visitor) -> None:
        self._selector.unregister(visitor.connection)
        del self._visitors[visitor.connection]
        visitor.connection.close()


def _shows(body: bytes, token: str) -> bool:
    message = _parsed(body)
    options = _member(_member(message, "params"), "initializationOptions")
    shown = _member(options, "token")
    is_equal = hmac.compare_digest(str(shown).encode("utf-8", "replace"), token.encode())
    return is_equal and _member(message, "method") == types.INITIALIZE


def _answer(body: bytes) -> bytes:
    """The error response to a client without the token, which may have forgotten it."""
    identity = _member(_parsed(body), "id")
    if not isinstance(identity, (int, str)):
        return b""
    text = "initializationOptions.token is not the token that the server printed"
    error = {"code": types.ErrorCodes.ServerNotInitialized.value, "message": text}
    answer = json.dumps({"jsonrpc": "2.0", "id": identity, "error": error}).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(answer), answer)


def _parsed(body: bytes) -> object:
    try:
        parsed: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return parsed


def _member(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None
