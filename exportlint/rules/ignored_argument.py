"""EXP704 ignored-argument: arguments of `forward` that the exported program takes and does not look at."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.boundary import Argument, Signature
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, always
from exportlint.registry import rule

NONE = Claim(non_strict=always(WARNING), strict=always(WARNING))
ENUM = Claim(non_strict={(2, 4): ERROR, (2, 13): WARNING}, strict={(2, 4): ERROR, (2, 13): WARNING})


@rule("EXP704", "ignored-argument", Signature)
def ignored_argument(fact: Signature, context: Context) -> Iterator[Report]:
    """`def forward(self, x, mask: Tensor | None)`, `def forward(self, x, mode: Mode)`."""
    for argument in fact.arguments:
        if not is_ignored(argument):
            continue
        severity = context.severity(NONE if argument.type == "None" else ENUM)
        if argument.type == "None" and severity is not None:
            yield Report(
                severity,
                f"if `{argument.name}` is None at export, the exported program ignores a value passed for it later",
                "export once with and once without it, or pass a neutral tensor",
                site=argument.site,
            )
        elif severity is ERROR:
            yield Report(
                severity,
                f"`{argument.name}` is an Enum member, which this torch.export does not accept as an input",
                "pass it to the constructor",
                site=argument.site,
            )
        elif severity is not None:
            yield Report(
                severity,
                f"`{argument.name}` is an Enum member: the exported program ignores it and uses the one from export",
                "pass it to the constructor, or pass its value: torch.export guards numbers and strings",
                site=argument.site,
            )


def is_ignored(argument: Argument) -> bool:
    """Whether the program has no guard on an argument that is passed to it."""
    return argument.required and argument.type in {"None", "Enum"}
