"""A fixed order of facts: which of several is told must not depend on which was met first."""

from __future__ import annotations

import ast
import functools
from dataclasses import fields, is_dataclass
from enum import Enum

from exportlint.analysis.domain.trails import Route, Trail
from exportlint.analysis.domain.values import Closure, Instance
from exportlint.analysis.facts import Fact
from exportlint.syntax.definitions import Class, Module

MAX_FACTS = 16
"""Of one kind, at one place."""

FactKey = tuple[object, ...]


def keep(facts: dict[FactKey, Fact], fact: Fact, key: FactKey) -> None:
    """Put a fact among others by its identity; of several alike, the one with the simplest trail stays."""
    known = facts.get(key)
    if known is None or (known.trail is not fact.trail and _is_simpler(fact.trail, known.trail)):
        facts[key] = fact


class Identity(tuple[object, ...]):
    """What makes a fact another one than others: `Fact.identity` that knows its hash."""

    _hash: int | None = None

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = super().__hash__()
        return self._hash


Place = tuple[str, int, int, int, int, str, str]


def place_of(fact: Fact) -> Place:
    """Where a fact is in the order of all."""
    kind, site, label = fact.key
    return (
        site.filename, site.row, site.column, site.end_row, site.end_column, getattr(kind, "__name__", ""), label or "",
    )  # fmt: skip


def _is_simpler(one: Trail | Route | None, other: Trail | Route | None) -> bool:
    if one is None or other is None:
        return other is not None
    return one.length < other.length or (one.length == other.length and route_order(one) < route_order(other))


def route_order(trail: Trail | Route | None) -> tuple[int, list[tuple[object, ...]]]:
    """Orders trails: a short one comes first, then one that passes places further up."""
    if trail is None:
        return 0, []
    route = Route.of(trail) if isinstance(trail, Trail) else trail
    return route.length, [(step.site, step.message) for step in route.steps]


def text_of(value: object) -> str:
    """What a fact or a value says, in words that are the same in each run; how it came about does not count."""
    if value is None or type(value) in {str, int, bool, float}:
        return repr(value)
    if isinstance(value, (Class, Module)):
        return value.full_name if isinstance(value, Class) else value.name
    if isinstance(value, Instance):
        return f"Instance({value.definition.full_name})"
    if isinstance(value, Closure):
        return "Closure"
    if isinstance(value, ast.AST):
        return f"{type(value).__name__}{_position(value)}"
    if isinstance(value, Enum):
        return value.name
    if is_dataclass(value) and not isinstance(value, type):
        shown = [f"{name}={text_of(getattr(value, name))}" for name in _shown(type(value))]
        return f"{type(value).__name__}({', '.join(shown)})"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(text_of, value))})"
    if isinstance(value, (set, frozenset)):
        return f"{{{', '.join(sorted(map(text_of, value)))}}}"
    return repr(value)


@functools.cache
def _shown(kind: type) -> tuple[str, ...]:
    """The fields of a dataclass that tell one object from another."""
    return tuple(f.name for f in fields(kind) if (f.compare or f.name == "name") and f.name != "trail")


def _position(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
