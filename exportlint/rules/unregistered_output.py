"""EXP701 unregistered-output: a module returns what torch.export cannot take apart."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.boundary import Output
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, always
from exportlint.registry import rule

OBJECT = Claim(non_strict=always(ERROR), strict=always(ERROR))
ARRAY = Claim(non_strict=always(ERROR), strict=always(WARNING))


@rule("EXP701", "unregistered-output", Output)
def unregistered_output(fact: Output, context: Context) -> Iterator[Report]:
    """`return Result(y)`, `return y, y.dtype`, `return {y}`, `return np.ones(3)`."""
    severity = context.severity(ARRAY if fact.is_array else OBJECT)
    if severity is WARNING:
        yield Report(
            severity,
            f"a `{fact.name}` in the output of `{fact.symbol}`: the exported program returns a tensor in its place",
            "return a tensor: `torch.as_tensor(...)`",
        )
    elif severity is not None:
        yield Report(
            severity,
            f"a `{fact.name}` in the output of `{fact.symbol}`: torch.export cannot take it apart",
            "return tensors, numbers, strings, tuples, lists and dicts, or register the class with "
            "`torch.export.register_dataclass`",
        )
