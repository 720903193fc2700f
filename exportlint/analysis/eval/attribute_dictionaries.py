"""What code gets that copies `vars(value)` or `value.__dict__`: a dictionary, not the attributes themselves."""

from __future__ import annotations

from exportlint.analysis.domain.heap import EVERY, Cell
from exportlint.analysis.domain.values import UNKNOWN, AttributesOf, Dict, Value
from exportlint.analysis.eval.classes import is_module
from exportlint.analysis.eval.frame import Frame


def copied_attributes(frame: Frame, value: Value) -> Value:
    """The attributes of an object as a dictionary of their own; any other value as it is."""
    if not isinstance(value, AttributesOf):
        return value
    instance = value.receiver.instance
    if instance.promised:  # of most of its attributes nothing is known
        return UNKNOWN
    frame.engine.effects.cells.add(Cell(instance, EVERY))
    entries = tuple((name, held) for name, held in frame.attributes(instance).items() if not name.startswith("<"))
    is_known = not (instance.computed or is_module(frame, instance.definition))
    return Dict(entries, None if is_known else UNKNOWN)
