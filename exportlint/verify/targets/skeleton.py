"""What the signature of a model says about how to build and call it: a table of a target, for the user to complete."""

from __future__ import annotations

import ast
import copy
import json
import re
from collections.abc import Iterator, Mapping, Sequence

from exportlint.syntax.definitions import Class, FunctionNode
from exportlint.verify.specs import Constant, DictSpec, ListSpec, Spec, TensorSpec
from exportlint.verify.targets.code import Code
from exportlint.verify.targets.hints import ANY
from exportlint.verify.targets.hints_of_types import specs_of_type
from exportlint.verify.targets.signatures import parameters, required

_SIZE = 2
"""The size of a dimension, and a number, of which the code says nothing."""
_TENSOR = TensorSpec("float32", ("batch", 3))
_OBJECTS = re.compile(
    r"(.*_)?(configs?|cfgs?|args|opts?|options|h?params|model|encoder|decoder|backbone"
    r"|module|net|fn)"
)
"""Names of parameters that hold objects, which TOML cannot write."""
_LONGEST = 90
"""Characters of a signature that are shown."""


def skeleton(code: Code, cls: Class, model: str) -> list[str]:
    """The lines of the table below its header: `model`, and what there is to complete, commented out."""
    return [f"model = {json.dumps(model, ensure_ascii=False)}", *_of_constructor(code, cls, model), *_inputs(code, cls)]


def _of_constructor(code: Code, cls: Class, model: str) -> Iterator[str]:
    needed, constructor = code.needs(cls), code.method(cls, "__init__")
    shown = _signature(cls.node.name, constructor, needed)
    if constructor is None:
        if needed:
            yield f"# {shown}"
            yield f"# keywords = {_table(dict.fromkeys(needed, str(_SIZE)))}"
        return
    known = {arg.arg: arg for arg in parameters(constructor)}
    values = {name: _value(known[name], constructor) for name in needed}
    if None in values.values():
        start, separator, _ = model.rpartition(":")
        factory = f"{start}{separator}make_{cls.node.name.lower()}"
        yield f"# {shown} takes values that TOML cannot express: name a function that returns the model,"
        yield f"# as in `model = {json.dumps(factory, ensure_ascii=False)}`"
        return
    positional = {arg.arg for arg in (*constructor.args.posonlyargs, *constructor.args.args)}
    written = {name: value for name, value in values.items() if value is not None}
    arguments = [value for name, value in written.items() if name in positional]
    keywords = {name: value for name, value in written.items() if name not in positional}
    if not needed:
        keywords = dict(_defaults(constructor))
    if arguments or keywords:
        yield f"# {shown}"
    if arguments:
        yield f"# arguments = [{', '.join(arguments)}]"
    if keywords:
        yield f"# keywords = {_table(keywords)}"


def _value(parameter: ast.arg, constructor: FunctionNode) -> str | None:
    """A value for a parameter of a constructor as TOML writes it; None if it takes an object."""
    specs = specs_of_type(parameter.annotation)
    if specs:
        return _written(specs[0], None)
    uses = (node.value for node in ast.walk(constructor) if isinstance(node, ast.Attribute))
    is_object = any(isinstance(value, ast.Name) and value.id == parameter.arg for value in uses)
    if parameter.annotation is not None or is_object or _OBJECTS.fullmatch(parameter.arg):
        return None
    return str(_SIZE)


def _inputs(code: Code, cls: Class) -> Iterator[str]:
    forward = code.method(cls, "forward")
    if forward is None or not (needed := required(forward, bound=True)):
        return
    hints: Mapping[str, Sequence[Spec]] = code.hints(cls)
    sizes: set[str] = set()
    specs = {name: next(iter(hints.get(name, ())), _TENSOR) for name in needed}
    named = {arg.arg for arg in forward.args.kwonlyargs}
    arguments = [_written(spec, sizes) for name, spec in specs.items() if name not in named]
    keywords = {name: _written(spec, sizes) for name, spec in specs.items() if name in named}
    text = f"[{', '.join(arguments)}]"
    if keywords:
        text = _table({"arguments": text, "keywords": _table(keywords)})
    yield f"# {_signature('forward', forward, needed)}"
    yield f"# inputs = {text}"


def _written(spec: Spec, sizes: set[str] | None) -> str:
    """A spec in TOML. `sizes` are the named dimensions that have a size already; without, none has a name."""
    match spec:
        case TensorSpec():
            return json.dumps(_tensor(spec, sizes))
        case Constant(bool() as value):
            return str(value).lower()
        case Constant(str() as value):
            return json.dumps(value if sizes is None else repr(value))
        case Constant(None):
            return '"None"'
        case Constant(value):
            return repr(value)
        case ListSpec(items):
            return f"[{', '.join(_written(item, sizes) for item in items)}]"
        case DictSpec(members):
            return _table({name: _written(item, sizes) for name, item in members.items()})


def _tensor(spec: TensorSpec, sizes: set[str] | None) -> str:
    shape = _TENSOR.shape if spec.shape == (ANY,) else spec.shape
    bounds = "".join(f" {sign} {n!r}" for sign, n in ((">=", spec.low), ("<", spec.high)) if n is not None)
    return f"{spec.dtype}[{', '.join(_size(size, sizes) for size in shape)}]{bounds}"


def _size(size: int | str, sizes: set[str] | None) -> str:
    if isinstance(size, int):
        return str(size)
    if sizes is None or not size.isidentifier():
        return str(_SIZE)
    if size in sizes:
        return size
    sizes.add(size)
    return f"{size}={_SIZE}"


def _table(members: Mapping[str, str]) -> str:
    keys = {name: name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name) for name in members}
    return f"{{ {', '.join(f'{keys[name]} = {value}' for name, value in members.items())} }}" if members else "{}"


def _defaults(function: FunctionNode) -> Iterator[tuple[str, str]]:
    """The parameters that have plain values as defaults."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [
        *zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    for parameter, default in defaults:
        if isinstance(default, ast.Constant) and isinstance(default.value, bool | int | float | str):
            yield parameter.arg, _written(Constant(default.value), None)


def _signature(name: str, function: FunctionNode | None, needed: Sequence[str]) -> str:
    """How something is called, in one line."""
    text = ", ".join(needed)
    if function is not None:
        arguments = copy.deepcopy(function.args)
        del (arguments.posonlyargs or arguments.args)[:1]  # `self`
        text = " ".join(ast.unparse(arguments).split())
    shown = f"{name}({text})"
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"
