"""torch.export in a process that has traced nothing: what TorchDynamo does may depend on what it traced before.

`max([1, 2], key=…)` exports in a new process, but not always behind other programs (torch 2.13).
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType

if sys.platform == "win32":
    _CONTEXT = multiprocessing.get_context("spawn")
else:
    _CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["torch._dynamo.functional_export", "torch._export.non_strict_utils"])


MODULE = "strict_model"
"""What a file is imported as."""


def refusal(file: Path, *, strict: bool) -> str:
    """Why torch.export refuses the `Model` of a file for a tensor of 3 rows and 4 columns; empty if it does not.

    A file that has a function `exported` exports the model by that.
    """
    ours, theirs = _CONTEXT.Pipe(duplex=False)
    with ours:
        process = _CONTEXT.Process(target=_export, args=(file, strict, theirs))
        process.start()
        theirs.close()
        try:
            found = ours.recv()
        finally:
            process.join()
    assert isinstance(found, str)
    return found


def loaded(file: Path) -> ModuleType:
    """A file as a module that TorchDynamo can import by its name."""
    spec = importlib.util.spec_from_file_location(MODULE, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _export(file: Path, strict: bool, result: Connection) -> None:
    import torch

    module = loaded(file)
    try:
        if hasattr(module, "exported"):
            module.exported(strict)
        else:
            torch.export.export(module.Model().eval(), (torch.ones(3, 4),), strict=strict)
    except Exception as error:
        result.send(f"{type(error).__name__}: {error}")
    else:
        result.send("")
