"""What a client sees of verified models in one document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from exportlint.findings import Finding, Fix, Mode, Severity, Span

if TYPE_CHECKING:
    from exportlint.verify.results import Verdict
    from exportlint.verify.verdicts import Ruling

FindingKey = tuple[str, Span, Mode]
"""What makes a finding of a document the one that was judged."""


def key_of(finding: Finding) -> FindingKey:
    """By what to look up what became of a finding."""
    return finding.code, finding.span, finding.mode


@dataclass(frozen=True)
class Ruled:
    """What torch.export says about a finding. `by` names who says so: a version, a mode, and a device."""

    ruling: Ruling
    by: str
    why: str

    def __str__(self) -> str:
        return f"{self.ruling} by {self.by}: {self.why}"


@dataclass(frozen=True)
class Remark:
    """What torch.export met, at a row of the document.

    `elsewhere` is the place in another file that it is about, if it is. It is `stale` if it is about a text that is no
    more. `needs_target`: it is about a model that a target in the configuration is needed for. `help` is what
    `exportlint explain` says of it.
    """

    row: int
    severity: Severity
    verdict: Verdict
    message: str
    stale: bool = False
    elsewhere: tuple[str, int] | None = None
    fixes: tuple[Fix, ...] = ()
    needs_target: bool = False
    help: str = ""


@dataclass(frozen=True)
class Seen:
    """`rulings` are about findings, `titles` give the outcome of the models at some rows."""

    rulings: Mapping[FindingKey, Ruled] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()
    titles: Mapping[int, str] = field(default_factory=dict)

    def needs_target(self, row: int) -> bool:
        """Whether the model at a row cannot be built for want of a target."""
        return any(remark.row == row and remark.needs_target for remark in self.remarks)

    def of(self, finding: Finding) -> Ruled | None:
        """What became of a finding, if that is known."""
        return self.rulings.get(key_of(finding))


NOTHING = Seen()
