"""Adds a target to the configuration that holds for a file: text at the end, all else as it is."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exportlint.config import ConfigError, Settings
from exportlint.config.toml import parse
from exportlint.verify.targets.code import Code
from exportlint.verify.targets.named import UnknownTargetError, known_module, require
from exportlint.verify.targets.places import file_of, module_of
from exportlint.verify.targets.skeleton import skeleton


@dataclass(frozen=True, slots=True)
class Addition:
    """`text` to append to `file`, which holds `before`, or is not there yet if that is None.

    `row`, from 1, is where the header of the new table will stand.
    """

    file: Path
    before: str | None
    text: str
    row: int


def add_target(
    path: Path, name: str, settings: Settings, root: Path, opened: Mapping[Path, str] | None = None
) -> Addition:
    """A table for the model `name` of the file `path`, for which `settings` hold, in the folder `root`.

    `opened` are the texts of files that may hold something else on the disk.

    Raises:
        ConfigError: there is no such model, it has a target, or the configuration cannot take one at its end.
    """
    code = Code(settings)
    module = known_module(code, path)
    require(code, module, name)
    cls = next((cls for cls in code.models(module) if cls.qualname == name), None)
    if cls is None:
        raise UnknownTargetError(f"`{name}` is not a `torch.nn.Module`")
    if why := code.why_not(cls):
        raise UnknownTargetError(f"`{name}` {why}")
    file, is_known = _file(path, settings, root)
    before = opened[file] if opened and file in opened else _on_disk(file)
    # A file that is new, or says nothing yet, will have imports start where it lies.
    search = (*settings.src, file.parent) if is_known else (file.parent, file.parent / "src")
    names = _names(path, name, file.parent, search)
    lines = skeleton(code, cls, names[0])
    keys: tuple[str, ...] = ("tool", "exportlint") if file.name == "pyproject.toml" else ()
    header = f"[[{'.'.join((*keys, 'verify', 'target'))}]]"
    tables = _tables(parse(before or "", file), keys)
    if any(isinstance(table, Mapping) and table.get("model") in names for table in tables):
        raise ConfigError(f"there is a target for `{name}` already", file)
    return _appended(file, before, [header, *lines], keys, len(tables))


def _file(path: Path, settings: Settings, root: Path) -> tuple[Path, bool]:
    """The file to write to, and whether it is among the configuration that holds."""
    own = settings.verify.targets[0].file if settings.verify.targets else settings.file
    if own is not None and (settings.verify.targets or path.is_relative_to(own.parent)):
        return own, True
    outermost = root if path.is_relative_to(root) else path.parent
    for directory in path.parents:
        if (directory / "pyproject.toml").is_file():
            return directory / "pyproject.toml", False
        if directory == outermost:
            break
    return outermost / "exportlint.toml", False


def _on_disk(file: Path) -> str | None:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise ConfigError("not UTF-8, which TOML requires", file) from None
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror or error}", file) from None


def _names(path: Path, name: str, base: Path, search: tuple[Path, ...]) -> list[str]:
    """What a configuration in `base` can call a model, the best name first."""
    by_path = f"{Path(os.path.relpath(path, base)).as_posix()}::{name}"
    module = module_of(path, search)[0]
    return [f"{module}:{name}", by_path] if file_of(module, search) == path else [by_path]


def _tables(document: Any, keys: tuple[str, ...]) -> list[object]:
    """The targets that a document of TOML has."""
    for key in (*keys, "verify", "target"):
        document = document.get(key, {}) if isinstance(document, Mapping) else {}
    return document if isinstance(document, list) else []


def _appended(file: Path, before: str | None, lines: list[str], keys: tuple[str, ...], count: int) -> Addition:
    end = "\r\n" if "\r\n" in (before or "") else "\n"
    gap = ""
    if before:
        gap = end if before.endswith("\n") else end * 2
        if before.endswith(end * 2):
            gap = ""
    text = gap + end.join(lines) + end
    try:
        now = len(_tables(parse((before or "") + text, file), keys))
    except ConfigError:
        now = count
    if now != count + 1:
        raise ConfigError(
            f"a target cannot be appended: write `verify` as a table, `[{'.'.join((*keys, 'verify'))}]`", file
        )
    return Addition(file, before, text, ((before or "") + gap).count("\n") + 1)
