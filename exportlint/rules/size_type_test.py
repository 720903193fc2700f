"""EXP404 size-type-test: the type of a size is asked for."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.sizes import SizeConversion
from exportlint.claims import WARNING, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(WARNING), strict=always(None))


@rule("EXP404", "size-type-test", SizeConversion)
def size_type_test(fact: SizeConversion, context: Context) -> Iterator[Report]:
    """`isinstance(x.shape[0], int)`, `type(n) is int`."""
    severity = context.severity(CLAIM)
    if fact.target in {"isinstance()", "type()"} and fact.varies and severity is not None:
        yield Report(
            severity,
            "during export a dynamic size is a `torch.SymInt` and no `int`: the other way is exported",
            "ask for `isinstance(n, (int, torch.SymInt))`",
        )
