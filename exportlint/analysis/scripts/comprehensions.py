"""Comprehensions in scripts: dynamic shapes such as `{i: Dim(f"x{i}") for i in range(2)}`."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import UNKNOWN, Const, Dict, Sequence, Tuple, Value
from exportlint.analysis.scripts.expressions import HANDLERS, evaluate
from exportlint.analysis.scripts.scope import Scope
from exportlint.analysis.scripts.statements import assign

Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


def _comprehension(scope: Scope, node: Comprehension) -> Value:
    over = [evaluate(scope, generator.iter) for generator in node.generators]
    first = over[0]
    is_known = len(over) == 1 and isinstance(first, Tuple) and not node.generators[0].ifs
    items = first.items if is_known and isinstance(first, Tuple) else (UNKNOWN,)
    found: list[tuple[Value, Value]] = []

    def run() -> bool:
        for item in items:
            for generator in node.generators:
                assign(scope, generator.target, item)
            key = evaluate(scope, node.key) if isinstance(node, ast.DictComp) else Const(len(found))
            found.append((key, evaluate(scope, node.value if isinstance(node, ast.DictComp) else node.elt)))
        return True

    scope.branch(run)
    if isinstance(node, ast.DictComp):
        return _dict(found) if is_known else Dict((), UNKNOWN)
    if isinstance(node, ast.SetComp) or not is_known:
        return Sequence(UNKNOWN, {ast.ListComp: "list", ast.SetComp: "set"}.get(type(node), "generator"))
    return Tuple(tuple(value for _, value in found), mutable=isinstance(node, ast.ListComp))


def _dict(pairs: list[tuple[Value, Value]]) -> Dict:
    found = Dict()
    for key, value in pairs:
        if not isinstance(key, Const):
            return Dict((), UNKNOWN)
        found = found.updated(key.value, value)
    return found


HANDLERS.update(dict.fromkeys((ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp), _comprehension))
