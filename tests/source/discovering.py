"""Files to be found in the working directory, and what is found."""

from __future__ import annotations

from pathlib import Path

from exportlint.source import DiscoveryOptions, discover


def make(*files: str) -> None:
    """Create empty files."""
    for name in files:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch()


def find(*paths: str, options: DiscoveryOptions) -> list[str]:
    """The files that paths stand for, without any problem."""
    found = discover([Path(path) for path in paths], lambda _: options)
    assert found.problems == ()
    return [str(path) for path in found.files]
