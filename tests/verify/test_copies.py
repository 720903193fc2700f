"""What functions that close over a model work on, once it is copied."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from exportlint.verify.worker.copies import faithful_copy  # noqa: E402


class Model(torch.nn.Module):  # type: ignore[name-defined,misc]
    def __init__(self) -> None:
        super().__init__()
        self.first = last = [0]

        def put(value: int) -> None:
            nonlocal last
            last = [value]

        self.put: Any = put
        self.get: Any = lambda: last


def test_functions_of_a_copy_share_what_they_assign_with_each_other_and_not_with_the_model() -> None:
    model = Model()
    copied = faithful_copy(model, {})
    assert copied.get() is copied.first
    copied.put(3)
    assert (copied.get(), model.get()) == ([3], [0])
