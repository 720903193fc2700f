"""What holds for all tests."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator

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
