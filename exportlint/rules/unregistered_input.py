"""EXP702 unregistered-input: `forward` demands what torch.export does not take."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.boundary import ObjectInput
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))


@rule("EXP702", "unregistered-input", ObjectInput)
def unregistered_input(fact: ObjectInput, context: Context) -> Iterator[Report]:
    """`def forward(self, batch: Batch)`, `def forward(self, x, dtype: torch.dtype)`."""
    severity = context.severity(CLAIM)
    if severity is not None:
        yield Report(
            severity,
            f"the argument `{fact.name}` is a `{fact.type}`: torch.export takes none as an input",
            "pass tensors, numbers, strings, tuples, lists and dicts, or register the class with "
            "`torch.export.register_dataclass`; give the rest to the constructor",
        )
