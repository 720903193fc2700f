"""EXP402 size-to-number: Python makes a plain number of a size that varies from call to call."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.sizes import SizeConversion
from exportlint.claims import INFO, WARNING, Claim, Context, Report, always
from exportlint.registry import rule

NUMBER = Claim(non_strict=always(WARNING), strict=always(None))
ARRAY = Claim(non_strict=always(WARNING), strict=always(WARNING))
ROUNDED = Claim(non_strict=always(INFO), strict=always(None))
HELP = {
    "len()": "use `.shape[0]`",
    "int()": "use integer arithmetic: `n // 2` for `int(n / 2)`, `n * 3 // 2` for `int(n * 1.5)`; drop `int(n)`",
    "float()": "drop the `float()`: arithmetic works on the size itself",
    "math.sqrt()": "use `n ** 0.5`",
    "np.prod()": "use `x.numel()` or `math.prod`",
    "np.sqrt()": "use `n ** 0.5`",
}


@rule("EXP402", "size-to-number", SizeConversion)
def size_to_number(fact: SizeConversion, context: Context) -> Iterator[Report]:
    """`len(x)`, `int(x.shape[0] * 0.5)`, `float(n)`, `math.sqrt(n)`, `np.prod(x.shape)`, `torch.as_tensor(x.shape)`."""
    is_array = fact.target.startswith(("np.", "torch."))
    is_number = fact.target in {"len()", "int()", "float()"} or fact.target.startswith("math.")
    if not (is_array or is_number):
        return
    if not fact.varies and not (fact.is_float and fact.target == "int()"):
        return
    severity = context.severity(ARRAY if is_array else NUMBER if fact.varies else ROUNDED)
    if severity is not None:
        when = "" if fact.varies else ", if it is meant to vary"
        yield Report(
            severity,
            f"`{fact.target}` makes a plain number of a size: the program is for that one size{when}",
            HELP.get(fact.target, "keep the size as it is, or compute with a function that knows symbolic sizes"),
        )
