"""Which torch a project uses: what the settings say, else what its environment has installed."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from glob import glob
from pathlib import Path

from exportlint.findings import TorchVersion

OLDEST: TorchVersion = (2, 4)
NEWEST: TorchVersion = (2, 15)
"""The newest torch that the rules were measured on."""

_VERSION = re.compile(r"(\d{1,3})\.(\d{1,3})(?:\.\d+)*(?:\.?(?:a|b|rc|dev|post)\d*)*(?:\+[\w.]+)?")
_INSTALLED = re.compile(r"torch-(.+?)(?:-py\d.*)?\.(?:dist|egg)-info")


def parse_torch_version(text: str) -> TorchVersion:
    """Major and minor of a version such as `2.13`, `2.13.0` or `2.13.0+cpu`.

    Raises:
        ValueError: it is not a version, or one older than exportlint knows.
    """
    match = _VERSION.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"`{text}` is not a torch version such as `2.13`")
    version = int(match[1]), int(match[2])
    if version < OLDEST:
        raise ValueError(f"torch {text.strip()} is too old: exportlint knows {shown_version(OLDEST)} and newer")
    return version


def detect_torch_version(root: Path) -> TorchVersion | None:
    """The torch of the project at `root`, from the metadata that its environment holds; torch is not imported.

    Looks at the active virtual environment, then at `.venv` and `venv` in `root`, then at where exportlint itself
    runs. None if there is none; an older one than exportlint knows counts as the oldest known.
    """
    for directory in _site_packages(root):
        for version in _installed(directory):
            return max(version, OLDEST)
    return None


def _site_packages(root: Path) -> Iterator[Path]:
    active = [os.environ.get("VIRTUAL_ENV"), os.environ.get("CONDA_PREFIX")]
    for environment in (*(Path(path) for path in active if path), root / ".venv", root / "venv"):
        # Not `Path.glob`, which raises where the directory may not be looked into.
        found = glob("lib/python3*/site-packages", root_dir=environment)  # noqa: PTH207
        yield from (environment / place for place in sorted(found))
        yield environment / "Lib" / "site-packages"
    yield from (Path(entry) for entry in sys.path if entry)


def _installed(site_packages: Path) -> Iterator[TorchVersion]:
    try:
        names = sorted(name for name in os.listdir(site_packages) if name.startswith("torch-"))  # noqa: PTH208
    except OSError:
        return
    for name in names:
        match = _INSTALLED.fullmatch(name)
        version = _VERSION.fullmatch(match[1]) if match else None
        if version is not None:
            yield int(version[1]), int(version[2])


def shown_version(version: TorchVersion) -> str:
    """A version as people write it: `2.13`."""
    return ".".join(map(str, version))
