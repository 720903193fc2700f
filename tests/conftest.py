"""What holds for all tests."""

from __future__ import annotations

import argparse
import compileall
import gc
import signal
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# A shell starts what it runs in the background with SIGINT ignored, which children would inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says something about the machine, and nothing about exportlint. A run that fails because of
# what was drawn says nothing about the change at hand: `--hypothesis-profile random` looks for more.
settings.register_profile("exportlint", deadline=None, derandomize=True)
settings.register_profile("random", deadline=None)
settings.load_profile("exportlint")

# A server in the process of the tests collects garbage as often as one in its own, which has no torch, no tests and no
# examples of hypothesis to walk each time.
gc.unfreeze = lambda: None


def pytest_configure(config: pytest.Config) -> None:
    """Compile exportlint where Python does not keep what it compiled.

    Tests start hundreds of processes, and compiling all that a server imports takes half of its start.
    """
    if sys.dont_write_bytecode and not hasattr(config, "workerinput"):
        compileall.compile_dir(Path(__file__).parents[1] / "exportlint", quiet=2)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run be divided, also among machines."""
    parser.addoption("--part", type=_part, metavar="K/N", help="run the K-th of N parts of the selected tests")


def _part(text: str) -> tuple[int, int]:
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise argparse.ArgumentTypeError(f"{text!r} is not K/N with 1 <= K <= N, such as 1/3")
    return int(number), int(count)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the tests of other parts out. What part a test is in depends on its name alone."""
    if not (part := config.getoption("part")):
        return
    number, count = part
    selected: list[pytest.Item] = []
    others: list[pytest.Item] = []
    for item in items:
        (selected if zlib.crc32(item.nodeid.encode()) % count == number - 1 else others).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = selected


def pytest_collection_finish() -> None:
    """Leave what there is for all tests out of collections."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """One thread of torch: tensors of tests are so small that threads only wait for each other."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
