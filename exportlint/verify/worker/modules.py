"""Modules that are imported by name, by file, or both."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import os
import sys
from collections.abc import Mapping
from typing import Any

from .no_program import imports_go_on


def load(reference: Mapping[str, Any]) -> Any:
    """What a reference names. `name` may have dots.

    Raises:
        AttributeError: the module has nothing of that name. And whatever importing it raises.
    """
    module = load_module(reference["module"], reference.get("file"))
    try:
        return functools.reduce(getattr, reference["name"].split("."), module)
    except AttributeError:
        where = getattr(module, "__file__", None) or reference["module"]
        raise AttributeError(f"{where} has no {reference['name']}") from None


def imports_relatively(source: str | bytes) -> bool:
    """Whether code has imports that start from the package of its file."""
    return any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(ast.parse(source)))


@imports_go_on()
def load_module(name: str, file: str | None) -> Any:
    """Import a module: by its name if that leads to `file`, as it does with `paths`; else the file as it lies there."""
    if file is None:
        return _imported(name)
    if getattr(sys.modules.get(name), "__file__", None) == os.path.abspath(file):
        return sys.modules[name]  # which may have deleted its file
    unfound: Exception | None = None
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError) as error:  # no such package, or the module of that name is none
        spec, unfound = None, error
    if spec is not None and spec.origin and _same_file(spec.origin, file):
        return _imported(name)
    alone = name if spec is None and "." not in name else f"{name.replace('.', '_')}__{abs(hash(file)):x}"
    if alone in sys.modules and _same_file(getattr(sys.modules[alone], "__file__", None), file):
        return sys.modules[alone]
    spec = importlib.util.spec_from_file_location(alone, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is not a Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[alone] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        sys.modules.pop(alone, None)
        if unfound is not None and isinstance(error, ImportError) and "relative import" in str(error):
            raise unfound from None  # why its package could not be imported is what is to be mended
        raise
    return module


def _imported(name: str) -> Any:
    """A module. Of two that import each other, one may have to be the first, as it is where they are used."""
    try:
        return importlib.import_module(name)
    except (ImportError, AttributeError) as error:
        first = _importing(error)
        if first in (None, name) or "partially initialized module" not in str(error):
            raise
        try:
            importlib.import_module(str(first))
            return importlib.import_module(name)
        except Exception:
            raise error from None


def _importing(error: BaseException) -> str | None:
    """The module whose top level raised."""
    trace, found = error.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_name == "<module>":
            found = trace.tb_frame.f_globals.get("__name__")
        trace = trace.tb_next
    return found


def is_of_file(name: str, file: str | None) -> bool:
    """Whether an imported module is the one that lies in a file."""
    found = getattr(sys.modules.get(name), "__file__", None)
    return found is not None and file is not None and _same_file(found, file)


def _same_file(one: str | None, other: str) -> bool:
    if one is None or os.path.abspath(one) == os.path.abspath(other):  # which may be gone by now
        return one is not None
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False
