"""What the worker writes down of a model, for one with fixes to be compared with."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from exportlint.verify.worker.models import Subject
from exportlint.verify.worker.trials import compare_outcomes, note_outcomes
from exportlint.verify.worker.varying import varying_of
from exportlint.verify.worker.words import Example

pytestmark = pytest.mark.thorough

torch = pytest.importorskip("torch")


class Held:
    """A result that cannot be pickled."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.lock = threading.Lock()


def subject(factor: float) -> Subject:
    class Model(torch.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, x: Any) -> Any:
            return {"sum": x.sum(), "held": Held(x * factor), "later": lambda: x}

    return Subject(Model(), None)


@pytest.mark.parametrize(("factor", "agreement"), [(2.0, "agrees"), (3.0, "diverges")])
def test_results_that_cannot_be_pickled_are_compared_by_what_they_hold(
    factor: float, agreement: str, tmp_path: Path
) -> None:
    file = str(tmp_path / "outcomes.pt")
    original, example = subject(2.0), Example((torch.ones(2, 3),), {})
    note_outcomes(file, original, example, varying_of(original.model, example, ()))
    found, said = compare_outcomes(file, subject(factor), None)
    assert (found, "numbers differ" in said) == (agreement, agreement == "diverges")
