"""Which dimensions of which inputs calls of torch.export make dynamic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from exportlint.analysis.domain.script_values import Dim, Hint, Model
from exportlint.analysis.domain.values import Range
from exportlint.analysis.facts import Fact
from exportlint.analysis.facts.exports import ExportCall
from exportlint.analysis.scripts.signatures import MismatchError, dims, leaves, specified

ANY: Range = (0, None)


def exported_dims(facts: Iterable[Fact]) -> Mapping[str, Mapping[str, Mapping[int, Range]]]:
    """Which dimensions the calls of torch.export among the facts make dynamic, and within which bounds.

    Of several calls of a class, all count, and the widest bounds.

    They are given by the full name of the class that is exported (`package.file.Class`) and the parameter of its
    forward. All parameters are listed that a call with `dynamic_shapes` has an input for; classes are left out of which
    nothing is known, or that are only exported with static shapes.
    """
    found: dict[str, dict[str, dict[int, Range]]] = {}
    for fact in facts:
        if not isinstance(fact, ExportCall) or not isinstance(fact.target, Model) or fact.inputs.dynamic_shapes is None:
            continue
        definition, signature = fact.target.definition, fact.inputs.signature
        if definition is None or signature is None:
            continue
        try:
            given = list(specified(fact.inputs))
        except MismatchError:
            continue
        parameters = found.setdefault(definition.full_name, {}) if given else {}
        for name, example, spec in given:
            # without examples, a tuple of dynamic shapes goes by the order of the parameters
            parameter = parameters.setdefault(signature.positional[int(name)] if name.isdigit() else name, {})
            for tensor, shape in leaves(example, spec):
                for dim, value in dims(tensor, shape).items():
                    if isinstance(value, Dim | Hint) and value != Hint("STATIC"):
                        parameter[dim] = _wider(_range(value), parameter.get(dim))
    return found


def _range(dimension: Dim | Hint) -> Range:
    if isinstance(dimension, Hint):
        return ANY
    return dimension.min or 0, dimension.max


def _wider(one: Range, other: Range | None) -> Range:
    if other is None:
        return one
    highest = None if one[1] is None or other[1] is None else max(one[1], other[1])
    return min(one[0], other[0]), highest
