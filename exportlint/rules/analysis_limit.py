"""EXP006 analysis-limit: a class whose analysis was cut short, so that there may be more to find."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.limits import (
    MAX_BASES,
    MAX_CONSTRUCTOR_STEPS,
    MAX_CONSTRUCTORS,
    MAX_DEPTH,
    MAX_FILE_SECONDS,
    MAX_GLOBAL_STEPS,
    MAX_PASSES,
    MAX_RUNS,
    MAX_SECONDS,
    AnalysisLimit,
    Limit,
    Reached,
)
from exportlint.claims import WARNING, Context, Report
from exportlint.registry import rule

REASONS: dict[Limit, str] = {
    "recursion": "its code is nested too deeply",
    "bases": f"it inherits from more than {MAX_BASES} classes",
    "depth": f"calls are nested more than {MAX_DEPTH} deep",
    "evaluations": "it takes too many evaluations",
    "constructor": f"a call in a constructor takes more than {MAX_CONSTRUCTOR_STEPS:,} evaluations",
    "constructors": f"constructors are nested more than {MAX_CONSTRUCTORS} deep",
    "runs": f"a recursive function still returns new values after {MAX_RUNS} runs",
    "global": f"a global variable takes more than {MAX_GLOBAL_STEPS:,} evaluations",
    "loop": f"a loop still changes its variables after {MAX_PASSES} passes",
    "seconds": f"it takes more than {MAX_SECONDS} s of processor time",
    "file": f"the file takes more than {MAX_FILE_SECONDS} s of processor time",
    "script": "the calls of torch.export in this file take too many evaluations",
}


@rule("EXP006", "analysis-limit", AnalysisLimit)
def analysis_limit(fact: AnalysisLimit, _: Context) -> Iterator[Report]:
    """A class whose analysis was cut short."""
    what = "the rest of this file is" if fact.limit in {"file", "script"} else f"parts of `{fact.name}` are"
    where = "" if fact.inside is None else f" ({_place(fact.inside)})"
    yield Report(
        WARNING, f"{what} not analyzed: {REASONS[fact.limit]}{where}", "split it into smaller classes or functions"
    )


def _place(reached: Reached) -> str:
    row = f"line {reached.row} of " if reached.row else ""
    return f"in `{reached.symbol}`, {row}`{reached.module}`"
