"""Built-in functions that reduce: `any`, `all`, `sum`, `max`, `min`."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import reduce

from exportlint.analysis.domain.dim import depending, maximum, minimum
from exportlint.analysis.domain.lattice import join, options
from exportlint.analysis.domain.values import (
    NONE,
    PYTHON,
    UNKNOWN,
    Const,
    Python,
    Scalar,
    Size,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.demands import (
    compared_elements,
    data_of,
    demand_truth,
    elements,
    keyed_elements,
    known_items,
    truth,
)
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.sizes import dim_of, expression_of, note_order
from exportlint.analysis.eval.tensor_results import result
from exportlint.analysis.facts import Construct, Conversion
from exportlint.analysis.models.builtins import argument_node, builtin, first_of
from exportlint.analysis.models.sorting import note_choice


@builtin("any", "all", pure=True)
def _any_all(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    assert isinstance(node, ast.Call)
    construct: Construct = "any()" if name == "any" else "all()"
    value = first_of(arguments)
    item = elements(frame, value, argument_node(node))
    if isinstance(value, Tuple):
        for each in value.items:
            if data_of(each) is not None:
                demand_truth(frame, each, node, construct)
        truths = [truth(each) for each in value.items]
        if None not in truths:
            return Const(any(truths) if construct == "any()" else all(truths))
        return Python("bool")
    demand_truth(frame, item, node, construct)
    return Python("bool")


@builtin("sum", pure=True)
def _sum(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    item = elements(frame, first_of(arguments), argument_node(node))
    summed = known_items(first_of(arguments)) or (item,)
    truth_value = next((s for i in summed if isinstance(s := data_of(i), Scalar) and s.kind == "bool"), None)
    if truth_value is not None:
        frame.emit(Conversion, node, truth_value, target="arithmetic", operand=truth_value)
    if any(isinstance(o, Tensor) for o in options(item)):
        return result(frame, node, "sum", (item, *arguments.positional[1:]), getattr(item, "kind", None))
    if isinstance(item, Size):
        return expression_of(item)
    return item if isinstance(item, Scalar) else PYTHON if not isinstance(item, Unknown) else UNKNOWN


@builtin("max", "min", pure=True)
def _extremum(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    assert isinstance(node, ast.Call)
    construct: Construct = "min()" if name == "min" else "max()"
    key = arguments.keywords.get("key")
    positional = arguments.positional
    values = [elements(frame, positional[0], argument_node(node))] if len(positional) == 1 else positional
    note_choice(frame, positional, key, node, f"{name}()")
    if key is not None and key != NONE:
        compared = positional[0] if len(positional) == 1 else Tuple(positional)
        keys = keyed_elements(frame, compared, key, node, argument_node(node))
        demand_truth(frame, keys, node, construct)
        note_order(frame, keys, node, f"key of {name}()")
        return join(values)
    if len(positional) == 1 and isinstance(positional[0], Tensor) and not positional[0].assumed:
        # non-strict hands the builtin to torch.maximum, which wants two tensors
        if frame.engine.mode == "non-strict":
            frame.emit(Conversion, node, positional[0], target=f"{name}() of one tensor", operand=positional[0])
        return result(frame, node, name, (positional[0],), positional[0].kind)
    if len(positional) > 2 and frame.engine.mode == "non-strict":
        # non-strict traces `max(a, b)` for itself; with more, Python compares
        data = next((value for value in values if data_of(value) is not None), None)
        if data is not None:
            demand_truth(frame, data, node, construct)
    flat = [o for v in values for o in options(v)]
    tensor = next((value for value in values if isinstance(data_of(value), Tensor)), None)
    if tensor is not None and len(values) < 3:
        demand_truth(frame, tensor, node, "traced min()" if name == "min" else "traced max()")
    if any(isinstance(o, Tensor) for o in flat):
        return result(frame, node, name, values)
    scalar = next((o for o in flat if isinstance(o, Scalar) and not o.assumed), None)
    if scalar is not None:
        # torch.sym_max holds integers; a float, as data of unknown dtype mostly is, needs a comparison now
        is_float = any(_is_float(o) for o in flat)
        if is_float and frame.engine.mode == "non-strict":
            asked = (
                compared_elements(frame, positional[0], argument_node(node)) if len(positional) == 1 else join(values)
            )
            if isinstance(data_of(asked), Scalar) or any(isinstance(data_of(v), Scalar) for v in values):
                demand_truth(frame, scalar, node, construct)
            return Python("float")
        return Scalar("float" if is_float else scalar.kind, scalar.api, scalar.assumed, scalar.trail)
    size = next((o for o in flat if isinstance(o, Size) and o.kind != "str"), None)
    if size is None:
        return PYTHON
    choose = minimum if name == "min" else maximum
    given = [dim for option in flat if (dim := dim_of(option)) is not None]
    return replace(size, dim=reduce(choose, given) if len(flat) == len(given) > 1 else depending(*given))


def _is_float(value: Value) -> bool:
    return isinstance(value, Scalar) and value.kind == "float"
