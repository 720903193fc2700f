"""Models that do their worst: each ends in a verdict, nothing is left of it, and the next one is none the worse."""

from __future__ import annotations

import math
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from exportlint.verify.slot import Slot
from exportlint.verify.worker.aside import Aside
from tests.verify.workshop import HEAD, SECONDS, module, result, running, target

pytestmark = pytest.mark.thorough

if sys.platform != "linux":
    pytest.skip("what is left running is found by /proc", allow_module_level=True)

TIMEOUT = 1.0


@pytest.fixture(scope="module")
def slot() -> Iterator[Slot]:
    slot = Slot(Path(sys.executable), threads=1)
    yield slot
    slot.close()
    assert running() == []


LOOP = "while True: pass"
BOMB = "while True:\n    os.fork()"
SHELL = f"subprocess.Popen(['sh', '-c', 'for i in $(seq 400); do sleep {SECONDS} & done; wait'])\ntime.sleep(60)"
DAEMON = f"""
if HIDDEN:
    return x + 1
HIDDEN.append(True)
if os.fork() == 0:
    os.setsid()
    os.environ.clear()
    time.sleep(60)
subprocess.Popen(['sleep', '{SECONDS}'], start_new_session=True, env={{}})
return x + 1
"""
FORGED = """
line = '\\n{"id": 0, "stage": "done"}\\n{"ended": 0, "id": 0}\\n'
print(line)
os.write(1, line.encode())
for descriptor in range(3, 64):
    try:
        os.write(descriptor, line.encode())
    except OSError:
        pass
return x + int(x.sum())
"""

TIMES_OUT, FAILS, EXPORTS, NOT_BUILT = "times out", "fails", "exports", "cannot be built"

CASES = {
    "infinite loop in forward": (module(LOOP), TIMES_OUT, r"eager.* 1 s, .*model\.py:\d+, in forward"),
    "infinite loop at import": (module(first=LOOP), TIMES_OUT, r"import.* 1 s, .*model\.py:4, in <module>"),
    "infinite loop in __init__": (module(constructor=LOOP), TIMES_OUT, r"build.*model\.py:\d+, in __init__"),
    "infinite loop in C": (module("return x + sum(iter(int, 1))"), TIMES_OUT, r"eager.* in forward"),
    "signals ignored": (
        module("for s in range(1, 32):\n    try: signal.signal(s, signal.SIG_IGN)\n    except OSError: pass\n" + LOOP),
        TIMES_OUT,
        r"eager.* in forward",
    ),
    "infinite loop in export alone": (
        module("while torch.compiler.is_exporting(): pass\nreturn x"),
        TIMES_OUT,
        r"export.* in forward",
    ),
    "fork bomb": (module(BOMB), NOT_BUILT, "too many processes"),
    "fork bomb at import": (module(first=BOMB), NOT_BUILT, "too many processes"),
    "bomb of a shell": (module(SHELL), NOT_BUILT, "too many processes"),
    "processes that hide": (module(DAEMON, first="HIDDEN = []"), EXPORTS, ""),
    "20 GB": (module("return x + torch.ones(5 << 30).sum()"), NOT_BUILT, "memory"),
    "memory bit by bit": (
        module("held = []\nwhile True:\n    held.append(bytearray(1 << 26))"),
        NOT_BUILT,
        "MemoryError: no more memory may be taken",
    ),
    "os._exit": (module("os._exit(0)"), NOT_BUILT, "exit code 0"),
    "os._exit in export": (
        module("if torch.compiler.is_exporting(): os._exit(3)\nreturn x"),
        FAILS,
        "export.*exit code 3",
    ),
    "os._exit in a later call": (
        module("if HIDDEN.append(1) or len(HIDDEN) > 3: os._exit(3)\nreturn x", first="HIDDEN = []"),
        "not compared",
        r"eager, a later call \(the process ended itself with exit code 3",
    ),
    "sys.exit": (module(first="sys.exit(5)"), NOT_BUILT, "SystemExit: 5"),
    "interrupt": (module("raise KeyboardInterrupt"), NOT_BUILT, "KeyboardInterrupt"),
    "segmentation fault": (
        module("ctypes.string_at(0)"),
        NOT_BUILT,
        r"SIGSEGV.*model\.py:\d+, in forward",
    ),
    "segmentation fault in export": (
        module("if torch.compiler.is_exporting(): ctypes.string_at(0)\nreturn x"),
        FAILS,
        r"export.*SIGSEGV.*model\.py:\d+, in forward",
    ),
    "kills itself": (module("os.kill(os.getpid(), signal.SIGKILL)"), NOT_BUILT, "killed"),
    "kills the worker": (module("os.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(60)"), NOT_BUILT, "killed"),
    "standard input": (module("return x + len(sys.stdin.read()) + len(os.read(0, 9))"), EXPORTS, ""),
    "closes everything": (module("os.closerange(0, 256)\nreturn x + 1"), NOT_BUILT, "file descriptors"),
    "forged events": (module(FORGED), FAILS, "item|data-dependent"),
    "deletes itself": (module("return x + int(x.sum())", first="os.unlink(__file__)"), FAILS, "item|data-dependent"),
    "missing module": (module(first="import nowhere.to_be_found"), NOT_BUILT, "ModuleNotFoundError.*nowhere"),
    "syntax error": (HEAD + "class Model(\n", NOT_BUILT, "SyntaxError"),
    "no such class": (HEAD, NOT_BUILT, "Model"),
    "recursion": (module("return self(x)"), NOT_BUILT, "RecursionError"),
    "recursion until the stack ends": (
        module("sys.setrecursionlimit(10**9)\nreturn repr(self.nest())", first="")
        + "\n    def nest(self):\n        x = []\n        for _ in range(10**5): x = [x]\n        return x\n",
        NOT_BUILT,
        "SIGSEGV|RecursionError|MemoryError",
    ),
    "threads without end": (
        module("threading.Thread(target=lambda: time.sleep(60)).start()\nreturn x + 1"),
        EXPORTS,
        "",
    ),
    "another directory and environment": (
        module("os.chdir('/')\nos.environ.clear()\nsys.path.clear()\nreturn x + 1"),
        EXPORTS,
        "",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_hostile(case: str, slot: Slot, tmp_path: Path) -> None:
    code, verdict, reason = CASES[case]
    timeout = 60.0 if verdict != TIMES_OUT else 4 * TIMEOUT if "export" in case else TIMEOUT
    run = result(slot, target(tmp_path, code, timeout=timeout, memory=1 << 28)).run
    assert (run.verdict, run.reason) == (verdict, run.reason)
    assert re.search(reason, run.reason)
    assert len(running()) <= 1  # the worker
    after = result(slot, target(tmp_path, module(first="raise ValueError('as ever')"), name="after")).run
    assert (after.verdict, "as ever" in after.reason) == (NOT_BUILT, True)


def test_output_is_kept_short(slot: Slot, tmp_path: Path) -> None:
    code = module(first="for i in range(10**5): print('line', i)\nraise ValueError")
    output = result(slot, target(tmp_path, code)).run.output
    assert output.startswith("line 0\nline 1\n")
    assert output.endswith("\nline 99998\nline 99999\n")
    assert "\n... 1023354 bytes are left out ...\n" in output
    assert len(output) < 70_000


FORKED = """
if os.getpid() != HERE:
    os._exit(9)
return x + 1
"""


def test_what_is_compared_aside_is_compared_here_if_that_fails(slot: Slot, tmp_path: Path) -> None:
    run = result(slot, target(tmp_path, module(FORKED, first="HERE = os.getpid()"))).run
    assert run.verdict == "exports"
    agree = {comparison.kind for comparison in run.comparisons if comparison.agreement == "agrees"}
    assert agree >= {"example", "decomposed", "reloaded"}


def test_aside() -> None:
    assert torch.__version__  # imported here, and not by each of the processes

    def fail(_: object) -> None:
        raise ValueError

    assert Aside(lambda emit: emit({"a": 1})).events(math.inf) == [{"a": 1}]
    assert Aside(lambda _: os._exit(3)).events(math.inf) is None
    assert Aside(fail).events(math.inf) is None
    assert Aside(lambda _: time.sleep(10**6)).events(time.monotonic() + 0.2) is None


LACKING = """
class Lacking:
    def __getattr__(self, name):
        raise RuntimeError("the package is not installed")

backend = Lacking()
"""


def test_globals_that_raise_when_they_are_asked(slot: Slot, tmp_path: Path) -> None:
    code = module("if x is backend:\n    return x\nreturn x + 1", first=LACKING)
    run = result(slot, target(tmp_path, code)).run
    assert (run.verdict, run.failures) == ("exports", ())
