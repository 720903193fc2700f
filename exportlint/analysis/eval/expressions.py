"""Evaluation of expressions: names, literals, containers, comprehensions, lambdas, f-strings."""

from __future__ import annotations

import ast
from collections.abc import Sequence as Seq
from dataclasses import replace

from exportlint.analysis.domain.lattice import join
from exportlint.analysis.domain.values import (
    ARRAY,
    PYTHON,
    UNKNOWN,
    Const,
    Dict,
    EnumMember,
    Function,
    Python,
    Sequence,
    Size,
    Tensor,
    Tuple,
    Value,
    constant,
    text,
)
from exportlint.analysis.eval.assignment import assign
from exportlint.analysis.eval.attribute_dictionaries import copied_attributes
from exportlint.analysis.eval.baked_values import held_array, propagate
from exportlint.analysis.eval.captured_variables import note_outer_read
from exportlint.analysis.eval.container_changes import entered, merged_dicts
from exportlint.analysis.eval.demands import data_of, demand_hash, elements, note_text, read_data
from exportlint.analysis.eval.frame import Frame, evaluates
from exportlint.analysis.eval.names import look_up
from exportlint.analysis.eval.sizes import note_conversion, shown_size, text_of
from exportlint.analysis.eval.state_access import DEFAULT, cell_of, is_global, note_read
from exportlint.analysis.facts import Conversion


@evaluates(ast.Constant)
def _constant(frame: Frame, node: ast.Constant) -> Value:
    return (
        constant(node.value)
        if (node.value is None or isinstance(node.value, (bool, int, float, str)))
        else Python(type(node.value).__name__)
    )


@evaluates(ast.Name)
def _name(frame: Frame, node: ast.Name) -> Value:
    engine = frame.engine
    value = look_up(frame, node.id)
    if value == ARRAY and is_global(frame, node.id):
        value = held_array(frame, value, node)
    if engine.region:
        note_outer_read(frame, node, value)
    if engine.is_tracing and (node.id not in frame.env or f"{node.id}.{DEFAULT}" in frame.env):
        note_read(frame, cell_of(frame, node), node)
    return value


@evaluates(ast.Tuple)
def _tuple_display(frame: Frame, node: ast.Tuple) -> Value:
    return display(frame, node.elts, mutable=False)


@evaluates(ast.List)
def _list_display(frame: Frame, node: ast.List) -> Value:
    return display(frame, node.elts, mutable=True)


@evaluates(ast.Set)
def _set_display(frame: Frame, node: ast.Set) -> Value:
    values = [frame.evaluate(e) for e in node.elts]
    for element, value in zip(node.elts, values, strict=True):
        demand_hash(frame, value, element, "set element")
    return Sequence(join(values), "set")


def display(frame: Frame, elts: Seq[ast.expr], *, mutable: bool) -> Value:
    """`(a, *b)` or `[a, *b]`."""
    items: list[Value] = []
    is_open = False
    for element in elts:
        if isinstance(element, ast.Starred):
            value = frame.evaluate(element.value)
            if isinstance(value, Tuple):
                items.extend(value.items)
            else:
                is_open = True
                items.append(elements(frame, value, element.value))
        else:
            items.append(frame.evaluate(element))
    if is_open or len(items) > 64:
        return Sequence(join(items), "list" if mutable else "tuple")
    return Tuple(tuple(items), mutable)


@evaluates(ast.Dict)
def _dict_display(frame: Frame, node: ast.Dict) -> Value:
    found = Dict()
    entries: dict[object, Value] = {}
    for key_node, value_node in zip(node.keys, node.values, strict=True):
        value = frame.evaluate(value_node)
        if key_node is None:
            found = merged_dicts(found, Dict(tuple(entries.items())))
            value = copied_attributes(frame, value)
            found = merged_dicts(found, value if isinstance(value, Dict) else Dict((), UNKNOWN))
            entries = {}
            continue
        key = frame.evaluate(key_node)
        demand_hash(frame, key, key_node, "dict key")
        if isinstance(key, Const):
            entries[key.value] = value
        else:
            found = entered(merged_dicts(found, Dict(tuple(entries.items()))), key, value)
            entries = {}
    return merged_dicts(found, Dict(tuple(entries.items())))


@evaluates(ast.Starred)
def _starred(frame: Frame, node: ast.Starred) -> Value:
    return frame.evaluate(node.value)


@evaluates(ast.NamedExpr)
def _named(frame: Frame, node: ast.NamedExpr) -> Value:
    value = frame.evaluate(node.value)
    assign(frame, node.target, value, node)
    return look_up(frame, node.target.id)


@evaluates(ast.Lambda)
def _lambda_expression(frame: Frame, node: ast.Lambda) -> Value:
    frame.cell.variables = frame.env
    return Function(frame.module, node, f"{frame.symbol}.<lambda>", frame.owner, None, frame.cell)


@evaluates(ast.JoinedStr)
def _f_string(frame: Frame, node: ast.JoinedStr) -> Value:
    size: Value = UNKNOWN
    parts: list[Value] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(Const(part.value))
        elif isinstance(part, ast.FormattedValue):
            value = frame.evaluate(part.value)
            is_plain = part.format_spec is None and part.conversion == -1
            is_text = isinstance(value, Const) and not isinstance(value.value, EnumMember)
            parts.append(value if is_plain and (is_text or isinstance(value, Python)) else PYTHON)
            data = data_of(value)
            if isinstance(value, Size) and value.dim.varies:
                if len(node.values) == 1 or value.kind == "str" or frame.engine.mode == "non-strict":
                    size = replace(value, kind="str")
                _note_formatted_size(frame, value, part, is_alone=len(node.values) == 1)
            elif frame.engine.mode == "non-strict" and (shown := shown_size(value)) is not None:
                size = shown
            if data is not None and part.format_spec is None:
                size = text_of(data)
            if isinstance(data, Tensor):
                read_data(frame, data, part.value, "format")
            if data is not None and part.format_spec is not None and part.conversion == -1:
                frame.emit(Conversion, part.value, data, target="format specification", operand=data)
            if part.format_spec is not None:
                frame.evaluate(part.format_spec)
            if part.conversion != -1:
                note_text(frame, value, part.value, f"!{chr(part.conversion)}")
    made = text(parts)
    return size if isinstance(size, Size) and isinstance(made, Python) else made


def _note_formatted_size(frame: Frame, size: Size, part: ast.FormattedValue, *, is_alone: bool) -> None:
    """A size that varies, in an f-string. TorchDynamo joins the parts of one as constants."""
    if size.kind == "str" or part.conversion != -1:
        return
    if part.format_spec is not None:
        note_conversion(frame, size, part.value, "format specification")
    if not is_alone:
        note_conversion(frame, size, part.value, "f-string")


@evaluates(ast.Yield)
def _yield_expression(frame: Frame, node: ast.Yield) -> Value:
    frame.yields.append(frame.evaluate(node.value) if node.value else Const(None))
    frame.yielding = frame.yielding or node
    return UNKNOWN


@evaluates(ast.YieldFrom)
def _yield_from(frame: Frame, node: ast.YieldFrom) -> Value:
    frame.yielding = frame.yielding or node
    frame.yields.append(elements(frame, frame.evaluate(node.value), node.value))
    return UNKNOWN


@evaluates(ast.Await)
def _await_expression(frame: Frame, node: ast.Await) -> Value:
    return frame.evaluate(node.value)


@evaluates(ast.Slice)
def _slice_expression(frame: Frame, node: ast.Slice) -> Value:
    bounds = [frame.evaluate(part) for part in (node.lower, node.upper, node.step) if part is not None]
    return propagate(frame, bounds, node, PYTHON, "choice")
