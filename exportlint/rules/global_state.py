"""EXP313 global-state: a variable of a file in which one call leaves something for the next."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.facts.state import StateChange
from exportlint.claims import ERROR, INFO, WARNING, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.eager_only.reports import asks_exporting, eager_only
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.state.constructor import Constructor
from exportlint.fixes.state.places import keep_global
from exportlint.registry import rule

USED = Claim(non_strict=always(WARNING), strict=always(WARNING))
UNUSED = Claim(non_strict=always(INFO), strict=always(INFO))
COUNTER = Claim(non_strict=always(WARNING), strict={(2, 4): ERROR, (2, 13): WARNING})
ITERATOR = Claim(non_strict=always(WARNING), strict=always(ERROR))


@rule("EXP313", "global-state", StateChange)
def global_state(fact: StateChange, context: Context) -> Iterator[Report]:
    """`global calls; calls += 1`, `SEEN.append(x)`."""
    severity = context.severity(_claim(fact))
    if fact.holder != "global" or severity is None or fact.guarded:
        return
    if severity is ERROR:
        message = f"`{fact.name}` advances an iterator that is made outside of forward: strict mode cannot trace it"
        instead = "compute the number from a buffer"
    elif fact.carried:
        message = (
            f"the change to the global `{fact.name}` is lost: each run of the exported program sees the value it had "
            "at export"
        )
        instead = "keep it in a buffer (`register_buffer`)"
    else:
        message = f"the global `{fact.name}` is changed only while exporting; the exported program does not change it"
        instead = f"return what callers need, or skip the change with `if not {asks_exporting(context.version)}():`"
    yield Report(severity, message, instead, fix=lambda code: _fix(code, fact, context))


def _claim(fact: StateChange) -> Claim:
    if fact.iterator:
        return ITERATOR if fact.iterator in {"iterator", "generator"} else COUNTER
    return USED if fact.carried else UNUSED


def _fix(code: Code, fact: StateChange, context: Context) -> Fix:
    """What export counts is missing afterwards."""
    if fact.iterator:
        raise DeclinedError("a buffer cannot hold an iterator")
    if fact.carried:
        node = code.node(ast.expr)
        key = ast.unparse(node.slice) if isinstance(node, ast.Subscript) else ""
        drafts = keep_global(code, Constructor(code, node), fact.name.partition("[")[0], key)
        return code.fix("Keep it in a buffer", *drafts, safe=False)
    statement = code.tree.statement(code.node(ast.expr))
    reads = [
        node
        for node in ast.walk(code.tree.root)
        if isinstance(node, ast.Name) and node.id == fact.name and isinstance(node.ctx, ast.Load)
    ]
    inside = set(ast.walk(statement))
    if not isinstance(statement, (ast.Assign, ast.AugAssign)) or not inside.issuperset(reads):
        raise DeclinedError("other code reads it")
    return code.fix("Skip it during export", eager_only(code, [statement], context.version), safe=False)
