"""What the analysis of a file gives: plain data, which can be kept and sent to another process."""

from __future__ import annotations

from dataclasses import dataclass, field

from exportlint.analysis.eval.call_graph import Caller, CallRecord
from exportlint.analysis.facts import Fact


@dataclass(frozen=True, slots=True)
class Analysis:
    """The facts of a file and of the helpers that it reaches, and which calls lead to them."""

    facts: tuple[Fact, ...]
    calls: CallRecord = field(default_factory=CallRecord)

    def callers(self, fact: Fact) -> tuple[Caller, ...]:
        """The exported classes that reach a fact from outside of the class around it, in order."""
        return self.calls.callers(fact.site, fact.key, fact.met_at) if fact.key in self.calls.met else ()

    def roots(self, fact: Fact) -> frozenset[str]:
        """The exported classes, by their names in the file, that run the function in which a fact is met."""
        return self.calls.roots(fact.met_at)
