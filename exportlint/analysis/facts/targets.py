"""What code hands to torch.export, as plain data: models, and functions with all that a fix needs to wrap them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from exportlint.analysis.domain.trails import Site
from exportlint.analysis.domain.values import Value
from exportlint.analysis.facts.plain import ClassName


@dataclass(frozen=True, slots=True)
class ModelTarget(Value):
    """An `nn.Module`: `definition` is its class if that is of the project, `name` what was called to make it."""

    name: str
    definition: ClassName | None = None


@dataclass(frozen=True, slots=True)
class Default:
    """The default of a parameter: its source as Python writes it, whether it is a constant, and where it is."""

    text: str
    constant: bool
    place: Site


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function."""

    name: str
    kind: Literal["positional", "keyword", "star", "double-star"]
    default: Default | None = None


@dataclass(frozen=True, slots=True)
class FunctionTarget(Value):
    """A function of the project. `name` is empty for a lambda.

    `bound`: it is a method. `receiver` is what it is a method of, as far as that is known: a model that the code makes,
    the object of the method around the call, where `module` says that it is an `nn.Module`, or an object. `calls` are
    the attributes of the object that the method calls, or of which it calls a method.
    """

    name: str
    definition: Site
    parameters: tuple[Parameter, ...]
    bound: bool = False
    owner: ClassName | None = None
    receiver: Literal["model", "module", "object"] | None = None
    calls: frozenset[str] = frozenset()
