"""Built-in functions about containers and iteration: `len`, `range`, `zip`, `map`, `sorted`, `list`."""

from __future__ import annotations

import ast
from dataclasses import replace

from exportlint.analysis.domain.values import (
    NONE,
    NOWHERE,
    UNKNOWN,
    Const,
    Dict,
    Python,
    Scalar,
    Sequence,
    Shape,
    Size,
    Tensor,
    TorchModule,
    Tuple,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.attribute_dictionaries import copied_attributes
from exportlint.analysis.eval.demands import (
    compared_elements,
    demand_hash,
    demand_number,
    demand_truth,
    elements,
    keyed_elements,
    known_items,
    own_length,
    size_of,
)
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.sizes import note_conversion, note_order, product, settled
from exportlint.analysis.eval.state_access import cell_of, note_write
from exportlint.analysis.facts import Conversion
from exportlint.analysis.models.builtins import argument_node, builtin, first_of
from exportlint.analysis.models.sorting import note_sorted_rows


@builtin("len", gives="int", pure=True)
def _len(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    value = first_of(arguments)
    if isinstance(value, Tensor):
        size = size_of(value, 0)
        if isinstance(size, Scalar) and not size.assumed:
            frame.emit(Conversion, node, value, target="len()", operand=value)
            return size if frame.engine.mode == "strict" else Python("int")
        if note_conversion(frame, size, node, "len()") and isinstance(size, Size):
            return size if frame.engine.mode == "strict" else settled(size, "int")
        return size
    own = own_length(frame, value, node)
    if own is not None:
        return own
    note_conversion(frame, value, node, "len()")
    items = value.items if isinstance(value, (Tuple, TorchModule)) and value.items is not None else None
    if isinstance(value, Tuple) and items is not None:
        return Const(len(items))
    return Python("int")


@builtin("range", pure=True)
def _range(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    for index, value in enumerate(arguments.positional):
        demand_number(frame, value, argument_node(node, index), "range()")
    return Sequence(Python("int"), "range")


@builtin("enumerate", numbers=(1, "start"), pure=True)
def _enumerate(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    item = elements(frame, first_of(arguments), argument_node(node))
    return Sequence(Tuple((Python("int"), item)), "generator")


@builtin("zip", pure=True)
def _zip(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    items = []
    for index, value in enumerate(arguments.positional):
        if isinstance(value, Sequence) and value.type == "*":  # zip(*rows)
            return Sequence(Sequence(elements(frame, value.item, argument_node(node, index)), "tuple"), "generator")
        items.append(elements(frame, value, argument_node(node, index)))
    return Sequence(Tuple(tuple(items)), "generator")


@builtin("map")
def _map(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    function, *iterables = arguments.positional or (UNKNOWN,)
    given = [elements(frame, v, argument_node(node, i + 1)) for i, v in enumerate(iterables)]
    return Sequence(frame.call(function, Arguments(tuple(given)), node), "generator")


@builtin("filter")
def _filter(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    function, iterable = arguments.get(0) or NONE, arguments.get(1) or UNKNOWN
    item = elements(frame, iterable, argument_node(node, 1))
    kept = item if function == NONE else frame.call(function, Arguments((item,)), node)
    assert isinstance(node, ast.Call)
    demand_truth(frame, kept, node, "filter()")
    return Sequence(item, "generator")


@builtin("sorted", pure=True)
def _sorted(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    assert isinstance(node, ast.Call)
    value = first_of(arguments)
    item = elements(frame, value, argument_node(node))
    if isinstance(value, Shape):
        note_conversion(frame, product(value.tensor), node, "sorted()")
    note_sorted_rows(frame, value, arguments, node, "sorted()")
    key = arguments.keywords.get("key")
    if key is None or key == NONE:
        compared = compared_elements(frame, value, argument_node(node))
    else:
        compared = keyed_elements(frame, value, key, node, argument_node(node))
    demand_truth(frame, compared, node, "sorted()")
    note_order(frame, compared, node, "sorted()")
    return Sequence(item)


@builtin("set", "frozenset", "iter")
@builtin("list", "tuple", "reversed", pure=True)
def _collect(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if not arguments.positional:
        return Tuple((), mutable=True) if name in {"list", "tuple"} else Sequence(UNKNOWN, "set")
    value = arguments.positional[0]
    items = known_items(value)
    if isinstance(value, Shape) and name in {"list", "tuple"}:
        return replace(value, plain=True)
    if isinstance(value, Shape) and name not in {"set", "frozenset"}:
        return value
    if items is not None and name in {"list", "tuple"}:
        return Tuple(items, mutable=name == "list")
    if items is not None and name == "reversed":
        return Tuple(tuple(reversed(items)))
    item = elements(frame, value, argument_node(node))
    if name in {"set", "frozenset"}:
        for held in items or (value if isinstance(value, Shape) else item,):
            demand_hash(frame, held, node, "set element")
    if name == "iter":
        return Sequence(item, "range_iterator" if isinstance(value, Sequence) and value.type == "range" else "iterator")
    return Sequence(item, "set" if name in {"set", "frozenset"} else "list")


@builtin("next")
def _next(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    owner = argument_node(node)
    item = elements(frame, first_of(arguments), owner)
    if isinstance(owner, (ast.Name, ast.Attribute, ast.Subscript)):  # an iterator stands elsewhere after each call
        note_write(frame, cell_of(frame, owner), node, item, first_of(arguments), node, "contents")
    return item


@builtin("dict.fromkeys", pure=True)
def _from_keys(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    keys = first_of(arguments)
    held = (keys,) if isinstance(keys, Shape) else known_items(keys)
    for key in held if held is not None else (elements(frame, keys, argument_node(node)),):
        demand_hash(frame, key, argument_node(node), "dict key")
    return Dict((), arguments.get(1) or NONE)


@builtin("dict", pure=True)
def _dict(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    first = arguments.get(0)
    first = None if first is None else copied_attributes(frame, first)
    if first is None or isinstance(first, Dict):
        result_dict = Dict() if first is None else replace(first, identity=NOWHERE)
    else:
        pair = elements(frame, first, argument_node(node))
        for held in known_items(first) or (pair,):
            if isinstance(held, Tuple) and len(held.items) == 2:
                demand_hash(frame, held.items[0], argument_node(node), "dict key")
        result_dict = Dict((), pair.items[1] if isinstance(pair, Tuple) and len(pair.items) == 2 else UNKNOWN)
    for key, value in arguments.keywords.items():
        result_dict = result_dict.updated(key, value)
    return result_dict
