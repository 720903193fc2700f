"""Containers and classes of Python's library: `collections`, `types`, `dataclasses`, `heapq`, `bisect`, `enum`."""

from __future__ import annotations

import ast
from functools import lru_cache

from exportlint.analysis.domain.lattice import tensors_in
from exportlint.analysis.domain.values import (
    NONE,
    UNKNOWN,
    Const,
    Dict,
    Instance,
    Object,
    Python,
    Sequence,
    Tensor,
    Tuple,
    TupleType,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.demands import data_of, demand_truth, elements
from exportlint.analysis.eval.frame import Frame, calls
from exportlint.analysis.facts import Construct, Copy
from exportlint.analysis.library_functions import function, functions
from exportlint.analysis.models.externals import call_opaque
from exportlint.syntax.definitions import Class, Module

functions("bisect.* heapq.* statistics.*", numbers="every")
functions("collections.Counter.most_common", strict="refuses", traced_from=(2, 15))
functions("heapq.heappush heapq.heappop heapq.heappushpop", strict="refuses", traced_from=(2, 15))
functions("bisect.bisect bisect.bisect_left bisect.bisect_right bisect.insort statistics.mean", strict="refuses")
functions("statistics.pstdev statistics.stdev weakref.proxy", strict="refuses")
functions("statistics.mode", strict="refuses", traced_from=(2, 15))
functions("decimal.Decimal", numbers=(0,), strict="refuses")
functions("fractions.Fraction", numbers=(0, 1))
functions("array.array queue.Queue queue.PriorityQueue types.MethodType enum.auto", strict="refuses")
functions("types.FunctionType.__setattr__", strict="refuses")
functions("ctypes.c_int ctypes.c_float ctypes.sizeof argparse.ArgumentParser", strict="refuses")
functions("dataclasses.make_dataclass", strict="refuses")
functions("weakref.ref", returns=UNKNOWN)


HEAPS: dict[str, Construct] = {
    "heapq.nsmallest": "nsmallest()",
    "heapq.nlargest": "nlargest()",
    "heapq.heapify": "heapify()",
}


@function(" ".join(HEAPS), numbers="every", strict="refuses", traced_from=(2, 15))
def _compare(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`heapq.nlargest(n, items, key)` compares the items, or what the key gives for them."""
    items = arguments.get(0, "x") if name == "heapq.heapify" else arguments.get(1, "iterable")
    item = elements(frame, items or UNKNOWN, node)
    key = arguments.get(2, "key") or NONE
    compared = item if key == NONE else frame.call(key, Arguments((item,)), node)
    assert isinstance(node, ast.expr)
    if isinstance(data_of(compared), Tensor):
        demand_truth(frame, compared, node, HEAPS[name])
    return NONE if name == "heapq.heapify" else Sequence(item, "list")


@function("collections.OrderedDict collections.defaultdict")
def _dict(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    first = arguments.get(0)
    return first if isinstance(first, Dict) else Dict((), UNKNOWN if arguments.positional else None)


@function("collections.Counter", numbers=(0,))
def _counter(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A dictionary of numbers, whose missing items are 0."""
    return Dict((), Python("int"))


@function("collections.deque")
def _deque(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return Sequence(elements(frame, arguments.get(0) or UNKNOWN, node), "deque")


@function("collections.namedtuple")
def _named_tuple(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
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


@function("types.SimpleNamespace", strict="refuses", traced_from=(2, 15))
@function("argparse.Namespace")
def _namespace(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if frame.engine.constructing:
        return attribute_holder(frame, name, arguments)
    return Tuple(tuple(arguments.keywords.values()), fields=tuple(arguments.keywords))


def attribute_holder(frame: Frame, name: str, arguments: Arguments) -> Object:
    """An object that is there for its attributes, and that calls can change."""
    instance = Instance(_holder_class(frame.module, name.rpartition(".")[2]), lasting=True)
    instance.attributes = dict(arguments.keywords)
    return Object(instance)


@lru_cache(maxsize=256)
def _holder_class(module: Module, name: str) -> Class:
    """A class without members, as if the file had it that makes objects of it."""
    node = ast.parse(f"class {name}: pass").body[0]
    assert isinstance(node, ast.ClassDef)
    return Class(module, node, name)


@function("dataclasses.replace")
def _replace(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.get(0)
    if not isinstance(value, Object):
        return call_opaque(frame, name, arguments, node)
    instance = Instance(value.instance.definition)
    instance.attributes = {**frame.attributes(value.instance), **arguments.keywords}
    return Object(instance)


@function("dataclasses.asdict")
def _as_dict(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.get(0)
    if not isinstance(value, Object):
        return call_opaque(frame, name, arguments, node)
    _note_copies(frame, name, value, node)
    return Dict(tuple(frame.attributes(value.instance).items()))


@function("dataclasses.astuple")
def _as_tuple(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.get(0)
    if not isinstance(value, Object):
        return call_opaque(frame, name, arguments, node)
    _note_copies(frame, name, value, node)
    return Tuple(tuple(frame.attributes(value.instance).values()))


def _note_copies(frame: Frame, name: str, value: Object, node: ast.AST) -> None:
    """Record that the fields of a dataclass are deep copies, tensors too."""
    held = frame.attributes(value.instance).values()
    tensor = next((t for field in held for t in tensors_in(field, 3) if not t.assumed), None)
    if tensor is not None:
        frame.emit(Copy, node, tensor, api=name, operand=tensor)


@function("typing.cast typing_extensions.cast")
def _cast(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return arguments.get(1) or UNKNOWN
