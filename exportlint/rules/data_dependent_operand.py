"""EXP107 data-dependent-operand: an operator must know a size that depends on the values of a tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.values import Sequence, Tensor, Tuple, Value
from exportlint.analysis.facts import Call
from exportlint.analysis.facts.sizes_needed import SizeNeed
from exportlint.claims import ERROR, Claim, Context, Report, always, before
from exportlint.findings import Fix
from exportlint.fixes.edit import template as templates
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.observed_values import tensor
from exportlint.fixes.proofs.purity import is_pure
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))
PADDED = Claim(non_strict=before((2, 9)), strict=before((2, 15)))
INSTEAD = {
    "logsumexp": "instead of selecting, set the rest to `-inf` with `masked_fill`",
    "chunk": "slice: `x[:n], x[n:]`",
    "unbind": "work on the whole tensor, or select a known number of elements",
}
COUNTED = frozenset({"chunk", "split", "unbind", "tensor_split", "LSTM", "GRU", "RNN"})
"""What runs once for each part."""


@rule("EXP107", "data-dependent-operand", SizeNeed, Call)
def data_dependent_operand(fact: SizeNeed | Call, context: Context) -> Iterator[Report]:
    """`torch.logsumexp(x[mask], 0)`, `x[mask].chunk(2)`, `self.lstm(x[mask])`, `pad_sequence([x[0, :n], x[1]])`."""
    severity = context.severity(PADDED if isinstance(fact, Call) else CLAIM)
    if severity is None or fact.guarded:
        return
    if isinstance(fact, Call):
        if fact.name.endswith(".pad_sequence") and _differ_by_data(fact.positional[:1]):
            yield Report(
                severity,
                "`pad_sequence` compares the lengths of its operands, which depend on tensor data",
                "keep the tensors padded, and mask beyond the lengths",
            )
        return
    yield Report(
        severity,
        f"`{fact.api}` needs a concrete size of its operand, which depends on tensor data",
        INSTEAD.get(fact.api, _instead(fact)),
        fix=lambda code: _fix(code, fact),
    )


def _instead(fact: SizeNeed) -> str:
    if fact.least is None:
        return "mask instead of selecting"
    known = "is not empty" if fact.least == 1 else f"has at least {fact.least} elements"
    return f"mask instead of selecting, or assert with `torch._check` that the selection {known}"


def _differ_by_data(given: tuple[Value, ...]) -> bool:
    """Whether tensors are given in a list, and data decides how long one is next to the others."""
    if given and isinstance(given[0], Sequence):
        return _is_of_data(given[0].item)
    items = given[0].items if given and isinstance(given[0], Tuple) else ()
    return len(items) > 1 and any(map(_is_of_data, items))


def _is_of_data(value: Value) -> bool:
    return isinstance(value, Tensor) and not value.assumed and 0 in value.dynamic


def _fix(code: Code, fact: SizeNeed) -> Fix:
    if fact.api in COUNTED:
        raise DeclinedError("the number of its results depends on the size")
    if fact.least is None:
        raise DeclinedError("the operator computes with the size itself")
    call = code.node(ast.Call)
    statement = code.tree.statement(call)
    receiver = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    operand = next((n for n in (*receiver, *call.args) if _is(fact, tensor(code, n))), None)
    if operand is None or not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Return, ast.Expr)):
        raise DeclinedError("the operand is written elsewhere")
    edits, lines, selected = [], [], code.concrete(operand)
    if not isinstance(operand, ast.Name):
        if not is_pure(code, operand):
            raise DeclinedError("the operand cannot be computed before the statement")
        name = code.fresh("selected", operand)
        lines.append(code.statement("{name} = {value}", name=name, value=operand))
        selected = templates.dotted(name)
        edits.append(code.replace(operand, selected))
    check = code.name("torch._check", operand)
    lines += (
        code.statement(
            "{check}({name}.shape[{dim}] > {bound})", check=check, name=selected, dim=dim, bound=fact.least - 1
        )
        for dim in sorted(fact.operand.dynamic)
    )
    message = "Assert that the selection is not empty"
    if fact.least > 1:
        message = f"Assert that the selection has at least {fact.least} elements"
    return code.fix(message, code.statements.insert_before(statement, lines), *edits, safe=False)


def _is(fact: SizeNeed, held: Tensor | None) -> bool:
    return held is not None and bool(held.dynamic) and held.dynamic == fact.operand.dynamic
