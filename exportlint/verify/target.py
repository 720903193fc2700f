"""What can be verified: a model that can be built, and what it is called with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from exportlint.findings import Mode
from exportlint.verify.specs import Spec

Origin = Literal["configured", "call", "convention", "usage", "inferred", "part"]
"""Where a target comes from: the configuration, a call of torch.export, `get_inputs` or its like, what scripts and
tests make, the code of the model alone, or the run of a model that it is a part of."""

Device = str
"""A device as torch names it: `cpu`, `cuda`, `cuda:1`."""


@dataclass(frozen=True, slots=True)
class Reference:
    """Something in a module that is imported: `name` may have dots. `file` is where the module lies, if known."""

    module: str
    name: str
    file: Path | None = None

    def __str__(self) -> str:
        return f"{self.module}:{self.name}"


@dataclass(frozen=True, slots=True)
class Written:
    """Inputs that are written down as specs. `dimensions` are the named ones, with the sizes of the example."""

    arguments: tuple[Spec, ...]
    keywords: Mapping[str, Spec] = field(default_factory=dict)
    dimensions: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Called:
    """Inputs that a function gives: a tensor, a tuple of arguments, or `(arguments, keywords)`.

    `dynamic` says what varies, as `dynamic_shapes` of `torch.export.export`, with names of dimensions, or is None.
    """

    function: Reference
    dynamic: object = None


@dataclass(frozen=True, slots=True)
class Convention:
    """Inputs that the code offers by a name that others know as well: `get_inputs`, or `example_inputs`.

    A function of the model's module, or a method or attribute of the model itself if `of_model`.
    """

    name: str
    of_model: bool = False


@dataclass(frozen=True, slots=True)
class Guessed:
    """Inputs that are tried in eager until some fit. `hints` are what the code says of each argument of `forward`."""

    hints: Mapping[str, tuple[Spec, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Script:
    """Model and inputs are those of the call of torch.export at `row` of a script, which is run up to it.

    With `own_mode`, the call says whether it is strict, and not the target. A call may be met several times,
    as in a loop; `meeting` says which time is meant, from 1.
    """

    file: Path
    row: int
    own_mode: bool = True
    meeting: int = 1


@dataclass(frozen=True, slots=True)
class Snippet:
    """Statements of a project that make a model, and what it is called with.

    `statements` are pieces of `file`, each with the row it begins on and the indentation it has there. They run one
    after the other, in the namespace of the file if that `is_imported`, or else in an empty one. `model` is an
    expression for the model then, `inputs` one for what it is called with, as `Called.function` returns it. Without
    any, inputs are tried, with these `hints`.
    """

    file: Reference
    statements: tuple[tuple[int, str], ...]
    model: str
    inputs: str | None = None
    is_imported: bool = True
    hints: Mapping[str, tuple[Spec, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Part:
    """Model and inputs are those of the first call of such a model while another target runs on its example.

    `wholes` are these targets, the likeliest first; each is tried where those before have no such part.
    """

    wholes: tuple[Target, ...]


Inputs: TypeAlias = Written | Called | Convention | Guessed | Script | Snippet | Part


@dataclass(frozen=True, slots=True)
class Trial:
    """How a target is run to prove fixes: with other `texts` than those that files hold.

    Without any it is the original, which writes down into the file `outcomes` what comes of calls. With some, they are
    compared with it.
    """

    texts: Mapping[Path, bytes]
    outcomes: Path


@dataclass(frozen=True, slots=True)
class Target:
    """A model that verify can try to build, and how.

    `arguments` and `keywords` are those of the constructor or the factory: plain values, or Specs for tensors;
    `init_inputs` is a function that gives them instead (`get_init_inputs`). `place` is where in the code it stands:
    the class, or the call. `modes` and `devices` are each run by themselves. `timeout` in seconds and `memory` in bytes
    hold for each run; `tolerance` is relative to the largest number, None for what suits the dtype. `others` gives more
    inputs to compare on: a function that returns a list of what `Called.function` returns.
    `dynamic`: sizes that vary are `Dim.AUTO`, which may turn out narrower, or `Dim.DYNAMIC`, which must hold.
    `varying` are the dimensions of every tensor that vary where the inputs name none.
    `otherwise` are other ways to the same model and its inputs, tried in order where this one leads to none.
    `derived`: what is made of the program is compared as well: it decomposed, and it saved and loaded.
    """

    name: str
    origin: Origin
    model: Reference
    inputs: Inputs
    place: tuple[Path, int]
    root: Path
    paths: tuple[Path, ...] = ()
    arguments: tuple[object, ...] = ()
    keywords: Mapping[str, object] = field(default_factory=dict)
    init_inputs: str | None = None
    others: Reference | None = None
    modes: tuple[Mode, ...] = ("non-strict",)
    devices: tuple[Device, ...] = ("cpu",)
    dynamic: Literal["auto", "dynamic"] = "auto"
    varying: tuple[int, ...] = ()
    train: bool = False
    gradients: bool = False
    tolerance: float | None = None
    timeout: float = 300.0
    memory: int | None = None
    trial: Trial | None = None
    otherwise: tuple[Target, ...] = ()
    derived: bool = True
