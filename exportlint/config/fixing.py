"""Which fixes the settings leave, and how safe these make them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from exportlint.findings import Applicability, Finding


@dataclass(frozen=True, slots=True)
class FixPolicy:
    """`fixable` are the codes whose fixes are offered, `safe` and `unsafe` those whose fixes count as such."""

    fixable: frozenset[str]
    safe: frozenset[str] = frozenset()
    unsafe: frozenset[str] = frozenset()

    def apply(self, finding: Finding) -> Finding:
        """The finding with the fix that it offers here, if any."""
        fix = finding.fix
        if finding.code not in self.fixable:
            return replace(finding, fix=None, fix_pending=False)
        if fix is None:
            return finding
        applicability = self._applicability(finding.code, fix.applicability)
        if applicability is fix.applicability:
            return finding
        return replace(finding, fix=replace(fix, applicability=applicability))

    def _applicability(self, code: str, own: Applicability) -> Applicability:
        if own is Applicability.DISPLAY_ONLY:
            return own
        return Applicability.SAFE if code in self.safe else Applicability.UNSAFE if code in self.unsafe else own
