"""EXP303 input-mutation: an input is changed in place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress

from exportlint.analysis.facts import Mutation
from exportlint.analysis.values import Origin
from exportlint.claims import ERROR, INFO, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.code import Code
from exportlint.fixes.copies import copy_first, is_read_before, parameter
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.out_of_place import rebound
from exportlint.fixes.writes import writes, written
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(INFO), strict=always(INFO))
METADATA = Claim(non_strict={(2, 4): ERROR, (2, 6): INFO}, strict=always(ERROR))
UNSQUEEZE = Claim(non_strict=always(ERROR), strict=always(ERROR))


@rule("EXP303", "input-mutation", Mutation)
def input_mutation(fact: Mutation, context: Context) -> Iterator[Report]:
    """`x += 1`, `x[0] = 5`, `x.add_(1)`, `out=x`, `x.t_()` for an input `x`."""
    target = fact.target
    if target.origin is not Origin.INPUT or target.data is not None or (fact.metadata and not target.name):
        return  # what changes the sizes of a view of the input leaves the input as it is
    severity = context.severity(UNSQUEEZE if fact.api == "unsqueeze_" else METADATA if fact.metadata else CLAIM)
    if severity is None or (fact.guarded and severity is not ERROR):
        return
    name = f"the input `{target.name}`" if target.name else "an input"
    if fact.metadata:
        message = f"`{fact.api}` changes the sizes or the storage of {name} in place"
        instead = "use the operator without the underscore, and bind the result to a name"
    else:
        message = f"`{fact.api}` writes to {name}: the exported program writes to the caller's tensor too"
        instead = "clone the input first, unless the caller is meant to see the write"
    yield Report(severity, message, instead, fix=lambda code: _fix(code, fact))


def _fix(code: Code, fact: Mutation) -> Fix:
    """Either way the caller does not see the write any more."""
    if fact.target.detached:
        raise DeclinedError("who detaches it to write to it means it")
    node = code.node(ast.expr, ast.AugAssign)
    target = next((found for part in ast.walk(node) if (found := written(part)) is not None), None)
    here = code.tree.function(node)
    if isinstance(target, ast.Attribute) and here is not None and not fact.metadata:
        text = code.text(target)
        edit = copy_first(code, here, f"{text} = {text}.clone()", [*writes(here, target)], early=False)
        return code.fix("Write to a clone, which the caller does not see", edit, safe=False)
    function, name = parameter(code, fact.trail.steps()[0].node if fact.trail is not None else None)
    others = [n for n in writes(function, ast.Name(name)) if code.tree.statement(n) is not code.tree.statement(node)]
    if not others and not is_read_before(function, name, code.tree.statement(node)):
        with suppress(DeclinedError):
            variable, text = rebound(code, node)
            if variable == name and here is function:
                edit = code.replace(code.tree.statement(node), text)
                return code.fix("Make a new tensor, which the caller does not see", edit, safe=False)
    if fact.metadata:
        raise DeclinedError("a clone of other sizes is no better")
    own = [*writes(function, ast.Name(name))]
    early = not own or is_read_before(function, name, code.tree.statement(own[0]))
    edit = copy_first(code, function, f"{name} = {name}.clone()", own or function.body[-1:], early=early)
    return code.fix("Write to a clone, which the caller does not see", edit, safe=False)
