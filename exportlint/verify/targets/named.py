"""Modules and what is in them, by the names that people write: there, or an error with the nearest name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from exportlint.config import ConfigError
from exportlint.registry import nearest
from exportlint.source import SourceError, SyntaxProblem
from exportlint.syntax.definitions import Module
from exportlint.verify.targets.code import Code
from exportlint.verify.targets.places import file_of, nearest_module


class UnknownTargetError(ConfigError):
    """Something is named that is not there. Its text is one line, with the nearest that is."""


def find_module(name: str, search: Sequence[Path]) -> Path | None:
    """The file of a module; None if it is none of the project's.

    Raises:
        UnknownTargetError: it would be one of the project's, and is not there.
    """
    file = file_of(name, search)
    if file is not None:
        return file
    top = name.partition(".")[0]
    if not all(part.isidentifier() for part in name.split(".")):
        raise UnknownTargetError(f"`{name}` is not a module: write `pkg.mod:Name` or `path/to/file.py::Name`")
    is_package = any((folder / top).is_dir() or (folder / f"{top}.py").is_file() for folder in search)
    near = nearest_module(name, search)
    if is_package or near:
        raise UnknownTargetError(f"there is no module `{name}`" + (f", did you mean `{near}`?" if near else ""))
    return None


def known_module(code: Code, file: Path) -> Module:
    """What a file defines.

    Raises:
        UnknownTargetError: it cannot be read, or is not Python.
    """
    try:
        return code.module(file)
    except SourceError as error:
        raise UnknownTargetError(f"{file}: {error.message}") from None
    except SyntaxProblem as error:
        raise UnknownTargetError(f"{file}:{error.row}: {error.message}") from None


def require(code: Code, module: Module, name: str) -> None:
    """See that a file has something of that name.

    Raises:
        UnknownTargetError: it has not.
    """
    if not code.may_have(module, name):
        names = code.names(module)
        near = nearest(name, names, count=1)
        models = [cls.qualname for cls in code.models(module)]
        listed = ", ".join(f"`{model}`" for model in models[:5])
        hint = f", did you mean {near}?" if near else f": it has {listed}" if models else ""
        raise UnknownTargetError(f"{module.path} has no `{name}`{hint}")
