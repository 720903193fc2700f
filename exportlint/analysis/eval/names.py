"""What a name stands for: local variable, enclosing function, module, built-in."""

from __future__ import annotations

import ast
import builtins

from exportlint.analysis.domain.heap import Cell
from exportlint.analysis.domain.shape import TensorShape
from exportlint.analysis.domain.values import (
    UNKNOWN,
    ClassValue,
    Descriptor,
    Dict,
    External,
    Function,
    Namespace,
    Object,
    Origin,
    Partial,
    Python,
    Sequence,
    Tensor,
    Tuple,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.engine import Engine
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.global_values import GlobalValue
from exportlint.analysis.eval.returned_arguments import returns_first_argument
from exportlint.analysis.library_functions import find
from exportlint.analysis.limits import MAX_GLOBAL_STEPS
from exportlint.analysis.project import Definition
from exportlint.analysis.torch import table
from exportlint.syntax.definitions import Assignment, Class, FunctionNode, Module

SCRIPTS = frozenset({"torch.jit.script", "torch.jit.script_if_tracing"})
DISABLES = frozenset({"torch.compiler.disable", "torch._dynamo.disable"})
CONTEXTS = frozenset({"torch.inference_mode"})
"""Wrappers of torch that change how a function is traced, or how it runs."""
TRANSFORMS = frozenset(
    f"{library}.{name}"
    for library in ("torch.func", "functorch")
    for name in ("grad", "grad_and_value", "jacrev", "jacfwd", "hessian", "functionalize")
)
"""Wrappers of torch that give another function, which matters where it is called."""
CACHES = frozenset({"functools.lru_cache", "functools.cache"})
"""Wrappers of Python that find earlier results by the hashes of the arguments. TorchDynamo looks through them."""

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
            return (frame.changed_value(Cell(cell, name)) or found) if cell.lasting else found
        cell = cell.parent
    return frame.changed_value(Cell(frame.module, name)) or global_value(frame, frame.module, name)


def global_value(frame: Frame, module: Module, name: str) -> Value:
    """The value of a name of a module, as running the module leaves it."""
    key = (module, name)
    engine = frame.engine
    known = engine.globals.get(key)
    if known is None:
        known = engine.globals[key] = _global_value(frame, module, name)
    elif key in engine.limited_globals:
        engine.limits_reached += engine.limited_globals[key]
    return known


def _global_value(frame: Frame, module: Module, name: str) -> Value:
    found = frame.engine.project.member(module, name)
    if isinstance(found, Definition):
        return definition_value(frame, found)
    if found is not None:
        return named_value(frame, found, module)
    return External(f"builtins.{name}") if name in BUILTINS else UNKNOWN


def named_value(frame: Frame, name: str, importer: Module) -> Value:
    """What an imported qualified name stands for. Nobody looks into a library function that strict mode refuses."""
    if name.partition(".")[0] not in OWN_LIBRARIES:
        found = frame.engine.project.resolve(name, importer)
        if isinstance(found, Module):
            return Namespace(found)
        if isinstance(found, str):
            return External(found)
        if found is not None:
            own = f"{found.module.name}.{found.name}"
            return External(own) if find(own).strict == "refuses" else definition_value(frame, found)
    return External(name)


def definition_value(frame: Frame, definition: Definition) -> Value:
    """The value of a top-level definition."""
    binding = definition.binding
    if isinstance(binding, Class):
        return ClassValue(binding)
    if isinstance(binding, FunctionNode) and not binding.decorator_list:
        return Function(definition.module, binding, binding.name)
    engine = frame.engine
    key = definition.module, definition.name
    found = engine.global_values.get(engine.project, key, lambda: _evaluated(engine, definition))
    if found.limits:
        engine.limits_reached += found.limits
        engine.limited_globals[key] = found.limits
    return found.value


def _evaluated(engine: Engine, definition: Definition) -> GlobalValue:
    """The value of a top-level definition, evaluated as if nobody had run anything before."""
    values = engine.global_values
    if values.depth > MAX_GLOBALS:
        values.depends_on_asker()
        return GlobalValue(UNKNOWN, limits=(engine.place_of("global"),))
    apart = engine.apart(definition)
    value = apart.with_limit(MAX_GLOBAL_STEPS, "global", lambda: _bound(Frame(apart, definition.module), definition))
    return GlobalValue(value, limits=tuple(apart.limits_reached))


def top_level_value(engine: Engine, module: Module, node: ast.expr) -> Value:
    """What an expression at the top level of a file is."""
    apart = engine.apart()
    return apart.with_limit(MAX_GLOBAL_STEPS, "global", lambda: Frame(apart, module).peek(node))


def _bound(frame: Frame, definition: Definition) -> Value:
    """What a definition binds: a decorated function, or what is assigned."""
    binding = definition.binding
    if isinstance(binding, FunctionNode):
        return decorated(frame, Function(definition.module, binding, binding.name))
    assert isinstance(binding, Assignment)
    engine = frame.engine
    value = frame.peek(binding.value)
    if binding.index is not None:
        value = value.items[binding.index] if isinstance(value, Tuple) and binding.index < len(value.items) else UNKNOWN
    return engine.fixed(settled(value, Origin.GLOBAL, engine.mode == "non-strict"))


def settled(value: Value, origin: Origin, known: bool) -> Value:
    """A value as it is once the code that made it has run: its tensors are real, so non-strict tracing knows them."""
    if isinstance(value, Tensor) and value.origin is Origin.FRESH:
        shape = TensorShape((), value.shape.rank)
        return Tensor(origin, value.kind, known=known, shape=shape, trail=value.trail)
    if isinstance(value, Tuple):
        items = tuple(settled(i, origin, known) for i in value.items)
        return Tuple(items, value.mutable, identity=value.identity)
    if isinstance(value, Sequence):
        return Sequence(settled(value.item, origin, known), value.type, value.identity)
    if isinstance(value, Dict):
        entries = tuple((k, settled(v, origin, known)) for k, v in value.entries)
        rest = None if value.rest is None else settled(value.rest, origin, known)
        return Dict(entries, rest, value.identity)
    return value


def custom_op(name: ast.expr | None) -> Value:
    """The custom operator of a name: `torch.ops.library.name` for the literal `"library::name"`."""
    if isinstance(name, ast.Constant) and isinstance(name.value, str) and name.value.count("::") == 1:
        return External("torch.ops." + name.value.replace("::", "."))
    return UNKNOWN


def decorated(frame: Frame, function: Function) -> Value:
    """What the decorators of a function make of it, from the one next to it outwards."""
    node = function.node
    if isinstance(node, ast.Lambda):
        return function
    scope = Frame(frame.engine, function.module, closure=function.closure)
    value: Value = function
    for decorator in reversed(node.decorator_list):
        value = _decorate(scope, value, decorator)
    return value


def descriptor(name: str, value: Value) -> Value | None:
    """What a descriptor of Python or of a library makes of a function; None for anything else."""
    kind = find(name).decorated
    return None if kind is None or kind == "dispatcher" or kind == "kernel" else Descriptor(kind, value)


def _decorate(scope: Frame, value: Value, decorator: ast.expr) -> Value:
    """What one decorator makes of a value. Decorators of other libraries are taken to return what behaves like it."""
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    found = scope.peek(target)
    if isinstance(found, (Function, ClassValue, Object, Partial)):
        return _applied(scope, value, decorator)
    if not isinstance(found, External):
        return value
    if found.name in {"torch.library.custom_op", "torch.library.triton_op"}:
        return custom_op(decorator.args[0] if isinstance(decorator, ast.Call) and decorator.args else None)
    kind = find(found.name).decorated
    if kind == "dispatcher":
        return UNKNOWN
    if kind == "kernel":
        return Python("function")
    wrapper = table.resolve(found.name)
    if wrapper in SCRIPTS | DISABLES | CONTEXTS:
        given = decorator.keywords if isinstance(decorator, ast.Call) else []
        options = ((k.arg, scope.peek(k.value)) for k in given if k.arg)
        return Partial(value, wrapper=wrapper, options=tuple(options))
    if found.name in CACHES:
        return Partial(value, wrapper=found.name)
    made = descriptor(found.name, value)
    return value if made is None else made


MAX_WRAPPER = 300
"""Nodes of a wrapper that is run. Larger ones are looked through: they cost more than all that they wrap."""


def _applied(scope: Frame, value: Value, decorator: ast.expr) -> Value:
    """What a decorator of the project returns for a value; the value itself where that cannot be told."""
    engine = scope.engine
    known = engine.wrappers.get(decorator)
    if known is None or scope.parent is not None:
        engine.wrappers[decorator] = value  # what a decorator that is decorated with itself sees
        engine.silent += 1
        engine.constructing += 1
        try:
            called = scope.evaluate(decorator)
            if isinstance(called, Function) and returns_first_argument(scope, called, value):
                made = value
            else:
                made = scope.call(called, Arguments((value,)), decorator)
        finally:
            engine.silent -= 1
            engine.constructing -= 1
        is_known = isinstance(made, (Function, Object, Partial, Descriptor))
        if isinstance(made, Function) and sum(1 for _ in ast.walk(made.node)) > MAX_WRAPPER:
            is_known = False
        known = engine.wrappers[decorator] = made if is_known else value
    return known
