"""EXP904 operator-operands: an operator is given what it does not take."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.domain.values import Scalar
from exportlint.analysis.facts.control_flow import OperandMismatch
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.fixes.control_flow.operator_functions import operands_fix
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))
NON_STRICT = Claim(non_strict=always(ERROR), strict=always(None))

HELP = {
    "container": "pass a tuple: `(x,)`",
    "number": "pass a tensor, or let the functions capture the number",
    "symbol": "pass the tensor, and read the number inside",
    "object": "capture it instead: only tensors can be operands",
    "alias": "pass a clone of one of them",
    "count": "pass one operand for each parameter",
    "predicate": "reduce it to one element, with `.any()` or `.all()`",
}


@rule("EXP904", "operator-operands", OperandMismatch)
def operator_operands(fact: OperandMismatch, context: Context) -> Iterator[Report]:
    """`torch.cond(p, t, f, x)`, `torch.cond(p, t, f, (x, 3))`, `torch.cond(x > 0, t, f, (x,))`."""
    is_int = isinstance(fact.operand, Scalar) and fact.operand.kind != "float"
    of_cond = fact.operator == "torch.cond"
    only = fact.what == "predicate" or (fact.what == "number" and of_cond) or (fact.what == "symbol" and is_int)
    severity = context.severity(NON_STRICT if only else CLAIM)
    if severity is not None and not fact.guarded:
        message = f"`{fact.operator}`: {fact.problem}"
        yield Report(severity, message, HELP[fact.what], fix=lambda code: operands_fix(code, fact))
