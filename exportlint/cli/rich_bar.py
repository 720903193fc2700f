"""A bar of rich's on standard error, where both are there."""

from __future__ import annotations

import sys
from typing import Any


def rich_bar() -> Any:
    """A `rich.progress.Progress` that takes itself away; None where stderr is not a terminal, or without rich."""
    if not sys.stderr.isatty():
        return None
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    except ImportError:
        return None
    columns = (
        SpinnerColumn(),
        MofNCompleteColumn(),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    console = Console(file=sys.stderr)
    return Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
