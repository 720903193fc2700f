"""Which dimensions of which inputs calls of torch.export make dynamic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from exportlint.analysis.exports.signatures import MismatchError, dims, leaves, specified
from exportlint.analysis.exports.values import Dim, Hint, Model
from exportlint.analysis.facts import Fact
from exportlint.analysis.facts.exports import ExportCall
from exportlint.analysis.values import Const, Value


def exported_dims(facts: Iterable[Fact]) -> Mapping[str, Mapping[str, frozenset[int]]]:
    """Which dimensions the calls of torch.export among the facts make dynamic; of several calls of a class, all.

    They are given by the full name of the class that is exported (`package.file.Class`) and the parameter of its
    forward. All parameters are listed that a call with `dynamic_shapes` has an input for; classes are left out of which
    nothing is known, or that are only exported with static shapes.
    """
    found: dict[str, dict[str, frozenset[int]]] = {}
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
            dynamic = {d for tensor, shape in leaves(example, spec) for d in _dynamic(dims(tensor, shape))}
            # without examples, a tuple of dynamic shapes goes by the order of the parameters
            parameter = signature.positional[int(name)] if name.isdigit() else name
            parameters[parameter] = parameters.get(parameter, frozenset()) | dynamic
    return found


def _dynamic(specification: Mapping[int, Value]) -> set[int]:
    static = (Hint("STATIC"), Const(None))
    return {d for d, value in specification.items() if value not in static and isinstance(value, Dim | Hint)}
