"""Methods of Python's own values: lists, tuples, dictionaries, strings, numbers."""

from __future__ import annotations

import ast
import string
from dataclasses import replace

from exportlint.analysis.domain.allocations import unidentified
from exportlint.analysis.domain.lattice import join
from exportlint.analysis.domain.values import (
    NONE,
    PYTHON,
    UNKNOWN,
    BoundMethod,
    Const,
    Dict,
    Python,
    Scalar,
    Sequence,
    Shape,
    Size,
    Tensor,
    Tuple,
    Value,
    constant,
    text,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.assignment import note_input_mutation
from exportlint.analysis.eval.captured_variables import note_outer_write
from exportlint.analysis.eval.container_changes import changed_by, position
from exportlint.analysis.eval.demands import (
    any_entry,
    data_of,
    demand_hash,
    demand_number,
    doubtful,
    keyed_elements,
    size_of,
    stands_first,
)
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.heap_writes import change_contents, write_contents
from exportlint.analysis.eval.instances import note_call
from exportlint.analysis.eval.sizes import note_conversion, note_order, varying_size
from exportlint.analysis.eval.state_access import method_owner
from exportlint.analysis.facts import Branch, Conversion
from exportlint.analysis.library_functions import find
from exportlint.analysis.models.builtins import argument_node
from exportlint.analysis.models.plain_numbers import note_plain_numbers
from exportlint.analysis.models.sorting import note_sorted_rows

MUTATORS = frozenset({
    "append", "extend", "insert", "update", "pop", "clear", "remove", "setdefault", "popitem", "add", "appendleft",
    "extendleft", "popleft", "discard", "reverse", "sort",
})  # fmt: skip

HASHES = frozenset({"add", "discard", "remove"})
"""Methods of sets that need the hash of their argument."""


def call_container_method(frame: Frame, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A method of a list, tuple, dictionary, string or number."""
    owner = method_owner(frame, node.func, name) if isinstance(node, ast.Call) and name in MUTATORS else None
    if name in MUTATORS and owner is not None:
        _mutate(frame, receiver, name, arguments, owner, node)
    elif name in MUTATORS and receiver.identity:
        write_contents(frame, receiver, lambda option: changed_by(frame, option, name, arguments, node))
    if name == "bit_length" and isinstance(receiver, (Size, Scalar)):
        demand_number(frame, receiver, node, "int.bit_length()")
        return Python("int")
    if isinstance(receiver, Size) and receiver.kind == "str":
        return _method_of_sizes_text(frame, receiver, name, node)
    if isinstance(receiver, Const) and name == "format" and isinstance(receiver.value, str):
        return _format(frame, receiver.value, arguments, node)
    if isinstance(receiver, Const) and isinstance(receiver.value, str):
        return _text_method(receiver.value, name, arguments)
    if isinstance(receiver, Tuple) and receiver.fields and name in {"_replace", "_asdict"}:
        entries = {**dict(zip(receiver.fields, receiver.items, strict=False)), **arguments.keywords}
        return Dict(tuple(entries.items())) if name == "_asdict" else replace(receiver, items=tuple(entries.values()))
    if isinstance(receiver, (Tuple, Sequence)):
        note_plain_numbers(frame, find(f"builtins.list.{name}"), arguments, node)
        item = receiver.item if isinstance(receiver, Sequence) else join(receiver.items) if receiver.items else UNKNOWN
        if name in {"index", "count", "remove"} and arguments.positional:
            found = data_of(arguments.positional[0]) or data_of(item)
            is_counted = name == "count" and frame.engine.mode == "strict" and isinstance(found, Tensor)
            is_first = name != "count" and stands_first(receiver, arguments.positional[0])
            if found is not None and not is_counted and not is_first:
                frame.emit(Branch, node, found, construct="list method", condition=found)
            return Python("int")
        if name in HASHES and isinstance(receiver, Sequence) and receiver.type == "set" and arguments.positional:
            demand_hash(frame, arguments.positional[0], argument_node(node), "set element")
        if name == "sort":
            note_sorted_rows(frame, receiver, arguments, node, "sort()")
            key = arguments.keywords.get("key", NONE)
            compared = item if key == NONE else keyed_elements(frame, receiver, key, node, node)
            data = data_of(compared)
            note_order(frame, compared, node, "sorted()")
            if data is not None:
                frame.emit(Branch, node, data, construct="sorted()", condition=data)
        if name == "pop":
            return _popped(receiver, arguments) or item
        return (
            unidentified(receiver) if name == "copy" else PYTHON if name in {"append", "extend", "insert"} else UNKNOWN
        )
    if isinstance(receiver, Dict):
        return _dict_method(frame, receiver, name, arguments, node)
    if isinstance(receiver, Shape):
        if name == "numel":
            return size_of(receiver.tensor, None)
        return PYTHON
    if isinstance(receiver, BoundMethod):
        return UNKNOWN
    return PYTHON


def _mutate(frame: Frame, receiver: Value, name: str, arguments: Arguments, owner: ast.expr, node: ast.AST) -> None:
    if isinstance(receiver, (Dict, Sequence, Tuple)):
        note_outer_write(frame, owner, name, node)
    if isinstance(owner, ast.Name):
        note_input_mutation(frame, owner, name, node)
    change_contents(
        frame, owner, receiver, lambda option: changed_by(frame, option, name, arguments, node), node,
        Tuple(arguments.values), node,
    )  # fmt: skip


def _popped(receiver: Tuple | Sequence, arguments: Arguments) -> Value | None:
    """What `pop` takes out of a list whose items are known one by one."""
    if not isinstance(receiver, Tuple):
        return None
    place = position(receiver, arguments.get(0) or Const(-1))
    return None if place is None else receiver.items[place]


def _dict_method(frame: Frame, receiver: Dict, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if name in {"get", "pop", "setdefault"}:
        key = arguments.get(0)
        default = arguments.get(1) or NONE
        if isinstance(key, Const):
            found = receiver.get(key.value)
            if found is not None:
                return found
            return default if receiver.rest is None else join((receiver.rest, default))
        if key is not None:
            demand_hash(frame, key, argument_node(node), "dict key")
        return join([doubtful(any_entry(receiver)), default])  # it may have no such key
    if name in {"keys", "values", "items"}:
        return _view(receiver, name)
    if name == "most_common" and arguments.get(0, "n") == Const(1):  # with more, the number of keys decides
        note_call(frame, "collections.Counter.most_common", arguments, node)
    return unidentified(receiver) if name == "copy" else UNKNOWN


def _view(receiver: Dict, name: str) -> Value:
    """`keys()`, `values()` or `items()` of a dictionary; item by item where all of them are known."""
    if receiver.entries and receiver.rest is None:
        pairs = [(constant(key), value) for key, value in receiver.entries]
        if name == "keys":
            return Tuple(tuple([key for key, _ in pairs]), lazy="dict_keys")
        if name == "values":
            return Tuple(tuple([value for _, value in pairs]), lazy="dict_values")
        return Tuple(tuple([Tuple(pair) for pair in pairs]), lazy="dict_items")
    if name == "keys":
        return Sequence(PYTHON, "dict_keys")
    values = any_entry(receiver)
    return Sequence(values, "dict_values") if name == "values" else Sequence(Tuple((PYTHON, values)), "dict_items")


PURE = frozenset({
    "lower", "upper", "title", "capitalize", "casefold", "strip", "lstrip", "rstrip", "removeprefix", "removesuffix",
    "replace", "split", "rsplit", "partition", "rpartition", "startswith", "endswith", "isdigit", "isalpha",
    "isidentifier", "find", "count",
})  # fmt: skip
"""Methods of texts that are computed where all is known."""


ASKING = frozenset({
    "startswith", "endswith", "isdigit", "isdecimal", "isnumeric", "isalpha", "isidentifier", "find", "rfind", "index",
    "rindex", "count",
})  # fmt: skip
"""Methods of texts whose result is no text."""


def _method_of_sizes_text(frame: Frame, receiver: Size, name: str, node: ast.AST) -> Value:
    """A method of a text that shows the name of a symbol."""
    if name in ASKING:
        note_conversion(frame, receiver, node, "comparison")
        return PYTHON
    return Sequence(receiver, "list") if name in {"split", "rsplit", "splitlines"} else receiver


def _joined_size(given: Value) -> Size | None:
    """The text of a size among those that are joined."""
    items = given.items if isinstance(given, Tuple) else (given.item,) if isinstance(given, Sequence) else ()
    return next((item for item in items if isinstance(item, Size) and item.kind == "str"), None)


def _text_method(receiver: str, name: str, arguments: Arguments) -> Value:
    """A method of a text that is known."""
    if name == "join" and (size := _joined_size(arguments.get(0) or UNKNOWN)) is not None:
        return size
    given = [value.items if isinstance(value, Tuple) else value for value in arguments.positional]
    if name == "join" and len(given) == 1 and isinstance(given[0], tuple):
        separated = [part for item in given[0] for part in (Const(receiver), item)][1:]
        return text(separated) if all(isinstance(p, (Const, Python)) for p in separated) else Python("str")
    if name not in PURE or arguments.keywords or not all(isinstance(value, Const) for value in given):
        return PYTHON
    try:
        found = getattr(receiver, name)(*(value.value for value in given if isinstance(value, Const)))
    except (TypeError, ValueError):
        return PYTHON
    if isinstance(found, (list, tuple)):
        return Tuple(tuple(constant(part) for part in found), mutable=isinstance(found, list))
    return constant(found)


def _format(frame: Frame, template: str, arguments: Arguments, node: ast.AST) -> Value:
    """`template.format(…)`, as far as it is known."""
    try:
        fields = list(string.Formatter().parse(template))
    except ValueError:
        return Python("str")
    index = 0
    size: Size | None = None
    parts: list[Value] = []
    for literal, field, spec, conversion in fields:
        parts.append(Const(literal))
        if field is None:
            continue
        value = arguments.get(index) if field in {"", str(index)} else arguments.keywords.get(field)
        index += 1
        if value is not None and spec and not conversion:
            data = data_of(value)
            if data is not None:
                frame.emit(Conversion, node, data, target="format specification", operand=data)
            elif not isinstance(value, Size) or value.kind != "str":
                note_conversion(frame, value, node, "format specification")
        size = varying_size(value) if isinstance(value, Size) else size
        is_plain = isinstance(value, Const) and isinstance(value.value, (str, int)) and not spec and not conversion
        parts.append(value if is_plain and value is not None else PYTHON)
    return text(parts) if size is None else replace(size, kind="str")
