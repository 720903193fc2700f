"""Calls: arguments meet parameters, functions of the project are run, everything else is looked up."""

from __future__ import annotations

import ast

from exportlint.analysis import builtin_calls, library_calls, module_calls, tensor_calls, torch_calls
from exportlint.analysis.demands import elements
from exportlint.analysis.engine import MAX_EAGER_STEPS
from exportlint.analysis.frame import Frame, evaluates
from exportlint.analysis.instances import attribute_of, bases, find_method, instantiate, is_module, note_call
from exportlint.analysis.parameters import Arguments, bind
from exportlint.analysis.values import (
    NONE,
    PYTHON,
    UNKNOWN,
    BoundMethod,
    ClassValue,
    Dict,
    External,
    Function,
    Object,
    Partial,
    Sequence,
    Super,
    Tensor,
    TorchModule,
    Tuple,
    Union,
    Unknown,
    Value,
    join,
    trail_of,
    with_trail,
)

UNPACKED = "**"
"""The key under which the unknown part of `**kwargs` is passed on."""


@evaluates(ast.Call)
def call_expression(frame: Frame, node: ast.Call) -> Value:
    callee = frame.evaluate(node.func)
    if isinstance(callee, External) and callee.name == "builtins.super":
        return _super(frame, node)
    positional: list[Value] = []
    keywords: dict[str, Value] = {}
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            value = frame.evaluate(argument.value)
            if isinstance(value, Tuple):
                positional.extend(value.items)
            else:
                positional.append(Sequence(elements(frame, value, argument.value), "*"))
        else:
            positional.append(frame.evaluate(argument))
    for keyword in node.keywords:
        value = frame.evaluate(keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif isinstance(value, Dict):
            keywords.update({str(k): v for k, v in value.entries if isinstance(k, str)})
            if value.rest is not None:
                keywords[UNPACKED] = value.rest
        else:
            keywords[UNPACKED] = UNKNOWN
    return call(frame, callee, positional, keywords, node)


def _super(frame: Frame, node: ast.Call) -> Value:
    if frame.owner is None or frame.receiver is None:
        return UNKNOWN
    return Super(frame.owner, frame.receiver)


def call(frame: Frame, callee: Value, positional: list[Value], keywords: dict[str, Value], node: ast.AST) -> Value:
    """What calling a value gives."""
    if isinstance(callee, Union):
        return join(_call(frame, option, positional, keywords, node) for option in callee.options)
    return _call(frame, callee, positional, keywords, node)


def _call(frame: Frame, callee: Value, positional: list[Value], keywords: dict[str, Value], node: ast.AST) -> Value:
    if isinstance(callee, Function):
        return run(frame, callee, positional, keywords, node)
    if isinstance(callee, BoundMethod):
        return _call_method(frame, callee, positional, keywords, node)
    if isinstance(callee, External):
        return _call_external(frame, callee.name, positional, keywords, node)
    if isinstance(callee, Object):
        return _call_object(frame, callee, positional, keywords, node)
    if isinstance(callee, TorchModule):
        return module_calls.call_torch_module(frame, callee, positional, keywords, node)
    if isinstance(callee, ClassValue):
        return instantiate(frame, callee.definition, positional, keywords, node)
    if isinstance(callee, Partial):
        return call(frame, callee.function, [*callee.positional, *positional], {**dict(callee.keywords), **keywords}, node)
    torch_calls.consume_arguments(frame, positional, keywords, node)
    return UNKNOWN if isinstance(callee, Unknown) else PYTHON


def _call_external(
    frame: Frame, name: str, positional: list[Value], keywords: dict[str, Value], node: ast.AST
) -> Value:
    note_call(frame, name, positional, keywords, node)
    arguments = Arguments(positional, keywords)
    library = name.partition(".")[0]
    if library == "builtins":
        return builtin_calls.call_builtin(frame, name[9:], arguments, node)
    if library == "torch":
        return torch_calls.call_torch(frame, name, arguments, node)
    return library_calls.call_library(frame, name, arguments, node)


def _call_method(
    frame: Frame, method: BoundMethod, positional: list[Value], keywords: dict[str, Value], node: ast.AST
) -> Value:
    receiver = method.receiver
    arguments = Arguments(positional, keywords)
    if isinstance(receiver, Tensor):
        return tensor_calls.call_tensor_method(frame, receiver, method.name, arguments, node)
    if isinstance(receiver, Super):
        return _call_super(frame, receiver, method.name, positional, keywords, node)
    if isinstance(receiver, Object):
        return module_calls.call_module_method(frame, receiver, method.name, arguments, node)
    if isinstance(receiver, TorchModule):
        return module_calls.call_torch_module_method(frame, receiver, method.name, arguments, node)
    return builtin_calls.call_container_method(frame, receiver, method.name, arguments, node)


def _call_super(
    frame: Frame, target: Super, name: str, positional: list[Value], keywords: dict[str, Value], node: ast.AST
) -> Value:
    receiver = target.receiver
    if isinstance(receiver, Object):
        found = find_method(frame, receiver.instance.definition, name, after=target.owner)
        if found is not None:
            owner, definition = found
            assert isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef))
            symbol = f"{owner.qualname}.{name}"
            return run(frame, Function(owner.module, definition, symbol, owner, receiver), positional, keywords, node)
        if name == "__init__":
            for base in bases(frame, target.owner):
                if isinstance(base, External):
                    note_call(frame, base.name, positional, keywords, node)
            return NONE
        if name == "forward":
            return torch_calls.fresh(frame, node, name, [*positional, *keywords.values()])
        return module_calls.call_module_method(frame, receiver, name, Arguments(positional, keywords), node)
    return UNKNOWN


def _call_object(
    frame: Frame, callee: Object, positional: list[Value], keywords: dict[str, Value], node: ast.AST
) -> Value:
    definition = callee.instance.definition
    for name in ("__call__", "forward"):
        if find_method(frame, definition, name) is not None:
            return call(frame, attribute_of(frame, callee, name, node), positional, keywords, node)
    torch_calls.consume_arguments(frame, positional, keywords, node)
    return UNKNOWN


def call_method(
    frame: Frame, value: Object, name: str, positional: list[Value], keywords: dict[str, Value], node: ast.AST
) -> Value:
    """`value.name(...)` where Python calls it implicitly; unknown if the class has no such method."""
    if find_method(frame, value.instance.definition, name) is None:
        return UNKNOWN
    return call(frame, attribute_of(frame, value, name, node), positional, keywords, node)


def run(frame: Frame, function: Function, positional: list[Value], keywords: dict[str, Value], node: ast.AST) -> Value:
    """Run a function of the project; each way of calling it is run once."""
    engine = frame.engine
    if not engine.may_enter(function):
        return UNKNOWN
    if function.receiver is not None:
        positional = [function.receiver, *positional]
    inner = Frame(
        engine, function.module, function.symbol,
        owner=function.owner, receiver=positional[0] if positional else None, closure=function.closure,
        guards=frame.guards,
    )  # fmt: skip
    inner.env = bind(inner, function.node, Arguments(positional, keywords))
    key = _key(function, inner)
    if key is not None and key in engine.results:
        return _returned(frame, engine.results[key], node, function)
    _mark_parameters(frame, inner, function, node)
    value: Value = UNKNOWN
    engine.active.append(function.node)
    try:
        if engine.eager and not _builds_module(inner, function):
            with engine.at_most(MAX_EAGER_STEPS):
                value = _body(inner, function.node)
        else:
            value = _body(inner, function.node)
    finally:
        engine.active.pop()
    if key is not None:
        engine.results[key] = value
    return _returned(frame, value, node, function)


def _builds_module(frame: Frame, function: Function) -> bool:
    name = function.symbol.rpartition(".")[2]
    return name == "__init__" and function.owner is not None and is_module(frame, function.owner)


def _key(function: Function, inner: Frame) -> tuple[object, ...] | None:
    if function.closure is not None:
        return None
    key = (function.node, inner.engine.silent > 0, inner.engine.eager > 0, inner.guards > 0, tuple(inner.env.items()))
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _mark_parameters(frame: Frame, inner: Frame, function: Function, node: ast.AST) -> None:
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
    reached = inner.execute(node.body)
    inner.cell.variables = inner.env
    if inner.yields:
        return Sequence(join(inner.yields), "generator")
    found = [*inner.returns, *([NONE] if reached else [])]
    return join(found) if found else UNKNOWN


def _returned(frame: Frame, value: Value, node: ast.AST, function: Function) -> Value:
    if isinstance(function.node, ast.Lambda) or trail_of(value) is None:
        return value
    name = function.symbol.rpartition(".")[2]
    return with_trail(value, frame.trail(node, f"returned by `{name}`", trail_of(value)))



