"""Functions of Python's own library that are written in C, and so need plain numbers: no symbol will do."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import Scalar, Sequence, Tuple, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.demands import data_of, demand_number
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.facts import Conversion

PLACES: dict[str, tuple[int, ...]] = {
    "builtins.enumerate": (1,), "builtins.list.insert": (0,), "builtins.list.pop": (0,),
    "itertools.repeat": (1,), "itertools.islice": (1, 2, 3), "itertools.combinations": (1,),
    "itertools.permutations": (1,), "itertools.count": (0, 1),
    "decimal.Decimal": (0,), "fractions.Fraction": (0, 1), "struct.pack": (1, 2, 3, 4),
    "collections.Counter": (0,), "datetime.timedelta": (0,),
}  # fmt: skip
"""The arguments that are read as numbers; measured on 2.13 in both modes."""

KEYWORDS = {"builtins.enumerate": "start", "itertools.repeat": "times"}
ALL = frozenset({"bisect", "statistics", "heapq"})
"""Libraries whose functions compare or compute with all that they are given."""


def note_plain_numbers(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> None:
    """Record that a function of Python needs the number behind tensor data."""
    if name.partition(".")[0] in ALL:
        note_any_numbers(frame, arguments, node)
        return
    places = PLACES.get(name)
    if places is None:
        return
    for place in places:
        _note(frame, arguments.get(place), node)
    _note(frame, arguments.keywords.get(KEYWORDS.get(name, "")), node)


def note_any_numbers(frame: Frame, arguments: Arguments, node: ast.AST) -> None:
    """Record that a function of Python needs the number behind any of its arguments."""
    for value in arguments.values:
        _note(frame, value, node)


def _note(frame: Frame, value: Value | None, node: ast.AST) -> None:
    if value is None or frame.engine.eager:
        return
    if isinstance(value, (Tuple, Sequence)):
        items = value.items if isinstance(value, Tuple) else (value.item,)
        scalar = next((s for i in items for s in options(i) if isinstance(s, Scalar) and not s.assumed), None)
        if scalar is not None:
            frame.emit(Conversion, node, scalar, target="function argument", operand=scalar)
    elif data_of(value) is not None:
        demand_number(frame, value, node, "function argument")
