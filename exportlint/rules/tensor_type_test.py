"""EXP602 tensor-type-test: `type(x) is torch.Tensor`, which is false while export traces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from exportlint.analysis.domain.values import Origin
from exportlint.analysis.facts import TypeTest
from exportlint.claims import WARNING, Claim, Context, Report, always
from exportlint.fixes.tracing.type_tests import tensor_test
from exportlint.registry import rule

if TYPE_CHECKING:
    pass

CLAIM = Claim(non_strict=always(WARNING), strict=always(None))
TENSOR = frozenset({"torch.Tensor", "Tensor", "torch"})
PARAMETER = frozenset({
    "torch.nn.Parameter", "torch.nn.parameter.Parameter", "Parameter", "torch.nn.parameter",
})  # fmt: skip


@rule("EXP602", "tensor-type-test", TypeTest)
def tensor_type_test(fact: TypeTest, context: Context) -> Iterator[Report]:
    """`type(x) is torch.Tensor`, `type(x) == torch.Tensor`, `type(x).__name__ == "Tensor"`, `type(x) in (...)`."""
    severity = context.severity(CLAIM)
    real = PARAMETER if fact.operand.origin is Origin.PARAMETER else TENSOR
    if severity is None or fact.guarded or not real & set(fact.expected):
        return
    yield Report(
        severity,
        "the type of a traced tensor is compared: during export it is a FakeTensor, so the other branch is exported",
        "use `isinstance(x, torch.Tensor)`",
        fix=lambda code: tensor_test(code, fact),
    )
