from __future__ import annotations

from tests.cli.conftest import root, run

__all__ = ["root", "run"]
