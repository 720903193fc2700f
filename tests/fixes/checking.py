"""Findings of a text, with their fixes."""

from __future__ import annotations

from pathlib import Path

from exportlint.analysis.project import Project
from exportlint.check import check_file
from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.findings import Finding
from exportlint.source import from_bytes

ROOT = Path("/nowhere")
SETTINGS = combine([Layer(ROOT, {"torch-version": (2, 13)})], ROOT)


def check(text: str) -> list[Finding]:
    """The findings of a file, for torch 2.13."""
    return check_file(from_bytes(text.encode(), ROOT / "model.py", "model.py"), Project(), SETTINGS)
