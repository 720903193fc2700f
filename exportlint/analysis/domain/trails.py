"""Where something is, and why a value is what it is."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from exportlint.analysis.domain.immutable import immutable, immutable_identity
from exportlint.findings import Role

if TYPE_CHECKING:
    from exportlint.syntax.definitions import Module


MAX_STEPS = 32
"""Steps of a trail that are told, besides its origin."""


@dataclass(frozen=True, slots=True, order=True)
class Site:
    """A node of a file, in `ast`'s coordinates: rows from 1, columns from 0 in UTF-8 bytes."""

    filename: str
    row: int
    column: int
    end_row: int
    end_column: int


def site_of(module: Module, node: ast.AST) -> Site:
    """The place of a node that has one (a statement, an expression, an argument, a pattern)."""
    return Site(
        module.filename,
        node.lineno,  # type: ignore[attr-defined]
        node.col_offset,  # type: ignore[attr-defined]
        node.end_lineno,  # type: ignore[attr-defined]
        node.end_col_offset,  # type: ignore[attr-defined]
    )


@immutable_identity
class Trail:
    """One step towards a value; `parent` is the step before it.

    The text is put together only for what is reported: `message` may hold `{}`, which stands for the source of `node`.
    `role` and `changes` are as in `Step`. `entered` is the module of the function that the step goes into or comes
    out of. `length` is the number of steps.
    """

    module: Module
    node: ast.AST
    message: str
    parent: Trail | None = None
    role: Role = "value"
    changes: bool = True
    entered: Module | None = None
    origin: Trail | None = field(init=False, repr=False)
    length: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        parent = self.parent
        object.__setattr__(self, "origin", parent and (parent.origin or parent))
        object.__setattr__(self, "length", 1 if parent is None else parent.length + 1)

    def steps(self) -> tuple[Trail, ...]:
        """From the origin to here; of a long trail, the origin and the last MAX_STEPS steps."""
        found: list[Trail] = []
        step: Trail | None = self
        while step is not None and len(found) < MAX_STEPS:
            found.append(step)
            step = step.parent
        if step is not None and self.origin is not None:
            found.append(self.origin)
        return tuple(reversed(found))

    def entered_by(self, entries: Mapping[Trail, Trail]) -> Trail:
        """The same steps behind one that is among `entries`, behind what that stands for."""
        inside: list[Trail] = []
        step: Trail | None = self
        while step is not None:
            if step in entries:
                told = entries[step]
                for known in reversed(inside):
                    told = replace(known, parent=told)
                return told
            inside.append(step)
            step = step.parent
        return self


@immutable
class RouteStep:
    """One step of a route. `message`, `role` and `changes` are as in Trail; `entered` is the name of a file."""

    site: Site
    message: str
    role: Role
    changes: bool
    entered: str | None


@immutable
class Route:
    """A trail as plain data. `length` is the number of all steps, `steps` are those that a trail tells."""

    steps: tuple[RouteStep, ...]
    length: int

    @staticmethod
    def of(trail: Trail) -> Route:
        """The steps of a trail."""
        return Route(tuple([_step(step) for step in trail.steps()]), trail.length)


def _step(step: Trail) -> RouteStep:
    entered = None if step.entered is None else step.entered.filename
    return RouteStep(site_of(step.module, step.node), step.message, step.role, step.changes, entered)
