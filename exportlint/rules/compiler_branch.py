"""EXP612 compiler-branch: the model computes something else while it is compiled or exported."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.tracing import CompilerBranch
from exportlint.claims import WARNING, Claim, Context, Report, always
from exportlint.fixes.tracing.compiler_branches import eager_way
from exportlint.registry import rule

EXPORTING = Claim(non_strict=always(WARNING), strict=always(WARNING))
DYNAMO = Claim(non_strict=always(None), strict=always(WARNING))


@rule("EXP612", "compiler-branch", CompilerBranch)
def compiler_branch(fact: CompilerBranch, context: Context) -> Iterator[Report]:
    """`x + 1 if torch.compiler.is_compiling() else x - 1`."""
    severity = context.severity(DYNAMO if fact.api.endswith("is_dynamo_compiling") else EXPORTING)
    if severity is not None:
        yield Report(
            severity,
            f"`{fact.api}()` is true during export: the exported program differs from eager mode",
            "compute the same on both branches",
            fix=eager_way,
        )
