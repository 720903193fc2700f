"""What every editor is made to do, and what it has to show.

A model is opened, hovered, fixed at one finding, edited, and fixed as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

TEXT = '''\
"""A 🧊 model."""
import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        kind = "🔥" if type(x) is torch.Tensor else "other"
        y = x * len(kind)
        y.data.mul_(2)
        if y.sum() > 0:
            y = y + 1
        return y
'''

Finding = tuple[int, str, str]
"""Line from 1, code, and the text that is underlined."""


@dataclass(frozen=True)
class State:
    """What an editor shows."""

    findings: tuple[Finding, ...]
    text: str


@dataclass(frozen=True)
class Model:
    """The file, with the character that stands before the first finding on its line."""

    word: str = "🔥"
    """One code point, two UTF-16 code units, four bytes, unless said otherwise."""
    hover: tuple[str, ...] = ("tensor-type-test (EXP602)", "Fix: ", "isinstance")

    @property
    def text(self) -> str:
        """What is in the file."""
        return TEXT.replace("🔥", self.word)

    def states(self) -> dict[str, State]:
        """What is shown after each step."""
        type_test = (8, "EXP602", "type(x) is torch.Tensor")
        data = (10, "EXP301", "y.data")
        branch = (11, "EXP101", "y.sum() > 0")
        test_of_type = "isinstance(x, torch.Tensor)"
        fixed = self.text.replace(type_test[2], test_of_type)
        edited = fixed.replace("        y.data", f"{self.added}\n        y.data")
        all_fixed = edited.replace(type_test[2], test_of_type).replace(".data", ".detach()")
        return {
            "opened": State((type_test, data, branch), self.text),
            "quickfix": State((data, branch), fixed),
            "edit": State(((10, "EXP602", "type(x) is torch.Tensor"), (11, *data[1:]), (12, *branch[1:])), edited),
            "fixall": State(((12, *branch[1:]),), all_fixed),
        }

    @property
    def added(self) -> str:
        """The line that is typed in."""
        return "        known = type(x) is torch.Tensor"

    def plan(self) -> dict[str, Any]:
        """The steps for a script, with the codes that it waits for after each."""
        codes = {step: sorted(code for _, code, _ in state.findings) for step, state in self.states().items()}
        return {
            "opened": codes["opened"],
            "quickfix": {"finding": "EXP602", "title": "Use `isinstance` (EXP602)", "codes": codes["quickfix"]},
            "edit": {"line": 10, "text": self.added, "codes": codes["edit"]},
            "fixall": {
                "kind": "source.fixAll.exportlint",
                "title": "Fix all with exportlint",
                "codes": codes["fixall"],
            },
        }
