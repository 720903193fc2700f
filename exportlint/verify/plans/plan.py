"""What a plan says: which fixes were tried in which order, what torch.export said of them, and what is left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from exportlint.findings import Applicability, Finding
from exportlint.fixer import Fixed
from exportlint.verify.plans.candidates import TORCH
from exportlint.verify.results import Frame, Run

Verdict = Literal["kept", "undone", "no help", "not needed"]
"""Of a fix. undone: the model does something else with it, or is worse off. no help: results are equal, and export gets
no further. not needed: it was kept, and the model exports without it as well."""

End = Literal["exports", "no fix helps", "out of rounds", "cannot be run"]
"""Why a plan ends. exports: all targets export, and the programs agree with the models as they were."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A fix that was tried, by its finding in the files as they were in that round, and why it got its verdict."""

    finding: Finding
    verdict: Verdict
    why: str = ""

    @property
    def is_unsafe(self) -> bool:
        """Whether the fix may change what the code does."""
        return self.finding.fix is not None and self.finding.fix.applicability is not Applicability.SAFE

    @property
    def is_assumption(self) -> bool:
        """Whether it has torch take something for granted, so that the model refuses other inputs."""
        return self.finding.code == TORCH


@dataclass(frozen=True, slots=True)
class Round:
    """One step: the fixes that were tried at a state of the files, and what the runs came to with those kept."""

    attempts: tuple[Attempt, ...]
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Blocker:
    """What keeps a model from exporting with equal results, and why there is no fix for it.

    `what` is torch's own line, or how results differ. `frame` is the place in the files with the fixes, if torch names
    one. `finding` is what the linter says of that statement, if it says something.
    """

    run: Run
    what: str
    frame: Frame | None
    finding: Finding | None
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """How a model comes to export, as far as it does. Nothing of it is written.

    `before` and `after` are the runs of its targets without and with the fixes that are kept, `fixed` the files with
    these. `runs` counts how often a model was exported. `other_mode` are the runs in the mode that nobody asked for,
    with the fixes that are kept, where the models do not export in the one that was. `caveat` is what the model with
    the fixes does otherwise although its results are equal, in one clause: it accepts more, or has other gradients.
    """

    before: tuple[Run, ...]
    after: tuple[Run, ...]
    rounds: tuple[Round, ...]
    fixed: tuple[Fixed, ...]
    end: End
    blockers: tuple[Blocker, ...] = ()
    runs: int = 0
    other_mode: tuple[Run, ...] = ()
    caveat: str = ""

    @property
    def exports(self) -> bool:
        """Whether the models export with the fixes, and the programs agree with the models as they were."""
        return self.end == "exports"

    @property
    def kept(self) -> Iterator[Attempt]:
        """The fixes that are kept, in order."""
        return (attempt for round_ in self.rounds for attempt in round_.attempts if attempt.verdict == "kept")
