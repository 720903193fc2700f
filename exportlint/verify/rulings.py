"""What is said of findings, and how what runs met is put into words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from exportlint.findings import Finding, Fix, Severity
from exportlint.verify.constraints import in_short
from exportlint.verify.results import Comparison, Failure, Frame, Run

Ruling = Literal["confirmed", "refuted", "not reached"]

RULINGS: tuple[Ruling, ...] = ("confirmed", "refuted", "not reached")
"""The stronger ones first."""

ONLY_DRAFTED = "found by draft_export only"
"""What is said of failures that export itself never came to."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A finding, what became of its claim, in one line why, and the run that says so, if one does.

    `near` says whether anything of the class or function around it ran or is blamed, or else it was hardly meant.
    """

    finding: Finding
    ruling: Ruling
    why: str
    run: Run | None = None
    near: bool = True


@dataclass(frozen=True, slots=True)
class Surprise:
    """What a run met and no finding claims. `frame` is the place in the user's code, None where torch names none.

    `severity` is that of the finding that there should have been, `what` the type of the exception or the kind of the
    comparison. `raised` is the type and the message of the exception, if there is one. `fixes` are what torch proposes;
    they are only to be shown. `further`: only `draft_export` met it. `because` are the lines that restrict the sizes
    that were to vary. `hint` says how to have the linter look for it.
    """

    run: Run
    severity: Severity
    frame: Frame | None
    what: str
    message: str
    fixes: tuple[Fix, ...] = ()
    further: bool = False
    raised: tuple[str, str] | None = None
    because: tuple[Frame, ...] = ()
    hint: str = ""

    @property
    def said(self) -> str:
        """The message, and who met it if that is not export itself."""
        return f"{ONLY_DRAFTED}: {self.message}" if self.further else self.message


@dataclass(frozen=True, slots=True)
class Judgement:
    """What becomes of each finding, in their order, and what was missed, in the order of the runs."""

    findings: tuple[Judged, ...]
    missed: tuple[Surprise, ...]


def one_line(message: str) -> str:
    """What an exception says, as far as one line has it."""
    return next((" ".join(line.split()) for line in in_short(message).splitlines() if line.strip()), "")


def said_by(failure: Failure) -> str:
    """The type of an exception, and its message in one line."""
    return f"{failure.type}: {one_line(failure.message)}"


def raised_by(failure: Failure, where: str) -> str:
    """That a failure shows what a finding claims: `where` export raises it, unless `draft_export` alone met it."""
    return f"{ONLY_DRAFTED if failure.further else f'export raises {where}'}: {said_by(failure)}"


def raised_in(comparison: Comparison) -> tuple[str, str] | None:
    """The type and the message of what `run_decompositions()` raises, if that is what disagrees.

    What a program says of inputs that verify chose is about these, and not about code.
    """
    if comparison.kind != "decomposed" or comparison.agreement != "diverges":
        return None
    found = re.match(r"it raises (\w+): (.+)", one_line(comparison.detail))
    return (found[1], found[2]) if found else None


def described(comparison: Comparison) -> str:
    """A comparison in one line."""
    words = {"narrower": "is narrower", "baked": "keeps what it was at export"}
    what = words.get(comparison.agreement, comparison.agreement)
    label = (
        f"{comparison.kind}, {comparison.label}" if comparison.label not in ("", comparison.kind) else comparison.kind
    )
    return f"the program {what} ({label})" + (f": {one_line(comparison.detail)}" if comparison.detail else "")
