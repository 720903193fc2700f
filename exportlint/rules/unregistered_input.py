"""EXP702 unregistered-input: `forward` demands what torch.export does not take."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.trails import site_of
from exportlint.analysis.domain.values import ClassValue
from exportlint.analysis.facts.boundary import ObjectInput
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.export_calls.pytrees import register
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))


@rule("EXP702", "unregistered-input", ObjectInput)
def unregistered_input(fact: ObjectInput, context: Context) -> Iterator[Report]:
    """`def forward(self, batch: Batch)`, `def forward(self, x, dtype: torch.dtype)`."""
    severity = context.severity(CLAIM)
    if severity is not None:
        yield Report(
            severity,
            f"argument `{fact.name}` is a `{fact.type}`, which torch.export does not accept as an input",
            "pass tensors, numbers, strings, tuples, lists and dicts, or register the class with "
            "`torch.export.register_dataclass`; pass the rest to the constructor",
            fix=_fix,
        )


def _fix(code: Code) -> Fix:
    annotation = code.node(ast.arg).annotation
    cls = code.value(annotation) if annotation is not None else None
    if not isinstance(cls, ClassValue):
        raise DeclinedError("the class is not defined in this project")
    return register(code, site_of(cls.definition.module, cls.definition.node))
