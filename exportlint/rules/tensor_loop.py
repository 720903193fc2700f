"""EXP102 tensor-loop: how often the code loops depends on the values of a tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from exportlint.analysis.facts import Branch, Conversion
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.control_flow.element_loops import elements_fix
from exportlint.fixes.control_flow.hit_loops import hits_fix
from exportlint.fixes.control_flow.vectorised import iteration_fix, segments_fix
from exportlint.fixes.control_flow.while_loops import range_fix, while_fix
from exportlint.fixes.edit.attempts import first_of
from exportlint.fixes.edit.code import Code
from exportlint.fixes.numbers.unread_lists import kept_tensor_fix
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))


def _element_fix(code: Code, fact: Conversion) -> Fix:
    return first_of(code, fact, hits_fix, iteration_fix, elements_fix)


def _list_fix(code: Code, fact: Conversion) -> Fix:
    return first_of(code, fact, hits_fix, kept_tensor_fix, iteration_fix, elements_fix)


def _range_fix(code: Code, fact: Conversion) -> Fix:
    return first_of(code, fact, segments_fix, range_fix)


READS: dict[str, tuple[str, str, Callable[[Code, Conversion], Fix]]] = {
    "range()": (
        "`range()` of a number read from a tensor: torch.export cannot know how often the loop runs",
        "use `torch.while_loop`, or loop up to a fixed bound and mask the rest",
        _range_fix,
    ),
    "tolist()": (
        "`tolist()` of a tensor whose length depends on data: torch.export cannot know how many numbers it returns",
        "keep the tensor, and use operators on all of it",
        _list_fix,
    ),
    "iteration": (
        "loop over a tensor whose length depends on data: torch.export cannot know how often it runs",
        "work on the whole tensor at once instead of element by element",
        _element_fix,
    ),
}
"""For each way to read how often a loop runs: the message, the help and the fix."""


@rule("EXP102", "tensor-loop", Branch, Conversion)
def tensor_loop(fact: Branch | Conversion, context: Context) -> Iterator[Report]:
    """`while` on tensor data, `range(n)` of a number read from a tensor, iteration over a data-dependent length."""
    severity = context.severity(CLAIM)
    if severity is None or fact.guarded:
        return
    if isinstance(fact, Branch):
        if fact.construct == "while":
            yield Report(
                severity,
                "`while` on tensor data: torch.export cannot know how often it runs",
                "use `torch.while_loop`, or a fixed number of rounds with `torch.where`",
                fix=lambda code: while_fix(code, fact),
            )
    elif fact.target in READS:
        message, instead, fix = READS[fact.target]
        yield Report(severity, message, instead, fix=lambda code: fix(code, fact))
