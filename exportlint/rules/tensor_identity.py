"""EXP601 tensor-identity: the identity of a tensor is used as a value."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.domain.values import (
    Origin,
    Scalar,
    Tensor,
)
from exportlint.analysis.facts import Identity
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, always
from exportlint.fixes.edit.attempts import declined
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(WARNING), strict=always(WARNING))
HASH = Claim(non_strict=always(WARNING), strict={(2, 4): ERROR, (2, 13): WARNING})


@rule("EXP601", "tensor-identity", Identity)
def tensor_identity(fact: Identity, context: Context) -> Iterator[Report]:
    """`id(x)`, `hash(x)`, `x is y` of two inputs."""
    severity = context.severity(HASH if fact.operator == "hash()" else CLAIM)
    if severity is None or fact.guarded:
        return
    if isinstance(fact.operand, Scalar):
        yield Report(
            severity,
            f"`{fact.operator}` of a truth value read from a tensor is decided at export: there it is neither `True` "
            "nor `False`, but a symbol",
            "choose with `torch.where`",
        )
        return
    if fact.operator in {"is", "is not"}:
        other = fact.other
        if not isinstance(other, Tensor) or {fact.operand.origin, other.origin} != {Origin.INPUT}:
            return
        message = f"`{fact.operator}` between inputs is decided once, by the example inputs"
        yield Report(
            severity,
            message,
            "decide with a Python flag, or export one program per case",
            fix=declined("an exported program cannot compare the identities of its inputs"),
        )
        return
    message = f"`{fact.operator}` of a traced tensor is baked in: the exported program keeps the number from export"
    yield Report(severity, message, "key caches by a property of the value, not by identity")
