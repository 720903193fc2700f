"""What no client of good manners sends: it is refused with the right error, and the next message is served."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.runner import NET
from tests.server.client import forked
from tests.server.raw import PULLING, Message, Process, framed, process

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, CANCELLED = -32700, -32600, -32601, -32602, -32800
URI = "untitled:net.py"


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """One server, which all of this is done to."""
    root = tmp_path_factory.mktemp("protocol")
    with process(root, forked()) as server:
        server.start(root)
        yield server
        assert server.stop() == 0


@pytest.fixture
def server(one: Process) -> Iterator[Process]:
    """The server, which has to serve on after whatever is done to it."""
    yield one
    one.open(URI, NET, version=7)
    assert one.codes(URI, 7) == ["EXP101"]
    one.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
    assert one.published(URI) == []


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", PARSE_ERROR),
        (b"\xff\xfe", PARSE_ERROR),
        (b"[" * 100_000, PARSE_ERROR),
        (b"[]", INVALID_REQUEST),
        (b"7", INVALID_REQUEST),
        (b"{}", INVALID_REQUEST),
    ],
)
def test_what_is_no_message_is_refused(server: Process, body: bytes, code: int) -> None:
    server.send(body)
    assert server.answer(None)["error"]["code"] == code


@pytest.mark.parametrize(
    "more",
    [{}, {"jsonrpc": "1.0"}, {"jsonrpc": "2.0", "method": 5}, {"jsonrpc": "2.0", "method": None, "params": {}}],
)
def test_what_is_no_message_of_jsonrpc_2_is_refused_by_its_id(server: Process, more: Message) -> None:
    server.send({"id": "mine", "method": "shutdown", **more})
    if "method" not in more or more["method"] is not None:
        assert server.answer("mine")["error"]["code"] == INVALID_REQUEST


@pytest.mark.parametrize("method", ["textDocument/telepathy", "$/telepathy", "workspace/diagnostic", ""])
def test_an_unknown_method(server: Process, method: str) -> None:
    """A request is refused, with and without parameters; a notification is ignored."""
    server.notify(method, {})
    assert server.request(method, {"a": 1})["error"]["code"] == METHOD_NOT_FOUND
    server.send({"jsonrpc": "2.0", "id": "bare", "method": method})
    assert server.answer("bare")["error"]["code"] == METHOD_NOT_FOUND


@pytest.mark.parametrize(
    "params",
    [
        None,
        [],
        "exportlint.showRule",
        {},
        {"command": ["exportlint.showRule"], "arguments": 5},
        {"command": "exportlint.unknown", "arguments": []},
    ],
)
def test_parameters_of_the_wrong_type_are_refused(server: Process, params: object) -> None:
    assert server.request("workspace/executeCommand", params)["error"]["code"] == INVALID_PARAMS


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("textDocument/didOpen", None),
        ("textDocument/didOpen", {"textDocument": {"uri": URI}}),
        ("textDocument/didChange", {"textDocument": {"uri": URI, "version": 1}, "contentChanges": "all"}),
        ("textDocument/didChange", {"textDocument": {"uri": "untitled:unknown", "version": 1}, "contentChanges": []}),
        ("textDocument/didClose", {"textDocument": {"uri": "untitled:unknown"}}),
        ("textDocument/didSave", {"textDocument": {"uri": "file:///nowhere/unknown.py"}}),
        ("workspace/didChangeConfiguration", {"settings": [1, 2]}),
        ("workspace/didChangeConfiguration", {"settings": {"exportlint": "off"}}),
        ("workspace/didChangeConfiguration", {"settings": {"python": {"enable": False}}}),
        ("workspace/didChangeWatchedFiles", {"changes": [{"uri": "not a uri", "type": 1}, {"uri": "", "type": 3}]}),
        ("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": [{"uri": "x:y", "name": "z"}]}}),
        ("$/cancelRequest", {"id": 123456}),
        ("$/cancelRequest", {}),
        ("$/setTrace", {"value": "loud"}),
    ],
)
def test_notifications_that_make_no_sense_are_ignored(server: Process, method: str, params: object) -> None:
    server.notify(method, params)


@pytest.mark.parametrize(
    "noise",
    [
        b"Content-Length: many\r\n\r\n" + json.dumps({"jsonrpc": "2.0", "method": "x"}).encode(),
        b"Content-Length: 5\r\n\r\n" + json.dumps({"jsonrpc": "2.0", "method": "x"}).encode(),
        b"Content-Length: -3\r\n\r\n",
        b"Content-Length: 0\r\n\r\n",
        b"Content-Length: 99999999999999999999\r\n\r\n",
        b"Content-Length: 4000000000\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\r\n\r\n\x00\xff\n",
    ],
)
def test_a_wrong_header_costs_no_message_that_follows(server: Process, noise: bytes) -> None:
    server.send_bytes(noise)


@pytest.mark.parametrize(
    "header",
    [
        "Content-Length: {}\r\n",
        "content-length:{}\r\n",
        "Content-Length: {}\r\nContent-Type: application/vscode-jsonrpc; charset=utf8\r\n",
        "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nCONTENT-LENGTH:   {} \r\n",
    ],
)
def test_headers_in_other_spellings_are_read(server: Process, header: str) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": header, "method": "textDocument/telepathy"}).encode()
    server.send_bytes(header.format(len(body)).encode() + b"\r\n" + body)
    assert server.answer(header)["error"]["code"] == METHOD_NOT_FOUND


def test_a_message_in_pieces_and_two_at_once_are_read(server: Process) -> None:
    messages = [framed({"jsonrpc": "2.0", "id": f"piece {n}", "method": "no/such"}) for n in range(2)]
    for byte in messages[0][:40]:
        server.send_bytes(bytes([byte]))
    server.send_bytes(messages[0][40:] + messages[1])
    for n in range(2):
        assert server.answer(f"piece {n}")["error"]["code"] == METHOD_NOT_FOUND


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ((900, 0), (900, 5), NET + "#"),
        ((0, 0), (900, 5), "#"),
        ((0, 900), (1, 0), NET.replace("import torch\n", "import torch#")),
        ((1, 0), (0, 900), NET.replace("import torch\n", "import torch#")),
        ((0, 3), (0, 2), NET.replace("import torch", "im#ort torch")),
        ((900, 9), (0, 0), "#"),
    ],
)
def test_ranges_that_are_reversed_or_outside_of_the_text_are_clamped(
    server: Process, start: tuple[int, int], end: tuple[int, int], expected: str
) -> None:
    """As seen by the diagnostics of what is then appended, whose ranges are those of the whole text."""
    uri = "untitled:ranges.py"
    places = [dict(zip(("line", "character"), place, strict=True)) for place in (start, end)]
    change = {"range": {"start": places[0], "end": places[1]}, "text": "#"}
    appended = {
        "range": {"start": {"line": 9999, "character": 0}, "end": {"line": 9999, "character": 0}},
        "text": "\n(",
    }
    server.open(uri, NET)
    server.change(uri, 2, change, appended)
    (shown,) = (one for one in server.published(uri, 2) if one["code"] == "EXP001")
    server.open(uri, expected + "\n(", version=3)
    assert [one for one in server.published(uri, 3) if one["code"] == "EXP001"] == [shown]
    server.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


def test_versions_may_go_backwards_and_a_document_be_opened_twice(server: Process) -> None:
    """Whatever a client says last is what it has."""
    server.open(URI, "", version=5)
    assert server.codes(URI, 5) == []
    server.open(URI, NET, version=5)
    assert server.codes(URI, 5) == ["EXP101"]
    server.change(URI, 2, "x = 1\n")
    assert server.codes(URI, 2) == []
    server.change(URI, 2, NET)
    assert server.codes(URI, 2) == ["EXP101"]


def test_a_request_that_waits_for_analysis_can_be_cancelled(tmp_path: Path) -> None:
    """And is answered once, though what it waits for takes long."""
    params = {"textDocument": {"uri": URI}}
    with process(tmp_path, forked()) as server:
        server.start(tmp_path, PULLING)
        server.open(URI, NET * 1_000)
        number = server.ask("textDocument/diagnostic", params)
        server.notify("$/cancelRequest", {"id": number})
        assert server.answer(number)["error"]["code"] == CANCELLED
        server.notify("$/cancelRequest", {"id": number})
        server.change(URI, 2, NET)
        (shown,) = server.request("textDocument/diagnostic", params)["result"]["items"]
        assert shown["code"] == "EXP101"
        assert "Traceback" not in server.logged
        assert server.request("textDocument/diagnostic", {"textDocument": URI})["error"]["code"] == INVALID_PARAMS
        assert server.stop() == 0
        assert [message.get("id") for message in server.heard].count(number) == 1
