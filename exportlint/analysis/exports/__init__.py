"""What a file does with torch.export: its scripts, functions and tests, which no `forward` reaches.

They are run by an interpreter of their own, which is simpler than that of `forward` where tensors are concerned, and
knows what that one need not: the sizes of examples, the mode of models, programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportlint.analysis.exports.relevance import APIS, CALLS, is_one_in
from exportlint.analysis.facts import Fact
from exportlint.analysis.interpreter.engine import Options
from exportlint.analysis.outline import Module
from exportlint.analysis.project import Project

if TYPE_CHECKING:
    from collections.abc import Mapping


def export_facts(module: Module, project: Project, options: Options) -> tuple[Fact, ...]:
    """What the file does with torch.export and its kin. Facts may lie in other files, whose functions it calls."""
    data = module.source.data
    facts: tuple[Fact, ...] = ()
    if is_one_in(data, CALLS):
        from exportlint.analysis.exports.run import run_file

        facts = run_file(module, project, options)
    if is_one_in(data, APIS):
        from exportlint.analysis.exports.apis import api_uses

        facts += tuple(api_uses(module))
    return facts


def exported_dims(module: Module, project: Project) -> Mapping[str, Mapping[str, frozenset[int]]]:
    """Which dimensions the file's calls of torch.export make dynamic.

    They are given by the qualified name of the class that is exported (`package.file.Class`) and the parameter of its
    forward. All parameters are listed that a call with `dynamic_shapes` has an input for; classes are left out of which
    nothing is known, or that are only exported with static shapes.
    """
    if not is_one_in(module.source.data, CALLS):
        return {}
    from exportlint.analysis.exports.dims import dims_of
    from exportlint.analysis.exports.run import run_file

    return dims_of(run_file(module, project, Options()))
