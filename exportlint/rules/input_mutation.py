"""EXP303 input-mutation: an input is changed in place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress

from exportlint.analysis.domain.trails import Route
from exportlint.analysis.domain.values import Origin
from exportlint.analysis.facts import Mutation
from exportlint.claims import ERROR, INFO, WARNING, Claim, Context, Report, always
from exportlint.findings import Applicability, Fix
from exportlint.fixes.control_flow.bodies import copied
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.writes import writes, written
from exportlint.fixes.state.copies import copy_first, is_held, is_optional, parameter
from exportlint.fixes.state.out_of_place import rebound, returned
from exportlint.registry import rule
from exportlint.syntax.definitions import FunctionNode

CLAIM = Claim(non_strict=always(INFO), strict=always(INFO))
LAYOUT = Claim(non_strict=always(WARNING), strict=always(WARNING))
METADATA = Claim(non_strict={(2, 4): ERROR, (2, 6): INFO}, strict=always(ERROR))
UNSQUEEZE = Claim(non_strict=always(ERROR), strict=always(ERROR))


@rule("EXP303", "input-mutation", Mutation)
def input_mutation(fact: Mutation, context: Context) -> Iterator[Report]:
    """`x += 1`, `x[0] = 5`, `x.add_(1)`, `out=x`, `x.t_()` for an input `x`."""
    target = fact.target
    if target.origin is not Origin.INPUT or target.data is not None or (fact.metadata and not target.name):
        return  # what changes the sizes of a view of the input leaves the input as it is
    claim = UNSQUEEZE if fact.api == "unsqueeze_" else METADATA if fact.metadata else CLAIM
    severity = context.severity(claim, guarded=fact.guarded)
    if severity is None:
        return
    if severity is INFO and target.compacted and not fact.guarded:
        severity = context.severity(LAYOUT) or INFO
    name = f"the input `{target.name}`" if target.name else "an input"
    if fact.metadata:
        message = f"`{fact.api}` changes the sizes or the storage of {name} in place"
        instead = "use the operator without the underscore, and assign its result"
    elif severity is WARNING:
        message = f"`{fact.api}` writes to {name} or to a copy of it, depending on the memory layout at export"
        instead = "clone it: `clone(memory_format=torch.contiguous_format)`"
    else:
        message = f"`{fact.api}` writes to {name}: the exported program writes to the caller's tensor too"
        instead = "clone the input first, unless the caller should see the write"
    yield Report(severity, message, instead, fix=lambda code: _fix(code, fact))


def _fix(code: Code, fact: Mutation) -> Fix:
    """Either way the caller does not see the write any more."""
    if fact.target.compacted:
        raise DeclinedError("whether the caller sees the write depends on the layout")
    if fact.target.detached:
        raise DeclinedError("detaching a tensor before writing to it looks intended")
    node: ast.expr | ast.AugAssign = code.node(ast.expr, ast.AugAssign)  # type: ignore[assignment]
    target = next((found for part in ast.walk(node) if (found := written(part)) is not None), None)
    here = code.tree.function(node)
    if isinstance(target, ast.Attribute) and here is not None and not fact.metadata:
        copy = code.statement("{tensor} = {tensor}.clone()", tensor=target)
        edit = copy_first(code, here, copy, [*writes(here, target)], early=False)
        # if the object is the caller's, it gets another attribute in eager only
        return code.fix("Write to a clone", edit, safe=Applicability.DISPLAY_ONLY)
    function, name = parameter(code, fact.trail.steps[0].site if isinstance(fact.trail, Route) else None)
    if here is function and isinstance(target, ast.Name) and target.id == name:
        with suppress(DeclinedError):
            edit = _replaced(code, function, name, node)
            return code.fix("Create a new tensor, so that the caller's stays as it was", edit, safe=False)
    if fact.metadata:
        raise DeclinedError("resizing a clone would fail as well")
    own = [*writes(function, ast.Name(name))]
    early = not own or is_held(code, function, name, code.tree.statement(own[0]))
    if is_optional(function, name):
        raise DeclinedError("the argument may be None")
    edit = copy_first(code, function, copied(name), own or function.body[-1:], early=early)
    return code.fix("Write to a clone, so that the caller's tensor stays as it was", edit, safe=False)


def _replaced(code: Code, function: FunctionNode, name: str, node: ast.expr | ast.AugAssign) -> Draft:
    """An operator that makes a new tensor in place of the write. Raises DeclinedError if somebody might tell."""
    statement = code.tree.statement(node)
    if isinstance(statement, ast.Return):
        return code.replace(node, returned(code, node))
    others = [n for n in writes(function, ast.Name(name)) if code.tree.statement(n) is not statement]
    if others or is_held(code, function, name, statement):
        raise DeclinedError("tensors that share the storage must see the write")
    return code.replace(statement, rebound(code, node)[1])
