"""EXP304 input-container-mutation: a list or dictionary that the caller passed is changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.facts import ContainerMutation
from exportlint.analysis.models.containers import MUTATORS
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.state.copies import copy_first, is_optional
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
        f"`{fact.api}` changes the caller's container `{fact.name}`, but the exported program does not",
        "build a new container and return it",
        fix=(lambda code: _fix(code, fact)) if fact.in_forward else None,
    )


def _fix(code: Code, fact: ContainerMutation) -> Fix:
    """The caller's container stays as it was."""
    function = code.tree.function(code.node(ast.AST))
    if function is None:
        raise DeclinedError("a statement cannot be inserted here")
    changes = [node for node in ast.walk(function) if _is_change(node, fact.name)]
    early = any(isinstance(node, ast.Assign) and _is_named(node.value, fact.name) for node in ast.walk(function))
    optional = fact.name if is_optional(function, fact.name) else ""
    copy = code.statement("{name} = {name}.copy()", name=fact.name)
    edit = copy_first(code, function, copy, changes, early=early, optional=optional)
    return code.fix("Change a copy, so that the caller's container stays as it was", edit, safe=False)


def _is_change(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        owner = node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
        owner = node.func.value
    else:
        return False
    return _is_named(owner, name)


def _is_named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
