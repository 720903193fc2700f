"""What passes between a program and who calls it: the arguments of `forward` and what it returns.

All of it is about modules that nothing else in their file uses: others are parts, whose callers are traced as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from exportlint.analysis.domain.trails import Site
from exportlint.analysis.domain.values import Value
from exportlint.analysis.facts import Fact


@dataclass(frozen=True, slots=True)
class Output(Fact):
    """A module returns something that is neither a tensor nor a number, a string or a container of Python's own.

    `parts` are those of what is `returned`, with their types: classes that nothing in the files at hand registers.
    `name` is the first type, `is_array`: it is one of numpy's. `is_made`: the site is where the object is made, as the
    output only holds it if that is run, and `symbol` the class whose output it is.
    """

    name: str
    is_array: bool
    returned: Value = field(compare=False)
    parts: tuple[tuple[Value, str], ...] = field(compare=False)
    is_made: bool = False


@dataclass(frozen=True, slots=True)
class ObjectInput(Fact):
    """`forward` demands an argument `name` of the class `type`, which is none of those."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of `forward` that is not a tensor, or not always; `required` if it has no default.

    `type`: what the value is of which Python knows more than torch does; "None" where it is None or something else.
    """

    name: str
    type: Literal["int", "float", "bool", "str", "Enum", "None", "list"]
    required: bool
    site: Site


@dataclass(frozen=True, slots=True)
class Signature(Fact):
    """The arguments of `forward` that are not tensors and that it uses."""

    arguments: tuple[Argument, ...]
