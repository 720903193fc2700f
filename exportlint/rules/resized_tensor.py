"""EXP314 resized-tensor: a tensor that the call made gets other sizes in place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.values import Origin
from exportlint.analysis.facts import Mutation
from exportlint.analysis.facts.state import Resize
from exportlint.claims import ERROR, INFO, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.tree import in_order
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.export_calls.calls import call_without
from exportlint.fixes.state.out_of_place import rebound
from exportlint.registry import rule

RESIZE = Claim(non_strict=always(INFO), strict=always(ERROR))
OUT = Claim(non_strict=always(INFO), strict={(2, 4): INFO, (2, 6): ERROR})


@rule("EXP314", "resized-tensor", Mutation, Resize)
def resized_tensor(fact: Mutation | Resize, context: Context) -> Iterator[Report]:
    """`y.resize_(2, 6)`, `torch.add(x, 1, out=torch.empty(0))`."""
    if isinstance(fact, Mutation):
        if fact.api not in {"resize_", "resize_as_"} or fact.target.origin is Origin.INPUT:
            return
        message, claim = f"`{fact.api}` changes the sizes of a tensor in place", RESIZE
        instead = "use `reshape`, or create a tensor of the new sizes"
    else:
        message, claim = "`out=` is an empty tensor, which the operator must resize", OUT
        instead = "use the operator's result instead"
    severity = context.severity(claim, guarded=fact.guarded)
    if severity is not None:
        yield Report(severity, message, instead, fix=_fix_resize if isinstance(fact, Mutation) else _fix_out)


def _fix_resize(code: Code) -> Fix:
    """`reshape` refuses other numbers of elements, and other names for the tensor keep its old sizes."""
    call = code.node(ast.Call)
    _, new = rebound(code, call)
    edit = code.replace(code.tree.statement(call), new)
    return code.fix("Reshape it, if the number of elements stays the same", edit, safe=False)


def _fix_out(code: Code) -> Fix:
    """What the operator returns may have another dtype than the tensor that was there."""
    call = code.node(ast.Call)
    out = next((k for k in call.keywords if k.arg == "out"), None)
    statement, function = code.tree.parents[call], code.tree.function(call)
    if out is None or out is not call.keywords[-1] or not isinstance(out.value, ast.Name) or function is None:
        raise DeclinedError("`out` is not the last argument, or not a variable")
    if not isinstance(statement, ast.Expr):
        raise DeclinedError("the result has a second name")
    new = code.statement("{name} = {made}", name=out.value, made=call_without(code, call, out))
    names = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == out.value.id]
    first, *others = in_order(names)
    made = code.tree.parents[first]
    if others[:1] == [out.value] and isinstance(made, ast.Assign) and code.tree.following(made)[:1] == [statement]:
        edit = code.statements.replace([made, statement], [new])
    else:
        edit = code.replace(statement, new)
    return code.fix("Use the operator's result", edit, safe=False)
