"""Call expressions: arguments are evaluated, and what is called decides the rest."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.baked_values import Baked
from exportlint.analysis.domain.values import (
    UNKNOWN,
    Dict,
    External,
    Sequence,
    Super,
    Tuple,
    Value,
)
from exportlint.analysis.eval.arguments import UNPACKED, Arguments
from exportlint.analysis.eval.attribute_dictionaries import copied_attributes
from exportlint.analysis.eval.demands import rows
from exportlint.analysis.eval.frame import Frame, calls, evaluates


@evaluates(ast.Call)
def call_expression(frame: Frame, node: ast.Call) -> Value:
    """`callee(a, *b, c=d, **e)`."""
    callee = frame.evaluate(node.func)
    if isinstance(callee, External) and callee.name == "builtins.super":
        return Super(frame.owner, frame.receiver) if frame.owner and frame.receiver else UNKNOWN
    before = frame.heap
    arguments = Arguments(tuple(_positional(frame, node)), _keywords(frame, node))
    if callee.reaches and frame.heap is not before:
        callee = frame.current(callee)  # `found.append(found.pop())`
    return frame.call(callee, arguments, node)


def _positional(frame: Frame, node: ast.Call) -> list[Value]:
    found: list[Value] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            value = frame.evaluate(argument.value)
            if isinstance(value, Tuple):
                found.extend(value.items)
            else:
                found.append(Sequence(rows(frame, value, argument.value), "*"))
        else:
            found.append(frame.evaluate(argument))
    return found


def _keywords(frame: Frame, node: ast.Call) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for keyword in node.keywords:
        value = frame.evaluate(keyword.value)
        if keyword.arg is not None:
            found[keyword.arg] = value
        elif isinstance(value := copied_attributes(frame, value), Dict):
            found.update({k: v for k, v in value.entries if isinstance(k, str)})
            if value.rest is not None:
                found[UNPACKED] = value.rest
        else:
            found[UNPACKED] = UNKNOWN
    return found


@calls(Baked)
def _call_baked(frame: Frame, callee: Baked, arguments: Arguments, node: ast.AST) -> Value:
    return callee  # `now().timestamp()`, `generator.manual_seed(0)`
