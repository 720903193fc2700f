"""Calls of torch.export in scripts: the model and the inputs are those that the call gets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from exportlint.syntax.definitions import Module
from exportlint.verify.target import Script, Target
from exportlint.verify.targets.candidates import plain
from exportlint.verify.targets.code import Code
from exportlint.verify.targets.places import reference


def calls(code: Code, module: Module) -> Iterator[Target]:
    """The calls of a file, in order."""
    model, paths = reference(module.path, "", code.settings.src)
    for row in code.export_rows(module):
        place = (module.path, row)
        target = plain(code.settings, model, paths, place, Script(*place))
        yield replace(target, name=f"{model.module}:{row}", origin="call", varying=())
