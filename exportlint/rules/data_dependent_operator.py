"""EXP208 data-dependent-operator: an operator of torch that gives Python a value that depends on data."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts import HostRead
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))
UNTIL_2_15 = Claim(non_strict={(2, 4): ERROR, (2, 15): None}, strict={(2, 4): ERROR, (2, 15): None})
INSTEAD = {
    "equal": "use `(x == y).all()` and keep it a tensor",
    "allclose": "use `torch.isclose(x, y).all()` and keep it a tensor",
    "one_hot": "pass `num_classes`",
    "_assert": 'use `torch._assert_async(condition, "message")`',
    "is_nonzero": "use `x != 0` and choose with `torch.where`",
    "cov": "compute it from `x - x.mean()` with `torch.matmul`",
    "corrcoef": "compute it from `x - x.mean()` with `torch.matmul`",
    "gaussian_nll_loss": "write the loss out, without the check of the variance",
    "assert_close": "check outside of the model",
    "trunc_normal_": "initialise parameters in `__init__`",
    "narrow": "slice: `x[start : start + length]`",
}


@rule("EXP208", "data-dependent-operator", HostRead)
def data_dependent_operator(fact: HostRead, context: Context) -> Iterator[Report]:
    """`torch.equal`, `torch.allclose`, `F.one_hot` without `num_classes`."""
    name = fact.api.rpartition(".")[2]
    instead = INSTEAD.get(name)
    severity = context.severity(UNTIL_2_15 if name == "_assert" else CLAIM)
    if severity is None or fact.guarded or instead is None:
        return
    yield Report(severity, f"`{name}` needs the values of a tensor while torch.export traces it", instead)
