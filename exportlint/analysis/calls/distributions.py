"""What `torch.distributions` is given without being passed it."""

from __future__ import annotations

from exportlint.analysis.interpreter.arguments import Arguments
from exportlint.analysis.interpreter.frame import Frame
from exportlint.analysis.interpreter.instances import class_attribute
from exportlint.analysis.values import Dict, Object


def with_constrained(frame: Frame, receiver: Object, arguments: Arguments) -> Arguments:
    """What the constructor of a distribution reads: its arguments, and the attributes named in `arg_constraints`."""
    constraints = class_attribute(frame, receiver.instance.definition, "arg_constraints")
    names = [name for name, _ in constraints.entries] if isinstance(constraints, Dict) else []
    held = {name: frame.held(receiver.instance, name) for name in names if isinstance(name, str)}
    checked = {name: value for name, value in held.items() if value is not None}
    return Arguments(arguments.positional, {**checked, **arguments.keywords})
