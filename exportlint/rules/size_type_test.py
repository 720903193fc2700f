"""EXP404 size-type-test: the type of a size is asked for."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts import Conversion
from exportlint.analysis.facts.sizes import SizeConversion
from exportlint.claims import WARNING, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(WARNING), strict=always(None))


@rule("EXP404", "size-type-test", SizeConversion, Conversion)
def size_type_test(fact: SizeConversion | Conversion, context: Context) -> Iterator[Report]:
    """`isinstance(x.shape[0], int)`, `type(n) is int`, `isinstance(t.item(), float)`."""
    severity = context.severity(CLAIM)
    if fact.target not in {"isinstance()", "type()"} or severity is None:
        return
    if isinstance(fact, Conversion):
        what, kind = "a number read from a tensor", fact.operand.kind or "int"
    elif fact.varies:
        what, kind = "a dynamic size", "int"
    else:
        return
    symbolic = f"torch.Sym{kind.capitalize()}"
    yield Report(
        severity,
        f"during export {what} is a `{symbolic}` and no `{kind}`: the other way is exported",
        f"ask for `isinstance(n, ({kind}, {symbolic}))`",
    )
