"""What happens when a custom operator of the project is called."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from exportlint.analysis.domain.trails import Site
from exportlint.analysis.facts import Fact


@dataclass(frozen=True, slots=True)
class UnfakedCall(Fact):
    """The operator `name` has no fake kernel in any file that is reached from here."""

    name: str


@dataclass(frozen=True, slots=True)
class FakeResult(Fact):
    """The fake kernel of the operator `name` returns something other than the operator is annotated to return.

    `what`: "none" (nothing), "alias" (an argument, or one tensor twice), "type" (no tensors, or not as many). `fake` is
    the function.
    """

    name: str
    what: Literal["none", "alias", "type"]
    problem: str
    fake: Site = field(compare=False)


@dataclass(frozen=True, slots=True)
class UndeclaredWrite(Fact):
    """The operator `name` writes to an argument, which it does not say. `api` is what writes.

    `argument` is the name of the argument, empty where that is not known.
    """

    name: str
    api: str
    argument: str = ""
