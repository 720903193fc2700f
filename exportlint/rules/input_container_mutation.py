"""EXP304 input-container-mutation: a list or dictionary that the caller passed is changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.calls.containers import MUTATORS
from exportlint.analysis.facts import ContainerMutation
from exportlint.analysis.joins import options
from exportlint.analysis.values import Dict, Sequence, Tuple, Value
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.code import Code
from exportlint.fixes.copies import copy_first
from exportlint.fixes.errors import DeclinedError
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(WARNING), strict={(2, 4): ERROR, (2, 9): WARNING})


@rule("EXP304", "input-container-mutation", ContainerMutation)
def input_container_mutation(fact: ContainerMutation, context: Context) -> Iterator[Report]:
    """`inputs["y"] = x`, `states.append(x)` where `inputs` or `states` is an argument of `forward`."""
    severity = context.severity(CLAIM)
    if severity is None or fact.guarded:
        return
    yield Report(
        severity,
        f"`{fact.api}` changes the caller's container `{fact.name}`: the exported program does not",
        "build a new container and return it",
        fix=lambda code: _fix(code, fact),
    )


def _fix(code: Code, fact: ContainerMutation) -> Fix:
    node = code.node(ast.AST)
    function = code.tree.function(node)
    kinds = {_kind(option) for option in options(code.value(ast.Name(fact.name, ast.Load())))}
    if function is None or len(kinds) != 1 or (kind := kinds.pop()) is None:
        raise DeclinedError("what kind of container it is is not known")
    changes = [n for n in ast.walk(function) if _is_change(n, fact.name)]
    text = f"{fact.name} = {kind}({fact.name})"
    return code.fix("Change a copy of it", copy_first(code, function, text, changes, early=False), safe=False)


def _kind(value: Value) -> str | None:
    if isinstance(value, Dict):
        return "dict"
    is_list = value.mutable if isinstance(value, Tuple) else isinstance(value, Sequence) and value.type == "list"
    return "list" if is_list else None


def _is_change(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        owner = node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
        owner = node.func.value
    else:
        return False
    return isinstance(owner, ast.Name) and owner.id == name
