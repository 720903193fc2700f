"""What a rule says: a severity that was measured for the mode and the version of torch, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from exportlint.analysis.domain.dim import Declared
from exportlint.analysis.domain.trails import Site
from exportlint.analysis.facts import Fact
from exportlint.findings import Fix, Mode, Severity, TorchVersion
from exportlint.fixes.errors import DeclinedError
from exportlint.registry import rules_for

if TYPE_CHECKING:
    from exportlint.fixes.edit.code import Code

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

Timeline = Mapping[TorchVersion, Severity | None]
"""A severity for each version from which on it holds; None where the pattern exports and agrees with eager.

Before the first version nothing was measured, and that version's severity is taken.
"""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a pattern does in both modes from torch 2.4 on; its page says which versions its examples were run with."""

    non_strict: Timeline
    strict: Timeline

    def severity(self, mode: Mode, version: TorchVersion) -> Severity | None:
        """The severity in a mode and version of torch, or None if there is nothing to say."""
        timeline = self.non_strict if mode == "non-strict" else self.strict
        held = [start for start in timeline if start <= version]
        return timeline[max(held)] if held else timeline[min(timeline)]


@dataclass(frozen=True, slots=True)
class Context:
    """What a rule's verdict depends on besides the fact."""

    mode: Mode
    version: TorchVersion

    def severity(self, claim: Claim, *, guarded: bool = False) -> Severity | None:
        """The severity of a claim here, or None if there is nothing to say.

        `guarded`: an `except` around the code would swallow an error that is raised there. Then only those count that
        torch.export raises later.
        """
        severity = claim.severity(self.mode, self.version)
        return None if guarded and severity is not ERROR else severity

    def declared_severity(
        self, severity: Severity | None, said: Declared, *, fixed: bool
    ) -> tuple[Severity | None, str]:
        """The severity of what limits a size that code says is dynamic, and why it is an error; "" if it is none.

        `fixed`: only one size is left. `Dim("batch")` allows no limit within its bounds, and `Dim.DYNAMIC` no single
        size: torch.export raises "Constraints violated" (torch 2.13 and 2.15, both modes).
        """
        is_refused = said == "named" or (said == "dynamic" and fixed)
        if severity is None or not is_refused or self.version < (2, 13):
            return severity, ""
        written = "Dim" if said == "named" else "Dim.DYNAMIC"
        return ERROR, f"export fails, since a call in this file gives this dimension a `{written}`"


LINE = "\0line"
"""No code has it, so no message that quotes code either."""


@dataclass(frozen=True, slots=True)
class Report:
    """A rule's verdict on a fact: one line of what is wrong, one of what to do. `site` if it is not the fact's.

    `fix` rewrites the code at that site, if it can; it may raise DeclinedError. In the message, `LINE` stands for the
    line of the fact. `has_trail`: where the value of the fact comes from explains the finding.
    """

    severity: Severity
    message: str
    help: str = ""
    site: Site | None = None
    fix: Callable[[Code], Fix | None] | None = None
    has_trail: bool = True


def always(severity: Severity | None) -> Timeline:
    """The same in every version that was measured."""
    return {(2, 4): severity}


def before(version: TorchVersion) -> Timeline:
    """An error up to the last version that was measured before this one, from which on torch.export can do it."""
    return {(2, 4): ERROR, version: None}


def fix_of(fact: Fact, code: Code, context: Context) -> Fix:
    """The fix that other rules have for a fact, as if nothing kept them from reporting it.

    Raises:
        DeclinedError: no rule has one in the file that `code` is about.
    """
    bare = replace(fact, guarded=False)
    for rule in rules_for(type(fact)):
        for report in rule.check(bare, context):
            site = report.site or fact.site
            if report.fix is not None and site.filename == code.site.filename:
                found: Fix | None = report.fix(code.about(site, fact.met_at))
                if found is not None:
                    return found
    raise DeclinedError("there is no rewrite of what torch.export does not know")
