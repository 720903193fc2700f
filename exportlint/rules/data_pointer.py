"""EXP206 data-pointer: the memory of a traced tensor is asked for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.facts import HostRead
from exportlint.analysis.torch.registry import find
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.arrays.array_flow import without_dlpack
from exportlint.fixes.eager_only.unused import left_out
from exportlint.fixes.edit.attempts import first_of
from exportlint.fixes.edit.code import Code
from exportlint.fixes.tracing.shared_memory import tied_fix
from exportlint.registry import rule

ADDRESS = Claim(non_strict={(2, 4): ERROR, (2, 6): WARNING, (2, 9): ERROR}, strict=always(ERROR))
MEMORY = Claim(non_strict=always(ERROR), strict=always(ERROR))
ZERO = Claim(non_strict=always(WARNING), strict=always(ERROR))
"""Non-strict export takes 0 for the address that `const_data_ptr` gives (2.13), without a word."""


@rule("EXP206", "data-pointer", HostRead)
def data_pointer(fact: HostRead, context: Context) -> Iterator[Report]:
    """`x.data_ptr()`, `x.share_memory_()`, `x.pin_memory()`."""
    host = find(fact.api).host
    severity = context.severity(ZERO if host == "address" else ADDRESS if fact.api.endswith("data_ptr") else MEMORY)
    if severity is None or fact.guarded or host not in {"memory", "address"}:
        return
    yield Report(
        severity,
        f"`{fact.api}` needs the memory of a tensor, which a traced tensor does not have",
        "do this outside the model, or decide with a Python flag",
        fix=lambda code: _fix(code, fact, context),
    )


def _fix(code: Code, fact: HostRead, context: Context) -> Fix:
    call = code.node(ast.Call)
    if fact.api in {"share_memory_", "pin_memory"} and isinstance(call.func, ast.Attribute):
        message = "Leave the tensor's memory alone"
        return code.fix(message, code.replace(call, call.func.value), safe=False)
    if fact.api == "torch.from_dlpack" and len(call.args) == 1 and not call.keywords:
        return without_dlpack(code, call, call.args[0])
    return first_of(code, fact, lambda code, _: left_out(code, call, context.version), tied_fix)
