from __future__ import annotations

import pytest

from tests.fixer.words import check_words


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lint words instead of Python."""
    monkeypatch.setattr("exportlint.workspace.check_file", check_words)
