"""EXP203 numpy-bridge: a traced tensor is handed to numpy."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts import HostRead
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.fixes.array_flow import computed_by_torch
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(None))
OWN = frozenset({"numpy", "__array__"})


@rule("EXP203", "numpy-bridge", HostRead)
def numpy_bridge(fact: HostRead, context: Context) -> Iterator[Report]:
    """`x.numpy()`, `np.exp(x)`, `np.asarray(x)`."""
    severity = context.severity(CLAIM)
    if severity is None or fact.guarded or not (fact.api in OWN or fact.api.startswith("np.")):
        return
    if fact.api == "np.ndarray":
        call = "arithmetic with an array"
    else:
        call = f"`{fact.api}()`" if fact.api.startswith("np.") else f"`.{fact.api}()`"
    yield Report(
        severity,
        f"{call} takes a traced tensor to numpy, which torch.export cannot follow",
        "use the torch operator, or wrap the computation with `torch.library.custom_op`",
        fix=computed_by_torch,
    )
