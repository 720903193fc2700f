"""The facts of several classes as those of one file: each once, in order, with the further ways that lead to it."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from exportlint.analysis.domain.trails import Route
from exportlint.analysis.facts import Fact
from exportlint.analysis.facts.order import MAX_FACTS, FactKey, Place, keep, place_of, text_of

Facts = Sequence[tuple[FactKey, Fact]]
"""The facts of one class by their identities."""


class MergedFacts:
    """Merges the facts of classes, again and again: what classes give that stay the same is not merged anew."""

    def __init__(self) -> None:
        self._forget(0)

    def _forget(self, count: int) -> None:
        """Know nothing of some classes."""
        self._classes: list[Facts] = [()] * count
        self._places_in: list[dict[FactKey, int]] = [{}] * count
        """Of each class, where its facts are among them."""
        self._holders: dict[FactKey, list[int]] = {}
        """The classes that have a fact."""
        self._facts: dict[FactKey, tuple[Place, Fact]] = {}
        self._routes: dict[FactKey, tuple[Route, ...]] = {}
        self._keys_at: dict[Place, set[FactKey]] = {}
        self._groups: dict[Place, list[Fact]] = {}
        self._order: list[Place] = []

    def merge(self, classes: Sequence[Facts]) -> None:
        """Take in what the classes of a file give now, in the order of the file."""
        changed = [at for at, (old, new) in enumerate(zip(self._classes, classes, strict=False)) if old is not new]
        if len(classes) != len(self._classes) or len(changed) > len(classes) // 4:
            self._forget(len(classes))
            changed = list(range(len(classes)))
        keys: dict[FactKey, None] = {}
        for at in changed:
            before, now = self._places_in[at], {key: place for place, (key, _) in enumerate(classes[at])}
            self._classes[at], self._places_in[at] = classes[at], now
            for key in before.keys() - now.keys():
                self._holders[key].remove(at)
            for key in now:
                if key not in before:
                    insort(self._holders.setdefault(key, []), at)
            keys |= dict.fromkeys(before) | dict.fromkeys(now)
        self._arrange({place for key in keys for place in self._merged(key)})

    @property
    def ordered(self) -> Iterable[Fact]:
        """The facts by their places, at most MAX_FACTS of one kind at each."""
        return chain.from_iterable(self._groups[place] for place in self._order)

    @property
    def routes(self) -> Mapping[FactKey, tuple[Route, ...]]:
        """Those on which further classes meet a fact, by its identity."""
        return self._routes.copy()

    def _merged(self, key: FactKey) -> Iterable[Place]:
        """Merge what classes give of one fact. The places where it was and is."""
        known = self._facts.pop(key, None)
        self._routes.pop(key, None)
        if known is not None:
            self._keys_at[known[0]].discard(key)
            yield known[0]
        holders = self._holders[key]
        if not holders:
            del self._holders[key]
            return
        first, *others = (self._classes[at][self._places_in[at][key]][1] for at in holders)
        found = {key: first}
        routes: list[Route] = []
        for fact in others:
            if isinstance(fact.trail, Route):
                routes.append(fact.trail)
            keep(found, fact, key)
        if routes:
            self._routes[key] = tuple(routes)
        place = place_of(found[key])
        self._facts[key] = place, found[key]
        self._keys_at.setdefault(place, set()).add(key)
        yield place

    def _arrange(self, places: Iterable[Place]) -> None:
        """Put the facts at some places in order."""
        new: list[Place] = []
        for place in places:
            keys = self._keys_at.get(place)
            if not keys:
                self._keys_at.pop(place, None)
                if self._groups.pop(place, None) is not None:
                    del self._order[bisect_left(self._order, place)]
                continue
            if place not in self._groups:
                new.append(place)
            alike = [self._facts[key][1] for key in (sorted(keys, key=self._met) if len(keys) > 1 else keys)]
            if len(alike) > 1:
                alike.sort(key=lambda fact: (fact.guarded, text_of(fact)))
            self._groups[place] = alike[:MAX_FACTS]
        if len(new) > len(self._order):
            self._order = sorted([*self._order, *new])
        else:
            for place in new:
                insort(self._order, place)

    def _met(self, key: FactKey) -> tuple[int, int]:
        """Orders facts as they were met."""
        first = self._holders[key][0]
        return first, self._places_in[first][key]
