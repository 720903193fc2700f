"""Which classes of a file are models: what torch.export can be called with."""

from __future__ import annotations

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
    keys = kept.keys(module, project) if kept is not None else {}

    def is_one(cls: Class) -> bool:
        known = kept.is_model(keys[cls]) if kept is not None and cls in keys else None
        return is_model(frame, cls) if known is None else known

    return frozenset(filter(is_one, module.classes))


def is_model(frame: Frame, cls: Class) -> bool:
    """Whether a class is an `nn.Module` that has a `forward` and that importers can name."""
    is_nameable = "<locals>" not in cls.qualname
    return is_nameable and is_module(frame, cls) and find_method(frame, cls, "forward") is not None


def names_exported(module: Module, project: Project, options: Options) -> bool | None:
    """Whether the setting `exported` names a class of a file; None without it, or without a model in the file."""
    named = [options.exports(cls) for cls in module.classes]
    if any(named):
        return True
    return False if False in named and models(module, project, options) else None
