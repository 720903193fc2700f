"""Calls of functions of the project: each way of calling one is run once."""

from __future__ import annotations

import ast
import functools
from dataclasses import replace

from exportlint.analysis.calls.generators import generated
from exportlint.analysis.calls.wrappers import call_wrapped
from exportlint.analysis.interpreter.arguments import Arguments
from exportlint.analysis.interpreter.classes import is_module
from exportlint.analysis.interpreter.declared import declared
from exportlint.analysis.interpreter.frame import Frame, calls
from exportlint.analysis.interpreter.parameters import bind
from exportlint.analysis.joins import join, surely_written, trail_of, with_trail
from exportlint.analysis.limits import MAX_CONSTRUCTOR_STEPS, steps_of
from exportlint.analysis.stubs import annotation
from exportlint.analysis.trail import Trail
from exportlint.analysis.values import (
    NONE,
    UNKNOWN,
    WRITTEN,
    Closure,
    Function,
    Partial,
    Tensor,
    Value,
    Written,
)
from exportlint.findings import Role


@calls(Partial)
def _call_partial(frame: Frame, callee: Partial, arguments: Arguments, node: ast.AST) -> Value:
    if callee.wrapper:
        return call_wrapped(frame, callee, arguments, node)
    keywords = {**dict(callee.keywords), **arguments.keywords}
    return frame.call(callee.function, Arguments((*callee.positional, *arguments.positional), keywords), node)


@calls(Function)
def _call_function(frame: Frame, function: Function, arguments: Arguments, node: ast.AST) -> Value:
    engine = frame.engine
    if function.module.is_stub:
        return _returned(frame, _promised(frame, function), node, function)
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
        if engine.records_calls:
            engine.calls.again(node, key)
        _note_written(frame, engine.exits.get(key))
        return _returned(frame, _retold(frame, inner, function, engine.results[key], node), node, function)
    _explain_parameters(frame, inner, function, node)
    outer = engine.calls.current
    if engine.records_calls:
        engine.calls.enter(function.module, function.node, function.symbol, node, key)
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
        engine.calls.current = outer
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
    engine = inner.engine
    captured = _captured(function)
    if captured is None:
        return None
    key = (
        function.node,
        engine.silent > 0,
        engine.eager > 0,
        inner.guards > 0,
        engine.region,
        engine.replay,
        tuple(inner.env.items()),
        captured,
    )
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _captured(function: Function) -> tuple[object, ...] | None:
    """What a function reads of the functions around it; None where it changes that."""
    if function.closure is None:
        return ()
    read, changes = _free_names(function.node)
    if changes:
        return None
    found: list[object] = []
    cell: Closure | None = function.closure
    while cell is not None:
        found += [(name, value) for name, value in cell.variables.items() if name in read]
        cell = cell.parent
    return tuple(found)


@functools.lru_cache(maxsize=4096)
def _free_names(node: ast.AST) -> tuple[frozenset[str], bool]:
    """The names in a function, and whether it binds some of a function around it."""
    names = frozenset(child.id for child in ast.walk(node) if isinstance(child, ast.Name))
    return names, any(isinstance(child, ast.Nonlocal) for child in ast.walk(node))


def _explain_parameters(frame: Frame, inner: Frame, function: Function, node: ast.AST) -> None:
    """Explain each parameter that holds tensor data by where the call passes it."""
    changes = not isinstance(node, ast.Call) or not all(map(_is_bare, (*node.args, *(k.value for k in node.keywords))))
    role: Role = "value" if isinstance(function.node, ast.Lambda) else "call"  # what a lambda returns has no step
    for parameter, value in inner.env.items():
        parent = trail_of(value)
        if parent is not None:
            message = f"passed as `{parameter}` to `{function.symbol}`"
            step = frame.trail(node, message, parent, role, changes=changes, entered=function.module)
            inner.env[parameter] = with_trail(value, step)


def _retold(frame: Frame, inner: Frame, function: Function, value: Value, node: ast.AST) -> Value:
    """A result that is known from another call, with a trail that comes by way of this one."""
    step = trail_of(value)
    _explain_parameters(frame, inner, function, node)
    trails = [trail for given in inner.env.values() if (trail := trail_of(given)) is not None]
    passed = {trail.message: trail for trail in trails if trail.role == "call"}
    inside: list[Trail] = []
    while step is not None and not (step.role == "call" and step.message in passed):
        inside.append(step)
        step = step.parent
    if step is None:
        return value  # it comes from the function itself
    told = passed[step.message]
    for known in reversed(inside):
        told = replace(known, parent=told)
    return with_trail(value, told)


def _is_bare(node: ast.expr) -> bool:
    """Whether an argument is a variable or a constant, so that a call passes it on as it is."""
    return isinstance(node.value if isinstance(node, ast.Starred) else node, (ast.Name, ast.Constant))


def _hands_on(function: Function) -> bool:
    """Whether all that a function returns are variables as they are."""
    node = function.node
    if isinstance(node, ast.Lambda):
        return isinstance(node.body, ast.Name)
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Return) and not isinstance(part.value, ast.Name):
            return False
        if not isinstance(part, (ast.expr, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(part))
    return True


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
        return generated(node, inner.yields, reached=reached)
    found = [*(value for _, value in inner.returns), *([NONE] if reached else [])]
    return join(found) if found else UNKNOWN


def _promised(frame: Frame, function: Function) -> Value:
    """What the annotation of a function says that it returns."""
    node, module = function.node, function.module
    if frame.engine.options.gives_tensor(f"{module.name}.{function.symbol}"):
        return Tensor(trail=frame.trail(node, f"returned by `{function.symbol}`"))
    said = None if isinstance(node, ast.Lambda) else annotation(module, node)
    if isinstance(node, ast.Lambda) or said is None:
        return UNKNOWN
    inner = Frame(frame.engine, said[0], function.symbol)
    return declared(inner, said[1], "", f"`{node.name}` is annotated to return `{{}}`")


def _returned(frame: Frame, value: Value, node: ast.AST, function: Function) -> Value:
    if isinstance(function.node, ast.Lambda) or trail_of(value) is None:
        return value
    message = f"returned by `{function.symbol}`"
    step = frame.trail(
        node, message, trail_of(value), "return", changes=not _hands_on(function), entered=function.module
    )
    return with_trail(value, step)
