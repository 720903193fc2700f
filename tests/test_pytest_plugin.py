"""`-p exportlint.pytest`: a failing test that exports a model says what the error is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE

TESTS = """\
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x
        return -x


def test_export():
    torch.export.export(Model(), (torch.ones(3),))


def test_other():
    assert 1 == 2
"""


@pytest.mark.thorough
def test_the_report_has_a_section(tmp_path: Path) -> None:
    (tmp_path / "test_model.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-p", "exportlint.pytest", "-p", "no:cacheprovider", "test_model.py"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert result.returncode == 1
    _, _, section = result.stdout.partition("- exportlint explain -")
    assert "error[EXP101 tensor-branch]" in section
    assert "test_model.py:7:12" in section
    assert result.stdout.count("- exportlint explain -") == 1
