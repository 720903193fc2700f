"""How a server begins and ends: never in an orphan, always with the exit code that the protocol says."""

from __future__ import annotations

import os
import re
import select
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.runner import NET
from tests.patience import PATIENCE
from tests.sampling import first_of_each
from tests.server.client import COMMAND, forked
from tests.server.raw import PUSHING, Raw, framed, listening, process

NOT_INITIALIZED = -32002
INVALID_REQUEST = -32600


def test_shutdown_and_exit_end_it_with_0(tmp_path: Path) -> None:
    with process(tmp_path) as server:
        server.start(tmp_path)
        assert server.stop() == 0
        assert server.logged == ""


@pytest.mark.parametrize("is_initialized", [True, False])
def test_exit_without_shutdown_ends_it_with_1(tmp_path: Path, is_initialized: bool) -> None:
    with process(tmp_path, forked()) as server:
        if is_initialized:
            server.start(tmp_path)
        server.notify("exit")
        assert server.process.wait(PATIENCE) == 1


@pytest.mark.parametrize("is_busy", [True, False])
def test_the_end_of_its_input_ends_it(tmp_path: Path, is_busy: bool) -> None:
    with process(tmp_path, forked()) as server:
        server.start(tmp_path)
        if is_busy:
            server.open((tmp_path / "net.py").as_uri(), NET * 300)
        server.stdin.close()
        assert server.process.wait(PATIENCE) == 0
        assert "Traceback" not in server.logged


def test_the_end_of_its_input_within_a_message_ends_it(tmp_path: Path) -> None:
    with process(tmp_path, forked()) as server:
        server.start(tmp_path)
        server.send_bytes(b'Content-Length: 4000\r\n\r\n{"jsonrpc": ')
        server.stdin.close()
        assert server.process.wait(PATIENCE) == 0
        assert server.logged == ""


def test_nothing_is_said_after_exit_whatever_is_still_asked(tmp_path: Path) -> None:
    with process(tmp_path, forked()) as server:
        server.start(tmp_path)
        uri = (tmp_path / "net.py").as_uri()
        server.open(uri, NET * 300)
        server.ask("textDocument/codeLens", {"textDocument": {"uri": uri}})
        server.notify("exit")
        assert server.process.wait(PATIENCE) == 1
        assert server.logged == ""


@pytest.mark.thorough
def test_a_client_that_reads_nothing_any_more_ends_it() -> None:
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        params = {"processId": None, "rootUri": None, "capabilities": PUSHING}
        server.stdin.write(framed({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}))
        server.stdin.flush()
        server.stdout.readline()
        server.stdout.close()
        item = {"uri": "untitled:a", "languageId": "python", "version": 1, "text": NET}
        opened = {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}}
        server.stdin.write(framed(opened))
        server.stdin.flush()
        try:
            server.wait(PATIENCE)
        finally:
            server.kill()


EDITOR = """
import os, subprocess, sys, time
server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[int(sys.argv[1])])
params = b'{"processId": %d, "rootUri": null, "capabilities": {}}' % os.getpid()
body = b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": %b}' % params
server.stdin.write(b"Content-Length: %d\\r\\n\\r\\n%b" % (len(body), body))
server.stdin.flush()
server.stdout.readline()
print(server.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(os.name == "nt", reason="kills processes as POSIX does")
@pytest.mark.parametrize("is_held", [True, False])
def test_no_server_outlives_an_editor_that_is_killed(tmp_path: Path, is_held: bool) -> None:
    """Not even if another process holds its standard input open, as a child of the editor may."""
    spare, end = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", EDITOR, str(end), *COMMAND], stdout=subprocess.PIPE, pass_fds=[end], text=True
    ) as editor:
        os.close(end)
        assert editor.stdout is not None
        server = int(editor.stdout.readline())
        holder = os.open(f"/proc/{server}/fd/0", os.O_WRONLY) if is_held else None
        editor.kill()
        editor.wait()
        try:
            # Only the server has the other end by now, so this ends when the server does.
            assert select.select([spare], [], [], PATIENCE)[0] == [spare]
            assert os.read(spare, 1) == b""
        finally:
            os.close(spare)
            if holder is not None:
                os.close(holder)


def test_nothing_is_answered_before_initialize_and_after_shutdown(tmp_path: Path) -> None:
    with process(tmp_path) as server:
        hover = {"textDocument": {"uri": "untitled:a"}, "position": {"line": 0, "character": 0}}
        server.open("untitled:a", NET)
        assert server.request("textDocument/hover", hover)["error"]["code"] == NOT_INITIALIZED
        server.start(tmp_path)
        assert server.request("initialize", {"capabilities": {}})["error"]["code"] == INVALID_REQUEST
        assert server.request("shutdown")["result"] is None
        assert server.request("textDocument/hover", hover)["error"]["code"] == INVALID_REQUEST
        assert server.request("shutdown")["error"]["code"] == INVALID_REQUEST
        server.notify("exit")
        assert server.process.wait(PATIENCE) == 0
        assert "textDocument/publishDiagnostics" not in [message.get("method") for message in server.heard]


def test_it_serves_one_client_over_tcp(tmp_path: Path) -> None:
    with process(tmp_path, forked("--tcp", "127.0.0.1:0")) as server:
        address, token = listening(server)
        with socket.create_connection(address) as connection, connection.makefile("rb") as output:
            client = Raw(output, connection.sendall)
            client.start(tmp_path, initializationOptions={"token": token, "lint": {"select": ["EXP101"]}})
            uri = (tmp_path / "net.py").as_uri()
            client.open(uri, NET)
            assert client.codes(uri) == ["EXP101"]
            with pytest.raises(OSError):  # noqa: PT011 - refused or reset, as the system likes
                socket.create_connection(address, timeout=5)
            client.request("shutdown")
            client.notify("exit")
        assert server.process.wait(PATIENCE) == 0


def test_a_tcp_client_that_leaves_ends_it(tmp_path: Path) -> None:
    with process(tmp_path, forked("--tcp", "127.0.0.1:0")) as server:
        address, token = listening(server)
        with socket.create_connection(address) as connection, connection.makefile("rb") as output:
            Raw(output, connection.sendall).start(tmp_path, {}, initializationOptions={"token": token})
            connection.shutdown(socket.SHUT_RDWR)
        assert server.process.wait(PATIENCE) == 0


@pytest.mark.parametrize(
    "address",
    first_of_each(
        ["localhost:http", "", "2087", "localhost:", "127.0.0.1:65536", "192.0.2.1:2087", "TAKEN"],
        lambda address: address[:3] if address[-1:].isdigit() and ":" in address else address == "TAKEN",
    ),
)
def test_an_address_that_cannot_be_listened_at_is_a_usage_error(address: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = address.replace("TAKEN", f"127.0.0.1:{other.getsockname()[1]}")
        done = subprocess.run(forked("--tcp", address), capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert re.fullmatch(rf"[^\n]*--tcp `{re.escape(address)}`: [^\n]+\n", done.stderr)
