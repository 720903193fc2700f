"""Errors are read from logs of every form, and never need more memory than one of them."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exportlint.diagnosis import NotTextError, read_errors, read_lines
from exportlint.diagnosis.frames import LoggedFrame, users_line
from exportlint.diagnosis.lines import MAX_LINE, clean
from exportlint.diagnosis.log import LoggedError

MESSAGE = "Could not guard on data-dependent expression Eq(u0, 1) (unhinted: Eq(u0, 1)).  (Size-like symbols: none)"
ERROR = f"torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode: {MESSAGE}"
TRACEBACK = f"""\
Traceback (most recent call last):
  File "/home/me/export.py", line 4, in <module>
    torch.export.export(M(), (torch.ones(3, 4),))
  File "/usr/lib/python3.11/site-packages/torch/export/__init__.py", line 205, in export
    raise e
  File "/home/me/model.py", line 7, in forward
    if mask.any():
       ^^^^^^^^^^
  File "/usr/lib/python3.11/site-packages/torch/fx/experimental/sym_node.py", line 576, in guard_bool
    r = self.evaluate()
        ^^^^^^^^^^^^^^^
{ERROR}

The following call raised this error:
  File "/home/me/model.py", line 7, in forward
    if mask.any():
"""


def errors(data: str | bytes) -> list[LoggedError]:
    """What is read from a log."""
    raw = data.encode() if isinstance(data, str) else data
    return list(read_errors(read_lines(io.BytesIO(raw))))


def prefixed(prefix: str) -> str:
    """The traceback with something before each line."""
    return "".join(f"{prefix}{line}" for line in TRACEBACK.splitlines(keepends=True))


WRAPPED = {
    "as it is": TRACEBACK,
    "between other lines": f"INFO: start\n100%|####| 3/3\n{TRACEBACK}\nmake: *** [export] Error 1\n",
    "CI": prefixed("2024-01-01T00:00:00.1234567Z "),
    "rank": prefixed("[rank0]: "),
    "TORCH_LOGS": prefixed("E0826 22:25:29.507000 3573391 torch/fx/experimental/recording.py:298] [0/0] "),
    "docker compose": prefixed("trainer-1  | "),
    "clock": prefixed("[12:01:59] "),
    "colours": prefixed("\x1b[31m").replace("\n", "\x1b[0m\n"),
    "Windows line ends": TRACEBACK.replace("\n", "\r\n"),
    "quoted": prefixed("> "),
}


@pytest.mark.parametrize("text", WRAPPED.values(), ids=WRAPPED.keys())
def test_what_wraps_print_before_lines_is_taken_off(text: str) -> None:
    (error,) = errors(text)
    (link,) = error.links
    assert link.kind.endswith("GuardOnDataDependentSymNode")
    assert link.message.startswith(MESSAGE)
    frame = LoggedFrame("/home/me/model.py", 7, "forward", "if mask.any():")
    assert users_line(link.frames) == users_line(link.named) == frame


def test_windows_paths_are_of_the_project() -> None:
    text = TRACEBACK.replace("/home/me/", "C:\\Users\\me\\").replace("/usr/lib/python3.11/", "C:\\Python311\\Lib\\")
    (error,) = errors(text)
    assert users_line(error.links[0].frames) == LoggedFrame("C:\\Users\\me\\model.py", 7, "forward", "if mask.any():")


def test_powershell_writes_utf_16() -> None:
    assert len(errors(TRACEBACK.encode("utf-16"))) == 1


@pytest.mark.parametrize(
    "word",
    [
        "The above exception was the direct cause of the following exception:",
        "During handling of the above exception, another exception occurred:",
    ],
)
def test_a_chain_is_one_error(word: str) -> None:
    (error,) = errors(f"{TRACEBACK}\n{word}\n\n{TRACEBACK.replace(ERROR, 'RuntimeError: later')}")
    assert [link.kind.rpartition(".")[2] for link in error.links] == ["GuardOnDataDependentSymNode", "RuntimeError"]


def test_errors_without_a_chain_are_several() -> None:
    assert [error.row for error in errors(TRACEBACK * 3)] == [1, 17, 33]


def test_pytest_shows_places_in_another_form() -> None:
    (error,) = errors(
        "=================================== FAILURES ===================================\n"
        "___________________________________ test_export ___________________________________\n\n"
        "    def test_export():\n"
        ">       torch.export.export(M(), (torch.ones(3, 4),))\n\n"
        "test_model.py:14: \n"
        "_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ \n"
        "/usr/lib/python3.11/site-packages/torch/export/__init__.py:205: in export\n"
        "    raise e\n"
        "model.py:7: in forward\n"
        "    if mask.any():\n"
        "       ^^^^^^^^^^\n"
        f"E   {ERROR}\n"
        "E   \n"
        "E   For more information, run with TORCH_LOGS\n\n"
        "/usr/lib/python3.11/site-packages/torch/fx/experimental/symbolic_shapes.py:8459: GuardOnDataDependentSymNode\n"
        "=========================== short test summary info ============================\n"
        "FAILED test_model.py::test_export - GuardOnDataDependentSymNode: Could not\n"
    )
    assert users_line(error.links[0].frames) == LoggedFrame("model.py", 7, "forward", "if mask.any():")


def test_ipython_shows_an_arrow() -> None:
    (error,) = errors(
        "---------------------------------------------------------------------------\n"
        "Unsupported                               Traceback (most recent call last)\n"
        "Cell In[1], line 48\n"
        "     45 width = 3\n"
        "---> 48 torch.export.export(model, (x,))\n\n"
        "File ~/venv/lib/python3.12/site-packages/torch/export/__init__.py:360, in export(mod, args, kwargs)\n"
        "    354     raise ValueError(\n"
        "--> 360 return _export(\n\n"
        "File ~/project/model.py:7, in M.forward(self, x)\n"
        "----> 7     if mask.any():\n\n"
        "Unsupported: Data-dependent branching\n"
        "  Explanation: Detected data-dependent branching\n"
    )
    (link,) = error.links
    assert link.kind == "Unsupported"
    assert users_line(link.frames) == LoggedFrame("~/project/model.py", 7, "M.forward", "if mask.any():")


def test_a_line_alone_is_an_error() -> None:
    (error,) = errors(f"{ERROR}\n")
    assert error.links[0].message == MESSAGE


@pytest.mark.parametrize("text", ["", "\n\n", "all good\n", "loss: 0.3\nsaved to x.pt2\n", "Error\n", "\x1b[31m\n"])
def test_where_nothing_failed_there_is_no_error(text: str) -> None:
    assert not errors(text)


def test_binary_is_no_text() -> None:
    with pytest.raises(NotTextError):
        errors(b"\x7fELF\x02\x01\x00\x00")


class _Endless(io.RawIOBase):
    """So many megabytes of a log, made as they are read."""

    def __init__(self, block: bytes, megabytes: int) -> None:
        self._block = block
        self._left = megabytes * (1 << 20) // len(block)

    def read(self, _size: int = -1) -> bytes:
        self._left -= 1
        return self._block if self._left >= 0 else b""


BLOCKS = {
    "frames": b'  File "/home/me/model.py", line 7, in forward\n    y = f(x)\n' * 1000,
    "one line": b"x" * (1 << 16),
    "a message": b"V0826 22:25:29.507000 35 torch/fx/recording.py:298] [0/0] create_symbol s0\n" * 800,
    "errors": TRACEBACK.encode() * 50,
}


@pytest.mark.thorough
@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS.keys())
def test_memory_is_that_of_one_error(block: bytes) -> None:
    stream = _Endless(block, 4)
    tracemalloc.start()
    try:
        head = iter([*TRACEBACK.splitlines()])
        for _ in read_errors(_after(head, read_lines(stream))):  # type: ignore[arg-type]
            pass
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 << 20


def _after(first: Iterator[str], then: Iterator[str]) -> Iterator[str]:
    yield from first
    yield from then


@settings(max_examples=30)
@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    for error in errors(text.replace("\0", "")):
        assert error.links
    assert len(clean(text.replace("\n", " "))) <= max(len(text), MAX_LINE)


@given(st.lists(st.sampled_from(TRACEBACK.splitlines()), max_size=30))
def test_lines_in_any_order_are_read(lines: list[str]) -> None:
    for error in errors("\n".join(lines)):
        assert all(frame.row > 0 for link in error.links for frame in (*link.frames, *link.named))
