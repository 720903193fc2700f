"""Calls of functions of Python, of torch and of other libraries, by their qualified names."""

from __future__ import annotations

import ast
import builtins

from exportlint.analysis.domain.baked_values import baked_in
from exportlint.analysis.domain.values import PYTHON, UNKNOWN, External, Tensor, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.baked_values import propagate, read_host
from exportlint.analysis.eval.demands import data_of, demand_number
from exportlint.analysis.eval.frame import Frame, calls, note_guarded_operator
from exportlint.analysis.eval.instances import note_call
from exportlint.analysis.eval.names import descriptor
from exportlint.analysis.facts import HostRead
from exportlint.analysis.library_functions import LibraryFunction, find, shown
from exportlint.analysis.models.described import call_described
from exportlint.analysis.models.plain_numbers import note_any_numbers, note_plain_numbers
from exportlint.analysis.models.torch.control_flow import OPERATORS
from exportlint.analysis.models.torch.distributions import without_validation
from exportlint.analysis.models.torch.function_wrappers import makes_transform
from exportlint.analysis.models.torch.functions import call_torch
from exportlint.analysis.models.torch.results import read_arguments
from exportlint.analysis.torch import table

EXCEPTIONS = frozenset(
    f"builtins.{name}"
    for name, made in vars(builtins).items()
    if isinstance(made, type) and issubclass(made, BaseException)
)

SETTLES = frozenset({"builtins.int", "builtins.len"})
"""What gives strict mode a number of its own for what numpy computed: a size, not a tensor."""


@calls(External)
def _call_external(frame: Frame, callee: External, arguments: Arguments, node: ast.AST) -> Value:
    name, resolved = callee.name, table.resolve(callee.name)
    noted = without_validation(frame, arguments) if resolved.startswith("torch.distributions.") else arguments
    if not makes_transform(resolved, arguments):
        note_call(frame, resolved, noted, node)
    if frame.guards and _takes_tensor(name):
        note_guarded_operator(frame)
    described = frame.engine.options.described(name)
    if described is not None:
        value = call_described(frame, described, name, arguments, node)
        return propagate(frame, arguments.values, node, value, "operator")
    operator = OPERATORS.get(name)
    if operator is not None:
        return operator(frame, arguments, node)
    record = find(name)
    if record.effect == "report":
        frame.engine.effects.reports.add(node)
    value = _called(frame, record, arguments, node)
    if record.asks_type or (
        name in SETTLES and all(b.source == "numpy" for v in arguments.values for b in baked_in(v))
    ):
        return value
    return propagate(frame, arguments.values, node, value, "operator")


def _takes_tensor(name: str) -> bool:
    """Whether a function is one of torch's that takes a tensor first, or several; `einsum` has a text before them."""
    api = table.lookup(name)
    if api is None or api.kind != "function":
        return False
    return any("tensor" in kind.removesuffix("?") for o in api.overloads for kind in o.types[:2] if kind != "tensor?")


def _called(frame: Frame, record: LibraryFunction, arguments: Arguments, node: ast.AST) -> Value:
    name = record.name
    note_plain_numbers(frame, record, arguments, node)
    if record.call is not None:
        return record.call(frame, name, arguments, node)
    if record.source is not None:
        return ask_host(frame, record, arguments, node)
    made = descriptor(name, arguments.get(0) or UNKNOWN)
    if made is not None:
        return made
    if record.returns is not None:
        return record.returns
    if name.startswith("torch."):
        return call_torch(frame, name, arguments, node)
    if name.startswith("builtins."):
        return PYTHON if name in EXCEPTIONS else UNKNOWN
    if record.effect != "report":
        frame.engine.effects.computes = True
    if record.arrays is not None:
        note_arrays(frame, name, arguments, node)
    return call_opaque(frame, name, arguments, node)


def note_arrays(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> None:
    """Record that a function makes an array of a tensor or number that it is surely given."""
    if frame.engine.constructing:
        return
    for value in arguments.values:
        data = data_of(value)
        if isinstance(data, Tensor):
            frame.emit(HostRead, node, data, api=name, operand=data)
            return
        if data is not None:
            demand_number(frame, value, node, "function argument")


def call_opaque(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A function of which nothing is known reads the tensors that it is given."""
    read_arguments(frame, arguments, node)
    if frame.engine.options.gives_tensor(name):
        return Tensor(trail=frame.trail(node, f"returned by `{name}`"))
    return UNKNOWN


def ask_host(frame: Frame, record: LibraryFunction, arguments: Arguments, node: ast.AST) -> Value:
    """What a function gives that depends on random numbers, the clock or the like: the program keeps it."""
    assert record.source is not None
    note_any_numbers(frame, arguments, node)
    is_array = record.array_from is not None and (
        "size" in arguments.keywords or len(arguments.positional) >= record.array_from
    )
    value = read_host(frame, node, record.source, shown(record.name), array=is_array)
    return value if record.returns is None else record.returns
