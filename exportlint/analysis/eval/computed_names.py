"""Attributes whose names the code puts together: `getattr(self, f"_{mode}")`, `setattr(self, f"layer{i}", …)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.heap import Cell
from exportlint.analysis.domain.lattice import join
from exportlint.analysis.domain.values import (
    UNKNOWN,
    Instance,
    Object,
    Python,
    Value,
)
from exportlint.analysis.eval.classes import lineage
from exportlint.analysis.eval.frame import Frame

COMPUTED = "<computed>"
"""How the keys begin that stand for all attributes whose names begin and end alike."""

Affixes = tuple[str, str]
"""How a text begins, and how it ends."""


def affixes(name: Value | None) -> Affixes:
    """How a name surely begins and ends."""
    return name.affixes if isinstance(name, Python) else ("", "")


def bind_computed(frame: Frame, instance: Instance, name: Value, value: Value) -> None:
    """`setattr(instance, name, value)` for a name that is not known."""
    key = COMPUTED + "\0".join(affixes(name))
    instance.computed.add(key)
    known = frame.stored(instance, key)
    changed = value if known is None else join((known, value))
    frame.store_cell(Cell(instance, key), changed, instance.attributes.get(key))


def computed_attribute(frame: Frame, instance: Instance, name: str) -> Value | None:
    """What an attribute can be that was bound under a name which the code computes; None if there was none."""
    found = [value for bound, value in _computed(frame, instance) if _fits(name, bound)]
    return join(found) if found else None


def attribute_by_computed_name(frame: Frame, value: Object, name: Value, node: ast.AST) -> Value:
    """`getattr(value, name)`: any attribute whose name begins and ends so; unknown where nothing is known of it."""
    wanted = affixes(name)
    found = [held for bound, held in _computed(frame, value.instance) if _overlap(wanted, bound)]
    if wanted != ("", ""):
        names = {n for owner in lineage(frame, value.instance.definition) for n in (*owner.methods, *owner.attributes)}
        names |= {n for n in frame.attributes(value.instance) if not n.startswith("<")}
        found += [frame.attribute(value, n, node) for n in sorted(names) if _fits(n, wanted)]
    return join(found) if found else UNKNOWN


def _computed(frame: Frame, instance: Instance) -> Iterator[tuple[Affixes, Value]]:
    for key in sorted(instance.computed):
        value = frame.stored(instance, key)
        if value is not None:
            prefix, _, suffix = key.removeprefix(COMPUTED).partition("\0")
            yield (prefix, suffix), value


def _fits(name: str, wanted: Affixes) -> bool:
    prefix, suffix = wanted
    is_special = name.startswith("__") and not prefix.startswith("__")
    return not is_special and name.startswith(prefix) and name.removeprefix(prefix).endswith(suffix)


def _overlap(one: Affixes, other: Affixes) -> bool:
    """Whether a name can begin and end in both ways."""
    begins = one[0].startswith(other[0]) or other[0].startswith(one[0])
    return begins and (one[1].endswith(other[1]) or other[1].endswith(one[1]))
