"""Evaluates calls in code that calls torch.export: models, tensors, programs. Records facts about some of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.script_values import Example, Hint, Model, Program, Unlifted
from exportlint.analysis.domain.values import (
    UNKNOWN,
    BoundMethod,
    ClassValue,
    Const,
    Dict,
    External,
    Function,
    Partial,
    Sequence,
    Tuple,
    Value,
)
from exportlint.analysis.eval.arguments import UNPACKED, Arguments
from exportlint.analysis.eval.classes import is_module
from exportlint.analysis.scripts import programs, tensors
from exportlint.analysis.scripts.expressions import CALLS, evaluate
from exportlint.analysis.scripts.scope import MAX_DEPTH, Scope
from exportlint.analysis.torch import table

KEEPS_MODE = frozenset({
    "to", "cuda", "cpu", "float", "half", "double", "bfloat16", "requires_grad_", "type", "share_memory", "apply",
    "to_empty", "zero_grad", "compile",
})  # fmt: skip
LEAVES_ALONE = frozenset({
    "load_state_dict", "state_dict", "parameters", "named_parameters", "buffers", "named_buffers", "modules",
    "children", "named_modules", "named_children", "register_buffer", "register_forward_hook", "get_submodule",
})  # fmt: skip
"""Methods of modules that give something other than the module, and do not change its mode."""
HARMLESS = (
    "builtins.",
    "torch.save",
    "torch.manual_seed",
    "torch.no_grad",
    "torch.optim.",
    "copy.deepcopy",
    "logging.",
)
"""Functions that may receive a model and do not change its mode."""
LIBRARY_MODELS = ("torchvision.models.", "timm.create_model", "torch.hub.load")
"""Functions that create a model in training mode, the initial mode of every module."""
LIBRARIES = ("transformers.", "diffusers.", "ultralytics.")
"""Libraries that may create a model in either mode."""

MAX_ITEMS = 16
"""The most items of a range that is evaluated item by item."""


def call(scope: Scope, node: ast.Call) -> Value:
    """The value of a call."""
    callee = evaluate(scope, node.func)
    arguments = Arguments(tuple(_positional(scope, node)), dict(_keywords(scope, node)))
    if isinstance(callee, Function):
        return _run(scope, callee, arguments)
    if isinstance(callee, External):
        return _external(scope, callee.name, arguments, node)
    if isinstance(callee, ClassValue):
        return _construct(scope, callee, arguments)
    if isinstance(callee, BoundMethod):
        return _method(scope, callee, arguments, node)
    if isinstance(callee, Program | Unlifted):
        return programs.run(scope, callee, arguments, node)
    if isinstance(callee, Hint):
        return callee
    if not isinstance(callee, Model):
        scope.forget(arguments.values)
    return UNKNOWN


CALLS.append(call)


def _positional(scope: Scope, node: ast.Call) -> Iterator[Value]:
    for argument in node.args:
        value = evaluate(scope, argument.value if isinstance(argument, ast.Starred) else argument)
        if not isinstance(argument, ast.Starred):
            yield value
        elif isinstance(value, Tuple):
            yield from value.items
        else:
            yield Sequence(UNKNOWN, "*")


def _keywords(scope: Scope, node: ast.Call) -> Iterator[tuple[str, Value]]:
    for keyword in node.keywords:
        value = evaluate(scope, keyword.value)
        if keyword.arg is not None:
            yield keyword.arg, value
        elif isinstance(value, Dict) and value.rest is None:
            yield from ((str(key), item) for key, item in value.entries)
        else:
            yield UNPACKED, UNKNOWN


def _run(scope: Scope, function: Function, arguments: Arguments) -> Value:
    """The result of running a function of the project with these arguments."""
    node, run = function.node, scope.run
    if node in run.active or len(run.active) >= MAX_DEPTH or isinstance(node, ast.Lambda | ast.AsyncFunctionDef):
        scope.forget(arguments.values)
        return UNKNOWN
    from exportlint.analysis.scripts.statements import execute

    inner = scope.inner(function, run.enclosing_scopes.get(node, ()))
    if function.receiver is not None:
        arguments = arguments.after(function.receiver)
    inner.env.update(_bound(node.args, arguments))
    inner.training = dict(scope.training)
    run.active.append(node)
    try:
        execute(inner, node.body)
    finally:
        run.active.pop()
    scope.training = inner.training
    if any(isinstance(n, ast.Yield | ast.YieldFrom) for n in ast.walk(node)):
        return UNKNOWN
    first, *others = inner.returns or [UNKNOWN]
    return first if all(other == first for other in others) else UNKNOWN


def _bound(parameters: ast.arguments, arguments: Arguments) -> dict[object, Value]:
    """The values of the parameters of a function. Defaults that are not constants are unknown."""
    names = [p.arg for p in (*parameters.posonlyargs, *parameters.args)]
    is_known = UNPACKED not in arguments.keywords and Sequence(UNKNOWN, "*") not in arguments.positional
    bound: dict[object, Value] = dict.fromkeys((*names, *(p.arg for p in parameters.kwonlyargs)), UNKNOWN)
    if is_known:
        defaults = [*zip(reversed(names), reversed(parameters.defaults), strict=False)]
        defaults += [(p.arg, d) for p, d in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True) if d]
        bound.update({name: Const(d.value) for name, d in defaults if isinstance(d, ast.Constant)})
        bound.update(zip(names, arguments.positional, strict=False))
        bound.update({name: value for name, value in arguments.keywords.items() if name in bound})
    if parameters.vararg:
        rest = Tuple(arguments.positional[len(names) :]) if is_known else Sequence(UNKNOWN, "tuple")
        bound[parameters.vararg.arg] = rest
    if parameters.kwarg:
        others = tuple((k, v) for k, v in arguments.keywords.items() if k not in bound)
        bound[parameters.kwarg.arg] = Dict(others if is_known else (), None if is_known else UNKNOWN)
    return bound


def _construct(scope: Scope, cls: ClassValue, arguments: Arguments) -> Value:
    if not is_module(scope.frame, cls.definition):
        scope.forget(arguments.values)
        return UNKNOWN
    return _model(scope, Model(cls.definition.qualname, cls.definition, _models(arguments.values)))


def _external(scope: Scope, name: str, arguments: Arguments, node: ast.Call) -> Value:
    if (found := programs.call(scope, name, arguments, node)) is not None:
        return found
    if name in {"torch.compile", "torch.nn.DataParallel"}:
        return arguments.get(0, "model") or UNKNOWN
    if name in {"functools.partial"}:
        return Partial(arguments.get(0) or UNKNOWN)
    api = table.lookup(name)
    if api is not None and api.kind == "module":
        return _model(scope, Model(name, parts=_models(arguments.values)))
    if name.startswith(LIBRARY_MODELS) and name.rpartition(".")[2].islower():
        return _model(scope, Model(name))
    if name.startswith(LIBRARIES):
        return Model(name)
    if name == "builtins.range":
        return _range(arguments)
    if (tensor := tensors.made(name, arguments)) is not None:
        return tensor
    if not name.startswith(HARMLESS):
        scope.forget(arguments.values)
    return UNKNOWN


def _range(arguments: Arguments) -> Value:
    numbers = [v.value for v in arguments.positional if isinstance(v, Const) and type(v.value) is int]
    if len(numbers) != len(arguments.positional) or not 0 < len(numbers) < 4 or 0 in numbers[2:]:
        return UNKNOWN
    found = range(*numbers)
    return Tuple(tuple(map(Const, found))) if len(found) <= MAX_ITEMS else UNKNOWN


def _method(scope: Scope, method: BoundMethod, arguments: Arguments, node: ast.Call) -> Value:
    receiver, name = method.receiver, method.name
    if isinstance(receiver, Model):
        if name in {"eval", "train"}:
            wanted = arguments.get(0, "mode")
            mode = wanted.value if isinstance(wanted, Const) else wanted is None
            scope.training[receiver] = name == "train" and bool(mode)
            programs.mode_changed(scope, receiver, node)
            return receiver
        if name in KEEPS_MODE:
            return receiver
        if name not in LEAVES_ALONE:
            scope.training[receiver] = None
        return UNKNOWN
    if isinstance(receiver, Program | Unlifted):
        return programs.method(scope, receiver, name, arguments, node)
    if isinstance(receiver, Example):
        return tensors.method(receiver, name, arguments) or UNKNOWN
    scope.forget(arguments.values)
    return UNKNOWN


def _model(scope: Scope, model: Model) -> Model:
    scope.training[model] = None if any(scope.training.get(part) is not True for part in model.parts) else True
    return model


def _models(values: tuple[Value, ...]) -> tuple[Model, ...]:
    found: list[Model] = []
    for value in values:
        if isinstance(value, Model):
            found.append(value)
        elif isinstance(value, Tuple):
            found += _models(value.items)
    return tuple(found)
