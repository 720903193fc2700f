"""What the analysis of a file gives: plain data, which can be kept and sent to another process."""

from __future__ import annotations

from dataclasses import dataclass

from exportlint.analysis.domain.trails import Site
from exportlint.analysis.eval.call_graph import Caller, CallRecord
from exportlint.analysis.facts import Fact


@dataclass(frozen=True, slots=True)
class Analysis:
    """The facts of a file and of the helpers that it reaches, and which calls lead to them.

    Each record of `calls` is about other exported classes, and no call leads from one record to another.
    """

    facts: tuple[Fact, ...]
    calls: tuple[CallRecord, ...] = ()

    def callers(self, fact: Fact, home: Site | None) -> tuple[Caller, ...]:
        """The exported classes that reach a fact from outside of `home`, the class around it, in order."""
        if not any(fact.key in record.met for record in self.calls):
            return ()
        places = (fact.key, fact.met_at)
        place = next((place for place in places if any(record.met.get(place) for record in self.calls)), None)
        records = self.calls if place is None else [record for record in self.calls if record.met.get(place)]
        return tuple(dict.fromkeys(caller for record in records for caller in record.callers(home, place)))

    def roots(self, fact: Fact) -> frozenset[str]:
        """The exported classes, by their names in the file, that run the function in which a fact is met."""
        functions = frozenset[Site]().union(*(record.functions(fact.met_at) for record in self.calls))
        return frozenset[str]().union(*(record.roots(functions) for record in self.calls))
