"""What `forward` takes and returns where torch.export calls it, so that everything must be a pytree of known types."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

from exportlint.analysis.domain.lattice import join, options
from exportlint.analysis.domain.values import Instance, Object, Sequence, Unknown, Value
from exportlint.analysis.eval.argument_types import ArgumentType, object_type, tested_types, typed
from exportlint.analysis.eval.classes import is_module
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.optional_outputs import OutputWatch
from exportlint.analysis.eval.parameters import defaults
from exportlint.analysis.eval.pytree_leaves import (
    ARRAY,
    SIZE,
    field_names,
    is_unregistered,
    leaves,
    opaque,
    registers_subclasses,
)
from exportlint.analysis.facts.boundary import Argument, ObjectInput, Output, Signature
from exportlint.syntax.definitions import Class
from exportlint.syntax.walk import walk


def is_exported(frame: Frame, cls: Class) -> bool:
    """Whether a module is rather exported than a part of others.

    No other class of its file uses it, or the file makes it. What else is in the file does not matter. `frame` is that
    of its `forward`; one that stands in another file may be a part there.
    """
    return _is_exported(frame, cls, cls.module.parts)


def _is_exported(frame: Frame, cls: Class, parts: frozenset[str]) -> bool:
    named = frame.engine.options.exports(cls)
    if named is not None:
        return named
    module = cls.module
    if frame.module is not module or cls.node.name in parts:
        return False
    if cls.node.name in module.made:
        return True
    return cls.qualname == cls.node.name and is_module(frame, cls)


def is_surely_exported(frame: Frame, cls: Class) -> bool:
    """The same for what no program could do: in a package other files may use the module, unless the file makes it.

    A package has an `__init__.py`: the folder that exportlint runs in decides what a file is called, and nothing here.
    """
    named = frame.engine.options.exports(cls)
    if named is not None:
        return named
    return is_exported(frame, cls) and (not cls.module.is_packaged or cls.node.name in cls.module.made)


def returns_outputs(frame: Frame, cls: Class) -> bool:
    """The same for what a module returns: `MODELS = {"net": Net}`, which no code of the file reads, uses no part."""
    if is_surely_exported(frame, cls):
        return True
    return not cls.module.is_packaged and _is_exported(frame, cls, cls.module.used_parts)


def note_inputs(
    frame: Frame, node: ast.FunctionDef | ast.AsyncFunctionDef, given: Mapping[str, Value], *, surely: bool
) -> None:
    """Record which arguments of a `forward` are not tensors; `given` is what they hold.

    `surely`: the module is surely exported, so that objects are worth a word.
    """
    default = dict(defaults(node))
    tested = tested_types(frame, node)
    used = {n.id for s in node.body for n in walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    found: list[Argument] = []
    for argument in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs][1:]:
        name = argument.arg
        required = name not in default
        held = object_type(frame, argument, tested.get(name)) if required and surely else None
        if held is not None:
            frame.emit(ObjectInput, argument, None, name=name, type=held)
        elif name in used:
            kind: ArgumentType | None = typed(frame, argument, default.get(name), given[name], tested.get(name))
            if kind is not None:
                found.append(Argument(name, kind, required, frame.site(argument)))
    if found:
        frame.emit(Signature, node, None, arguments=tuple(found))


def note_outputs(frame: Frame) -> None:
    """Record what a `forward` that has run returns, where nothing can look inside of it."""
    if frame.yielding is not None:
        made = Sequence(join(frame.yields), "generator")
        details = {"returned": made, "parts": ((made, "generator"),)}
        frame.emit(Output, frame.yielding, None, name="generator", is_array=False, **details)
        return
    for node, value in frame.returns:
        parts = tuple((leaf, name) for leaf in _inner(frame, value, node) if (name := opaque(frame, leaf)) is not None)
        if parts:
            name = next((name for _, name in parts if name != SIZE), SIZE)
            frame.emit(Output, node, None, name=name, is_array=name == ARRAY, returned=value, parts=parts)
        elif isinstance(node.value, ast.IfExp):
            _note_objects(frame, node.value)


def _note_objects(frame: Frame, node: ast.IfExp) -> None:
    """Record the objects in what an arm returns, as of a `return` in an `if` statement."""
    for arm, value in frame.arms.get(node, ()):
        if isinstance(arm, ast.IfExp):
            _note_objects(frame, arm)
            continue
        held = (leaf for leaf in _inner(frame, value, arm) if isinstance(leaf, Object))
        parts = tuple((leaf, name) for leaf in held if (name := opaque(frame, leaf)) is not None)
        if parts:
            frame.emit(Output, arm, None, name=parts[0][1], is_array=False, returned=value, parts=parts)


def may_return_objects(frame: Frame, allocated: Collection[object]) -> bool:
    """Whether a `forward` that has run may return some object of those `allocated`, which torch does not know.

    That may be an object on some ways only, or not known: what joins others is forgotten.
    """
    if not any(isinstance(one, Instance) and is_unknown(frame, one) for one in allocated):
        return False
    found = (leaf for node, value in frame.returns for leaf in _inner(frame, value, node))
    return any(
        isinstance(option, (Object, Unknown)) and opaque(frame, leaf) is None
        for leaf in found
        for option in options(leaf)
    )


def watch_outputs(frame: Frame, watch: OutputWatch) -> None:
    """Note which objects that torch does not know each `return` of a `forward` that has run holds."""
    held: list[set[Instance]] = []
    for node, value in frame.returns:
        if node in watch.early:  # it is for calls that do not come by what is assumed
            continue
        surely = set[Instance]()
        for leaf in _inner(frame, value, node):
            objects = (option.instance for option in options(leaf) if isinstance(option, Object))
            found = {one for one in objects if is_unknown(frame, one)}
            if found and opaque(frame, leaf) is not None:
                surely |= found
        held.append(surely)
    watch.always = set.intersection(*held) if held else set()
    watch.somewhere = set[Instance]().union(*held)


def is_unknown(frame: Frame, made: Instance) -> bool:
    """Whether torch does not know the class of an object that is made, and that is no module."""
    return not made.promised and not is_module(frame, made.definition) and is_unregistered(frame, made.definition)


def _inner(frame: Frame, value: Value, node: ast.AST, depth: int = 4) -> Iterator[Value]:
    """The leaves of an output, also those in the fields of objects that torch takes for dictionaries."""
    for leaf in leaves(value):
        if isinstance(leaf, Object) and depth and registers_subclasses(frame, leaf.instance.definition):
            for name in field_names(frame, leaf.instance.definition):
                yield from _inner(frame, frame.attribute(leaf, name, node), node, depth - 1)
        else:
            yield leaf
