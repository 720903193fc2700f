"""`exportlint init`: a configuration to begin with, and the hook for pre-commit."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from exportlint.atomic import write as write_whole
from exportlint.big_stack import on_big_stack
from exportlint.cli.exports_found import Exports, exports_in
from exportlint.cli.output import UsageError, warn, write
from exportlint.cli.pre_commit import HOOK, HOOKS, add_hook, has_hook
from exportlint.cli.requirements import TorchRequirement, torch_requirement
from exportlint.config import Configuration
from exportlint.config.errors import ConfigError
from exportlint.config.toml import FILE_NAMES, load, parse
from exportlint.config.torch_version import NEWEST, detect_torch_version, shown_version
from exportlint.report.context import printable
from exportlint.source import discover

_MAX_FILES = 20_000
"""Entries of directories; more are not searched for calls of torch.export."""


def run(arguments: argparse.Namespace) -> int:
    """Write the configuration of the working directory, unless there is one.

    Raises:
        ConfigError: a configuration that is there cannot be used.
        UsageError: a file cannot be written, or cannot take what is to be added.
    """
    cwd = Path.cwd()
    present = _present(cwd)
    if present is not None:
        write(f"{printable(str(present))} already configures exportlint and is left unchanged.\n")
    else:
        _configure(cwd)
    if arguments.pre_commit:
        write(add_hook(cwd / HOOKS))
    elif not has_hook(cwd / HOOKS):
        write(
            f"\nTo lint each commit with pre-commit, add this to {HOOKS}, or run `exportlint init --pre-commit`:\n\n"
            f"{HOOK}"
        )
    return 0


def _present(cwd: Path) -> Path | None:
    """The configuration that holds in a directory: its own, or that of a directory above it."""
    for directory in (cwd, *cwd.parents):
        for name in FILE_NAMES:
            if (directory / name).is_file() and load(directory / name) is not None:
                return Path(name) if directory == cwd else directory / name
    return None


def _configure(cwd: Path) -> None:
    pyproject = cwd / "pyproject.toml"
    file = pyproject if pyproject.is_file() else cwd / "exportlint.toml"
    requirement, exports = torch_requirement(cwd), _exports(cwd)
    text = configuration(requirement, exports, shown_version(found) if (found := detect_torch_version(cwd)) else None)
    data = _appended(file, "[tool.exportlint]\n" + text) if file == pyproject else text.encode()
    try:
        write_whole(file, data)
    except OSError as error:
        raise UsageError(f"{file.name}: cannot be written: {error.strerror or error}") from None
    write(f"Added [tool.exportlint] to {file.name}.\n" if file == pyproject else f"Wrote {file.name}.\n")
    if not exports.imports_torch:
        warn("no file here imports torch")


def _exports(cwd: Path) -> Exports:
    options = Configuration(cwd, isolated=True).for_directory(cwd).discovery
    files = discover([cwd], lambda _: options, _MAX_FILES).files
    return on_big_stack(lambda: exports_in(files, cwd))


def configuration(requirement: TorchRequirement | None, exports: Exports, installed: str | None) -> str:
    """The settings that a project begins with: what it shows, and as comments what it may want to say."""
    without = f"the installed one, now {installed}" if installed else "the newest that exportlint knows"
    lines = [
        "# `exportlint config` lists the settings, `exportlint config KEY` explains one.",
        "",
        f"# The version of torch that exports the code. Default: {without}.",
    ]
    if requirement is None:
        lines.append(f'# torch-version = "{installed or shown_version(NEWEST)}"')
    else:
        lines[-1] += f" {requirement.file} says `{requirement.text}`."
        lines.append(f'{"" if requirement.is_pinned else "# "}torch-version = "{requirement.version}"')
    lines += ["", "# The mode of torch.export.export: `non-strict`, its default, or `strict`."]
    if exports.strict is None:
        lines.append('# mode = "strict"')
    else:
        lines[-1] += f" {exports.strict} passes `strict=True`."
        lines.append('mode = "strict"')
    lines += ["", "# The dimensions of the inputs that vary from call to call; [] if all shapes are static."]
    if exports.dims:
        lines[-1] += f" {exports.dims_from} makes some dynamic."
        lines.append(f"dynamic-dims = {json.dumps(list(exports.dims))}")
    elif exports.dims is not None:
        lines[-1] += " No call of torch.export here has dynamic dimensions."
        lines.append("# dynamic-dims = []")
    else:
        lines.append("# dynamic-dims = [0]")
    lines += [
        "",
        "# Rules not to check, and files to leave out.",
        '# ignore = ["tensor-item"]',
        '# extend-exclude = ["vendor"]',
        '# per-file-ignores = { "tests/**" = ["ALL"] }',
    ]
    return "\n".join(lines) + "\n"


def _appended(file: Path, text: str) -> bytes:
    """The file with a table at its end, all else as it is.

    Raises:
        ConfigError: it is not TOML, or its end cannot take the table.
    """
    try:
        data = file.read_bytes()
        before = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError("not UTF-8, which TOML requires", file) from None
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror or error}", file) from None
    table = parse(before, file)
    end = "\r\n" if "\r\n" in before else "\n"
    gap = "" if not before or before.endswith(end * 2) else end if before.endswith(end) else end * 2
    added = gap + text.replace("\n", end)
    if "tool" in table and not isinstance(table["tool"], dict):
        raise ConfigError("`tool` must be a table", file)
    wanted: dict[str, Any] = {
        **table,
        "tool": {**table.get("tool", {}), "exportlint": parse(text)["tool"]["exportlint"]},
    }
    try:
        fits = parse(before + added, file) == wanted
    except ConfigError:
        fits = False
    if not fits:
        raise ConfigError(
            "[tool.exportlint] cannot be appended: write `tool` as tables such as `[tool.NAME]`, not inline", file
        )
    return data + added.encode()
