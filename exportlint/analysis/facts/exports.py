"""What code does with `torch.export` and its kin, outside of what is exported."""

from __future__ import annotations

from dataclasses import dataclass

from exportlint.analysis.domain.script_values import Inputs, Program
from exportlint.analysis.domain.trails import Site
from exportlint.analysis.domain.values import Value
from exportlint.analysis.facts import Fact


@dataclass(frozen=True, slots=True)
class ExportCall(Fact):
    """`torch.export.export(target, …)` or one of its kin, by its qualified name.

    `training`: whether the target is in training mode, None if that is not known; `varies`: it has parts that behave
    otherwise then. `strict` is None where it is not given. `keywords` are the names of all keyword arguments. `places`
    are those of the arguments, by name. `shared` are variables that hold a tensor, where they stand for one more input.
    """

    api: str
    target: Value
    inputs: Inputs
    strict: Value | None
    training: bool | None
    varies: bool
    keywords: tuple[str, ...]
    places: tuple[tuple[str, Site], ...]
    shared: tuple[tuple[str, Site], ...] = ()

    def place(self, argument: str) -> Site:
        """Where an argument stands, or else the call."""
        return dict(self.places).get(argument, self.site)


@dataclass(frozen=True, slots=True)
class Evaluated(Fact):
    """`.eval()` of a model that had been exported in training mode; `export` is where."""

    export: Site


@dataclass(frozen=True, slots=True)
class ProgramRun(Fact):
    """`program.module()(…)`."""

    program: Program
    positional: Value
    keywords: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class ProgramSave(Fact):
    """A program is written or compiled to a file, by `api`."""

    program: Program
    api: str


@dataclass(frozen=True, slots=True)
class ProgramCall(Fact):
    """An `ExportedProgram` is used like a module: called if `method` is empty, else a method of modules on it.

    `unlifted`: it is one on `program.module()`.
    """

    method: str
    unlifted: bool = False


@dataclass(frozen=True, slots=True)
class ProgramMove(Fact):
    """`program.module().to(device)`, by `api`; `device` where it is a literal."""

    api: str
    device: str | None
    program: Program


@dataclass(frozen=True, slots=True)
class Scripting(Fact):
    """`torch.jit.script(target)` and the like, called on a module or something unknown."""

    api: str
    target: Value


@dataclass(frozen=True, slots=True)
class DimCall(Fact):
    """`torch.export.Dim(name, min=…, max=…)`."""

    name: str | None
    min: int | None
    max: int | None


@dataclass(frozen=True, slots=True)
class ApiUse(Fact):
    """The code refers to an API of torch's export, compilers or custom operators.

    `imported`: by a `from … import`. `targets` are what is compiled there, each time that a script comes there.
    """

    name: str
    imported: bool
    targets: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Compilation(Fact):
    """AOTInductor makes a library of a target. It stands at the function that is called."""

    target: Value
