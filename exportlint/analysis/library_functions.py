"""What functions of Python and of other libraries do: one record each, which the modules of `models` register.

A new function is one record in the module of its library. A name that ends in `.*` is the record of a whole library,
with the defaults for the records of its functions.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from exportlint.analysis.domain.baked_values import Source
from exportlint.analysis.domain.values import Value
from exportlint.analysis.handlers import load_handlers
from exportlint.findings import TorchVersion

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from exportlint.analysis.eval.arguments import Arguments
    from exportlint.analysis.eval.frame import Frame
    from exportlint.analysis.facts import Call

Handler = Callable[["Frame", str, "Arguments", ast.AST], Value]
"""Returns the value of a call, and records what happens in it. The `str` is the qualified name of the function."""

Effect = Literal["report", "act", "write"]
"""The purpose of a call besides its return value.

report: it tells people something. act: it acts on the process, its files or its threads. write: it writes what it is
given to a file.
"""

Strict = Literal["refuses", "bakes"]
"""How TorchDynamo treats a call that non-strict export runs.

refuses: it raises, measured on torch 2.13 by a module that calls nothing else. bakes: it traces it, and the program
keeps what it gave.
"""

Arrays = Literal["refused", "traced"]
"""What strict mode does with the function that makes arrays of numpy of the tensors that it is given."""

Decorated = Literal["static", "class", "property", "cached_property", "dispatcher", "kernel"]
"""What a decorator makes of a function.

static, class, property, cached_property: that descriptor. dispatcher: a function that chooses among others. kernel:
compiled code, which nothing traces.
"""

Numbers = tuple[int | str, ...] | Literal["every"]
"""Arguments, by position or name."""


class Traits(TypedDict, total=False):
    """The fields of a record except its name and its handler."""

    returns: Value
    gives: Literal["int", "float", "bool"] | None
    numbers: Numbers
    arrays: Arrays
    source: Source | None
    array_from: int
    effect: Effect
    threaded: bool
    pure: bool
    trains: bool
    asks_type: bool
    strict: Strict
    refused_with: Callable[[Call], bool]
    traced_from: TorchVersion
    decorated: Decorated


@dataclass(frozen=True, slots=True)
class LibraryFunction:
    """The record of a function of Python or of another library, by its qualified name.

    `call` gives what it returns; without one, it returns `returns`, which is unknown by default. `gives` is the kind of
    number that it returns. `numbers` are the arguments that must be plain numbers, because C code reads them: data of a
    tensor or a symbol does not do there. `arrays`: it makes arrays of tensors. `source`: its result depends on that
    besides its arguments, and export keeps what it gave. `array_from`: the number of positional arguments from which on
    it gives an array. `threaded`: it runs the function that it is given in another thread. `pure`: it computes from its
    arguments alone and changes nothing. `trains`: it makes a module that does something else in training mode.
    `asks_type`: it asks what its argument is, and not for its value. `strict` is about TorchDynamo; `refused_with` says
    which calls it refuses, if not all. `traced_from` is the first torch whose TorchDynamo traces it after all.
    `decorated`: what it makes of a function as its decorator.
    """

    name: str
    call: Handler | None = None
    returns: Value | None = None
    gives: Literal["int", "float", "bool"] | None = None
    numbers: Numbers = ()
    arrays: Arrays | None = None
    source: Source | None = None
    array_from: int | None = None
    effect: Effect | None = None
    threaded: bool = False
    pure: bool = False
    trains: bool = False
    asks_type: bool = False
    strict: Strict | None = None
    refused_with: Callable[[Call], bool] | None = None
    traced_from: TorchVersion | None = None
    decorated: Decorated | None = None


_TRAITS: dict[str, dict[str, Any]] = {}


def functions(names: str, **traits: Unpack[Traits]) -> None:
    """Register the records of functions that have these traits; their qualified names stand in a text.

    Raises:
        ValueError: one of them has a record.
    """
    _register(names, dict(traits))


def function(names: str, **traits: Unpack[Traits]) -> Callable[[Handler], Handler]:
    """Register what a call of functions gives, with their other traits; their qualified names stand in a text.

    Raises:
        ValueError: one of them has a record.
    """

    def register(handler: Handler) -> Handler:
        _register(names, {"call": handler, **traits})
        return handler

    return register


def _register(names: str, traits: dict[str, Any]) -> None:
    for name in names.split():
        if name in _TRAITS:
            raise ValueError(f"{name} has two records")
        _TRAITS[name] = traits


@lru_cache(maxsize=8192)
def find(name: str) -> LibraryFunction:
    """The record of a function by its qualified name; an empty record if there is none."""
    load_handlers("exportlint.analysis.models")
    return LibraryFunction(name, **{**_of_library(name), **_TRAITS.get(name, {})})


def _of_library(name: str) -> dict[str, Any]:
    """The traits of the innermost library around a name that has a record."""
    library = name.rpartition(".")[0]
    while library:
        found = _TRAITS.get(f"{library}.*")
        if found is not None:
            return found
        library = library.rpartition(".")[0]
    return {}


def records() -> Iterator[LibraryFunction]:
    """All records except those of whole libraries."""
    load_handlers("exportlint.analysis.models")
    return (find(name) for name in sorted(_TRAITS) if not name.endswith(".*"))


def shown(name: str) -> str:
    """The name of a function in messages and facts: `np.exp` for `numpy.exp`."""
    return f"np.{name.removeprefix('numpy.')}" if name.startswith("numpy.") else name


def qualified(name: str) -> str:
    """The qualified name of a function that is shown as `np.exp`: the inverse of `shown`."""
    return f"numpy.{name.removeprefix('np.')}" if name.startswith("np.") else name
