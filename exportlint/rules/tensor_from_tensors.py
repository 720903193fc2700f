"""EXP207 tensor-from-tensors: a tensor is made from a Python list that holds traced tensors."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts import Conversion
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(None))
OTHERS = Claim(non_strict=always(ERROR), strict=always(ERROR))
TRACED_BY_STRICT = frozenset({"torch.tensor()", "new_tensor()", "torch.FloatTensor()"})


@rule("EXP207", "tensor-from-tensors", Conversion)
def tensor_from_tensors(fact: Conversion, context: Context) -> Iterator[Report]:
    """`torch.tensor([x.sum(), x.max()])`."""
    if not fact.target.startswith(("torch.", "new_tensor")) or fact.guarded:
        return
    severity = context.severity(CLAIM if fact.target in TRACED_BY_STRICT else OTHERS)
    if severity is None:
        return
    yield Report(
        severity,
        f"`{fact.target}` of a list with traced tensors needs their numbers",
        "use `torch.stack([...])`, which stays in the graph",
    )
