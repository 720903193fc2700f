"""What a file does with torch.export: its scripts, functions and tests, which no `forward` reaches.

They are run by an interpreter of their own, which is simpler than that of `forward` where tensors are concerned, and
knows what that one need not: the sizes of examples, the mode of models, programs.
"""

from __future__ import annotations

from dataclasses import replace

from exportlint.analysis.eval.engine import Options
from exportlint.analysis.facts import Fact
from exportlint.analysis.facts.exports import Compilation
from exportlint.analysis.project import Project
from exportlint.analysis.scripts.relevance import APIS, CALLS, is_one_in
from exportlint.syntax.definitions import Module


def export_facts(module: Module, project: Project, options: Options) -> tuple[Fact, ...]:
    """What the file does with torch.export and its kin. Facts may lie in other files, whose functions it calls."""
    data = module.source.data
    facts: tuple[Fact, ...] = ()
    if is_one_in(data, CALLS):
        from exportlint.analysis.scripts.run import run_file

        facts = run_file(module, project, options)
    if is_one_in(data, APIS):
        from exportlint.analysis.scripts.apis import api_uses

        compiled = [fact for fact in facts if isinstance(fact, Compilation)]
        for use in api_uses(module):
            targets = tuple(fact.target for fact in compiled if fact.site == use.site)
            facts += (replace(use, targets=targets) if targets else use,)
    return facts
