"""Runs the parts of a file that have to do with torch.export."""

from __future__ import annotations

import ast
from collections import deque

from exportlint.analysis.domain.script_values import Program, Receiver
from exportlint.analysis.domain.values import UNKNOWN, Function
from exportlint.analysis.eval.classes import is_module
from exportlint.analysis.eval.engine import Engine, Options
from exportlint.analysis.facts import Fact
from exportlint.analysis.handlers import load_handlers, load_interpreter
from exportlint.analysis.limits import limited_script
from exportlint.analysis.project import Project
from exportlint.analysis.scripts.relevance import Words
from exportlint.analysis.scripts.scope import Run, Scope, TooManyStepsError
from exportlint.analysis.scripts.statements import execute
from exportlint.syntax.definitions import Module, dotted


def run_file(module: Module, project: Project, options: Options) -> tuple[Fact, ...]:
    """The facts of the statements of a file, then of each of its functions, given anything."""
    words = Words(module)
    if not words:
        return ()
    load_interpreter()
    load_handlers("exportlint.analysis.scripts")
    run = Run(Engine(project, options))
    whole = Scope(run, module)
    waiting: deque[tuple[Scope, list[ast.stmt]]] = deque([(whole, module.tree.body)])
    try:
        while waiting:
            scope, body = waiting.popleft()
            execute(scope, body)
            for function in scope.pending_functions:
                assert not isinstance(function.node, ast.Lambda)
                if words.are_in(function.node):
                    waiting.append((_root(scope, function), function.node.body))
    except (TooManyStepsError, RecursionError):
        run.facts.append(limited_script(module))  # what was found so far holds
    return tuple(run.facts)


def _root(scope: Scope, function: Function) -> Scope:
    """The scope of a function that is called with anything."""
    arguments = function.node.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
    inner = Scope(scope.run, scope.module, function.symbol, function.owner, scope.run.enclosing_scopes[function.node])
    for place, parameter in enumerate(p for p in every if p is not None):
        annotation = dotted(parameter.annotation) if parameter.annotation is not None else None
        is_program = annotation is not None and annotation.rpartition(".")[2] == "ExportedProgram"
        inner.env[parameter.arg] = Program() if is_program else UNKNOWN
        if place == 0 and function.owner is not None and not getattr(function.node, "decorator_list", ()):
            inner.env[parameter.arg] = Receiver(function.owner, is_module(inner.frame, function.owner))
    return inner
