"""The function that runs padded sequences gives what the recurrent module gives for packed ones."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import torch

from exportlint.findings import Applicability
from exportlint.fixer import fix
from tests.fixes.rewrites import Rewrite
from tests.sampling import one_in

SOURCE = """
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.{kind}(3, 5, num_layers={layers}, bidirectional={bidirectional}, batch_first=True)

    def forward(self, x, lengths, state=None):
        packed = pack_padded_sequence(x, {lengths}, batch_first={batch_first}, enforce_sorted={is_sorted})
        out, last = self.rnn(packed, state)
        return pad_packed_sequence(out, batch_first=True), last
"""


@pytest.mark.parametrize(
    ("kind", "layers", "bidirectional", "batch_first", "lengths", "is_sorted"),
    one_in(
        12,
        [
            (kind, layers, bidirectional, batch_first, lengths, is_sorted)
            for (kind, layers, bidirectional), (batch_first, lengths, is_sorted) in zip(
                itertools.product(("LSTM", "GRU", "RNN"), (1, 2), (False, True)),
                itertools.cycle(itertools.product((True, False), ("lengths", "lengths.cpu().tolist()"), (True, False))),
                strict=False,
            )
        ],
    ),
)
def test_padded_is_packed(
    kind: str, layers: int, bidirectional: bool, batch_first: bool, lengths: str, is_sorted: bool, tmp_path: Path
) -> None:
    source = SOURCE.format(
        kind=kind,
        layers=layers,
        bidirectional=bidirectional,
        batch_first=batch_first,
        lengths=lengths,
        is_sorted=is_sorted,
    )
    (result,) = fix([Rewrite("case", "", source).task(tmp_path)], lambda _: Applicability.UNSAFE).tasks
    fixed = result.read().text
    assert "pack_padded_sequence(" not in fixed
    models = []
    for text in (source, fixed):
        namespace: dict[str, object] = {}
        exec(compile(text, "model.py", "exec"), namespace)
        torch.manual_seed(0)
        models.append(namespace["Model"]().eval())  # type: ignore[operator]
    packing, padding = models
    x = torch.randn(4, 6, 3) if batch_first else torch.randn(6, 4, 3)
    program = torch.export.export(padding, (x, torch.tensor([6, 4, 2, 1])), strict=False).module()
    for given in ([6, 4, 2, 1], [5, 5, 1, 1], [2, 6, 1, 3], [3, 2, 1, 0]):
        try:
            (out, ends), last = packing(x, torch.tensor(given))
        except RuntimeError:  # not sorted, or empty
            for each in (padding, program):
                with pytest.raises(RuntimeError):
                    each(x, torch.tensor(given))
            continue
        for each in (padding, program):
            torch.testing.assert_close(each(x, torch.tensor(given)), ((out, ends), last))
