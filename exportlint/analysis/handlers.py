"""Loads the modules whose functions register themselves as handlers, so that none of them is listed."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module


@cache
def load_handlers(package: str) -> None:
    """Import all modules of a package, and those of the packages in it."""
    for found in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
        import_module(found.name)


def load_interpreter() -> None:
    """Import what evaluates code: without it every expression is unknown, the bases of a class too."""
    for package in ("eval", "models", "torch"):
        load_handlers(f"exportlint.analysis.{package}")
