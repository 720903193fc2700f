"""What a name stands for: local variable, enclosing function, module, built-in."""

from __future__ import annotations

import ast
import builtins
from dataclasses import replace

from exportlint.analysis import table
from exportlint.analysis.domain.heap import Cell
from exportlint.analysis.interpreter.arguments import Arguments
from exportlint.analysis.interpreter.frame import Frame
from exportlint.analysis.outline import Assignment, Class, FunctionNode, Module
from exportlint.analysis.project import Definition
from exportlint.analysis.values import (
    UNKNOWN,
    ClassValue,
    Dict,
    External,
    Function,
    Namespace,
    Origin,
    Partial,
    Python,
    Sequence,
    Tensor,
    Tuple,
    Value,
)

SCRIPTS = frozenset({"torch.jit.script", "torch.jit.script_if_tracing"})
DISABLES = frozenset({"torch.compiler.disable", "torch._dynamo.disable"})
CONTEXTS = frozenset({"torch.inference_mode"})
"""Wrappers of torch that change how a function is traced, or how it runs."""

BUILTINS = frozenset(vars(builtins))
OWN_LIBRARIES = ("torch", "numpy", "math", "random", "functools", "collections", "typing", "copy", "time", "os")
"""Qualified names below these are never looked for in the project, whatever its folders are called."""


MAX_GLOBALS = 300
"""Variables of modules that need the next one to be known."""


def look_up(frame: Frame, name: str) -> Value:
    """The value of a name where it is used."""
    found = frame.env.get(name)
    if found is not None:
        return found
    cell = frame.parent
    while cell is not None:
        found = cell.variables.get(name)
        if found is not None:
            return found
        cell = cell.parent
    return frame.changed(Cell(frame.module, name)) or global_value(frame, frame.module, name)


def global_value(frame: Frame, module: Module, name: str) -> Value:
    """The value of a name of a module, as running the module leaves it."""
    key = (module, name)
    engine = frame.engine
    known = engine.globals
    if key not in known:
        known[key] = UNKNOWN  # what a definition that refers to itself sees
        if len(engine.evaluating) >= MAX_GLOBALS:
            engine.cuts.append("global")
        else:
            cuts = len(engine.cuts)
            engine.evaluating.append(key)
            try:
                known[key] = _global_value(frame, module, name)
            finally:
                engine.evaluating.pop()
            if len(engine.cuts) > cuts:
                engine.cut_globals.add(key)
    elif key in engine.cut_globals:
        engine.cuts.append("global")
    return known[key]


def _global_value(frame: Frame, module: Module, name: str) -> Value:
    found = frame.engine.project.member(module, name)
    if isinstance(found, Definition):
        return definition_value(frame, found)
    if found is not None:
        return named_value(frame, found, module)
    return External(f"builtins.{name}") if name in BUILTINS else UNKNOWN


def named_value(frame: Frame, name: str, importer: Module) -> Value:
    """What an imported qualified name stands for."""
    if name.partition(".")[0] not in OWN_LIBRARIES:
        found = frame.engine.project.resolve(name, importer)
        if isinstance(found, Module):
            return Namespace(found)
        if isinstance(found, str):
            return External(found)
        if found is not None:
            return definition_value(frame, found)
    return External(name)


def definition_value(frame: Frame, definition: Definition) -> Value:
    """The value of a top-level definition."""
    binding = definition.binding
    if isinstance(binding, Class):
        return ClassValue(binding)
    if isinstance(binding, FunctionNode):
        return decorated(frame, Function(definition.module, binding, binding.name))
    assert isinstance(binding, Assignment)
    return _assigned(frame, definition.module, binding)


def _assigned(frame: Frame, module: Module, binding: Assignment) -> Value:
    engine = frame.engine
    value = engine.apart(lambda: Frame(engine, module).peek(binding.value))
    if binding.index is not None:
        value = value.items[binding.index] if isinstance(value, Tuple) and binding.index < len(value.items) else UNKNOWN
    return settled(value, Origin.GLOBAL, engine.mode == "non-strict")


def settled(value: Value, origin: Origin, known: bool) -> Value:
    """A value as it is once the code that made it has run: its tensors are real, so non-strict tracing knows them."""
    if isinstance(value, Tensor) and value.origin is Origin.FRESH:
        return Tensor(origin, value.kind, known=known, zero_dim=value.zero_dim, trail=value.trail)
    if isinstance(value, Tuple):
        return Tuple(tuple(settled(i, origin, known) for i in value.items), value.mutable)
    if isinstance(value, Sequence):
        return Sequence(settled(value.item, origin, known), value.type)
    if isinstance(value, Dict):
        entries = tuple((k, settled(v, origin, known)) for k, v in value.entries)
        return Dict(entries, None if value.rest is None else settled(value.rest, origin, known))
    return value


def custom_op(name: ast.expr | None) -> Value:
    """The custom operator of a name: `torch.ops.library.name` for the literal `"library::name"`."""
    if isinstance(name, ast.Constant) and isinstance(name.value, str) and name.value.count("::") == 1:
        return External("torch.ops." + name.value.replace("::", "."))
    return UNKNOWN


def decorated(frame: Frame, function: Function) -> Value:
    """A function under its decorators: those of the project that return a wrapper are seen through."""
    node = function.node
    if isinstance(node, ast.Lambda) or not node.decorator_list:
        return function
    engine = frame.engine
    for decorator in reversed(node.decorator_list):
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        value = Frame(engine, function.module).peek(target)
        if isinstance(value, Function):
            function = wrapped(frame, function, decorator)
        if isinstance(value, External):
            if value.name in {"torch.library.custom_op", "torch.library.triton_op"}:
                return custom_op(decorator.args[0] if isinstance(decorator, ast.Call) and decorator.args else None)
            if value.name == "functools.singledispatch":
                return UNKNOWN
            if value.name.startswith(("numba.", "triton.")):
                return Python("function")
            wrapper = table.resolve(value.name)
            if wrapper in SCRIPTS | DISABLES | CONTEXTS:
                given = decorator.keywords if isinstance(decorator, ast.Call) else []
                options = ((k.arg, Frame(engine, function.module).peek(k.value)) for k in given if k.arg)
                return Partial(function, wrapper=wrapper, options=tuple(options))
    return function


MAX_WRAPPER = 300
"""Nodes of a wrapper that is run. Larger ones manage hooks and caches rather than tensors, and are looked through."""


def wrapped(frame: Frame, function: Function, decorator: ast.expr) -> Function:
    """What a decorator of the project makes of a function; the function itself where that cannot be told."""
    engine = frame.engine
    known = engine.wrappers.get(decorator)
    if known is None or function.closure is not None:
        bare = replace(function, receiver=None)
        engine.wrappers[decorator] = bare  # what a decorator that is decorated with itself sees
        engine.silent += 1
        engine.eager += 1
        try:
            outer = Frame(engine, function.module)
            made = outer.call(outer.evaluate(decorator), Arguments((bare,)), decorator)
        finally:
            engine.silent -= 1
            engine.eager -= 1
        is_run = isinstance(made, Function) and sum(1 for _ in ast.walk(made.node)) <= MAX_WRAPPER
        known = engine.wrappers[decorator] = made if isinstance(made, Function) and is_run else bare
    return replace(known, receiver=function.receiver)
