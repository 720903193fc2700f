"""EXP103 tensor-truth: an expression needs the truth of tensor data as a Python bool."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.domain.values import Scalar
from exportlint.analysis.facts import Branch
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, always, before
from exportlint.findings import Fix
from exportlint.fixes.control_flow.element_loops import elements_fix
from exportlint.fixes.control_flow.truth import condition_fix
from exportlint.fixes.edit.attempts import first_of
from exportlint.fixes.edit.code import Code
from exportlint.fixes.numbers.distinct_values import distinct_values_fix
from exportlint.fixes.numbers.ordered_by_key import index_of_best
from exportlint.fixes.numbers.ordering import extreme_fix, sorted_fix
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))
BOOL = Claim(non_strict=always(ERROR), strict=before((2, 13)))
"""Up to torch 2.9, no operator takes the symbol that strict mode makes of it."""
IN_LIST = Claim(non_strict=always(ERROR), strict={(2, 4): WARNING, (2, 15): ERROR})
EXTREME = Claim(non_strict=before((2, 9)), strict=always(None))
SPECIAL = {"bool()": BOOL, "traced in": BOOL, "in list": IN_LIST, "traced max()": EXTREME, "traced min()": EXTREME}
INSTEAD = {
    "and": "use `torch.logical_and` or `&`",
    "or": "use `torch.logical_or` or `|`",
    "not": "use `torch.logical_not` or `~`",
    "bool()": "keep it a tensor and choose with `torch.where`",
    "traced in": "use `(x == value).any()` and choose with `torch.where`",
    "in list": "keep the tensor, use `(x == value).any()`, and choose with `torch.where`",
    "in": "use `(x == value).any()` and choose with `torch.where`",
    "comparison": "compare step by step and combine with `&`",
    "any()": "use `torch.any`, and choose with `torch.where`",
    "all()": "use `torch.all`, and choose with `torch.where`",
    "max()": "use `torch.maximum` or `torch.clamp`",
    "min()": "use `torch.minimum` or `torch.clamp`",
    "traced max()": "use `torch.maximum` or `torch.clamp`",
    "traced min()": "use `torch.minimum` or `torch.clamp`",
    "sorted()": "use `torch.sort`",
    "groupby()": "find the runs with `torch.unique_consecutive`",
    "filter()": "index with a boolean mask",
    "filterfalse()": "index with a boolean mask",
    "takewhile()": "multiply by a `cumprod` of the condition, or index with a boolean mask",
    "dropwhile()": "multiply by a `cumprod` of the condition, or index with a boolean mask",
    "nsmallest()": "use `torch.topk` with `largest=False`",
    "nlargest()": "use `torch.topk`",
    "heapify()": "use `torch.sort`",
    "list method": "use tensor comparison instead of Python's `==`",
    "is_nonzero": "use `x != 0` and choose with `torch.where`",
}
ORDERING = dict.fromkeys(("max()", "min()", "traced max()", "traced min()"), extreme_fix)
LABELS = {
    "comparison": "comparison of several values",
    "list method": "search in a list",
    "is_nonzero": "`is_nonzero()`",
    "traced in": "`in`",
    "in list": "`in`",
    "traced max()": "`max()`",
    "traced min()": "`min()`",
}


@rule("EXP103", "tensor-truth", Branch)
def tensor_truth(fact: Branch, context: Context) -> Iterator[Report]:
    """`and`, `or`, `not`, `bool()`, `in`, `a < b < c`, `any()`, `all()`, `max()`, `sorted()` and the like."""
    instead = INSTEAD.get(fact.construct)
    claim = SPECIAL.get(fact.construct, CLAIM)
    severity = context.severity(claim)
    if instead is None or severity is None or fact.guarded:
        return
    if isinstance(fact.condition, Scalar) and fact.condition.api == "size":
        return
    what = "a number read from a tensor" if isinstance(fact.condition, Scalar) else "tensor data"
    label = LABELS.get(fact.construct, f"`{fact.construct}`")
    message = f"{label} needs the value of {what}, which is not known during export"
    if severity is WARNING:
        message = f"{label} never finds {what}: the exported program keeps the answer from export"
    yield Report(severity, message, instead, fix=lambda code: _fix(code, fact))


def _fix(code: Code, fact: Branch) -> Fix:
    special = ORDERING.get(fact.construct)
    if fact.construct == "sorted()":
        return first_of(code, fact, sorted_fix, elements_fix, distinct_values_fix)
    if fact.construct == "list method":
        return first_of(code, fact, index_of_best, condition_fix)
    return special(code, fact) if special is not None else condition_fix(code, fact)
