"""Python's built-in functions, and the methods of its containers and strings."""

from __future__ import annotations

import ast
from collections.abc import Callable

from exportlint.analysis.facts import Construct, Conversion, Identity
from exportlint.analysis.interpreter.arguments import Arguments
from exportlint.analysis.interpreter.demands import (
    data_of,
    demand_number,
    demand_truth,
    elements,
    known_items,
    size_of,
    truth,
)
from exportlint.analysis.interpreter.frame import Frame
from exportlint.analysis.interpreter.narrowing import is_instance
from exportlint.analysis.interpreter.tensors import result
from exportlint.analysis.joins import join, options
from exportlint.analysis.values import (
    NONE,
    PYTHON,
    UNKNOWN,
    Const,
    Dict,
    Object,
    Python,
    Scalar,
    Sequence,
    Shape,
    Size,
    Tensor,
    TorchModule,
    Tuple,
    TypeOf,
    Unknown,
    Value,
)

Builtin = Callable[[Frame, Arguments, ast.AST], Value]
_BUILTINS: dict[str, Builtin] = {}


def builtin(*names: str) -> Callable[[Builtin], Builtin]:
    """Register what a built-in function does."""

    def register(function: Builtin) -> Builtin:
        for name in names:
            _BUILTINS[name] = function
        return function

    return register


def call_builtin(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`name(…)` for a built-in function."""
    function = _BUILTINS.get(name)
    if function is not None:
        return function(frame, arguments, node)
    return PYTHON if name[:1].isupper() or name in {"callable", "repr", "str", "format", "print"} else UNKNOWN


def _first(arguments: Arguments) -> Value:
    return arguments.get(0) or UNKNOWN


def _argument_node(node: ast.AST, index: int = 0) -> ast.AST:
    return node.args[index] if isinstance(node, ast.Call) and len(node.args) > index else node


def _number(target: str, kind: str) -> Builtin:
    def convert(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
        value = _first(arguments)
        if demand_number(frame, value, node, target):
            data = data_of(value)
            assert data is not None
            # non-strict fails here, so that nothing more is to be said; strict goes on with a symbol
            strict = frame.engine.options.mode == "strict"
            return Scalar(kind, "item", False, data.trail) if strict else Python(kind)  # type: ignore[arg-type]
        if isinstance(value, Const) and isinstance(value.value, (int, float)) and kind != "complex":
            return Const(int(value.value) if kind == "int" else float(value.value))
        return value if isinstance(value, Size) and kind == "int" else Python(kind)

    return convert


_BUILTINS["int"] = _number("int()", "int")
_BUILTINS["float"] = _number("float()", "float")
_BUILTINS["complex"] = _number("complex()", "complex")


@builtin("bool")
def _bool(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value = _first(arguments)
    assert isinstance(node, ast.Call)
    is_true = demand_truth(frame, value, node, "bool()")
    data = data_of(value)
    if data is not None and frame.engine.options.mode == "strict":
        return Scalar("bool", "item", trail=data.trail)  # strict goes on with a symbol
    return Python("bool") if is_true is None else Const(is_true)


@builtin("abs", "round", "pow", "divmod")
def _arithmetic(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value = _first(arguments)
    if isinstance(value, Tensor):
        return result(frame, node, "abs", arguments.values, value.kind, value.dynamic)
    return value if isinstance(value, (Scalar, Size)) else PYTHON


@builtin("len")
def _len(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value = _first(arguments)
    if isinstance(value, Tensor):
        size = size_of(value, 0)
        if isinstance(size, Scalar) and not size.assumed:
            frame.emit(Conversion, node, value, target="len()", operand=value)
            return size if frame.engine.options.mode == "strict" else Python("int")
        return size
    items = value.items if isinstance(value, (Tuple, TorchModule)) and value.items is not None else None
    if isinstance(value, Tuple) and items is not None:
        return Const(len(items))
    return Python("int")


@builtin("range")
def _range(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    for index, value in enumerate(arguments.positional):
        demand_number(frame, value, _argument_node(node, index), "range()")
    return Sequence(Python("int"), "range")


@builtin("enumerate")
def _enumerate(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    item = elements(frame, _first(arguments), _argument_node(node))
    return Sequence(Tuple((Python("int"), item)), "generator")


@builtin("zip")
def _zip(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    items = []
    for index, value in enumerate(arguments.positional):
        if isinstance(value, Sequence) and value.type == "*":  # zip(*rows)
            return Sequence(Sequence(elements(frame, value.item, _argument_node(node, index)), "tuple"), "generator")
        items.append(elements(frame, value, _argument_node(node, index)))
    return Sequence(Tuple(tuple(items)), "generator")


@builtin("map")
def _map(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    function, *iterables = arguments.positional or (UNKNOWN,)
    given = [elements(frame, v, _argument_node(node, i + 1)) for i, v in enumerate(iterables)]
    return Sequence(frame.call(function, Arguments(tuple(given)), node), "generator")


@builtin("filter")
def _filter(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    function, iterable = arguments.get(0) or NONE, arguments.get(1) or UNKNOWN
    item = elements(frame, iterable, _argument_node(node, 1))
    kept = item if function == NONE else frame.call(function, Arguments((item,)), node)
    assert isinstance(node, ast.Call)
    demand_truth(frame, kept, node, "filter()")
    return Sequence(item, "generator")


@builtin("any", "all")
def _any_all(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    assert isinstance(node, ast.Call)
    construct: Construct = "any()" if getattr(node.func, "id", "any") == "any" else "all()"
    value = _first(arguments)
    item = elements(frame, value, _argument_node(node))
    if isinstance(value, Tuple):
        for each in value.items:
            if data_of(each) is not None:
                demand_truth(frame, each, node, construct)
        truths = [truth(each) for each in value.items]
        if None not in truths:
            return Const(any(truths) if construct == "any()" else all(truths))
        return Python("bool")
    demand_truth(frame, item, node, construct)
    return Python("bool")


@builtin("sum")
def _sum(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    item = elements(frame, _first(arguments), _argument_node(node))
    if any(isinstance(o, Tensor) for o in options(item)):
        return result(frame, node, "sum", (item, *arguments.positional[1:]), getattr(item, "kind", None))
    return item if isinstance(item, (Scalar, Size)) else PYTHON if not isinstance(item, Unknown) else UNKNOWN


@builtin("max", "min")
def _extremum(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    assert isinstance(node, ast.Call)
    name = getattr(node.func, "id", "max")
    construct: Construct = "min()" if name == "min" else "max()"
    key = arguments.keywords.get("key")
    positional = arguments.positional
    values = [elements(frame, positional[0], _argument_node(node))] if len(positional) == 1 else positional
    if key is not None and key != NONE:
        keyed = frame.call(key, Arguments((join(values),)), node)
        demand_truth(frame, keyed, node, construct)
        return join(values)
    if len(positional) == 1 and isinstance(positional[0], Tensor) and not positional[0].assumed:
        # non-strict hands the builtin to torch.maximum, which wants two tensors
        if frame.engine.options.mode == "non-strict":
            frame.emit(Conversion, node, positional[0], target=f"{name}() of one tensor", operand=positional[0])
        return result(frame, node, name, (positional[0],), positional[0].kind)
    flat = [o for v in values for o in options(v)]
    if any(isinstance(o, Tensor) for o in flat):
        return result(frame, node, name, flat)
    scalar = next((o for o in flat if isinstance(o, Scalar) and not o.assumed), None)
    if scalar is not None:
        # torch.sym_max holds integers; a float, as data of unknown dtype mostly is, needs a comparison now
        is_float = any(_is_float(o) for o in flat)
        if is_float and frame.engine.options.mode == "non-strict":
            demand_truth(frame, scalar, node, construct)
            return Python("float")
        return Scalar("float" if is_float else scalar.kind, scalar.api, scalar.assumed, scalar.trail)
    return next((o for o in flat if isinstance(o, Size)), PYTHON)


def _is_float(value: Value) -> bool:
    return isinstance(value, Scalar) and value.kind == "float"


@builtin("sorted")
def _sorted(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    assert isinstance(node, ast.Call)
    item = elements(frame, _first(arguments), _argument_node(node))
    key = arguments.keywords.get("key")
    keyed = item if key is None or key == NONE else frame.call(key, Arguments((item,)), node)
    demand_truth(frame, keyed, node, "sorted()")
    return Sequence(item)


@builtin("list", "tuple", "set", "frozenset", "iter", "reversed")
def _collect(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    name = getattr(getattr(node, "func", None), "id", "list")
    if not arguments.positional:
        return Tuple((), mutable=True) if name in {"list", "tuple"} else Sequence(UNKNOWN, "set")
    value = arguments.positional[0]
    items = known_items(value)
    if isinstance(value, Shape):
        return value
    if items is not None and name in {"list", "tuple"}:
        return Tuple(items, mutable=name == "list")
    if items is not None and name == "reversed":
        return Tuple(tuple(reversed(items)))
    item = elements(frame, value, _argument_node(node))
    if name in {"set", "frozenset"} and isinstance(data_of(item), Scalar):
        demand_number(frame, item, node, "set element")
    return Sequence(item, "set" if name in {"set", "frozenset"} else "list")


@builtin("next")
def _next(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    return elements(frame, _first(arguments), _argument_node(node))


@builtin("dict")
def _dict(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    first = arguments.get(0)
    result_dict = first if isinstance(first, Dict) else Dict((), None if first is None else UNKNOWN)
    for key, value in arguments.keywords.items():
        result_dict = result_dict.updated(key, value)
    return result_dict


@builtin("isinstance")
def _isinstance(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    if not isinstance(node, ast.Call) or len(node.args) != 2:
        return Python("bool")
    verdicts = {is_instance(frame, option, node.args[1]) for option in options(_first(arguments))}
    verdict = verdicts.pop() if len(verdicts) == 1 else None
    return Python("bool") if verdict is None else Const(verdict)


@builtin("hasattr")
def _hasattr(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    return Python("bool")


@builtin("getattr")
def _getattr(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value, name = _first(arguments), arguments.get(1)
    if not (isinstance(name, Const) and isinstance(name.value, str)):
        if isinstance(value, Object):
            found = [v for v in value.instance.attributes.values() if isinstance(v, (Tensor, Object, TorchModule))]
            return join([*found[:3], UNKNOWN]) if len(arguments.positional) < 3 else UNKNOWN
        return UNKNOWN
    found_value = frame.attribute(value, name.value, node)
    default = arguments.get(2)
    if default is None or (found_value != UNKNOWN and not isinstance(value, (Unknown, Python))):
        return found_value
    return join((found_value, default))


@builtin("setattr")
def _setattr(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    target, name, value = (arguments.get(i) or UNKNOWN for i in range(3))
    if isinstance(target, Object):
        if isinstance(name, Const) and isinstance(name.value, str):
            target.instance.attributes[name.value] = value
        else:
            target.instance.is_open = True
    return NONE


@builtin("type")
def _type(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value = _first(arguments)
    if isinstance(value, Tensor) and not value.assumed and not value.known:
        return TypeOf(value)
    return PYTHON


@builtin("id", "hash")
def _identity(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    value = _first(arguments)
    name = getattr(getattr(node, "func", None), "id", "id")
    data = data_of(value)
    if isinstance(data, Tensor):
        frame.emit(Identity, node, data, operator=f"{name}()", operand=data)
    elif isinstance(data, Scalar) or (isinstance(value, Tuple) and name == "hash"):
        found = data or next((d for i in getattr(value, "items", ()) if isinstance(d := data_of(i), Scalar)), None)
        if isinstance(found, Scalar):
            frame.emit(Conversion, node, found, target="hash()", operand=found)
    elif isinstance(value, Sequence) and name == "hash" and isinstance(data_of(value.item), Scalar):
        demand_number(frame, value.item, node, "hash()")
    return Python("int")


@builtin("hex", "oct", "bin", "chr")
def _index(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    name = getattr(getattr(node, "func", None), "id", "hex")
    demand_number(frame, _first(arguments), node, f"{name}()")
    return Python("str")
