"""EXP607 requires-grad: forward switches the recording of gradients on or off for a tensor."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.domain.values import TRUE, Origin
from exportlint.analysis.facts import Call
from exportlint.analysis.facts.tracing import GradFlag, ModuleGradFlag
from exportlint.claims import ERROR, INFO, WARNING, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.tracing.gradient_modes import flagged
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(WARNING), strict=always(ERROR))
ENABLED = Claim(non_strict=always(INFO), strict={(2, 4): ERROR, (2, 15): INFO})
CREATION = Claim(non_strict=always(INFO), strict=always(ERROR))
STATE = frozenset({Origin.INPUT, Origin.PARAMETER, Origin.BUFFER})


@rule("EXP607", "requires-grad", GradFlag, ModuleGradFlag, Call)
def requires_grad(fact: GradFlag | ModuleGradFlag | Call, context: Context) -> Iterator[Report]:
    """`x.requires_grad_()`, `p.requires_grad = False`, `torch.zeros(3, requires_grad=True)`."""
    if isinstance(fact, Call):
        is_made = fact.name.startswith("torch.") and fact.keyword("requires_grad") == TRUE
        severity = context.severity(CREATION) if is_made else None
        message = "a tensor created with `requires_grad=True`: strict mode cannot trace it"
    elif isinstance(fact, GradFlag) and not _changes_state(fact, context):
        claim = ENABLED if fact.enabled else CREATION
        severity = context.severity(claim) if fact.api == "requires_grad =" else None
        message = "assignment to `requires_grad` of a local tensor: strict mode cannot trace it"
    else:
        severity = context.severity(CLAIM) if _changes_state(fact, context) else None
        message = "`requires_grad` is set only while exporting; the exported program does not set it"
    if severity is not None and not fact.guarded:
        yield Report(
            severity,
            message,
            "set it outside the model, or work on `x.detach().requires_grad_()`",
            fix=lambda code: _fix(code, fact, context),
        )


def _fix(code: Code, fact: GradFlag | ModuleGradFlag | Call, context: Context) -> Fix:
    if isinstance(fact, ModuleGradFlag) or (isinstance(fact, GradFlag) and _changes_state(fact, context)):
        raise DeclinedError("the owner of the tensor must set it")
    return flagged(code, fact)


def _changes_state(fact: GradFlag | ModuleGradFlag, context: Context) -> bool:
    if isinstance(fact, ModuleGradFlag):
        return True
    target = fact.target
    if target.detached or target.origin not in STATE:
        return False
    # strict mode takes what is False already for done
    is_done = fact.api == "requires_grad_()" and fact.enabled is False and target.origin is not Origin.PARAMETER
    return not (is_done and context.mode == "strict")
