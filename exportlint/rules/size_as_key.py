"""EXP405 size-as-key: a size that varies is hashed, sorted or turned into text that is used."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.sizes import SizeConversion
from exportlint.claims import WARNING, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(WARNING), strict=always(WARNING))
CACHED = Claim(non_strict=always(WARNING), strict=always(None))
TARGETS = {"set element", "dict key", "sorted()", "hash()", "list index", "cache key"}


@rule("EXP405", "size-as-key", SizeConversion)
def size_as_key(fact: SizeConversion, context: Context) -> Iterator[Report]:
    """`cache[x.shape[0]]`, `{x.shape[0], x.shape[1]}`, `sorted(x.shape)`, `table[f"{n}"]`."""
    severity = context.severity(CACHED if fact.target == "cache key" else CLAIM)
    if fact.target == "text" and severity is not None:
        yield Report(
            severity,
            "text of a number that tracing does not know is looked up or compared: it has the name of a symbol in it",
            "compute from the number, or choose by it with `torch.where`",
        )
    elif fact.target in TARGETS and fact.varies and severity is not None:
        yield Report(
            severity,
            f"a size that varies as {fact.target}: Python has to know the number, which export fixes or refuses",
            "compute from the size instead of looking something up by it",
        )
