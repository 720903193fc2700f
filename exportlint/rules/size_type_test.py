"""EXP404 size-type-test: the type of a size is asked for."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts import Conversion
from exportlint.analysis.facts.sizes import SizeConversion
from exportlint.claims import WARNING, Claim, Context, Report, always
from exportlint.fixes.tracing.type_tests import SYMBOLIC, number_test
from exportlint.registry import rule

PATTERN = "class pattern"
CLAIM = Claim(non_strict=always(WARNING), strict=always(None))


@rule("EXP404", "size-type-test", SizeConversion, Conversion)
def size_type_test(fact: SizeConversion | Conversion, context: Context) -> Iterator[Report]:
    """`isinstance(x.shape[0], int)`, `type(n) is int`, `isinstance(t.item(), float)`."""
    severity = context.severity(CLAIM)
    if fact.target not in {"isinstance()", "type()", PATTERN} or severity is None:
        return
    if isinstance(fact, Conversion):
        what, known = "a number read from a tensor", fact.operand.kind
    elif fact.varies:
        what, known = "a dynamic size", "int"
    else:
        return
    kind = known or "int"
    symbolic = SYMBOLIC[kind]
    article = "an" if kind == "int" else "a"
    is_pattern = fact.target == PATTERN
    instead = f"test with `isinstance(n, ({kind}, {symbolic}))`"
    yield Report(
        severity,
        f"during export {what} is a `{symbolic}`, not {article} `{kind}`: the other branch is exported",
        f"write `case {kind}() | {symbolic}():`" if is_pattern else instead,
        fix=None if is_pattern else lambda code: number_test(code, known),
    )
