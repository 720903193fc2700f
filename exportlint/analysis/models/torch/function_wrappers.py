"""Calls of functions under wrappers of torch, whose body is traced in another way or not at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.trails import Trail
from exportlint.analysis.domain.values import FALSE, UNKNOWN, Function, Partial, Tensor, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.classes import find_method
from exportlint.analysis.eval.demands import demand_hash
from exportlint.analysis.eval.frame import Frame, calls
from exportlint.analysis.eval.instances import note_call
from exportlint.analysis.eval.names import CACHES, DISABLES, SCRIPTS, TRANSFORMS
from exportlint.analysis.facts import Branch, Call, Conversion, Fact
from exportlint.analysis.facts.tracing import FunctionApplied, WrappedCall
from exportlint.analysis.library_functions import functions
from exportlint.analysis.models.torch.results import fresh, read_arguments
from exportlint.syntax.definitions import Class, dotted
from exportlint.syntax.walk import walk

MARK_DIRTY = "torch.autograd.function.FunctionCtx.mark_dirty"
functions(MARK_DIRTY, strict="refuses")

MAPS = frozenset({"torch.vmap", "torch.func.vmap", "functorch.vmap"})


@calls(Partial)
def _call_partial(frame: Frame, callee: Partial, arguments: Arguments, node: ast.AST) -> Value:
    if callee.wrapper:
        return _call_wrapped(frame, callee, arguments, node)
    keywords = {**dict(callee.keywords), **arguments.keywords}
    return frame.call(callee.function, Arguments((*callee.positional, *arguments.positional), keywords), node)


def makes_transform(name: str, arguments: Arguments) -> bool:
    """Whether a call makes a transform of `torch.func`, or maps one; that shows where what it makes is called."""
    first = arguments.get(0, "func")
    of_transform = isinstance(first, Partial) and first.wrapper in TRANSFORMS
    return name in TRANSFORMS or (name in MAPS and of_transform)


def _call_wrapped(frame: Frame, callee: Partial, arguments: Arguments, node: ast.AST) -> Value:
    """A call of what `torch.jit.script`, `torch.compiler.disable` or `torch.inference_mode` made of a function."""
    engine = frame.engine
    options = dict(callee.options)
    name = getattr(callee.function, "symbol", "module").rpartition(".")[2]
    if callee.wrapper in TRANSFORMS | MAPS:
        if not engine.constructing:
            note_call(frame, callee.wrapper, Arguments((callee.function,)), node)
        inner = callee.function
        while isinstance(inner, Partial) and inner.wrapper in TRANSFORMS:
            inner = inner.function
        with engine.without_gradients():
            frame.call(inner, arguments, node)
        return UNKNOWN
    if callee.wrapper in CACHES:
        for value in arguments.values:
            demand_hash(frame, value, node, "cache key")
        with engine.in_cache():
            return frame.call(callee.function, arguments, node)
    if engine.constructing or callee.wrapper not in SCRIPTS | DISABLES:
        if not engine.constructing:
            note_call(frame, callee.wrapper, Arguments((), options), node)
        return frame.call(callee.function, arguments, node)
    recursive = options.get("recursive") != FALSE
    is_opaque = callee.wrapper in SCRIPTS or (engine.mode == "strict" and recursive)
    with engine.collecting(frame.heap, reports_facts=not is_opaque) as effects:
        value = frame.call(callee.function, arguments, node)
    inside = effects.all_facts() if is_opaque else {}
    found = next((fact for fact in inside.values() if _asks_for_data(fact)), None)
    frame.emit(
        WrappedCall, node, _cause(found),
        wrapper=callee.wrapper, name=name, inside=found, recursive=recursive,
        is_module=not isinstance(callee.function, (Function, Partial)),
    )  # fmt: skip
    return value


def _asks_for_data(fact: Fact) -> bool:
    return isinstance(fact, (Branch, Conversion))


def _cause(fact: Fact | None) -> Tensor | None:
    return Tensor(trail=fact.trail) if fact is not None and isinstance(fact.trail, Trail) else None


def _calls_of_context(method: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> Iterator[ast.Call]:
    """The calls of a method of the context, which is the first parameter of a `forward`."""
    parameters = [*method.args.posonlyargs, *method.args.args]
    context = parameters[0].arg if parameters else ""
    for node in walk(method):
        if isinstance(node, ast.Call) and dotted(node.func) == f"{context}.{name}":
            yield node


def apply_function(frame: Frame, definition: Class, arguments: Arguments, node: ast.AST) -> Value:
    """`Class.apply(…)` of a `torch.autograd.Function`: its `forward` is traced."""
    found = find_method(frame, definition, "forward")
    if any(find_method(frame, definition, name) for name in ("backward", "vjp")):
        frame.emit(FunctionApplied, node, None, name=definition.node.name)
    if found is None:
        read_arguments(frame, arguments, node)
        return UNKNOWN
    owner, method = found
    assert isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef))
    inside = Frame(frame.engine, owner.module, f"{owner.qualname}.forward")
    for call in _calls_of_context(method, "mark_dirty"):
        inside.emit(Call, call, None, name=MARK_DIRTY, positional=(), keywords=())
    if find_method(frame, definition, "setup_context") is None:
        arguments = arguments.after(UNKNOWN)
    with frame.engine.without_gradients():
        value = frame.call(Function(owner.module, method, f"{owner.qualname}.forward", owner), arguments, node)
    return fresh(frame, node, f"{definition.node.name}.apply", (value,)) if isinstance(value, Tensor) else value
