"""What goes wrong inside, and what is too much: the server says so, and serves on."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.runner import NET
from tests.forking import python
from tests.server.raw import PULLING, PUSHING, process

SABOTAGED = """
import sys
{}
from exportlint.cli import main
sys.exit(main(["server"]))
"""
TWO = NET.replace("return x + 1", "return x + x.max().item()")


def sabotaged(how: str) -> list[str]:
    """The command of a server to which something was done."""
    return [*python(), "-c", SABOTAGED.format(how)]


FAIL = """
def fail(*_):
    raise IndexError("sabotage")
"""


def test_a_rule_that_fails_is_said_once_and_the_others_go_on(tmp_path: Path) -> None:
    how = FAIL + "from exportlint.rules import tensor_branch\ntensor_branch._is_size = fail"
    with process(tmp_path, sabotaged(how)) as server:
        server.start(tmp_path)
        uri = (tmp_path / "net.py").as_uri()
        server.open(uri, TWO)
        internal, item = server.published(uri, 1)
        assert (internal["code"], item["code"]) == ("EXP004", "EXP201")
        assert internal["message"].startswith("internal error: EXP101 tensor-branch failed: IndexError: sabotage (")
        server.change(uri, 2, "x = 1\n")
        assert server.codes(uri, 2) == []
        assert server.stop() == 0


@pytest.mark.parametrize(
    "how",
    [
        "from exportlint.server import analyzer\nanalyzer.merge = fail",
        "from exportlint.workspace import Workspace\nWorkspace.see = fail",
    ],
)
def test_an_analysis_that_fails_is_said_and_logged_and_the_server_answers(tmp_path: Path, how: str) -> None:
    with process(tmp_path, sabotaged(FAIL + how)) as server:
        server.start(tmp_path, PULLING)
        uri = (tmp_path / "net.py").as_uri()
        for version in (1, 2):
            server.open(uri, NET, version)
            (shown,) = server.pull(uri)["items"]
            assert shown["code"] == "EXP004"
            assert "the language server failed, see its log" in shown["message"]
        assert "IndexError: sabotage" in server.logged
        assert server.stop() == 0


def test_a_handler_that_fails_is_answered_and_logged(tmp_path: Path) -> None:
    """A request with an internal error, a notification in the log only."""
    how = "from exportlint.server.requests import did_save\ndid_save.handle = fail\n"
    how += "from exportlint.server.commands import show_rule\nshow_rule.run = fail"
    with process(tmp_path, sabotaged(FAIL + how)) as server:
        server.start(tmp_path)
        uri = (tmp_path / "net.py").as_uri()
        answer = server.request("workspace/executeCommand", {"command": "exportlint.showRule", "arguments": ["EXP101"]})
        assert answer["error"]["code"] == -32603
        assert "IndexError: sabotage" in answer["error"]["message"]
        server.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
        server.open(uri, NET)
        assert server.codes(uri) == ["EXP101"]
        assert server.logged.count("IndexError: sabotage") >= 2
        assert server.stop() == 0


def test_what_is_printed_never_comes_between_messages(tmp_path: Path) -> None:
    how = """
import os, subprocess
from exportlint.rules import tensor_branch
def noisy(fact):
    print("Content-Length: 7")
    sys.stdout.write("noise"); sys.stdout.flush()
    sys.__stdout__.write("noise")
    os.write(1, b"noise\\n")
    subprocess.run(["echo", "noise"])
    return False
tensor_branch._is_size = noisy
"""
    with process(tmp_path, sabotaged(how)) as server:
        server.start(tmp_path)
        uri = (tmp_path / "net.py").as_uri()
        for version in (1, 2, 3):
            server.open(uri, NET + "\n" * version, version)
            assert server.codes(uri, version) == ["EXP101"]
        assert server.stop() == 0
        assert "noise" in server.logged


LINES = "x = [1, 2, 3]  # nothing to be found here\n"
BIG = {
    "5 MB of data": "DATA = [\n" + "    0.123456789, 0.987654321, 0.555555555,\n" * 128_000 + "]\n",
    "5 MB of modules": NET.replace("x.sum() > 0", "x.dim() > 0")
    + "".join(
        f"\n\nclass Layer{n}(nn.Module):\n    def forward(self, x):\n        return x if x.dim() == {n} else -x\n"
        for n in range(50_000)
    ),
    "100,000 lines": LINES * 100_000,
    "one line": "x = [" + "1, " * 1_500_000 + "]\n",
    "too deep": "x = " + "(" * 100_000 + ")" * 100_000 + "\n",
    "a long sum": "x = 1" + " + 1" * 20_000 + "\n",
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", BIG)
def test_a_big_file_takes_no_others_time_and_no_memory_without_end(tmp_path: Path, name: str) -> None:
    """The other document is answered soon, whatever is still to be done for the big one, which is then closed."""
    with process(tmp_path) as server:
        server.start(tmp_path, PUSHING)
        big, small = ((tmp_path / f"{name}.py").as_uri() for name in ("big", "small"))
        server.open(small, NET)
        assert server.codes(small, 1) == ["EXP101"]
        server.open(big, BIG[name])
        server.change(big, 2, {"range": _at(1), "text": "# typed\n"})
        server.change(small, 2, NET + "\n")
        assert server.codes(small, 2) == ["EXP101"]
        server.request("workspace/executeCommand", {"command": "exportlint.showRule", "arguments": ["EXP101"]})
        server.close(big)
        server.change(small, 3, TWO)
        assert server.codes(small, 3) == ["EXP101", "EXP201"]
        assert _resident(server.process.pid) < 2_000
        assert server.stop() == 0
        assert "Traceback" not in server.logged


def _at(line: int) -> dict[str, object]:
    return {end: {"line": line, "character": 0} for end in ("start", "end")}


def _resident(process: int) -> float:
    """The memory that a process has, in MB."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


@pytest.mark.thorough
def test_nothing_is_done_while_nothing_changes(tmp_path: Path) -> None:
    with process(tmp_path) as server:
        server.start(tmp_path)
        uri = (tmp_path / "net.py").as_uri()
        server.open(uri, NET)
        server.published(uri)
        ticks = Path(f"/proc/{server.process.pid}/stat")

        def taken() -> int:
            return sum(map(int, ticks.read_text().rpartition(")")[2].split()[11:13]))

        before = -1
        while before != taken():  # what opening a file leaves to be done goes on after the diagnostics
            before = taken()
            time.sleep(0.3)
        time.sleep(3)
        assert taken() - before <= 5  # hundredths of a second
        assert server.stop() == 0


def test_it_starts_without_torch_and_libcst(tmp_path: Path) -> None:
    """What makes others slow to start is imported when it is needed, if ever."""
    code = "import sys, exportlint.server.run; print([m for m in ('torch', 'libcst.matchers') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
