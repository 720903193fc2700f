"""Evaluation of expressions: names, literals, containers, comprehensions, lambdas, f-strings."""

from __future__ import annotations

import ast
from collections.abc import Sequence as Seq
from dataclasses import replace

from exportlint.analysis.facts import Conversion
from exportlint.analysis.interpreter.demands import consume, data_of, demand_truth, elements
from exportlint.analysis.interpreter.frame import Frame, evaluates
from exportlint.analysis.interpreter.narrowing import narrowed, path
from exportlint.analysis.interpreter.scopes import look_up
from exportlint.analysis.interpreter.statements import assign
from exportlint.analysis.joins import join, join_environments, options
from exportlint.analysis.values import (
    FALSE,
    NONE,
    PYTHON,
    TRUE,
    UNKNOWN,
    Const,
    Dict,
    Function,
    Python,
    Scalar,
    Sequence,
    Tensor,
    Tuple,
    Value,
)


@evaluates(ast.Constant)
def _constant(frame: Frame, node: ast.Constant) -> Value:
    return (
        Const(node.value)
        if (node.value is None or isinstance(node.value, (bool, int, float, str)))
        else Python(str(type(node.value)))
    )


@evaluates(ast.Name)
def _name(frame: Frame, node: ast.Name) -> Value:
    return look_up(frame, node.id)


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
    result = Dict()
    rest: list[Value] = []
    for key_node, value_node in zip(node.keys, node.values, strict=True):
        value = frame.evaluate(value_node)
        if key_node is None:
            if isinstance(value, Dict):
                for k, v in value.entries:
                    result = result.updated(k, v)
                if value.rest is not None:
                    rest.append(value.rest)
            else:
                rest.append(UNKNOWN)
            continue
        key = frame.evaluate(key_node)
        demand_hash(frame, key, key_node, "dict key")
        if isinstance(key, Const):
            result = result.updated(key.value, value)
        else:
            rest.append(value)
    return Dict(result.entries, join(rest) if rest else None)


def demand_hash(frame: Frame, value: Value, node: ast.AST, target: str) -> None:
    """A set or a dictionary needs the hash of a value: numbers read from tensors have none, tensors have one."""
    data = data_of(value)
    if isinstance(data, Scalar):
        frame.emit(Conversion, node, data, target=target, operand=data)


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


@evaluates(ast.IfExp)
def _ternary(frame: Frame, node: ast.IfExp) -> Value:
    condition = frame.evaluate(node.test)
    is_true = demand_truth(frame, condition, node.test, "ternary")
    before = frame.env
    found: list[Value] = []
    ends = []
    for arm, assumption in ((node.body, True), (node.orelse, False)):
        if is_true is not None and is_true is not assumption:
            continue
        env = narrowed(frame, before, node.test, assumption)
        if env is None:
            continue
        frame.env = env
        found.append(frame.evaluate(arm))
        ends.append(frame.env)
    frame.env = join_environments(ends) or before
    return join(found) if found else UNKNOWN


@evaluates(ast.BoolOp)
def _bool_op(frame: Frame, node: ast.BoolOp) -> Value:
    is_and = isinstance(node.op, ast.And)
    before = frame.env
    found: list[Value] = []
    hinges = 0
    for index, operand in enumerate(node.values):
        value = frame.evaluate(operand)
        if hinges:
            value = doubtful(value)
        if index == len(node.values) - 1:
            found.append(value)
            break
        is_true = demand_truth(frame, value, operand, "and" if is_and else "or")
        if is_true is not None and is_true is not is_and:
            found.append(value)
            break
        if is_true is None:
            found.append(falsy(value) if is_and else truthy(value))
            if hinges_on_the_example(frame, operand):
                hinges += 1
                frame.engine.silent += 1
        env = narrowed(frame, frame.env, operand, is_and)
        if env is None:
            break
        frame.env = env
    frame.engine.silent -= hinges
    # what the operands told holds only while they are evaluated; a walrus in them stays
    frame.env = {**before, **{k: v for k, v in frame.env.items() if k not in before}}
    return join(found) if found else UNKNOWN


def hinges_on_the_example(frame: Frame, node: ast.expr) -> bool:
    """Whether the example inputs decide if what follows in the same expression is run.

    `mask is not None and mask.any()`, `x.dtype == torch.float16 and …`: that the line runs proves nothing then.
    """
    for child in ast.walk(node):
        if isinstance(child, ast.Attribute) and child.attr in {"dtype", "is_cuda", "device"}:
            return True
        if isinstance(child, (ast.Name, ast.Attribute)) and path(child) is not None:
            value = frame.peek(child)
            if any(o == NONE or (isinstance(o, Tensor) and o.optional) for o in options(value)):
                return True
    return False


def doubtful(value: Value) -> Value:
    """A value that is there only if the example inputs make it so: nothing is claimed about it."""
    return join(replace(o, assumed=True) if isinstance(o, (Tensor, Scalar)) else o for o in options(value))


def falsy(value: Value) -> Value:
    """What a value is once it is known to be false."""
    kept = [Const(o.value) if isinstance(o, Const) else o for o in options(value) if not _surely(o, is_true=True)]
    kept = [FALSE if isinstance(o, Python) and o.type in {None, "bool"} else o for o in kept]
    return join(o for o in kept if data_of(o) is None) if any(data_of(o) is None for o in kept) else FALSE


def truthy(value: Value) -> Value:
    """What a value is once it is known to be true."""
    kept = [o for o in options(value) if not _surely(o, is_true=False) and data_of(o) is None]
    return join(kept) if kept else TRUE


def _surely(value: Value, *, is_true: bool) -> bool:
    return isinstance(value, Const) and bool(value.value) is is_true


@evaluates(ast.ListComp)
def _list_comprehension(frame: Frame, node: ast.ListComp) -> Value:
    return Sequence(comprehension(frame, node.generators, node.elt))


@evaluates(ast.SetComp)
def _set_comprehension(frame: Frame, node: ast.SetComp) -> Value:
    return Sequence(comprehension(frame, node.generators, node.elt), "set")


@evaluates(ast.GeneratorExp)
def _generator_expression(frame: Frame, node: ast.GeneratorExp) -> Value:
    return Sequence(comprehension(frame, node.generators, node.elt), "generator")


@evaluates(ast.DictComp)
def _dict_comprehension(frame: Frame, node: ast.DictComp) -> Value:
    pair = comprehension(frame, node.generators, ast.Tuple([node.key, node.value], ast.Load()))
    value = pair.items[1] if isinstance(pair, Tuple) else UNKNOWN
    return Dict((), value)


def comprehension(frame: Frame, generators: Seq[ast.comprehension], element: ast.expr) -> Value:
    """What one element of a comprehension can be."""
    before = frame.env
    frame.env = dict(before)
    try:
        for generator in generators:
            value = elements(frame, frame.evaluate(generator.iter), generator.iter)
            assign(frame, generator.target, value, generator.target)
            for condition in generator.ifs:
                demand_truth(frame, frame.evaluate(condition), condition, "comprehension")
                env = narrowed(frame, frame.env, condition, True)
                if env is None:
                    return UNKNOWN
                frame.env = env
        return frame.evaluate(element)
    finally:
        frame.env = before


@evaluates(ast.JoinedStr)
def _f_string(frame: Frame, node: ast.JoinedStr) -> Value:
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            value = frame.evaluate(part.value)
            data = data_of(value)
            if isinstance(data, Tensor):
                consume(frame, data, part.value, "format")
            if data is not None and part.format_spec is not None and part.conversion == -1:
                frame.emit(Conversion, part.value, data, target="format specification", operand=data)
            if part.format_spec is not None:
                frame.evaluate(part.format_spec)
    return Python("str")


@evaluates(ast.Yield)
def _yield_expression(frame: Frame, node: ast.Yield) -> Value:
    frame.yields.append(frame.evaluate(node.value) if node.value else Const(None))
    return UNKNOWN


@evaluates(ast.YieldFrom)
def _yield_from(frame: Frame, node: ast.YieldFrom) -> Value:
    frame.yields.append(elements(frame, frame.evaluate(node.value), node.value))
    return UNKNOWN


@evaluates(ast.Await)
def _await_expression(frame: Frame, node: ast.Await) -> Value:
    return frame.evaluate(node.value)


@evaluates(ast.Slice)
def _slice_expression(frame: Frame, node: ast.Slice) -> Value:
    for part in (node.lower, node.upper, node.step):
        if part is not None:
            frame.evaluate(part)
    return PYTHON
