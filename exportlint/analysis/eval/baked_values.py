"""How values that the host gave spread, and where they become part of the program."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from exportlint.analysis.domain.baked_values import Baked, Source, baked_in
from exportlint.analysis.domain.lattice import options, tensors_in
from exportlint.analysis.domain.trails import Trail
from exportlint.analysis.domain.values import (
    ARRAY,
    NONE,
    PYTHON,
    Const,
    External,
    Function,
    Object,
    Python,
    Sequence,
    Tensor,
    TorchModule,
    Tuple,
    Unknown,
    Value,
)
from exportlint.analysis.eval.effects import Mode
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.facts.environment import BakedUse, Drawn, Use
from exportlint.analysis.torch.dtypes import DTYPES
from exportlint.analysis.torch.registry import methods

CONVERSIONS = frozenset({*methods(converts=True), "view_as_real"})
"""Operators that keep the values of a tensor, as far as its new dtype or layout can hold them."""


def read_host(frame: Frame, node: ast.AST, source: Source, api: str, *, array: bool = False) -> Value:
    """What asking the host for a value at a node gives: while a module is built, just some Python value."""
    if frame.engine.constructing:
        return PYTHON
    frame.emit(Drawn, node, source=source, api=api, array=array)
    trail = frame.trail(node, "`{}` is evaluated once, in Python, during export")
    return Baked(source, api, frame.site(node), array=array, trail=trail)


def held_array(frame: Frame, value: Value, node: ast.AST) -> Value:
    """A number or an array of numpy that was computed before the trace, as traced code reads it.

    Strict mode makes a tensor of it that is no input of the program: what is computed with it is wrong (2.13).
    """
    engine = frame.engine
    if value != ARRAY or engine.mode != "strict" or not engine.is_tracing or engine.constructing:
        return value
    trail = frame.trail(node, "`{}` was computed by NumPy before the trace")
    return Baked("numpy", "numpy", array=True, trail=trail)


def on_accelerator(frame: Frame, api: str, node: ast.AST) -> Value:
    """The answer to whether the machine has an accelerator, or a tensor is on one."""
    return Baked(
        "accelerator", api, type="bool", trail=frame.trail(node, "`{}` is evaluated once, in Python, during export")
    )


def asks_for_accelerator(condition: Value) -> bool:
    """Whether code under a condition is meant for machines that have an accelerator."""
    return any(isinstance(option, Baked) and option.source == "accelerator" for option in options(condition))


def metadata(frame: Frame, tensor: Tensor, source: Source, api: str, node: ast.AST) -> Value:
    """What an input says of itself; for other tensors, the program itself decides."""
    is_view = source == "layout" and not tensor.name
    if tensor.origin.value != "input" or tensor.assumed or tensor.optional or is_view or frame.engine.constructing:
        return Python("dtype") if source == "dtype" else PYTHON
    kind = "dtype" if source == "dtype" else None
    return Baked(source, api, type=kind, trail=frame.trail(node, f"`{{}}` is the {api} of an input", tensor.trail))


def bake_in(frame: Frame, value: Value, node: ast.AST, use: Use) -> None:
    """Note that a value goes into the program, if it is a baked one."""
    for baked in baked_in(value):
        if frame.engine.silent:
            return
        fact = BakedUse(
            baked.site or frame.site(node), frame.symbol, frame.guards > 0, _used(frame, baked, node),
            baked.source, baked.api, use, baked.array, baked.kind,
            drawn=baked.site is not None, fixed=frame.engine.has_parameters,
        )  # fmt: skip
        frame.engine.emit(fact)


def _used(frame: Frame, baked: Baked, node: ast.AST) -> Trail | None:
    if baked.trail is None or baked.trail.node is node:
        return baked.trail
    return frame.trail(node, "used here: `{}`", baked.trail)


def propagate(frame: Frame, operands: Iterable[Value], node: ast.AST, found: Value, use: Use) -> Value:
    """What something in Python gives if one of its operands is baked; `found` is what it would give otherwise."""
    baked = next((b for operand in operands for b in baked_in(operand)), None)
    if baked is None:
        return found
    if any(isinstance(o, (Object, TorchModule, Function)) for o in options(found)) or any(
        True for _ in tensors_in(found)
    ):
        bake_in(frame, baked, node, use)
        return found
    is_plain = all(isinstance(o, (Python, Const, Unknown)) for f in options(found) for o in _items(f))
    if not is_plain or found == NONE:
        return found
    return replace(baked, type=found.type if isinstance(found, Python) else None)


def _items(value: Value) -> tuple[Value, ...]:
    return (value.item,) if isinstance(value, Sequence) else (value,)


def read_environment(frame: Frame, container: Value, node: ast.AST) -> Value | None:
    """`os.environ["A"]`, `"A" in os.environ`; None if the container is something else."""
    if isinstance(container, External) and container.name in {"os.environ", "os.environb"}:
        return read_host(frame, node, "environment", container.name)
    return None


def compared(left: Value, right: Value) -> Value | None:
    """The truth of a comparison, if one side is baked and the other is not a tensor."""
    baked, other = (left, right) if isinstance(left, Baked) else (right, left)
    if not isinstance(baked, Baked) or isinstance(other, Tensor):
        return None
    if other == NONE and baked.source != "environment":
        return None  # only a variable of the environment may be missing
    items = other.items if isinstance(other, Tuple) else (other,)
    kinds = {DTYPES.get(item.name) for item in items if isinstance(item, External)}
    return replace(baked, kind=kinds.pop() if len(kinds) == 1 else None, type="bool")


def note_mode(frame: Frame, node: ast.AST, name: str) -> None:
    """Record that the mode of a module decides something."""
    if not frame.engine.silent and not frame.engine.constructing:
        frame.engine.effects.ask(Mode(name, frame.site(node), frame.symbol, frame.guards > 0))
