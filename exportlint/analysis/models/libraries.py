"""Calls of other libraries that meet tensors: math, numpy, copy, functools, operator, json."""

from __future__ import annotations

import ast
from dataclasses import replace

from exportlint.analysis.domain.allocations import unidentified
from exportlint.analysis.domain.lattice import options, tensors_in
from exportlint.analysis.domain.values import (
    FALSE,
    NONE,
    PYTHON,
    UNKNOWN,
    Const,
    Descriptor,
    Dict,
    External,
    Function,
    Instance,
    Object,
    Origin,
    Partial,
    Python,
    Scalar,
    Sequence,
    Shape,
    Size,
    Tensor,
    TorchModule,
    Tuple,
    TupleType,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.demands import data_of, demand_number, demand_truth, elements
from exportlint.analysis.eval.frame import Frame, calls
from exportlint.analysis.eval.instances import holds_parameters
from exportlint.analysis.eval.names import descriptor
from exportlint.analysis.eval.sizes import note_conversion, product, worked_out
from exportlint.analysis.eval.tensor_results import result
from exportlint.analysis.facts import Conversion, Copy, HostRead
from exportlint.analysis.models.operator_module import call_operator
from exportlint.analysis.models.plain_numbers import note_plain_numbers
from exportlint.analysis.models.torch.results import consume_arguments

KEEPS_SYMBOLS = frozenset({"math.floor", "math.ceil", "math.trunc", "math.prod"})
"""Functions of math that numbers read from tensors pass through, on 2.13."""

THREADS = frozenset({
    "threading.Thread", "concurrent.futures.ThreadPoolExecutor.submit", "concurrent.futures.ThreadPoolExecutor.map",
    "multiprocessing.pool.ThreadPool.map", "multiprocessing.pool.ThreadPool.apply",
    "multiprocessing.pool.ThreadPool.apply_async", "multiprocessing.pool.ThreadPool.starmap",
})  # fmt: skip
"""What runs the function that it is given in another thread."""

INSTANCES = {
    "concurrent.futures.ThreadPoolExecutor": "concurrent.futures.ThreadPoolExecutor",
    "multiprocessing.pool.ThreadPool": "multiprocessing.pool.ThreadPool",
    "logging.getLogger": "logging.Logger",
    "transformers.utils.logging.get_logger": "logging.Logger",
    "diffusers.utils.logging.get_logger": "logging.Logger",
    "pathlib.Path": "pathlib.Path",
}
"""What gives an object whose methods are known by the qualified name of its class."""

BELOW_DEFAULT = frozenset({External("logging.DEBUG"), External("logging.INFO"), Const(10), Const(20)})
"""Levels that a logger leaves out unless it is told otherwise."""

COPIES = frozenset({"copy.deepcopy", "pickle.dumps", "pickle.dump", "joblib.dump"})
MAKE_ARRAYS = frozenset({"array", "asarray", "ones", "zeros", "full", "empty", "arange", "linspace", "eye", "stack"})


def call_library(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`library.function(…)`."""
    library = name.partition(".")[0]
    first = arguments.get(0) or UNKNOWN
    if library == "math":
        return _math(frame, name, arguments, node)
    if library == "numpy":
        return _numpy(frame, name, arguments, node)
    if name in COPIES or name == "copy.copy":
        return _copy(frame, name, first, node)
    if name == "functools.partial":
        return Partial(first, arguments.positional[1:], tuple(arguments.keywords.items()))
    if name == "functools.partialmethod":
        return Descriptor("partial", Partial(first, arguments.positional[1:], tuple(arguments.keywords.items())))
    if name == "functools.reduce":
        item = elements(frame, arguments.get(1) or UNKNOWN, node)
        return frame.call(first, Arguments((item, item)), node)
    made = descriptor(name, first)
    if made is not None:
        return made
    if name in {"functools.wraps", "functools.lru_cache", "functools.cache"}:
        return first if isinstance(first, Function) else PYTHON
    if library == "operator":
        return call_operator(frame, name, arguments, node)
    if name in {"json.dumps", "json.dump"}:
        _json(frame, first, node)
        return Python("str")
    if name == "logging.Logger.isEnabledFor" and first in BELOW_DEFAULT:
        return FALSE
    if name == "collections.namedtuple":
        return _named_tuple(arguments)
    if name == "contextlib.nullcontext":
        return Sequence(arguments.get(0, "enter_result") or NONE, "generator")  # what `with … as` binds is given so
    if name in {"types.SimpleNamespace", "argparse.Namespace"}:
        return Tuple(tuple(arguments.keywords.values()), fields=tuple(arguments.keywords))
    if name == "dataclasses.replace" and isinstance(first, Object):
        return _replaced(frame, first, arguments)
    if name in {"dataclasses.asdict", "dataclasses.astuple"} and isinstance(first, Object):
        attributes = tuple(frame.attributes(first.instance).items())
        return Dict(attributes) if name.endswith("dict") else Tuple(tuple(value for _, value in attributes))
    if name in {"typing.cast", "typing_extensions.cast"}:
        return arguments.get(1) or UNKNOWN
    if name in {"collections.OrderedDict", "collections.defaultdict"}:
        return first if isinstance(first, Dict) else Dict((), UNKNOWN if arguments.positional else None)
    if name in THREADS:
        _thread(frame, name, arguments, node)
    if name in INSTANCES:
        return Python(INSTANCES[name])
    if name == "collections.deque":
        return Sequence(elements(frame, first, node), "deque")
    if name == "weakref.ref":
        return UNKNOWN
    if name == "itertools.groupby":
        return _group(frame, arguments, node)
    note_plain_numbers(frame, name, arguments, node)
    consume_arguments(frame, arguments, node)
    if frame.engine.options.gives_tensor(name):
        return Tensor(trail=frame.trail(node, f"returned by `{name}`"))
    return UNKNOWN


def _replaced(frame: Frame, value: Object, arguments: Arguments) -> Value:
    instance = Instance(value.instance.definition)
    instance.attributes = {**frame.attributes(value.instance), **arguments.keywords}
    return Object(instance)


def _thread(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> None:
    """Tracing sees one thread only: what another computes with tensors never gets into the program."""
    target = arguments.keywords.get("target") if name == "threading.Thread" else arguments.get(0)
    held = list(arguments.values)
    if isinstance(target, Function) and target.closure is not None:
        names = {n.id for n in ast.walk(target.node) if isinstance(n, ast.Name)}
        held.extend(value for key, value in target.closure.variables.items() if key in names)
    tensor = next((t for value in held for t in tensors_in(value) if not t.assumed), None)
    computes = isinstance(target, (Function, TorchModule)) or (
        isinstance(target, External) and target.name.startswith("torch.")
    )
    if tensor is not None and computes:
        frame.emit(HostRead, node, tensor, api=name, operand=tensor)


def _named_tuple(arguments: Arguments) -> Value:
    fields = arguments.get(1, "field_names")
    if isinstance(fields, Const) and isinstance(fields.value, str):
        return TupleType(tuple(fields.value.replace(",", " ").split()))
    if isinstance(fields, Tuple):
        return TupleType(tuple(str(i.value) for i in fields.items if isinstance(i, Const)))
    return UNKNOWN


@calls(TupleType)
def _call_tuple_type(frame: Frame, callee: TupleType, arguments: Arguments, node: ast.AST) -> Value:
    given = dict(zip(callee.fields, arguments.positional, strict=False)) | arguments.keywords
    return Tuple(tuple(given.get(field, UNKNOWN) for field in callee.fields), fields=callee.fields)


def _group(frame: Frame, arguments: Arguments, node: ast.AST) -> Value:
    """`itertools.groupby(items, key)` compares each key with the one before it."""
    item = elements(frame, arguments.get(0, "iterable") or UNKNOWN, node)
    key = arguments.get(1, "key") or NONE
    keyed = item if key == NONE else frame.call(key, Arguments((item,)), node)
    assert isinstance(node, ast.Call)
    demand_truth(frame, keyed, node, "groupby()")
    if data_of(keyed) is not None:
        keyed = PYTHON  # what is to be said of the keys is said
    return Sequence(Tuple((keyed, Sequence(item, "generator"))), "generator")


def _math(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    first = arguments.get(0) or UNKNOWN
    keeps = name in KEEPS_SYMBOLS
    if keeps and isinstance(first, Scalar):
        return Scalar("int", first.api, first.assumed, first.trail)
    if keeps and isinstance(first, Tensor) and name != "math.prod":
        demand_number(frame, first, node, f"{name}()")
        return Python("int")
    if keeps and isinstance(first, Shape):
        return product(first.tensor)
    if keeps and isinstance(first, Size):
        return _rounded(name, first)
    operands = [item for v in arguments.positional for item in (v.items if isinstance(v, Tuple) else (v,))]
    next((item for item in operands if demand_number(frame, item, node, f"{name}()")), None)
    return Python("bool" if name in {"math.isnan", "math.isinf", "math.isfinite", "math.isclose"} else "float")


def _rounded(name: str, size: Size) -> Size:
    """`math.floor(n)`, `math.ceil(n)`: the bounds of a float are the integers that it lies between."""
    if name in {"math.floor", "math.ceil", "math.trunc"} and size.kind != "str":
        return replace(size, kind="int")
    return worked_out(size, kind="int")


def _numpy(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    tensor = next((t for v in arguments.values for t in tensors_in(v, 2) if not t.assumed), None)
    if tensor is not None:
        frame.emit(HostRead, node, tensor, api=name.replace("numpy", "np", 1), operand=tensor)
        if frame.engine.mode == "strict":
            return replace(result(frame, node, name, (tensor,)), array=True)
        return Python("ndarray")
    scalar = next((s for v in arguments.values for s in _scalars(v)), None)
    if scalar is not None:
        demand_number(frame, scalar, node, f"{name.replace('numpy', 'np', 1)}()")
    for value in arguments.positional[:1]:
        size = product(value.tensor) if isinstance(value, Shape) else value
        note_conversion(frame, size, node, f"{name.replace('numpy', 'np', 1)}()")
        if name == "numpy.prod" and isinstance(size, Size):
            return size
    return Python("ndarray" if name.rpartition(".")[2] in MAKE_ARRAYS else "number")


def _scalars(value: Value) -> list[Scalar]:
    items: tuple[Value, ...] = (value,)
    if isinstance(value, Tuple):
        items = value.items
    elif isinstance(value, Sequence):
        items = (value.item,)
    elif isinstance(value, Dict):
        items = tuple(entry for _, entry in value.entries)
    return [s for i in items for s in options(i) if isinstance(s, Scalar) and not s.assumed]


def _copy(frame: Frame, name: str, value: Value, node: ast.AST) -> Value:
    tensor = next((t for t in tensors_in(value, 3 if name != "copy.copy" else 0) if not t.assumed), None)
    if tensor is not None:
        frame.emit(Copy, node, tensor, api=name, operand=tensor)
    elif name != "copy.copy" and any(holds_parameters(o) for o in options(value)):
        frame.emit(Copy, node, None, api=name, operand=Tensor())
    if name == "copy.deepcopy" and isinstance(value, Tensor):
        return replace(value, origin=Origin.FRESH)
    return unidentified(value)


def _json(frame: Frame, value: Value, node: ast.AST) -> None:
    for scalar in _scalars(value):
        frame.emit(Conversion, node, scalar, target="json.dumps()", operand=scalar)
        return
    data = data_of(value)
    if data is not None:
        frame.emit(Conversion, node, data, target="json.dumps()", operand=data)
