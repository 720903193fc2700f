"""Parameters that calls use and no module has registered."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Literal

from exportlint.analysis.domain.accesses import Read, State
from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.trails import Trail, site_of
from exportlint.analysis.domain.values import (
    NONE,
    Composite,
    Dict,
    Instance,
    Object,
    Origin,
    Sequence,
    Tensor,
    TorchModule,
    Tuple,
    Value,
)
from exportlint.analysis.eval.classes import class_attribute, is_module
from exportlint.analysis.eval.engine import Engine
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.module_parameters import has_parameters, is_trained
from exportlint.analysis.facts.state import Unregistered
from exportlint.syntax.definitions import Class, Module

MAX_DEPTH = 4


def report_unregistered(engine: Engine, state: State, root: Value) -> None:
    """Emit what the reads of the calls of a module find to be registered nowhere."""
    reads = list(state.reads.values())
    owners = [read.cell.owner for read in reads if isinstance(read.cell.owner, Instance)]
    known = dict.fromkeys((*owners, *_reachable(root)))
    registered = {mark for instance in known for mark in _registered(engine, instance)}
    registered |= {_mark(option) for option in options(root)}  # a part of a model may hold the model in a list
    for read in reads:
        fact = _judge(engine, state, read, registered)
        if fact is not None:
            engine.emit(fact)


def _reachable(root: Value) -> Iterator[Instance]:
    """The objects that a module holds, at any depth."""
    waiting, seen = [root], set[Instance]()
    while waiting:
        for option in options(waiting.pop()):
            if isinstance(option, Object) and option.instance not in seen:
                seen.add(option.instance)
                yield option.instance
                waiting += [*option.instance.attributes.values(), *option.instance.registered]
            elif isinstance(option, Composite):
                waiting += option.parts()


def _judge(engine: Engine, state: State, read: Read, registered: set[object]) -> Unregistered | None:
    owner, name = read.cell
    value: Value | None = None
    place: Trail | None = None
    if isinstance(owner, Instance):
        value, place = owner.attributes.get(name), owner.places.get(name)
    elif isinstance(owner, Class):
        value = class_attribute(Frame(engine, owner.module), owner, name)
    elif isinstance(owner, Module):
        value = engine.globals.get((owner, name))
    if value is None:
        return None
    module = next((found[read.function] for found in state.functions.values() if read.function in found), None)
    if module is None:
        return None
    by_module = isinstance(owner, Instance) and _is_module(engine, Object(owner))
    if isinstance(owner, Instance) and not (by_module and _is_hidden(engine, value)):
        return None  # what it holds is judged where a module holds it, or registered by being an attribute
    loose = [part for part in _parameters(engine, value) if _mark(part) not in registered]
    if not loose:
        return None
    used = Trail(module, read.node, "`{}` is used by forward")
    where = Trail(place.module, place.node, place.message, None) if place is not None else None
    site = site_of(where.module, where.node) if where is not None else site_of(module, read.node)
    steps = Trail(used.module, used.node, used.message, where)
    modules = not all(isinstance(part, Tensor) for part in loose)
    trained = modules or any(
        isinstance(p, Tensor) and p.created_at is not None and is_trained(p.created_at) for p in loose
    )
    shown = ast.unparse(where.node if where is not None else read.node)
    holder = _holder(owner, value)
    return Unregistered(site, "", False, steps, name=shown, holder=holder, modules=modules, trained=trained)


def _holder(owner: object, value: Value) -> Literal["list", "dict", "object", "class", "global"]:
    if isinstance(owner, Class):
        return "class"
    if isinstance(owner, Module):
        return "global"
    return "dict" if isinstance(value, Dict) else "object" if isinstance(value, Object) else "list"


def _is_hidden(engine: Engine, value: Value) -> bool:
    """Whether a module does not look into an attribute, whichever of its values that has."""
    held = [option for option in options(value) if option != NONE]
    return bool(held) and all(_hides(engine, option) for option in held)


def _hides(engine: Engine, value: Value) -> bool:
    """Whether a module does not look into an attribute that holds the value."""
    return isinstance(value, (Tuple, Sequence, Dict)) or (isinstance(value, Object) and not _is_module(engine, value))


def _is_module(engine: Engine, value: Object) -> bool:
    definition = value.instance.definition
    known = engine.module_classes.get(definition)
    return is_module(Frame(engine, definition.module), definition) if known is None else known


def _mark(value: Value) -> object:
    """What tells a module or parameter from another: where it is made."""
    if isinstance(value, Object):
        return value.instance
    return value.created_at if isinstance(value, (Tensor, TorchModule)) else None


def _parameters(engine: Engine, value: Value, depth: int = MAX_DEPTH) -> Iterator[Value]:
    """The parameters in a value, and the modules in it that have some of their own."""
    for option in options(value) if depth else ():
        if isinstance(option, Tensor) and option.origin is Origin.PARAMETER and option.created_at is not None:
            yield option
        elif isinstance(option, TorchModule):
            if option.items is None and has_parameters(option):
                yield option
            for item in option.items or ():
                yield from _parameters(engine, item, depth - 1)
        elif isinstance(option, Object):
            if _is_module(engine, option):
                if has_parameters(option):
                    yield option
            else:
                yield from _inside(engine, option.instance.attributes.values(), depth)
        elif isinstance(option, Tuple):
            yield from _inside(engine, option.items, depth)
        elif isinstance(option, Sequence):
            yield from _inside(engine, (option.item,), depth)
        elif isinstance(option, Dict):
            yield from _inside(engine, [v for _, v in option.entries] + [v for v in (option.rest,) if v], depth)


def _inside(engine: Engine, values: Iterable[Value], depth: int) -> Iterator[Value]:
    for value in values:
        yield from _parameters(engine, value, depth - 1)


def _registered(engine: Engine, instance: Instance) -> Iterator[object]:
    """What a module has registered: the modules and parameters that are its attributes, and what is in them."""
    if not _is_module(engine, Object(instance)):
        return
    for value in (*instance.attributes.values(), *instance.registered):
        for option in options(value):
            if isinstance(option, (Tensor, TorchModule)) or (isinstance(option, Object) and _is_module(engine, option)):
                yield from (_mark(part) for part in _parameters(engine, option))
