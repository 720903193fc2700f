"""Which inputs calls of torch.export give tensors, and which of their dimensions they make dynamic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from exportlint.analysis.domain.dim import DECLARATIONS
from exportlint.analysis.domain.script_values import Dim, Example, Hint, Model
from exportlint.analysis.domain.values import Range
from exportlint.analysis.facts import Fact
from exportlint.analysis.facts.exports import ExportCall
from exportlint.analysis.scripts.signatures import MismatchError, bind, dims, leaves, specified


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
                        size = _range(value)
                        said = replace(size, declared="auto") if fact.guarded else size  # it may be there to fail
                        parameter[dim] = _wider(said, parameter.get(dim))
    return found


def exported_tensors(facts: Iterable[Fact]) -> Mapping[str, Mapping[str, int | None]]:
    """The parameters of forward for which a call has a tensor as example, by the full name of the exported class.

    Each with the number of dimensions of the example, None if it is not known or not the same in all calls.
    """
    found: dict[str, dict[str, int | None]] = {}
    for fact in facts:
        if not isinstance(fact, ExportCall) or not isinstance(fact.target, Model) or fact.target.definition is None:
            continue
        try:
            examples = bind(fact.inputs) or {}
        except MismatchError:
            continue
        parameters = found.setdefault(fact.target.definition.full_name, {})
        for name, example in examples.items():
            if isinstance(example, Example):
                rank = len(example.shape) if example.shape is not None else None
                parameters[name] = rank if parameters.get(name, rank) == rank else None
    return {name: parameters for name, parameters in found.items() if parameters}


def _range(dimension: Dim | Hint) -> Range:
    if isinstance(dimension, Hint):
        return Range(declared="dynamic" if dimension.kind == "DYNAMIC" else "auto")
    return Range(dimension.min or 0, dimension.max, "auto" if dimension.derived else "named")


def _wider(one: Range, other: Range | None) -> Range:
    if other is None:
        return one
    highest = None if one.highest is None or other.highest is None else max(one.highest, other.highest)
    return Range(min(one.lowest, other.lowest), highest, max(one.declared, other.declared, key=DECLARATIONS.index))
