"""The result of analyzing a file: plain data that can be stored and sent to another process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from exportlint.analysis.domain.trails import Route, Site, Trail
from exportlint.analysis.eval.call_graph import Caller, CallRecord
from exportlint.analysis.facts import Fact, Place
from exportlint.analysis.facts.order import FactKey


@dataclass(frozen=True)
class Analysis:
    """The facts of a file and of the helpers that it reaches, and which calls lead to them.

    Each record of `calls` is about different exported classes, and no call leads from one record to another. `routes`
    are, by the identity of a fact, the routes on which further classes meet it.
    """

    facts: tuple[Fact, ...]
    calls: tuple[CallRecord, ...] = ()
    routes: Mapping[FactKey, tuple[Route, ...]] = field(default_factory=dict)

    def routes_to(self, fact: Fact) -> Iterator[Route]:
        """The routes that lead to a fact, from each exported class."""
        if fact.trail is not None:
            yield Route.of(fact.trail) if isinstance(fact.trail, Trail) else fact.trail
        if self.routes:
            yield from self.routes.get(fact.identity, ())

    def callers(self, fact: Fact, home: Site | None) -> tuple[Caller, ...]:
        """The exported classes that reach a fact from outside of `home`, the class around it, in order."""
        found = self._met.get(fact.key)
        if found is None:
            return ()
        place = fact.key
        records = [record for record in found if record.met[place]]
        if not records:
            place = fact.met_at
            records = [record for record in self._met.get(place, ()) if record.met[place]]
        if records:
            callers = (caller for record in records for caller in record.callers(home, place))
        else:
            callers = (caller for record in self.calls for caller in record.callers(home, None))
        return tuple(dict.fromkeys(callers))

    @cached_property
    def _met(self) -> Mapping[Place, Sequence[CallRecord]]:
        """The records that contain a place, by place."""
        found: dict[Place, list[CallRecord]] = {}
        for record in self.calls:
            for place in record.met:
                found.setdefault(place, []).append(record)
        return found

    def roots(self, fact: Fact) -> frozenset[str]:
        """The names of the exported classes of the file that run the function in which a fact is met."""
        functions = frozenset[Site]().union(*(record.functions(fact.met_at) for record in self.calls))
        return frozenset[str]().union(*(record.roots(functions) for record in self.calls))
