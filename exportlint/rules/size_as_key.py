"""EXP405 size-as-key: a size that varies is hashed, sorted or turned into text that is used."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.sizes import SizeConversion
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, always
from exportlint.fixes.edit.attempts import declined
from exportlint.fixes.numbers.text_keys import text_key_fix
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(WARNING), strict=always(WARNING))
HASH = Claim(non_strict=always(WARNING), strict={(2, 4): ERROR, (2, 13): WARNING})
CACHED = Claim(non_strict=always(WARNING), strict=always(None))
OF_DATA = Claim(non_strict=always(WARNING), strict={(2, 4): ERROR, (2, 13): WARNING})
MISSING = Claim(non_strict=always(ERROR), strict=always(ERROR))
CLAIMS = {"cache key": CACHED, "hash()": HASH}
TARGETS = {"set element", "dict key", "sorted()", "hash()", "list index", "cache key", "key of max()", "key of min()"}


@rule("EXP405", "size-as-key", SizeConversion)
def size_as_key(fact: SizeConversion, context: Context) -> Iterator[Report]:
    """`cache[x.shape[0]]`, `{x.shape[0], x.shape[1]}`, `sorted(x.shape)`, `table[f"{n}"]`."""
    is_number = fact.target == "text" and fact.is_data
    of_data = MISSING if fact.refused else OF_DATA
    severity = context.severity(of_data if is_number else CLAIMS.get(fact.target, CLAIM))
    if fact.target == "text" and severity is not None:
        yield Report(
            severity,
            "a string made from a symbolic number is looked up or compared: it contains the symbol's name, not its "
            "value",
            "compute with the number itself, or choose with `torch.where`",
            fix=text_key_fix if is_number else declined("the program cannot depend on the text of a size"),
        )
    elif fact.target in TARGETS and fact.varies and severity is not None:
        yield Report(
            severity,
            f"a dynamic size as {fact.target}: Python needs a concrete number, so export specializes it or fails",
            "compute with the size instead of using it as a key",
        )
