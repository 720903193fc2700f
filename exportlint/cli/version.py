"""`exportlint version`."""

from __future__ import annotations

import argparse

from exportlint import __version__
from exportlint.cli.output import write


def run(_arguments: argparse.Namespace) -> int:
    """Print the version."""
    write(f"exportlint {__version__}\n")
    return 0
