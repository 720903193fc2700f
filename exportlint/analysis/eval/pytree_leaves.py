"""Values that are surely no pytree, so that nothing can look inside: objects of unregistered classes, sets, dtypes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.baked_values import Baked
from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import (
    ClassValue,
    Dict,
    Distribution,
    External,
    Function,
    Namespace,
    Object,
    Partial,
    Python,
    Sequence,
    Shape,
    Tensor,
    TorchModule,
    Tuple,
    TypeOf,
    Value,
)
from exportlint.analysis.eval.classes import bases, is_module, lineage
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.torch import table
from exportlint.analysis.torch.dtypes import DTYPES
from exportlint.syntax.definitions import Class
from exportlint.syntax.walk import walk

ARRAY = "numpy.ndarray"
SIZE = "torch.Size"
"""The class of what `x.shape` is, which a program returns as a plain tuple."""
PYTHON_TYPES = {
    "ndarray": ARRAY, "dtype": "torch.dtype", "device": "torch.device", "layout": "torch.layout", "bytes": "bytes",
    "complex": "complex", "ellipsis": "ellipsis", "range": "range", "slice": "slice",
}  # fmt: skip
"""The full names of types that a value says that it has."""
SEQUENCE_TYPES = frozenset({
    "set", "generator", "iterator", "range", "range_iterator", "dict_keys", "dict_values", "dict_items",
})  # fmt: skip

PLAIN_BASES = frozenset({
    "builtins.object", "builtins.dict", "builtins.list", "builtins.tuple", "builtins.set", "builtins.Exception",
    "collections.OrderedDict", "collections.UserDict", "collections.UserList", "typing.Generic", "abc.ABC",
    "typing.Protocol", "typing_extensions.Protocol",
})  # fmt: skip
"""Classes whose subclasses are not pytrees until they are registered."""

DICTIONARIES = frozenset({"builtins.dict", "collections.OrderedDict"})
"""Bases of which torch takes what they hold for the output, under its keys."""

ABSTRACT = frozenset({"abc.ABC", "typing.Protocol", "typing_extensions.Protocol"})

DECORATORS = frozenset({
    "dataclasses.dataclass", "functools.total_ordering", "typing.final", "typing.runtime_checkable", "attr.s",
    "attr.attrs", "attr.define", "attrs.define", "attr.frozen", "attrs.frozen",
})  # fmt: skip
"""Class decorators that register nothing."""


def opaque(frame: Frame, value: Value) -> str | None:
    """The type of a value that is surely no pytree, whichever of its options it is."""
    found = [_opaque(frame, option) for option in options(value)]
    return found[0] if found and None not in found else None


def _opaque(frame: Frame, value: Value) -> str | None:
    if isinstance(value, Object):
        cls = value.instance.definition
        return cls.node.name if is_module(frame, cls) or is_unregistered(frame, cls) else None
    if isinstance(value, Tuple):
        return value.lazy
    if isinstance(value, Tensor):
        return ARRAY if value.array else None
    if isinstance(value, (Python, Baked)):
        return PYTHON_TYPES.get(value.type or "")
    if isinstance(value, Sequence):
        return value.type if value.type in SEQUENCE_TYPES else None
    if isinstance(value, Function):
        is_plain = isinstance(value.node, ast.Lambda) or not value.node.decorator_list
        return "function" if is_plain else None
    if isinstance(value, External):
        api = table.lookup(value.name)
        if value.name in DTYPES:
            return "torch.dtype"
        return {"module": "type", "function": "function"}.get(api.kind) if api else None
    if isinstance(value, TorchModule):
        return value.name
    if isinstance(value, Shape) and not value.plain:
        return SIZE
    if isinstance(value, Distribution):
        # one whose values were checked is refused where it was made
        return None if value.was_checked or value.name.rpartition(".")[2] in frame.module.registered else value.name
    if isinstance(value, TypeOf):
        return None if value.attribute else "type"
    return OTHERS.get(type(value))


OTHERS: dict[type[Value], str] = {Partial: "functools.partial", ClassValue: "type", Namespace: "module"}


def leaves(value: Value, depth: int = 4) -> Iterator[Value]:
    """What the containers that torch knows hold, or the value itself."""
    if isinstance(value, Tuple) and depth and not value.lazy:
        for item in value.items:
            yield from leaves(item, depth - 1)
    elif isinstance(value, Dict) and depth:
        for item in (*(item for _, item in value.entries), *(() if value.rest is None else (value.rest,))):
            yield from leaves(item, depth - 1)
    elif isinstance(value, Sequence) and value.type in {"list", "tuple"} and depth:
        yield from leaves(value.item, depth - 1)
    else:
        yield value


def is_unregistered(frame: Frame, cls: Class) -> bool:
    """Whether a class is surely none that torch can take apart: nothing it inherits from or is decorated with does."""
    if cls.node.name in cls.module.registered or cls.node.name in frame.module.registered:
        return False
    return all(_is_plain(frame, one) for one in lineage(frame, cls))


def registers_subclasses(frame: Frame, cls: Class) -> bool:
    """Whether a dictionary with fields is registered by a class that it inherits from, as outputs of libraries are."""
    above = lineage(frame, cls)
    return (
        any("__init_subclass__" in one.methods and _calls_register(one) for one in above[1:])
        and any(_named(base) in DICTIONARIES for one in above for base in bases(frame, one))
        and bool(field_names(frame, cls))
    )


def field_names(frame: Frame, cls: Class) -> list[str]:
    """The fields of a dataclass, those of its bases first."""
    return list(dict.fromkeys(name for one in reversed(lineage(frame, cls)) for name in one.annotations))


def _calls_register(cls: Class) -> bool:
    calls = (node for node in walk(cls.methods["__init_subclass__"]) if isinstance(node, ast.Call))
    return any("register" in ast.unparse(call.func) for call in calls)


def _is_plain(frame: Frame, cls: Class) -> bool:
    inner = Frame(frame.engine, cls.module)
    targets = (d.func if isinstance(d, ast.Call) else d for d in cls.node.decorator_list)
    return (
        "__init_subclass__" not in cls.methods
        and all(_is_plain_base(cls, base) for base in bases(frame, cls))
        and all(_named(inner.peek(target)) in DECORATORS for target in targets)
        and all(_named(inner.peek(k.value)) == "abc.ABCMeta" for k in cls.node.keywords)
    )


def _is_plain_base(cls: Class, base: Value) -> bool:
    # a class can inherit by name from one that it replaces
    return base.definition is not cls if isinstance(base, ClassValue) else _named(base) in PLAIN_BASES


def _named(value: Value) -> str:
    return value.name if isinstance(value, External) else ""


def is_abstract(frame: Frame, cls: Class) -> bool:
    """Whether objects of the class are rather of some subclass of it."""
    return any(_named(base) in ABSTRACT for one in lineage(frame, cls) for base in bases(frame, one))
