"""Calls of functions of the project: each way of calling one is run once."""

from __future__ import annotations

import ast
from dataclasses import replace

from exportlint.analysis.domain.heap import HEAP, Heap, join_heaps
from exportlint.analysis.domain.lattice import heap_of, join, trail_of, with_trail
from exportlint.analysis.domain.trails import Trail
from exportlint.analysis.domain.values import (
    NONE,
    UNKNOWN,
    Closure,
    Function,
    Partial,
    Tensor,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.classes import is_module
from exportlint.analysis.eval.declared_types import declared
from exportlint.analysis.eval.effects import Effects, Summary, summarize
from exportlint.analysis.eval.frame import Frame, calls
from exportlint.analysis.eval.generators import generated
from exportlint.analysis.eval.parameters import bind
from exportlint.analysis.eval.sizes import returned
from exportlint.analysis.limits import MAX_CONSTRUCTOR_STEPS, steps_of
from exportlint.analysis.models.torch.function_wrappers import call_wrapped
from exportlint.findings import Role
from exportlint.syntax.stubs import annotation

MAX_SUMMARIES = 8
"""Of one function with the same arguments, for heaps that differ."""


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
    heap = frame.heap
    inner.heap = heap.unmarked()
    key = _key(function, inner)
    known = () if key is None else engine.summaries.get(key, ())
    summary = next((summary for summary in known if summary.fits(heap)), None)
    if summary is not None:
        if engine.records_calls:
            engine.calls.again(node, summary.effects)
        value = _retold(frame, inner, function, summary.value, node)
    else:
        _explain_parameters(frame, inner, function, node)
        cuts = len(engine.cuts)
        summary = _run(inner, function, node)
        value = summary.value
        if key is not None and len(engine.cuts) == cuts and len(known) < MAX_SUMMARIES:
            engine.summaries.setdefault(key, []).append(summary)
    engine.effects.call(summary.effects, heap.written)
    _take_over(frame, summary, heap)
    return _returned(frame, value, node, function)


def _run(inner: Frame, function: Function, node: ast.AST) -> Summary:
    """Run the body of a function."""
    engine = inner.engine
    outer, caller = engine.effects, engine.calls.current
    definition = None if isinstance(function.node, ast.Lambda) or not engine.is_tracing else function.node
    engine.effects = effects = Effects(definition, function.module, inner.heap)
    if engine.records_calls:
        engine.calls.enter(function.module, function.node, function.symbol, node, effects)
    engine.active.append(function.node)
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
        engine.effects, engine.calls.current = outer, caller
    if value == UNKNOWN:
        value = _promised(inner, function)
    # what never returns leaves nothing behind
    left = join_heaps([heap_of(env) for env in inner.exits] or [effects.entry], join)
    return summarize(value, effects, left)


def _take_over(frame: Frame, summary: Summary, before: Heap) -> None:
    """Take over what a call left changed. What was found out about these attributes holds no longer."""
    frame.heap = after = summary.after(before)
    if after is before:
        return
    names = {cell.name for cell in summary.left.changes}
    for path in [key for key in frame.env if key.partition(".")[2] in names]:
        del frame.env[path]


def _builds_module(frame: Frame, function: Function) -> bool:
    name = function.symbol.rpartition(".")[2]
    return name == "__init__" and function.owner is not None and is_module(frame, function.owner)


def _key(function: Function, inner: Frame) -> tuple[object, ...] | None:
    """What the result of a call depends on; None where that cannot be told."""
    engine = inner.engine
    captured: list[object] | None = []
    if function.closure is not None:
        captured = _captured(engine.names, function.node, function.closure)
    if captured is None:
        return None
    key = (
        function.node,
        engine.silent > 0,
        engine.is_tracing,
        engine.eager > 0,
        engine.has_parameters,
        inner.guards > 0,
        engine.region,
        tuple([item for item in inner.env.items() if item[0] != HEAP]),
        *captured,
    )
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _captured(known: dict[ast.AST, frozenset[str]], node: ast.AST, closure: Closure) -> list[object] | None:
    """What the variables of enclosing functions hold that a function names; None if it may change them."""
    names = known.get(node)
    if names is None:
        nodes = list(ast.walk(node))
        changes = any(isinstance(child, ast.Nonlocal) for child in nodes)
        names = known[node] = frozenset() if changes else frozenset(c.id for c in nodes if isinstance(c, ast.Name))
    if not names:
        return None
    found: list[object] = []
    cell: Closure | None = closure
    while cell is not None:
        found.append(cell.region)
        found += [(name, value) for name, value in cell.variables.items() if name in names]
        cell = cell.parent
    return found


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
        value = inner.evaluate(node.body)
        inner.exits.append(inner.env)
        return value
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
    value = returned(frame, value, function.symbol, node)
    if isinstance(function.node, ast.Lambda) or trail_of(value) is None:
        return value
    message = f"returned by `{function.symbol}`"
    step = frame.trail(
        node, message, trail_of(value), "return", changes=not _hands_on(function), entered=function.module
    )
    return with_trail(value, step)
