"""The arguments of a call, evaluated."""

from __future__ import annotations

from dataclasses import field

from exportlint.analysis.domain.immutable import immutable
from exportlint.analysis.domain.values import Value

UNPACKED = "**"
"""The keyword under which the unknown part of `**kwargs` is passed on."""


@immutable
class Arguments:
    """The arguments of a call. The last positional one stands for any number if it is a Sequence of type "*"."""

    positional: tuple[Value, ...] = ()
    keywords: dict[str, Value] = field(default_factory=dict)

    def get(self, index: int, name: str = "") -> Value | None:
        """An argument by its place or its name."""
        if index < len(self.positional):
            return self.positional[index]
        return self.keywords.get(name)

    @property
    def values(self) -> tuple[Value, ...]:
        """All that is passed."""
        return (*self.positional, *self.keywords.values())

    def after(self, *values: Value) -> Arguments:
        """The same arguments behind others: those that a method or a partial function adds."""
        return Arguments((*values, *self.positional), self.keywords)
