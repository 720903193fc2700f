"""Objects of project classes: what their constructors leave in their attributes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from exportlint.analysis.domain.allocations import identities, lost, unidentified
from exportlint.analysis.domain.heap import EVERY, Cell, Heap
from exportlint.analysis.domain.lattice import join, trail_of, widen
from exportlint.analysis.domain.values import (
    BASE,
    UNKNOWN,
    AttributesOf,
    BoundMethod,
    ClassValue,
    Const,
    External,
    Instance,
    Object,
    Origin,
    Registry,
    Tensor,
    TorchModule,
    Value,
)
from exportlint.analysis.eval.activations import Construction
from exportlint.analysis.eval.arguments import UNPACKED, Arguments
from exportlint.analysis.eval.baked_values import held_array, note_mode
from exportlint.analysis.eval.classes import bases, bound, find_method, is_module, lineage
from exportlint.analysis.eval.computed_names import computed_attribute
from exportlint.analysis.eval.effects import Places, fitting, summarize
from exportlint.analysis.eval.frame import Frame, has_attributes
from exportlint.analysis.eval.generated_constructors import fill_fields, is_generated
from exportlint.analysis.eval.module_parameters import note_made
from exportlint.analysis.eval.names import settled
from exportlint.analysis.eval.optional_outputs import Making
from exportlint.analysis.eval.recursion import enclosing, named
from exportlint.analysis.facts import Call
from exportlint.analysis.limits import MAX_CONSTRUCTORS
from exportlint.analysis.torch import table
from exportlint.analysis.torch.layers import find_layer
from exportlint.syntax.definitions import Class

REGISTRIES = frozenset({"_buffers", "_parameters", "_modules"})


@has_attributes(Object)
def _attribute(frame: Frame, value: Object, name: str, node: ast.AST) -> Value:
    """`value.name` for an object of a project class."""
    instance = value.instance
    found = frame.stored(instance, name)
    if found is not None:
        held = held_array(frame, found, node) if instance.lasting else found
        return explained(frame, held, node)
    shared = bound(frame, value, instance.definition, name, node)
    if shared is not None:
        return shared
    if name == "training" and is_module(frame, instance.definition):
        note_mode(frame, node, "training")
        return Const(frame.engine.options.training)
    if name == "__class__":
        return ClassValue(instance.definition)
    if name == "__dict__":
        return AttributesOf(value)
    if name in REGISTRIES and is_module(frame, instance.definition):
        return UNKNOWN if frame.engine.constructing else Registry(value, name)
    computed = computed_attribute(frame, instance, name)
    if computed is not None:
        return computed
    if name in {"weight", "bias"} and any(
        isinstance(base, External) and (api := table.lookup(base.name)) is not None and api.kind == "module"
        for cls in lineage(frame, instance.definition)
        for base in bases(frame, cls)
    ):
        return Tensor(Origin.PARAMETER, "float", requires_grad=True, name=name)
    if is_module(frame, instance.definition):
        is_method = table.lookup(f"torch.nn.Module.{name}") or name in MODULE_METHODS
        if is_method or _is_container(instance):
            return BoundMethod(value, name)
    fallback = bound(frame, value, instance.definition, "__getattr__", node)
    return UNKNOWN if fallback is None else frame.call(fallback, Arguments((Const(name),)), node)


def operator_method(frame: Frame, value: Value, name: str | None, node: ast.AST) -> Value | None:
    """The method by which the class of an object says what an operator does; None if it does not say."""
    if name is None or not isinstance(value, Object) or find_method(frame, value.instance.definition, name) is None:
        return None
    return frame.attribute(value, name, node)


def _is_container(instance: Instance) -> bool:
    """Whether it is a `ModuleList` or the like, by inheritance."""
    base = instance.attributes.get(BASE)
    return isinstance(base, TorchModule) and base.items is not None


STATE = {Origin.PARAMETER: "a parameter", Origin.BUFFER: "a buffer", Origin.ATTRIBUTE: "a tensor of the module"}


def explained(frame: Frame, value: Value, node: ast.AST) -> Value:
    """A tensor of the module's state, with the step that says so."""
    if isinstance(value, Tensor) and value.trail is None and value.origin in STATE:
        return replace(value, trail=frame.trail(node, f"`{{}}` is {STATE[value.origin]}"))
    return value


MODULE_METHODS = frozenset({
    "parameters", "named_parameters", "buffers", "named_buffers", "modules", "children", "named_modules",
    "named_children", "register_buffer", "register_parameter", "add_module", "register_module", "to", "cuda", "cpu",
    "half", "float", "double", "bfloat16", "eval", "train", "apply", "state_dict", "load_state_dict", "zero_grad",
    "requires_grad_", "get_parameter", "get_buffer", "get_submodule", "register_forward_hook",
    "register_forward_pre_hook", "type", "__call__",
})  # fmt: skip


def instantiate(frame: Frame, cls: Class, arguments: Arguments, node: ast.AST, *, is_exported: bool = False) -> Value:
    """`Class(...)`: the constructor runs, silently if the class is a module, since tracing does not see that.

    `is_exported`: this is the module that is exported, a part of no other.
    """
    engine = frame.engine
    is_a_module = is_module(frame, cls)
    lasting = is_exported or engine.constructing > 0
    heap = frame.heap
    if is_a_module and not is_exported:  # it stands for all that are made so: what it holds is no list of the caller
        unnamed = {name: unidentified(value) for name, value in arguments.keywords.items()}
        arguments = Arguments(tuple([unidentified(value) for value in arguments.positional]), unnamed)
    rest = arguments.keywords.get(UNPACKED)  # stands for any number of values: which containers these are is not kept
    if rest is not None and rest.reaches:
        arguments = Arguments(arguments.positional, {**arguments.keywords, UNPACKED: lost(rest, rest.reaches, join)})
    if engine.building:
        enclosed, arguments = enclosing(engine, cls, arguments)
        if enclosed is not None:
            return Object(enclosed)
    keywords = tuple(sorted(arguments.keywords.items(), key=lambda kv: kv[0]))
    key: tuple[object, ...] = (cls, lasting, is_exported, arguments.positional, keywords)
    try:
        hash(key)
    except TypeError:
        return UNKNOWN
    site: tuple[object, ...] = ()
    first: tuple[object, ...] = ()
    given: Places = ()
    is_shared = True
    table = engine.modules if is_exported or is_a_module else engine.objects
    if table is engine.modules:
        pass
    elif engine.repeating:
        site = (node, cls, lasting, *engine.active)
        is_shared = False
    else:  # the same one in each root, so that calls which are given it are alike
        is_shared = not any(trail_of(value) is not None for value in arguments.values)
        key = (*key, engine.is_tracing, frame.guards > 0, engine.region, engine.has_parameters)
        first = (*key, engine.next_of(key))
        key = (*first, engine.silent > 0)
        given = tuple([places for value in arguments.values for places in identities(value)])
    known = table.get(key, ()) if is_shared else ()
    if first and engine.replaying and engine.is_tracing:
        known = (*known, *table.get((*first, False), ()))
    found = fitting(known, heap, given)
    if found is not None:
        summary = found[0].under(found[1])
        engine.effects.call(summary.effects, heap.written)
        frame.heap = summary.after(heap)
        _note_making(frame, summary.value, node)
        return summary.value
    again = engine.allocated.get(site)
    instance = again or Instance(cls, lasting=lasting)
    made = Object(instance)
    _note_making(frame, made, node)
    cuts = len(engine.limits_reached)
    heap = Heap(heap.changes, heap.written, engine.serial)
    with engine.collecting(heap) as effects:
        construction = _build(frame, instance, arguments, node, silent=is_a_module)
    effects.allocated.add(instance)
    engine.effects.allocated.add(instance)
    left = _left(frame, instance, settles=is_a_module)
    if again is not None:
        frame.heap = _joined(frame.heap, heap, instance, left)
        return made
    owners = {instance, *(a for value in left.values() for a in value.reaches if not a.fixed and a.serial > heap.since)}
    frame.heap = frame.heap.without(owners)
    instance.attributes.update({name: engine.fixed(value) for name, value in left.items()})
    if site:
        engine.allocated[site] = instance
    if is_shared and len(engine.limits_reached) == cuts and not construction.is_provisional:
        table[key] = (*table.get(key, ()), summarize(made, effects, frame.heap, given))
    if is_a_module and not is_exported:
        note_made(frame, made, cls.node.name, node)
    return made


def copied(
    frame: Frame, value: Object, node: ast.AST, copied_part: Callable[[Value], Value], known: dict[Instance, Object]
) -> Object:
    """An object with attributes of its own, which hold what `copied_part` makes of the others'.

    It is noted as `known` before its attributes are copied, which may lead back to it.
    """
    engine, source = frame.engine, value.instance
    made = known[source] = engine.copied(source, node)
    engine.effects.allocated.add(made.instance)
    engine.effects.cells.add(Cell(source, EVERY))
    instance = made.instance
    if is_module(frame, source.definition):
        instance.buffers |= source.buffers
        instance.places.update(source.places)
        instance.registered = [copied_part(part) for part in source.registered]
    held = {name: engine.fixed(copied_part(part)) for name, part in frame.attributes(source).items()}
    if not (instance.attributes or instance.promised):  # it is made for the first time
        instance.attributes.update(held)
    for name, part in held.items():
        before = frame.stored(instance, name)
        now = part if before is None or not engine.repeating else join((before, part))
        if now != before:
            frame.store_cell(Cell(instance, name), now, instance.attributes.get(name))
    return made


def _note_making(frame: Frame, made: Value, node: ast.AST) -> None:
    """Tell who watches the objects that traced code makes."""
    engine = frame.engine
    if engine.watch is not None and engine.is_tracing and isinstance(made, Object) and isinstance(node, ast.Call):
        site = frame.site(node)
        making = Making(node, site, frame.module, frame.guards > 0)
        engine.watch.made.setdefault(made.instance, {}).setdefault(site, making)


def _build(frame: Frame, instance: Instance, arguments: Arguments, node: ast.AST, *, silent: bool) -> Construction:
    """Run the constructor on an instance."""
    engine = frame.engine
    cls = instance.definition
    construction = Construction(cls, tuple(named(arguments)), instance, len(engine.activations))
    written = find_method(frame, cls, "__init__")
    if written is None or is_generated(frame, cls, written[0]):
        for base in bases(frame, cls):
            if isinstance(base, External):
                note_call(frame, base.name, arguments, node)
        fill_fields(frame, instance, arguments, node)
        return construction
    if len(engine.building) >= MAX_CONSTRUCTORS:
        engine.cut("constructors")
        return construction
    engine.silent += silent
    engine.constructing += silent
    engine.building.append(construction)
    try:
        constructor = bound(frame, Object(instance), cls, "__init__", node)
        frame.call(UNKNOWN if constructor is None else constructor, arguments, node)
    finally:
        engine.building.pop()
        engine.silent -= silent
        engine.constructing -= silent
    return construction


def note_call(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> None:
    """Record the call of something that is not of the project."""
    if not frame.engine.silent:
        first = next((v for v in arguments.values if trail_of(v) is not None), None)
        keywords = tuple(arguments.keywords.items())
        frame.emit(Call, node, first, name=name, positional=arguments.positional, keywords=keywords)


def _left(frame: Frame, instance: Instance, *, settles: bool) -> dict[str, Value]:
    """What the constructor has left in the attributes. `settles`: the plain tensors of a module are real then."""
    left = {**instance.attributes, **frame.heap.of(instance)}
    left = {name: frame.current(value) for name, value in left.items()}
    if not settles:
        return left
    known = frame.engine.mode == "non-strict"
    return {name: settled(value, Origin.ATTRIBUTE, known) for name, value in left.items()}


def _joined(after: Heap, before: Heap, instance: Instance, left: dict[str, Value]) -> Heap:
    """The heap in which an object stands for those that earlier passes of a loop made, and for one more."""
    heap = after.without((instance,))
    for name, value in left.items():
        cell = Cell(instance, name)
        first = instance.attributes.get(name)
        held = before.get(cell) or first
        now = value if held is None else widen(held, value)
        if now != first:
            heap = heap.set(cell, now, first)
    return heap


def holds_parameters(value: Value) -> bool:
    """Whether a module has parameters or buffers, as far as its constructor tells."""
    waiting, seen = [value], set[Instance]()
    while waiting:
        value = waiting.pop()
        if isinstance(value, TorchModule):
            if value.items is not None:
                waiting += value.items
                continue
            layer = find_layer(value.name)
            if layer is None or layer.parameters != "never":
                return True
        elif isinstance(value, Object) and value.instance not in seen:
            seen.add(value.instance)
            attributes = value.instance.attributes.values()
            if any(isinstance(attribute, Tensor) for attribute in attributes):
                return True
            waiting += attributes
    return False
