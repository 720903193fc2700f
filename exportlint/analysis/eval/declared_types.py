"""What the code says of values that cannot be followed: annotations, and members that only a tensor has."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from exportlint.analysis.domain.values import (
    PYTHON,
    SOME_MODULE,
    UNKNOWN,
    BoundMethod,
    Dict,
    Origin,
    Sequence,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from exportlint.analysis.eval.annotations import annotated_value, inside
from exportlint.analysis.eval.frame import Frame, has_attributes
from exportlint.syntax import stubs

OWN_METHODS = frozenset({
    "new_zeros", "new_ones", "new_full", "new_empty", "unsqueeze", "masked_fill", "masked_select", "type_as",
    "expand_as", "view_as", "index_select", "repeat_interleave", "scatter_add", "softmax", "log_softmax", "permute",
    "contiguous", "bmm", "unbind", "sigmoid", "logical_not",
})  # fmt: skip
"""Methods that tensors have, and arrays, distributions, modules and Python's own values have not."""


def believed(value: Value, promised: Callable[[], Value]) -> Value:
    """The value of an annotated name: what its annotation promised holds where nothing better is known.

    It also holds against a guess: an argument that is only assumed to be a tensor is the list that it is annotated as.
    What a constructor is given without an annotation may be a module.
    """
    guessed = isinstance(value, Tensor) and value.assumed
    if not (guessed or value in (UNKNOWN, PYTHON)):
        return value
    said = promised()
    if value == PYTHON and said != SOME_MODULE:
        return value
    return value if said == UNKNOWN or (guessed and isinstance(said, Tensor)) else said


def declared_variable(frame: Frame, annotation: ast.expr | None, name: str) -> Value:
    """What the annotation of a variable or attribute surely promises."""
    return declared(frame, annotation, name, f"`{name}` is annotated as `{{}}`")


def declared(frame: Frame, annotation: ast.expr | None, name: str, message: str) -> Value:
    """The tensor, or the container of tensors, that an annotation surely promises; unknown for anything else.

    `message` explains it, where the annotation stands.
    """
    known = frame.engine.declarations
    if annotation is None:
        return UNKNOWN
    if annotation not in known:
        known[annotation] = UNKNOWN  # what an annotation that refers to itself promises
        value = annotated_value(frame, annotation, name)
        known[annotation] = UNKNOWN if value is None else _fresh(frame, value, annotation, message)
    return known[annotation]


def declared_argument(frame: Frame, argument: ast.arg) -> Value:
    """What the annotation of a parameter surely promises, or that in a stub."""
    said = stubs.annotation(frame.module, argument)
    if said is None:
        return UNKNOWN
    return declared(inside(frame, said[0]), said[1], argument.arg, f"`{argument.arg}` is annotated as `{{}}`")


def _fresh(frame: Frame, value: Value, node: ast.expr, message: str) -> Value:
    """A promised value, whose tensors come from anywhere."""
    if isinstance(value, Tensor) and not value.optional and not value.assumed:
        return Tensor(Origin.FRESH, value.kind, name=value.name, trail=frame.trail(node, message))
    if isinstance(value, Tuple):
        items = tuple(_fresh(frame, item, node, message) for item in value.items)
        return replace(value, items=items) if any(item != UNKNOWN for item in items) else UNKNOWN
    if isinstance(value, Sequence):
        item = _fresh(frame, value.item, node, message)
        return replace(value, item=item) if item != UNKNOWN else UNKNOWN
    if isinstance(value, Dict) and value.rest is not None:
        rest = _fresh(frame, value.rest, node, message)
        return Dict((), rest) if rest != UNKNOWN else UNKNOWN
    return value if value == SOME_MODULE else UNKNOWN


@has_attributes(Unknown)
def _member(frame: Frame, value: Unknown, name: str, node: ast.AST) -> Value:
    """`value.unsqueeze`: a tensor it is."""
    if name not in OWN_METHODS:
        return UNKNOWN
    assert isinstance(node, ast.Attribute)
    return BoundMethod(Tensor(trail=frame.trail(node.value, "`{}` is a tensor")), name)
