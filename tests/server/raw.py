"""The bytes of a connection: for what no client of good manners sends."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tests.patience import PATIENCE
from tests.server.client import COMMAND

Message = dict[str, Any]

CONFIGURED: Message = {"configuration": True, "didChangeWatchedFiles": {"dynamicRegistration": True}}
PUSHING: Message = {"workspace": CONFIGURED, "textDocument": {"publishDiagnostics": {"versionSupport": True}}}
PULLING: Message = {
    "textDocument": {"diagnostic": {"dynamicRegistration": False}},
    "workspace": {**CONFIGURED, "diagnostics": {"refreshSupport": True}},
}


def framed(message: object) -> bytes:
    """A message with its header."""
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def is_of(method: str) -> Callable[[Message], bool]:
    """Whether a message calls a method."""
    return lambda message: message.get("method") == method


def is_published(uri: str, version: int | None = None) -> Callable[[Message], bool]:
    """Whether a message has the diagnostics of a document, or of a version of it."""

    def holds(message: Message) -> bool:
        params = message.get("params") or {}
        published = message.get("method") == "textDocument/publishDiagnostics"
        return published and params["uri"] == uri and version in (None, params.get("version"))

    return holds


class Raw:
    """Both ends of a server's pipes, or of a socket. What it says is kept in order."""

    def __init__(self, output: IO[bytes], send: Callable[[bytes], object]) -> None:
        self._send = send
        self._messages: queue.Queue[Message | None] = queue.Queue()
        self.heard: list[Message] = []
        self.settings: Callable[[str | None], object] = lambda scope: None
        """What the user set in a folder, by its URI, or everywhere."""
        self.answers: dict[str, object] = {}
        """What to answer to a method of the server's requests, whatever it asks."""
        self.encoding = "utf-16"
        self.root = Path()
        self._ids = iter(range(1, 1_000_000))
        threading.Thread(target=self._read, args=(output,), daemon=True).start()

    def _read(self, output: IO[bytes]) -> None:
        try:
            while header := output.readline():
                assert header.startswith(b"Content-Length: "), header
                while output.readline().strip():
                    pass
                message = json.loads(output.read(int(header.split()[1])))
                self._messages.put(message)
                if "method" in message and "id" in message:
                    with contextlib.suppress(OSError, ValueError):  # the test has closed it
                        self.send({"jsonrpc": "2.0", "id": message["id"], "result": self._result(message)})
        finally:
            self._messages.put(None)

    def _result(self, request: Message) -> object:
        if request["method"] in self.answers or request["method"] != "workspace/configuration":
            return self.answers.get(request["method"])
        return [self.settings(item.get("scopeUri")) for item in request["params"]["items"]]

    def send(self, message: object) -> None:
        """Send a message, or bytes as the body of one."""
        self.send_bytes(framed(message))

    def send_bytes(self, data: bytes) -> None:
        """Send bytes as they are."""
        self._send(data)

    def notify(self, method: str, params: object = None) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, params: object = None) -> int:
        """Send a request. Returns its id."""
        number = next(self._ids)
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number

    def hear(self, wanted: Callable[[Message], bool], patience: float = PATIENCE) -> Message:
        """The next message of which something holds. Fails if it does not come."""
        (message,) = self.hear_all(wanted, patience=patience)
        return message

    def hear_all(self, *wanted: Callable[[Message], bool], patience: float = PATIENCE) -> list[Message]:
        """For each of several conditions the next message of which it holds. They may come in any order."""
        found: dict[int, Message] = {}
        while len(found) < len(wanted):
            message = self._messages.get(timeout=patience)
            assert message is not None, "the server said nothing more"
            self.heard.append(message)
            for place, holds in enumerate(wanted):
                if place not in found and holds(message):
                    found[place] = message
        return [found[place] for place in range(len(wanted))]

    def answer(self, number: int | str | None) -> Message:
        """The answer to a request."""
        return self.hear(lambda message: "method" not in message and message.get("id") == number)

    def request(self, method: str, params: object = None) -> Message:
        """Send a request and wait for its answer."""
        return self.answer(self.ask(method, params))

    def start(self, root: Path | None, capabilities: Message = PUSHING, **more: object) -> Message:
        """Initialize. Returns the capabilities of the server."""
        uri = None if root is None else root.as_uri()
        params = {"processId": os.getpid(), "rootUri": uri, "capabilities": capabilities, **more}
        answer = self.request("initialize", params)
        self.notify("initialized", {})
        offered: Message = answer["result"]["capabilities"]
        self.encoding = offered["positionEncoding"]
        return offered

    def open(self, uri: str, text: str, version: int = 1) -> None:
        """Open a document."""
        item = {"uri": uri, "languageId": "python", "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def change(self, uri: str, version: int, *changes: Mapping[str, object] | str) -> None:
        """Change a document; a text replaces it as a whole."""
        given = [{"text": change} if isinstance(change, str) else change for change in changes]
        self.notify(
            "textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": given}
        )

    def published(self, uri: str, version: int | None = None) -> list[Message]:
        """The diagnostics that are published next of a document, or of a version of it."""
        found: list[Message] = self.hear(is_published(uri, version))["params"]["diagnostics"]
        return found

    def pull(self, uri: str, previous: str | None = None) -> Message:
        """The report about a document that a client asks for."""
        params = {"textDocument": {"uri": uri}, "previousResultId": previous}
        report: Message = self.request("textDocument/diagnostic", params)["result"]
        return report

    def close(self, uri: str) -> None:
        """Close a document."""
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def touch(self, *files: Path, kind: int = 2) -> None:
        """Tell that files were created (1), changed (2) or deleted (3)."""
        changes = [{"uri": file.as_uri(), "type": kind} for file in files]
        self.notify("workspace/didChangeWatchedFiles", {"changes": changes})

    def codes(self, uri: str, version: int | None = None) -> list[str]:
        """Their codes."""
        return [str(shown.get("code")) for shown in self.published(uri, version)]


class Process(Raw):
    """A server, by default one that was started as editors start it."""

    def __init__(self, root: Path, command: Sequence[str] = COMMAND, **environment: str) -> None:
        self.log = root / "stderr.log"
        with self.log.open("wb") as stderr:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env={**os.environ, "XDG_CONFIG_HOME": str(root / ".user"), **environment},
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin = self.process.stdin
        super().__init__(self.process.stdout, self._write)

    def _write(self, data: bytes) -> None:
        self.stdin.write(data)
        self.stdin.flush()

    @property
    def logged(self) -> str:
        """What it wrote to standard error until now."""
        return self.log.read_text(encoding="utf-8")

    def stop(self) -> int:
        """Have it shut down and exit. Returns its exit code."""
        assert self.request("shutdown").get("result", "none") is None
        self.notify("exit")
        return self.process.wait(PATIENCE)


@contextmanager
def process(root: Path, command: Sequence[str] = COMMAND, **environment: str) -> Iterator[Process]:
    """A server, which is killed if it outlives its test."""
    root.mkdir(parents=True, exist_ok=True)
    started = Process(root, command, **environment)
    try:
        yield started
    finally:
        if started.process.poll() is None:
            started.process.kill()
            started.process.wait()
        started.stdin.close()


def listening(server: Process) -> tuple[tuple[str, int], str]:
    """The address that a server says it listens at, and the token that it printed."""
    said = r"listening on 127\.0\.0\.1:(\d+)\ntoken, to be sent as initializationOptions\.token: (\S+)\n"
    while not (found := re.search(said, server.logged)):
        assert server.process.poll() is None, server.logged
        time.sleep(0.05)
    return ("127.0.0.1", int(found[1])), found[2]
