"""`exportlint verify --init`: tables for the models that cannot be built otherwise, in the configuration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from exportlint.atomic import write
from exportlint.cli.output import UsageError
from exportlint.config import ConfigError, Configuration
from exportlint.verify.targets import Unbuildable
from exportlint.verify.targets.adding import add_target


def add_targets(unbuildable: Sequence[Unbuildable], settings: Configuration, cwd: Path) -> list[str]:
    """Append a table for each model that needs a target and has none, and return what was done, in lines.

    Raises:
        UsageError: a file cannot be written, or cannot take a table at its end. Those before keep theirs.
    """
    added: dict[Path, int] = {}
    for one in unbuildable:
        if one.needs_target and one.name.partition(":")[2]:
            path = one.place[0]
            try:
                addition = add_target(path, one.name.partition(":")[2], settings.for_directory(path.parent), cwd)
                write(addition.file, ((addition.before or "") + addition.text).encode())
            except ConfigError as error:
                if "already" not in error.message:
                    raise UsageError(str(error)) from None
            except OSError as error:
                raise UsageError(f"{addition.file}: cannot be written: {error.strerror or error}") from None
            else:
                added[addition.file] = added.get(addition.file, 0) + 1
    if not added:
        return ["Every model that needs a target already has one"]
    return [
        f"Added {count} target{'' if count == 1 else 's'} to {file}: complete what is commented out"
        for file, count in added.items()
    ]
