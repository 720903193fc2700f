"""Comprehensions and generator expressions."""

from __future__ import annotations

import ast
from collections.abc import Sequence as Seq

from exportlint.analysis.interpreter.assignment import assign
from exportlint.analysis.interpreter.demands import demand_truth, elements
from exportlint.analysis.interpreter.frame import Frame, evaluates
from exportlint.analysis.interpreter.narrowing import narrowed
from exportlint.analysis.values import (
    UNKNOWN,
    Dict,
    Sequence,
    Tuple,
    Value,
)


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
