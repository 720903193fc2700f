"""Parameters: how arguments bind to them, and what `forward` is given when torch.export calls it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from exportlint.analysis.domain.allocations import identified, is_mutable
from exportlint.analysis.domain.dim import LEAST, symbol
from exportlint.analysis.domain.exported_as import UNSPECIFIED, ExportedAs
from exportlint.analysis.domain.lattice import join
from exportlint.analysis.domain.shape import TensorShape
from exportlint.analysis.domain.values import (
    ITERABLE,
    NONE,
    PYTHON,
    SOME_MODULE,
    UNKNOWN,
    ClassValue,
    Const,
    Dict,
    External,
    Function,
    Origin,
    Partial,
    Python,
    Range,
    Sequence,
    Tensor,
    Tuple,
    Value,
)
from exportlint.analysis.eval.annotations import annotated_argument
from exportlint.analysis.eval.arguments import UNPACKED, Arguments
from exportlint.analysis.eval.declared_types import believed, declared_argument
from exportlint.analysis.eval.frame import Environment, Frame
from exportlint.analysis.eval.parameter_usage import NOTHING, Usage, parameter_usage
from exportlint.analysis.eval.state_access import note_default
from exportlint.syntax.definitions import FunctionLike

OPEN_DICT = Dict((), UNKNOWN)
"""A dictionary of which nothing is known."""
INPUT = ".<input>"
"""Behind the name of a variable: which argument of `forward` it holds, where that is a container."""


def bind(frame: Frame, node: FunctionLike, arguments: Arguments) -> Environment:
    """The variables of a function as it starts. `frame` is the callee's; arguments that do not fit are dropped."""
    spec = node.args
    names = [a.arg for a in (*spec.posonlyargs, *spec.args)]
    positional, keywords = list(arguments.positional), dict(arguments.keywords)
    env: Environment = {}
    rest = keywords.pop(UNPACKED, None)
    repeated: Value | None = None
    if positional and isinstance(positional[-1], Sequence) and positional[-1].type == "*":
        repeated = positional.pop().item  # type: ignore[attr-defined]
    for name, value in zip(names, positional, strict=False):
        env[name] = value
    if spec.vararg is not None:
        extra = tuple(positional[len(names) :])
        env[spec.vararg.arg] = Tuple(extra) if repeated is None else Sequence(join((*extra, repeated)), "tuple")
    for name in (*names, *(a.arg for a in spec.kwonlyargs)):
        if name in keywords:
            env[name] = keywords.pop(name)
    if spec.kwarg is not None:
        env[spec.kwarg.arg] = Dict(tuple(keywords.items()), rest)
    fallback = rest if rest is not None else repeated
    for name, default in defaults(node):
        if name not in env:
            value = _default(frame, default)
            env[name] = value if fallback is None else join((value, UNKNOWN))
            note_default(env, name, default, value)
    for argument in (*spec.posonlyargs, *spec.args):
        if argument.arg not in env and repeated is not None and (rest is None or _is_assumed(repeated)):
            env[argument.arg] = repeated  # what has no default, `f(*args)` has to give
    for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
        value = env.get(argument.arg, UNKNOWN)
        env[argument.arg] = believed(value, partial(declared_argument, frame, argument))
    return env


def misfit(node: FunctionLike, arguments: Arguments) -> tuple[str | None] | None:
    """An argument that a function surely does not take: its keyword, or None for a positional one; else no tuple."""
    spec = node.args
    positional = [a.arg for a in (*spec.posonlyargs, *spec.args)]
    known = {*positional[len(spec.posonlyargs) :], *(a.arg for a in spec.kwonlyargs)}
    if spec.kwarg is None:
        for name in arguments.keywords:
            if name != UNPACKED and name not in known:
                return (name,)
    given = [v for v in arguments.positional if not (isinstance(v, Sequence) and v.type == "*")]
    return (None,) if spec.vararg is None and len(given) > len(positional) else None


def _is_assumed(value: Value) -> bool:
    """Whether nothing but the use of a value can say that it is a tensor."""
    return isinstance(value, Tensor) and value.assumed


def _default(frame: Frame, node: ast.expr) -> Value:
    """The default of a parameter: a container is the same one for all calls."""
    known = frame.engine.defaults.get(node)
    if known is not None:
        return frame.current(known)
    value = frame.peek(node)
    if is_mutable(value) and frame.parent is None:
        value = frame.engine.defaults[node] = frame.engine.fixed(value)
    return value


def defaults(node: FunctionLike) -> Iterator[tuple[str, ast.expr]]:
    """The parameters that have a default, with it."""
    spec = node.args
    names = [a.arg for a in (*spec.posonlyargs, *spec.args)]
    yield from zip(names[len(names) - len(spec.defaults) :], spec.defaults, strict=True)
    for argument, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
        if default is not None:
            yield argument.arg, default


def constructor_arguments(frame: Frame, node: FunctionLike) -> Environment:
    """What a constructor is given when nobody says so: configuration, not tensors."""
    env: Environment = {}
    for argument in _all_arguments(node):
        value = annotated_argument(frame, argument)
        env[argument.arg] = PYTHON if value is None or isinstance(value, Tensor) else value
    for name, default in defaults(node):
        given = frame.peek(default)
        if given == NONE:
            env[name] = join((NONE, UNKNOWN))
        elif _makes_layers(given):
            env[name] = given
    return env


def _makes_layers(value: Value) -> bool:
    """Whether a default is a class or a function that makes layers: what is given instead makes layers like them."""
    function = value.function if isinstance(value, Partial) else value
    if isinstance(function, External):
        return function.name.startswith("torch.nn.")
    return isinstance(function, (ClassValue, Function))


def forward_arguments(
    frame: Frame,
    node: FunctionLike,
    is_exported: Callable[[], bool],
    exported: ExportedAs = UNSPECIFIED,
) -> Environment:
    """What `forward` is given by torch.export, `self` left out.

    It takes an annotation, or a use that only a tensor allows, to be sure that an argument is a tensor. `is_exported`
    says that no other class of the file uses the module: then what `forward` demands without a default is a tensor
    too, unless it is used like something else. What is used as lists, tuples and tensors all can be is an iterable of
    unknown kind, whose items are what they are used as. `exported` is what the code that exports the module says.
    """
    default = dict(defaults(node))
    usages = parameter_usage(frame, node)
    env: Environment = {}
    arguments = list(_all_arguments(node))[1:]
    requires_some = any(argument.arg not in default for argument in arguments)
    for index, argument in enumerate(arguments):
        name = argument.arg
        value = annotated_argument(frame, argument)
        given = default.get(name)
        is_none = isinstance(given, ast.Constant) and given.value is None
        usage = usages.get(name, NOTHING)
        if value is None and given is not None and not is_none and usage.kind not in {"list", "dict"}:
            value = _like_default(frame.peek(given))
        elif value is None:
            value = _used(frame, argument, usage, is_exported=given is None and is_exported())
        elif value == OPEN_DICT:
            value = _used(frame, argument, replace(usage, kind="dict"), is_exported=False)  # `batch: dict`
        elif isinstance(value, Tensor) and usage.kind == "list" and usage.item is not None:
            value = _used(frame, argument, usage, is_exported=False)  # what `zip(states, self.layers)` takes apart
        elif value == UNKNOWN and usage.item is not None and usage.item.kind == "tensor":
            value = Sequence(_used(frame, argument, usage.item, is_exported=False), ITERABLE)  # `x: list`
        if isinstance(value, Tensor) and given is not None and not is_none:
            value = _like_default(frame.peek(given))  # `output_attentions: Tensor = False` is annotated wrongly
        if name in exported.tensors and (not isinstance(value, Tensor) or value.assumed):
            value = _tensor(frame, argument, surely=True)
        if isinstance(value, Tensor):
            value = Tensor(
                Origin.INPUT, value.kind, shape=_shape(frame, index, name, exported),
                assumed=value.assumed, optional=value.optional or is_none,
                name=name,
                trail=frame.trail(argument, f"`{name}` is an input of `{frame.symbol}`"),
            )  # fmt: skip
        if is_none and frame.engine.omits_arguments:
            if frame.engine.omits_tensors or not (isinstance(value, Tensor) and not value.assumed):
                value = NONE
            else:
                frame.engine.keeps_tensors = requires_some
        if isinstance(value, Dict):
            value = identified(value, frozenset((frame.allocate(argument),)))  # helpers put entries in
        env[name] = value
        shared = _default(frame, given) if given is not None and is_exported() else None
        if given is not None and shared is not None and note_default(env, name, given, shared):
            env[name] = shared
        elif _is_container(value) and is_exported():  # the caller of a part is traced as well
            env[f"{name}{INPUT}"] = Const(name)
    if node.args.vararg is not None:
        env[node.args.vararg.arg] = Sequence(
            Tensor(Origin.INPUT, assumed=True, name=node.args.vararg.arg,
                   trail=frame.trail(node.args.vararg, f"`{node.args.vararg.arg}` are inputs of `{frame.symbol}`")),
            "tuple",
        )  # fmt: skip
    if node.args.kwarg is not None:
        env[node.args.kwarg.arg] = Dict((), UNKNOWN)
    return env


def _is_container(value: Value) -> bool:
    """Whether a value is a container that code can change."""
    return isinstance(value, Dict) or (isinstance(value, Sequence) and value.type != ITERABLE)


def _used(frame: Frame, argument: ast.arg, usage: Usage, *, is_exported: bool) -> Value:
    """What an argument without annotation is, judged by its uses."""
    if usage.kind == "number":
        return _tensor(frame, argument, surely=False)
    if usage.kind == "dict":
        entries = [(key, _used(frame, argument, entry, is_exported=False)) for key, entry in usage.entries]
        return Dict(tuple(entries), UNKNOWN)
    if usage.kind == "module":
        return SOME_MODULE
    if usage.kind == "list":
        return Sequence(UNKNOWN if usage.item is None else _used(frame, argument, usage.item, is_exported=False))
    if usage.kind == "iterable":
        return Sequence(_used(frame, argument, usage.item or NOTHING, is_exported=is_exported), ITERABLE)
    return _tensor(frame, argument, surely=usage.kind == "tensor" or is_exported)


def _tensor(frame: Frame, argument: ast.arg, *, surely: bool) -> Tensor:
    trail = frame.trail(argument, f"`{argument.arg}` is an input of `{frame.symbol}`")
    return Tensor(Origin.INPUT, assumed=not surely, name=argument.arg, trail=trail)


def _shape(frame: Frame, index: int, name: str, exported: ExportedAs) -> TensorShape:
    """The shape of an input, of which some dimensions vary from call to call.

    They are called by its position: what a helper gives is kept for the inputs of other modules.
    """
    bounds = (
        dict.fromkeys(frame.engine.options.dynamic_dims, Range(LEAST))
        if exported.dims is None
        else exported.dims.get(name, {})
    )
    shape = TensorShape((), exported.tensors.get(name))
    for position, size in bounds.items():
        varying = symbol(f"{index}.{position}", size.lowest, size.highest, size.declared)
        shape = shape.replaced(position, varying)
    return shape


def _like_default(value: Value) -> Value:
    return Python(type(value.value).__name__) if isinstance(value, Const) else value


def _all_arguments(node: FunctionLike) -> Iterator[ast.arg]:
    yield from (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
