"""What a name can hold where models are exported, besides what `exportlint.analysis.domain.values` has.

In forward nothing is known of a tensor but where it comes from; here a script makes it, so its sizes are known. Models
and programs are objects: equal only to themselves.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Literal

from exportlint.analysis.domain.immutable import immutable, immutable_identity
from exportlint.analysis.domain.trails import Site
from exportlint.analysis.domain.values import Const, Value
from exportlint.syntax.definitions import Class


@immutable
class Example(Value):
    """A tensor that the script makes: its sizes, as far as they are known."""

    shape: tuple[int | None, ...] | None = None


@immutable_identity
class Model(Value):
    """An `nn.Module` that the script makes: by `definition`, a class of the project, or what is called `name`.

    `parts` are the modules among the arguments that it was made of.
    """

    name: str
    definition: Class | None = None
    parts: tuple[Model, ...] = ()


@immutable_identity
class Receiver(Value):
    """The object that a method is analysed for: some instance of a class of the project, perhaps an `nn.Module`."""

    definition: Class
    is_module: bool = False


@immutable
class Imported(Value):
    """What an import binds, until it is used: finding it may take to read many files."""

    target: str


@immutable
class Dim(Value):
    """`torch.export.Dim(name, min=…, max=…)`; bounds that are not given or not known are None.

    `derived`: it is made of another one, as `3 * n + 1` is; then `factor` and `shift` are the numbers, and `root` the
    name of the other, None if they are not known.
    """

    name: str | None = None
    min: int | None = None
    max: int | None = None
    derived: bool = False
    root: str | None = None
    factor: int = 1
    shift: int = 0


@immutable
class Hint(Value):
    """`Dim.AUTO`, `Dim.DYNAMIC`, `Dim.STATIC`."""

    kind: Literal["AUTO", "DYNAMIC", "STATIC"]


@immutable
class Signature:
    """The parameters of a forward, `self` left out. `required` are those without a default."""

    positional: tuple[str, ...]
    keyword_only: tuple[str, ...] = ()
    required: frozenset[str] = frozenset()
    star: str | None = None
    double_star: str | None = None

    @classmethod
    def of(cls, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Signature:
        """That of a method."""
        arguments = node.args
        names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        with_default = set(names[len(names) - len(arguments.defaults) :]) if arguments.defaults else set()
        keyword_only = [a.arg for a in arguments.kwonlyargs]
        with_default |= {n for n, d in zip(keyword_only, arguments.kw_defaults, strict=True) if d is not None}
        return cls(
            tuple(names[1:]),
            tuple(keyword_only),
            frozenset({*names[1:], *keyword_only} - with_default),
            arguments.vararg.arg if arguments.vararg else None,
            arguments.kwarg.arg if arguments.kwarg else None,
        )


@immutable_identity
class Program(Value):
    """An `ExportedProgram`: what was exported where, with which examples; None where it was loaded from a file."""

    site: Site | None = None
    model: Value | None = None
    inputs: Inputs | None = None


@immutable
class Inputs:
    """The arguments of a call of torch.export, None where they are not given. `signature` is that of forward."""

    args: Value | None = None
    kwargs: Value | None = None
    dynamic_shapes: Value | None = None
    signature: Signature | None = None


@immutable
class Unlifted(Value):
    """`program.module()`."""

    program: Program


@immutable
class Scripted(Value):
    """What `torch.jit.script` and `torch.jit.trace` make; `of` is what they were given."""

    of: Value


def sizes(values: Sequence[Value]) -> tuple[int | None, ...]:
    """Sizes, as far as they are known."""
    return tuple(
        v.value if isinstance(v, Const) and isinstance(v.value, int) and not isinstance(v.value, bool) else None
        for v in values
    )
