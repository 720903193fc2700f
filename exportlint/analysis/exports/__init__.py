"""What a file does with torch.export: its scripts, functions and tests, which no `forward` reaches.

They are run by an interpreter of their own, which is simpler than that of `forward` where tensors are concerned, and
knows what that one need not: the sizes of examples, the mode of models, programs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from exportlint.analysis.facts import Fact
from exportlint.analysis.interpreter.engine import Engine, Options
from exportlint.analysis.outline import Module
from exportlint.analysis.project import Project

MENTIONS = re.compile(
    rb"torch\s*\.\s*export|torch\._export|functorch\.experimental|torch\.jit\b|import[^\n]*\b(export|jit)\b|draft_export"
    rb"|aot_compile|aot_load|capture_pre_autograd_graph|impl_abstract|dynamic_dim|quantize_pt2e|_dynamo\.export"
    rb"|onnx\.dynamo_export|constrain_as_"
)
"""What a file has in it somewhere, if there is anything to find for this analysis."""
USES = re.compile(rb"export\b|\bjit\b")
"""The same for what has to be run to be found."""


def export_facts(module: Module, project: Project, options: Options) -> tuple[Fact, ...]:
    """What the file does with torch.export and its kin. Facts may lie in other files, whose functions it calls."""
    data = module.source.data
    if MENTIONS.search(data) is None:
        return ()
    from exportlint.analysis.exports.apis import api_uses

    calls = tuple(_calls(module, project, options)) if USES.search(data) else ()
    return (*calls, *api_uses(module))


def _calls(module: Module, project: Project, options: Options) -> Iterator[Fact]:
    """The facts of all that runs: the statements of the file, then each function with any arguments."""
    from exportlint.analysis.exports import calls  # noqa: F401 - it registers itself
    from exportlint.analysis.exports.scope import Run, Scope, TooManyStepsError
    from exportlint.analysis.exports.statements import execute
    from exportlint.analysis.exports.values import Receiver
    from exportlint.analysis.values import UNKNOWN

    run = Run(Engine(project, options))
    waiting: list[Scope] = [Scope(run, module)]
    bodies: list[list[ast.stmt]] = [module.tree.body]
    try:
        while waiting:
            scope, body = waiting.pop(0), bodies.pop(0)
            execute(scope, body)
            for function in scope.later:
                assert not isinstance(function.node, ast.Lambda)
                inner = Scope(run, module, function.symbol, function.owner, run.homes[function.node])
                arguments = function.node.args
                every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
                names = [parameter.arg for parameter in every if parameter is not None]
                inner.env.update(dict.fromkeys(names, UNKNOWN))
                if function.owner is not None and names and not function.node.decorator_list:
                    inner.env[names[0]] = Receiver(function.owner)
                waiting.append(inner)
                bodies.append(function.node.body)
    except (TooManyStepsError, RecursionError):
        pass  # what was found so far holds
    yield from run.facts
