"""Comprehensions and generator expressions."""

from __future__ import annotations

import ast
from collections.abc import Sequence as Seq

from exportlint.analysis.domain.allocations import one_of_many
from exportlint.analysis.domain.heap import HEAP
from exportlint.analysis.domain.values import (
    UNKNOWN,
    Dict,
    Sequence,
    Tuple,
    Value,
)
from exportlint.analysis.eval.assignment import assign
from exportlint.analysis.eval.demands import demand_hash, demand_truth, elements, known_items
from exportlint.analysis.eval.engine import NoResultYetError
from exportlint.analysis.eval.frame import Frame, Loop, evaluates
from exportlint.analysis.eval.narrowing import narrowed


@evaluates(ast.ListComp)
def _list_comprehension(frame: Frame, node: ast.ListComp) -> Value:
    return _sequence(frame, node, "list")


@evaluates(ast.SetComp)
def _set_comprehension(frame: Frame, node: ast.SetComp) -> Value:
    item = comprehension(frame, node.generators, node.elt)
    demand_hash(frame, item, node.elt, "set element")
    return Sequence(item, "set")


@evaluates(ast.GeneratorExp)
def _generator_expression(frame: Frame, node: ast.GeneratorExp) -> Value:
    return _sequence(frame, node, "generator")


def _sequence(frame: Frame, node: ast.ListComp | ast.GeneratorExp, kind: str) -> Value:
    """A list or generator: item by item, if it goes over known items that differ and leaves none out."""
    first, *others = node.generators
    iterable = frame.evaluate(first.iter)
    items = None if others or first.ifs else known_items(iterable)
    if items is None or len(set(items)) < 2:
        item = elements(frame, iterable, first.iter)
        try:
            return Sequence(one_of_many(comprehension(frame, node.generators, node.elt, item)), kind)
        except NoResultYetError:
            return Tuple((), mutable=kind == "list")  # there may be no items
    found = (comprehension(frame, node.generators, node.elt, item) for item in items)
    return Tuple(tuple(found), mutable=kind == "list")


@evaluates(ast.DictComp)
def _dict_comprehension(frame: Frame, node: ast.DictComp) -> Value:
    pair = comprehension(frame, node.generators, ast.Tuple([node.key, node.value], ast.Load()))
    key, value = pair.items if isinstance(pair, Tuple) else (UNKNOWN, UNKNOWN)
    demand_hash(frame, key, node.key, "dict key")
    return Dict((), one_of_many(value))


def comprehension(
    frame: Frame, generators: Seq[ast.comprehension], element: ast.expr, item: Value | None = None
) -> Value:
    """What one element of a comprehension can be; `item` is what its first `for` goes over, if it was evaluated."""
    before = frame.env
    frame.env = dict(before)
    frame.loops.append(Loop([], [], unrolled=True))
    try:
        for generator in generators:
            value, item = item, None
            if value is None:
                value = elements(frame, frame.evaluate(generator.iter), generator.iter)
            assign(frame, generator.target, value, generator)
            for condition in generator.ifs:
                demand_truth(frame, frame.evaluate(condition), condition, "comprehension")
                env = narrowed(frame, frame.env, condition, True)
                if env is None:
                    return UNKNOWN
                frame.env = env
        return frame.evaluate(element)
    finally:
        frame.loops.pop()
        # a walrus binds outside of the comprehension, and what objects hold is changed for all
        found = {name: frame.env[name] for name in (*frame.module.walruses, HEAP) if name in frame.env}
        frame.env = before | found if found else before
