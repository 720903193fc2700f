"""EXP107 data-dependent-operand: an operator must know a size that depends on the values of a tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.values import Tensor
from exportlint.analysis.facts.sizes_needed import SizeNeed
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.observed_values import tensor
from exportlint.fixes.precedence import Precedence
from exportlint.fixes.purity import is_pure
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))
INSTEAD = {
    "logsumexp": "set what is not selected to `-inf` with `masked_fill` instead of selecting",
    "chunk": "slice: `x[:n], x[n:]`",
    "unbind": "work on the whole tensor, or select with a size that is known",
}
COUNTED = frozenset({"chunk", "split", "unbind", "tensor_split", "LSTM", "GRU", "RNN"})
"""What runs once for each part."""


@rule("EXP107", "data-dependent-operand", SizeNeed)
def data_dependent_operand(fact: SizeNeed, context: Context) -> Iterator[Report]:
    """`torch.logsumexp(x[mask], 0)`, `x[mask].chunk(2)`, `self.lstm(x[mask])`."""
    severity = context.severity(CLAIM)
    if severity is None or fact.guarded:
        return
    yield Report(
        severity,
        f"`{fact.api}` must know a size of its operand, which depends on tensor data",
        INSTEAD.get(fact.api, "mask instead of selecting, or promise with `torch._check` that it is not empty"),
        fix=lambda code: _fix(code, fact),
    )


def _fix(code: Code, fact: SizeNeed) -> Fix:
    if fact.api in COUNTED:
        raise DeclinedError("it makes as many tensors as the size says")
    call = code.node(ast.Call)
    statement = code.tree.statement(call)
    receiver = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    operand = next((n for n in (*receiver, *call.args) if _is(fact, tensor(code, n))), None)
    if operand is None or not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Return, ast.Expr)):
        raise DeclinedError("the operand stands elsewhere")
    edits, lines, name = [], [], code.text(operand)
    if not isinstance(operand, ast.Name):
        if not is_pure(code, operand):
            raise DeclinedError("the operand cannot be computed in front of the statement")
        name = code.fresh("selected", operand)
        lines.append(f"{name} = {code.operand(operand, Precedence.TERNARY)}")
        edits.append(code.replace(operand, name))
    check = code.name("torch._check", operand)
    lines += (f"{check}({name}.shape[{dim}] > 0)" for dim in sorted(fact.operand.dynamic))
    message = "Promise that something is selected, and refuse what selects nothing"
    return code.fix(message, code.statements.insert_before(statement, lines), *edits, safe=False)


def _is(fact: SizeNeed, held: Tensor | None) -> bool:
    return held is not None and bool(held.dynamic) and held.dynamic == fact.operand.dynamic
