"""Objects of `torch.distributions`: what they are made of, and what their methods give and demand."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.lattice import tensors_in
from exportlint.analysis.domain.values import (
    FALSE,
    NONE,
    TRUE,
    UNKNOWN,
    BoundMethod,
    Dict,
    Distribution,
    Object,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.classes import class_attribute
from exportlint.analysis.eval.frame import Frame, has_attributes
from exportlint.analysis.eval.instances import note_call
from exportlint.analysis.models.torch.results import fresh
from exportlint.analysis.torch import table

VALIDATED = frozenset({"log_prob", "cdf"})
"""Methods that look at the values of their argument, to refuse those outside of the support."""

GIVES_TENSOR = frozenset({"log_prob", "cdf", "icdf", "entropy", "sample", "rsample", "perplexity"})
TENSORS = frozenset({"mean", "mode", "variance", "stddev"})
DELEGATES = frozenset({"torch.distributions.Independent"})
"""Distributions that leave the looking to the one they are made of."""


def make_distribution(frame: Frame, name: str, arguments: Arguments) -> Distribution | None:
    """What a call of a class of `torch.distributions` makes; None if it is not a distribution."""
    api = table.lookup(name)
    if api is None or api.kind != "class" or not any("validate_args" in o.parameters for o in api.overloads):
        return None
    option = arguments.keywords.get("validate_args", NONE)
    parts = [value for value in arguments.values if isinstance(value, Distribution)]
    traced = not frame.engine.constructing and any(
        not t.assumed and not t.known for value in arguments.values for t in tensors_in(value)
    )
    validates = option in (NONE, TRUE)
    if option == NONE and not validates_by_default(frame):
        validates = False
    if parts and name in DELEGATES:
        validates = any(part.validates for part in parts)
    return Distribution(
        name,
        validates,
        is_traced=traced or any(part.is_traced for part in parts),
        was_checked=(traced and validates) or any(part.was_checked for part in parts),
    )


def without_validation(frame: Frame, arguments: Arguments) -> Arguments:
    """The arguments of a distribution, with the default that the file sets for `validate_args`."""
    if "validate_args" in arguments.keywords or validates_by_default(frame):
        return arguments
    return Arguments(arguments.positional, {**arguments.keywords, "validate_args": FALSE})


def validates_by_default(frame: Frame) -> bool:
    """Whether distributions check their arguments unless told otherwise: the file may switch that off for all."""
    return not frame.module.calls_with("set_default_validate_args", False)


@has_attributes(Distribution)
def _attribute(frame: Frame, value: Distribution, name: str, node: ast.AST) -> Value:
    if name in TENSORS and value.is_traced:
        return fresh(frame, node, name, ())
    api = table.lookup(f"{value.name}.{name}") or name in GIVES_TENSOR | {"expand"}
    return BoundMethod(value, name) if api else UNKNOWN


def call_distribution_method(
    frame: Frame, receiver: Distribution, name: str, arguments: Arguments, node: ast.AST
) -> Value:
    """A method of a distribution."""
    if name == "expand":
        return receiver
    # one that was checked failed where it was made
    if name in VALIDATED and receiver.validates and not receiver.was_checked and not frame.engine.constructing:
        note_call(frame, f"{receiver.name}.{name}", arguments, node)
    given = tuple(t for value in arguments.values for t in tensors_in(value))
    is_data = receiver.is_traced or any(not t.assumed and not t.known for t in given)
    return fresh(frame, node, name, given) if name in GIVES_TENSOR and is_data else UNKNOWN


def with_constrained(frame: Frame, receiver: Object, arguments: Arguments) -> Arguments:
    """What the constructor of a distribution reads: its arguments, and the attributes named in `arg_constraints`."""
    constraints = class_attribute(frame, receiver.instance.definition, "arg_constraints")
    names = [name for name, _ in constraints.entries] if isinstance(constraints, Dict) else []
    held = {name: frame.stored(receiver.instance, name) for name in names if isinstance(name, str)}
    checked = {name: value for name, value in held.items() if value is not None}
    return Arguments(arguments.positional, {**checked, **arguments.keywords})
