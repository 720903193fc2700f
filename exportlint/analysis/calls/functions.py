"""Calls of functions of the project: each way of calling one is run once."""

from __future__ import annotations

import ast

from exportlint.analysis.calls.wrappers import call_wrapped
from exportlint.analysis.interpreter.arguments import Arguments
from exportlint.analysis.interpreter.classes import is_module
from exportlint.analysis.interpreter.declared import declared
from exportlint.analysis.interpreter.frame import Frame, calls
from exportlint.analysis.interpreter.parameters import bind
from exportlint.analysis.joins import join, surely_written, trail_of, with_trail
from exportlint.analysis.limits import MAX_CONSTRUCTOR_STEPS, steps_of
from exportlint.analysis.values import (
    NONE,
    UNKNOWN,
    WRITTEN,
    Function,
    Partial,
    Sequence,
    Value,
    Written,
)


@calls(Partial)
def _call_partial(frame: Frame, callee: Partial, arguments: Arguments, node: ast.AST) -> Value:
    if callee.wrapper:
        return call_wrapped(frame, callee, arguments, node)
    keywords = {**dict(callee.keywords), **arguments.keywords}
    return frame.call(callee.function, Arguments((*callee.positional, *arguments.positional), keywords), node)


@calls(Function)
def _call_function(frame: Frame, function: Function, arguments: Arguments, node: ast.AST) -> Value:
    engine = frame.engine
    if not engine.may_enter(function, arguments.positional):
        return _promised(frame, function)
    if function.receiver is not None:
        arguments = arguments.after(function.receiver)
    inner = Frame(
        engine, function.module, function.symbol,
        owner=function.owner, receiver=arguments.get(0), closure=function.closure, guards=frame.guards,
    )  # fmt: skip
    inner.env = bind(inner, function.node, arguments)
    if WRITTEN in frame.env:
        inner.env[WRITTEN] = frame.env[WRITTEN]
    key = _key(function, inner)
    if key is not None and key in engine.results:
        _note_written(frame, engine.exits.get(key))
        return _returned(frame, engine.results[key], node, function)
    _explain_parameters(frame, inner, function, node)
    engine.active.append(function.node)
    cuts = len(engine.cuts)
    engine.runs_of[function.node] += not engine.silent
    try:
        if engine.eager and not _builds_module(inner, function):
            value = engine.at_most(
                steps_of(function.node, MAX_CONSTRUCTOR_STEPS), "constructor", lambda: _body(inner, function.node)
            )
        else:
            value = _body(inner, function.node)
    finally:
        engine.active.pop()
    if value == UNKNOWN:
        value = _promised(inner, function)
    written = None if isinstance(function.node, ast.Lambda) else surely_written(inner.exits)
    _note_written(frame, written)
    if key is not None and len(engine.cuts) == cuts:
        engine.results[key] = value
        if written is not None:
            engine.exits[key] = written
    return _returned(frame, value, node, function)


def _note_written(frame: Frame, written: Written | None) -> None:
    if written is not None and (written.cells or WRITTEN in frame.env):
        frame.env[WRITTEN] = written


def _builds_module(frame: Frame, function: Function) -> bool:
    name = function.symbol.rpartition(".")[2]
    return name == "__init__" and function.owner is not None and is_module(frame, function.owner)


def _key(function: Function, inner: Frame) -> tuple[object, ...] | None:
    """What the result of a call depends on; None where that cannot be told."""
    if function.closure is not None:
        return None
    engine = inner.engine
    key = (
        function.node,
        engine.silent > 0,
        engine.eager > 0,
        inner.guards > 0,
        engine.region,
        engine.replay,
        tuple(inner.env.items()),
    )
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _explain_parameters(frame: Frame, inner: Frame, function: Function, node: ast.AST) -> None:
    """Explain each parameter that holds tensor data by where the call passes it."""
    name = function.symbol.rpartition(".")[2]
    for parameter, value in inner.env.items():
        parent = trail_of(value)
        if parent is not None:
            message = f"passed as `{parameter}` to `{name}`"
            inner.env[parameter] = with_trail(value, frame.trail(node, message, parent))


def _body(inner: Frame, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Value:
    if isinstance(node, ast.Lambda):
        return inner.evaluate(node.body)
    if inner.engine.is_tracing:
        inner.engine.state.functions.setdefault(node.name, {})[node] = inner.module
    reached = inner.execute(node.body)
    if reached:
        inner.exits.append(inner.env)
    inner.cell.variables = inner.env
    if inner.yields:
        return Sequence(join(inner.yields), "generator")
    found = [*(value for _, value in inner.returns), *([NONE] if reached else [])]
    return join(found) if found else UNKNOWN


def _promised(frame: Frame, function: Function) -> Value:
    """What the annotation of a function says that it returns."""
    node = function.node
    if isinstance(node, ast.Lambda) or node.returns is None:
        return UNKNOWN
    inner = Frame(frame.engine, function.module, function.symbol)
    return declared(inner, node.returns, "", f"`{node.name}` is annotated to return `{{}}`")


def _returned(frame: Frame, value: Value, node: ast.AST, function: Function) -> Value:
    if isinstance(function.node, ast.Lambda) or trail_of(value) is None:
        return value
    name = function.symbol.rpartition(".")[2]
    return with_trail(value, frame.trail(node, f"returned by `{name}`", trail_of(value)))
