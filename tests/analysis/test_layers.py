"""The modules that keep the rows of their input do, with torch."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from exportlint.analysis.torch.layers import KEEPS_ROWS, keeps_rows

ARGUMENTS: tuple[tuple[Any, ...], ...] = (
    (), (3,), (3, 3), (3, 3, 1), (1, 3), ((3,),), (2,), ((8, 8),), (0.5,), ((1, 1),), (1, 0.5), (3, 3, 3),
)  # fmt: skip
SHAPES = ((3,), (3, 8), (3, 8, 8), (3, 8, 8, 8), (4, 8, 8))
ROWS = (6, 10)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(KEEPS_ROWS))
def test_a_module_keeps_the_rows_of_its_input(name: str) -> None:
    torch = pytest.importorskip("torch")
    kept = []
    for arguments, shape, rows in itertools.product(ARGUMENTS, SHAPES, ROWS):
        try:
            module = getattr(torch.nn, name)(*arguments).eval()
            tensor = torch.rand(rows, *shape)
            if name == "Embedding":
                tensor = tensor.long()
            result = module(tensor, tensor) if name == "Bilinear" else module(tensor)
        except Exception:
            continue
        if len(shape) < dimensions(name):
            continue  # one sample, not a batch of them
        first = result[0] if isinstance(result, tuple) else result
        kept.append(first.shape[0] == rows)
    assert kept
    assert all(kept)


def dimensions(name: str) -> int:
    """How many dimensions a sample has at least: channels, and those in the name."""
    return int(name[-2]) + 1 if name[-2].isdigit() else 3 if name == "Unfold" else 1


@pytest.mark.parametrize("name", ["torch.nn.Flatten", "torch.nn.LSTM", "torch.nn.MSELoss", "mine.Linear"])
def test_of_other_modules_nothing_is_claimed(name: str) -> None:
    assert not keeps_rows(name)
