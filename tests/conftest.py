"""What holds for all tests."""

from __future__ import annotations

from hypothesis import settings

# How long an example takes says something about the machine, and nothing about exportlint.
settings.register_profile("exportlint", deadline=None)
settings.load_profile("exportlint")
