"""Facts about what surrounds a model: host, clock, random numbers, torch's settings, metadata of the inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from exportlint.analysis.domain.baked_values import Source
from exportlint.analysis.domain.values import Kind
from exportlint.analysis.facts import Fact, Place

Use = Literal["operator", "branch", "choice", "output"]
"""What a value goes into: an operator of torch, a condition, the choice of an element or a module, the result."""


@dataclass(frozen=True, slots=True)
class Drawn(Fact):
    """Code that is traced asks the host for a value, or tells it something: `random.random()`, `time.sleep(1)`.

    `array`: it gives an array of numpy.
    """

    source: Source
    api: str
    array: bool = False


@dataclass(frozen=True, slots=True)
class BakedUse(Fact):
    """A value that the host or an input's metadata gave goes into what the model computes.

    `drawn`: by code that is traced, so that there is a Drawn too. `fixed`: the exported module has parameters, which go
    with floating inputs of one dtype only. `kind` as for Baked.
    """

    source: Source
    api: str
    use: Use
    array: bool = False
    kind: Kind | None = None
    drawn: bool = False
    fixed: bool = False

    @property
    def met_at(self) -> Place:
        """The value is taken where it is drawn, if that is traced."""
        return (Drawn, self.site, self.api) if self.drawn else self.key


@dataclass(frozen=True, slots=True)
class DeviceContext(Fact):
    """`with torch.device(…):` in code that is traced."""


@dataclass(frozen=True, slots=True)
class ModeRead(Fact):
    """Whether the module is in training mode decides something: the first place where it does.

    `names` is what asks for the mode, there and elsewhere: classes of modules, or "training" for `self.training`.
    """

    names: tuple[str, ...]
