"""Which dimensions of which inputs calls of torch.export make dynamic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from exportlint.analysis.exports.signatures import MismatchError, dims, leaves, specified
from exportlint.analysis.exports.values import Dim, Hint, Model
from exportlint.analysis.facts import Fact
from exportlint.analysis.facts.exports import ExportCall
from exportlint.analysis.outline import Class
from exportlint.analysis.values import Const, Value


def qualified_name(cls: Class) -> str:
    """How a class is called in the whole project."""
    return f"{cls.module.name}.{cls.qualname}".lstrip(".")


def dims_of(facts: Iterable[Fact]) -> Mapping[str, Mapping[str, frozenset[int]]]:
    """The dynamic dimensions of all calls, by class and parameter; where a class is exported twice, those of both."""
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
        parameters = found.setdefault(qualified_name(definition), {}) if given else {}
        for name, example, spec in given:
            dynamic = {d for tensor, shape in leaves(example, spec) for d in _dynamic(dims(tensor, shape))}
            # without examples, a tuple of dynamic shapes goes by the order of the parameters
            parameter = signature.positional[int(name)] if name.isdigit() else name
            parameters[parameter] = parameters.get(parameter, frozenset()) | dynamic
    return found


def _dynamic(specification: Mapping[int, Value]) -> set[int]:
    static = (Hint("STATIC"), Const(None))
    return {d for d, value in specification.items() if value not in static and isinstance(value, Dim | Hint)}
