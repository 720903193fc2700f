"""What a condition tells about the variables in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from exportlint.analysis.domain.heap import HEAP, Cell
from exportlint.analysis.domain.lattice import join, options
from exportlint.analysis.domain.values import (
    NONE,
    ClassValue,
    Const,
    External,
    Object,
    Python,
    Shape,
    Size,
    Tensor,
    TorchModule,
    Tuple,
    Unknown,
    Value,
)
from exportlint.analysis.eval.baked_values import asks_for_accelerator
from exportlint.analysis.eval.classes import bases, lineage
from exportlint.analysis.eval.frame import Environment, Frame
from exportlint.analysis.limits import MAX_BASES
from exportlint.syntax.definitions import Class, dotted

T = TypeVar("T", ast.expr, list[ast.stmt])
CONTAINER_TYPES = frozenset({"list", "tuple", "dict", "set", "str", "int", "float", "bool", "complex", "bytes"})
PLAIN_BASES = frozenset({External("builtins.object"), External("torch.nn.Module")})
"""Bases of other libraries that leave `isinstance` as it is."""


def narrowed(frame: Frame, env: Environment, test: ast.expr, assumption: bool) -> Environment | None:
    """The environment in which `test` was found to be `assumption`; None if it can't be."""
    result = dict(env)
    return result if _narrow(frame, result, test, assumption) else None


def _narrow(frame: Frame, env: Environment, test: ast.expr, assumption: bool) -> bool:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _narrow(frame, env, test.operand, not assumption)
    if isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) is assumption:
            return all(_narrow(frame, env, value, assumption) for value in test.values)
        return True
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _narrow_comparison(frame, env, test, assumption)
    if isinstance(test, ast.Call):
        return _narrow_call(frame, env, test, assumption)
    if isinstance(test, ast.NamedExpr):
        return _narrow(frame, env, test.target, assumption)
    key = path(test)
    if key is not None:
        kept = [_present(o) for o in options(_value(frame, env, test)) if _can_be(o, assumption)]
        watch = frame.engine.watch
        if watch is not None and watch.assumed is not None:  # the flag that it is run for decides other lines as well
            kept = [Const(assumption) if _may_be_flag(option) else option for option in kept]
        return _keep(env, key, kept)
    return True


def _narrow_comparison(frame: Frame, env: Environment, test: ast.Compare, assumption: bool) -> bool:
    operator, other = test.ops[0], test.comparators[0]
    is_none = isinstance(other, ast.Constant) and other.value is None
    key = path(test.left)
    if key is None or not is_none or not isinstance(operator, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
        return True
    wants_none = isinstance(operator, (ast.Is, ast.Eq)) is assumption
    found = options(_value(frame, env, test.left))
    if wants_none:
        kept: list[Value] = [NONE for o in found if o == NONE or isinstance(o, (Unknown, Python, External))]
        kept += [NONE for o in found if isinstance(o, Tensor) and o.optional]
    else:
        kept = [_present(o) for o in found if o != NONE]
    return _keep(env, key, kept)


def _narrow_call(frame: Frame, env: Environment, test: ast.Call, assumption: bool) -> bool:
    name = dotted(test.func)
    if not test.args or (key := path(test.args[0])) is None or name is None:
        return True
    last = name.rpartition(".")[2]
    value = _value(frame, env, test.args[0])
    if last == "is_tensor" or (last == "isinstance" and len(test.args) == 2):
        verdicts = [(o, True if last == "is_tensor" else is_instance(frame, o, test.args[1])) for o in options(value)]
        if last == "is_tensor":
            verdicts = [(o, _is_tensor(o)) for o in options(value)]
        elif assumption:
            verdicts = [(recognized(frame, o, test.args[1]), verdict) for o, verdict in verdicts]
        kept = [o for o, verdict in verdicts if verdict is None or verdict is assumption]
        if isinstance(value, Unknown) and kept and kept != [value]:
            _tell_calls(frame, env, test.args[0], kept[0])
        return _keep(env, key, kept)
    return True


def _tell_calls(frame: Frame, env: Environment, node: ast.expr, value: Value) -> None:
    """Let what is called see what an attribute was found to be."""
    owner = frame.peek(node.value) if isinstance(node, ast.Attribute) else None
    if isinstance(node, ast.Attribute) and isinstance(owner, Object):
        cell = Cell(owner.instance, node.attr)
        env[HEAP] = frame.heap.set(cell, value, frame.stored(owner.instance, node.attr))


def recognized(frame: Frame, value: Value, kind: ast.expr) -> Value:
    """An unknown value that was found to be an object of classes of the project: one object for each of the test.

    With one for each time that the test is run, no call that is given it would be known from another, and a loop that
    tests what it has found before would find new objects until it is widened.
    """
    if not isinstance(value, Unknown):
        return value
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    found = [frame.peek(one) for one in kinds]
    classes = [one.definition for one in found if isinstance(one, ClassValue)]
    if not classes or len(classes) < len(found):
        return value
    return join([frame.engine.promised(cls, one) for cls, one in zip(classes, kinds, strict=True)])


def _is_tensor(value: Value) -> bool | None:
    if isinstance(value, Tensor):
        return None if value.optional or value.assumed else True
    return None if isinstance(value, Unknown) else False


def is_instance(frame: Frame, value: Value, kinds: ast.expr) -> bool | None:
    """`isinstance(value, kinds)`, or None if it is not known."""
    elts = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
    verdicts = [_is_one(frame, value, frame.evaluate(kind)) for kind in elts]
    if any(v is True for v in verdicts):
        return True
    return None if None in verdicts else False


def _is_one(frame: Frame, value: Value, kind: Value) -> bool | None:
    if isinstance(value, Unknown):
        return None
    if isinstance(value, Object) and isinstance(kind, ClassValue):
        return _is_object_of(frame, value, kind.definition)
    if not isinstance(kind, External):
        return False if isinstance(value, (Tensor, Const, TorchModule)) and not _optional(value) else None
    last = kind.name.rpartition(".")[2]
    if isinstance(value, Tensor):
        if _optional(value) or value.assumed:
            return None
        if last == "Parameter":
            return value.origin.value == "parameter"
        return last == "Tensor"
    if isinstance(value, Const):
        if last in CONTAINER_TYPES:
            return type(value.value).__name__ == last or (isinstance(value.value, bool) and last == "int")
        return False
    if isinstance(value, Tuple):
        if last in {"list", "tuple"}:
            return last == ("list" if value.mutable else "tuple")
        return None if last in {"Sequence", "Iterable", "Collection"} else False
    if isinstance(value, Size):
        return False if last == "Tensor" else None
    if isinstance(value, Shape):
        return True if last in {"Size", "tuple"} else None if last in {"Sequence", "Iterable", "Collection"} else False
    if isinstance(value, (Object, TorchModule)):
        return False if last in CONTAINER_TYPES or last == "Tensor" else None
    return None


def _is_object_of(frame: Frame, value: Object, cls: Class) -> bool | None:
    """Whether an object is one of a class of the project. One that is only promised can be of a class below its own."""
    own = lineage(frame, value.instance.definition)
    if cls in own:
        return True
    if value.instance.promised or len(own) >= MAX_BASES:
        return None
    told = all(isinstance(base, (ClassValue, External)) for one in own for base in bases(frame, one))
    asked = lineage(frame, cls)
    # a metaclass can tell `isinstance` what it likes
    plain = not any(one.node.keywords for one in asked) and all(
        isinstance(base, ClassValue) or base in PLAIN_BASES for one in asked for base in bases(frame, one)
    )
    return False if told and plain else None


def _optional(value: Value) -> bool:
    return isinstance(value, Tensor) and value.optional


def _present(value: Value) -> Value:
    return replace(value, optional=False) if isinstance(value, Tensor) and value.optional else value


def _can_be(value: Value, truth: bool) -> bool:
    if isinstance(value, Const):
        return bool(value.value) is truth
    return not (isinstance(value, (Object, TorchModule)) and not truth and not isinstance(value, TorchModule))


def _may_be_flag(value: Value) -> bool:
    if isinstance(value, Tensor):
        return value.assumed
    return isinstance(value, Unknown) or (isinstance(value, Python) and value.type in {None, "bool"})


def _keep(env: Environment, key: str, kept: list[Value]) -> bool:
    if not kept:
        return False
    env[key] = join(kept)
    return True


def branch_paths(
    frame: Frame, test: ast.expr, condition: Value, is_true: bool | None, then: T, otherwise: T
) -> Iterator[T]:
    """The ways that a condition leaves open. Each is to be run when it is given: the frame is as it is on that way.

    `condition` is what `test` gives, and `is_true` its truth, if that is known.
    """
    before = frame.env
    watch = frame.engine.watch
    arms = ((then, True), (otherwise, False))
    for way, assumption in [arm for arm in arms if watch is not None and watch.is_only(arm[0], test)] or arms:
        frame.env = before  # what the condition is about is looked up where it stands
        env = narrowed(frame, before, test, assumption) if is_true in {None, assumption} else None
        if env is None:
            continue
        frame.env = env
        accelerated = assumption and asks_for_accelerator(condition)
        frame.on_accelerator += accelerated
        try:
            yield way
        finally:
            frame.on_accelerator -= accelerated


def path(node: ast.expr) -> str | None:
    """The key of a variable or of an attribute of one, in an environment."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return None


def _value(frame: Frame, env: Environment, node: ast.expr) -> Value:
    key = path(node)
    if key is not None and key in env:
        return env[key]
    return frame.peek(node)
