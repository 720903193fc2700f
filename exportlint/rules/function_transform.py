"""EXP609 function-transform: a function is differentiated or mapped by `torch.func` in forward."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.values import Partial
from exportlint.analysis.facts import Call
from exportlint.analysis.torch.public_names import public_name
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, always, before
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.gradients.reverse_mode import by_autograd
from exportlint.registry import rule

WRONG = {(2, 4): ERROR, (2, 6): WARNING, (2, 9): ERROR, (2, 13): WARNING}
REVERSE = Claim(non_strict=WRONG, strict=WRONG)
JACOBIAN = Claim(non_strict={(2, 4): ERROR, (2, 13): WARNING}, strict={(2, 4): ERROR, (2, 13): WARNING})
FUNCTIONALIZED = Claim(non_strict=always(ERROR), strict=always(ERROR))
FORWARD = Claim(non_strict=always(ERROR), strict=always(ERROR))
MAP = Claim(non_strict=before((2, 9)), strict=before((2, 9)))
CLAIMS = {
    "grad": REVERSE, "grad_and_value": REVERSE, "jacrev": JACOBIAN, "vjp": REVERSE,
    "jacfwd": FORWARD, "hessian": FORWARD, "linearize": FORWARD, "functionalize": FUNCTIONALIZED,
}  # fmt: skip


@rule("EXP609", "function-transform", Call)
def function_transform(fact: Call, context: Context) -> Iterator[Report]:
    """`torch.func.grad(f)(x)`, `torch.vmap(torch.func.grad(f))(x)`, `torch.vmap(f)(x)` before torch 2.9."""
    library, _, name = fact.name.rpartition(".")
    claim = CLAIMS.get(name) if library in {"torch.func", "functorch"} else None
    if fact.name == "torch.vmap":
        mapped = fact.positional[0] if fact.positional else None
        claim = FORWARD if isinstance(mapped, Partial) and mapped.wrapper else MAP
    severity = context.severity(claim) if claim is not None else None
    if severity is None or fact.guarded:
        return
    message = f"`{public_name(fact.name)}` exports, but the exported program returns a FakeTensor without values"
    if severity is ERROR:
        what = " of a function transform" if claim is FORWARD and fact.name == "torch.vmap" else ""
        message = f"torch.export cannot trace `{public_name(fact.name)}`{what}"
    instead = "use `torch.autograd.grad` in non-strict mode"
    yield Report(severity, message, instead, fix=lambda code: _fix(code, name, context))


def _fix(code: Code, name: str, context: Context) -> Fix:
    if name in {"grad", "jacrev"}:
        if context.mode != "non-strict":
            raise DeclinedError("`torch.autograd.grad` needs non-strict mode")
        return by_autograd(code)
    call = code.node(ast.Call).func
    if name != "functionalize" or not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
        raise DeclinedError("torch.export has no replacement for it")
    return code.fix("Call the function itself", code.replace(call, call.args[0]), safe=False)
