"""EXP407 fixed-size: a number stands where the size of a dynamic dimension belongs."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.sizes import FixedSize
from exportlint.claims import INFO, WARNING, Claim, Context, Report, always
from exportlint.fixes.shapes.slice_bounds import bounded
from exportlint.registry import rule

SLICE = Claim(non_strict=always(WARNING), strict=always(WARNING))
REST = "the exported program rejects sizes that leave fewer than two rows"
SIZE = Claim(non_strict=always(INFO), strict=always(INFO))


@rule("EXP407", "fixed-size", FixedSize)
def fixed_size(fact: FixedSize, context: Context) -> Iterator[Report]:
    """`x[:4]`, `x[: n // 2]`, `x.view(3, -1)`, `x + torch.zeros(3, 4)`, `F.cross_entropy(x, torch.tensor([0, 1]))`."""
    claimed = context.severity(SLICE if fact.api == "slice" else SIZE)
    severity, refusal = context.declared_severity(claimed, fact.declared, fixed=fact.api not in {"slice", "rest"})
    is_layer = fact.size == 0 and fact.api != "rest"
    if severity is None or (is_layer and not refusal):
        return
    if fact.api == "slice":
        yield Report(
            severity,
            f"{fact.size} as a slice bound in a dynamic dimension: "
            + (refusal or "the exported program accepts only sizes on one side of it"),
            f"take the smaller one: `torch.sym_min(x.shape[0], {abs(fact.size)})`",
            fix=lambda code: bounded(code, fact.size),
        )
    elif fact.api == "rest":
        yield Report(
            severity,
            "a slice of a dynamic dimension: "
            + (f"it may leave fewer than two rows, so {refusal}" if refusal else REST),
            "make sure that the sizes in use are large enough",
        )
    elif is_layer:
        yield Report(
            severity,
            f"`{fact.api}` has parameters for one size of this dimension: {refusal}",
            "leave the dimension out of `dynamic_shapes`",
        )
    else:
        yield Report(
            severity,
            f"{fact.size} is used as the size of a dynamic dimension: "
            + (refusal or "the exported program accepts only sizes that fit"),
            "use the tensor's size, such as `x.shape[0]`, or -1",
        )
