"""Functions that are written in C, and so need plain numbers: no symbol will do. Measured on 2.13 in both modes."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import Scalar, Sequence, Tuple, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.demands import data_of, demand_number
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.facts import Conversion
from exportlint.analysis.library_functions import LibraryFunction


def note_plain_numbers(frame: Frame, function: LibraryFunction, arguments: Arguments, node: ast.AST) -> None:
    """Record that a function needs the number behind tensor data, as its record says."""
    if function.numbers == "every":
        note_any_numbers(frame, arguments, node)
        return
    for place in function.numbers:
        value = arguments.get(place) if isinstance(place, int) else arguments.keywords.get(place)
        _note(frame, value, node)


def note_any_numbers(frame: Frame, arguments: Arguments, node: ast.AST) -> None:
    """Record that a function needs the number behind any of its arguments."""
    for value in arguments.values:
        _note(frame, value, node)


def _note(frame: Frame, value: Value | None, node: ast.AST) -> None:
    if value is None or frame.engine.constructing:
        return
    if isinstance(value, (Tuple, Sequence)):
        items = value.items if isinstance(value, Tuple) else (value.item,)
        scalar = next((s for i in items if isinstance(s := data_of(i), Scalar)), None)
        if scalar is not None:
            frame.emit(Conversion, node, scalar, target="function argument", operand=scalar)
    elif data_of(value) is not None:
        demand_number(frame, value, node, "function argument")
