"""How the code of a file exports each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exportlint.analysis.domain.exported_as import ExportedAs
from exportlint.analysis.domain.values import Range
from exportlint.analysis.facts import Fact
from exportlint.analysis.scripts.gradients import exported_without_gradients
from exportlint.syntax.definitions import Module


def exported_as(module: Module, facts: Sequence[Fact]) -> Mapping[str, ExportedAs]:
    """What the calls of torch.export among the facts say of classes, by full name: only those of which they say any."""
    dims: Mapping[str, Mapping[str, Mapping[int, Range]]] = {}
    tensors: Mapping[str, Mapping[str, int | None]] = {}
    if facts:
        from exportlint.analysis.scripts.dims import exported_dims, exported_tensors

        dims, tensors = exported_dims(facts), exported_tensors(facts)
    unrecorded = exported_without_gradients(module, facts)
    return {
        name: ExportedAs(dims.get(name), name in unrecorded, tensors.get(name, {}))
        for name in {*dims, *unrecorded, *tensors}
    }
