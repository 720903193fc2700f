"""Which classes of a file are models: what torch.export can be called with."""

from __future__ import annotations

from functools import partial

from exportlint.analysis.eval.classes import find_method, is_module
from exportlint.analysis.eval.engine import Engine, Options
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.handlers import load_interpreter
from exportlint.analysis.incremental.kept_results import KeptResults
from exportlint.analysis.project import Project
from exportlint.syntax.definitions import Class, Module


def models(module: Module, project: Project, options: Options, kept: KeptResults | None = None) -> frozenset[Class]:
    """The `nn.Module`s of a file that have a `forward`, if only an inherited one, and that its importers can name.

    `kept` must be the results for this version of the file.
    """
    if not any(cls.node.bases for cls in module.classes):
        return frozenset()
    load_interpreter()
    frame = Frame(Engine(project, options), module)

    def is_model(cls: Class) -> bool:
        is_nameable = "<locals>" not in cls.qualname
        return is_nameable and is_module(frame, cls) and find_method(frame, cls, "forward") is not None

    keys = kept.keys(module, project) if kept is not None else {}
    if kept is None or not keys:
        return frozenset(filter(is_model, module.classes))
    return frozenset(cls for cls, key in keys.items() if kept.is_model(key, partial(is_model, cls)))


def names_exported(module: Module, project: Project, options: Options) -> bool | None:
    """Whether the setting `exported` names a class of a file; None without it, or without a model in the file."""
    named = [options.exports(cls) for cls in module.classes]
    if any(named):
        return True
    return False if False in named and models(module, project, options) else None
