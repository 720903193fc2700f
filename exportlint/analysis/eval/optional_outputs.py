"""Objects that a `forward` returns only if it comes by the line that makes them, such as caches under a flag.

What an output holds on some ways only proves nothing: the flag may be off. So the entry point is run again, under the
assumption that the line is run: a branch that holds it is taken. If all that is returned then holds the object, export
raises whenever the line runs.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from exportlint.analysis.domain.trails import Site
from exportlint.analysis.domain.values import Instance
from exportlint.syntax.definitions import Module


@dataclass(frozen=True, slots=True)
class Making:
    """A call that makes an object: where, and whether an `except` around it would swallow an error."""

    node: ast.Call
    site: Site
    module: Module
    guarded: bool


@dataclass(slots=True)
class OutputWatch:
    """Watches one run of an entry point.

    `made` are the objects that the traced code makes and the places of these calls, `assumed` is the one that is taken
    to run. `early` are the `return` statements that were run before that. Of the objects that torch does not know,
    `always` are those that every other `return` of the entry point holds, `somewhere` those that one of them surely
    holds.
    """

    assumed: ast.Call | None = None
    made: dict[Instance, dict[Site, Making]] = field(default_factory=dict)
    early: set[ast.Return] = field(default_factory=set)
    always: set[Instance] = field(default_factory=set)
    somewhere: set[Instance] = field(default_factory=set)

    def returns(self, node: ast.Return) -> None:
        """A `return` is run."""
        makings = (making for at in self.made.values() for making in at.values())
        if self.assumed is not None and all(making.node is not self.assumed for making in makings):
            self.early.add(node)

    def is_only(self, arm: ast.expr | Sequence[ast.stmt], test: ast.expr) -> bool:
        """Whether a branch is the one that holds what is assumed to run, on lines that its `test` is not on.

        A claim is about a line: `Cache() if use_cache else None` is run whatever the flag says.
        """
        node = self.assumed
        if node is not None and test.lineno <= node.lineno <= (test.end_lineno or 0):
            return False
        parts = [arm] if isinstance(arm, ast.expr) else arm
        if node is None or not parts or not parts[0].lineno <= node.lineno <= (parts[-1].end_lineno or 0):
            return False
        return any(inner is node for part in parts for inner in ast.walk(part))
