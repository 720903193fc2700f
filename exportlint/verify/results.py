"""The outcome of running torch.export on a target, as the worker tells it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from exportlint.findings import Mode

Stage = Literal["start", "import", "build", "inputs", "eager", "export", "compare", "done"]
"""What the worker is at. Before `eager` is done, a target cannot be built."""

Kind = Literal[
    "example",
    "values",
    "again",
    "refused",
    "size",
    "state",
    "decomposed",
    "reloaded",
    "gradients",
    "device",
    "argument",
    "time",
    "identity",
    "environment",
    "global",
    "default dtype",
    "grad mode",
    "mode",
    "original",
]
"""What is compared: the example; other values; a second call; inputs that eager refuses; other sizes of a dynamic
dimension; buffers, and inputs that the call writes to; after `run_decompositions`; after `save` and `load`; gradients;
constants that are baked to a device; other flags, strings and numbers as arguments; another time, other objects,
environment variables, globals, default dtype, and training or evaluation; the model with fixes and the original one,
both in eager."""

Agreement = Literal["agrees", "diverges", "narrower", "baked", "loosely", "skipped"]
"""`narrower`: the program refuses what eager accepts. `baked`: it keeps what everybody knows that a program keeps, such
as the mode of the model, or a flag that it is called with, which is nothing against it. `loosely`: results agree, but
the model with fixes accepts what the original one refuses, or has other gradients. `skipped`: it could not be compared,
which is not an agreement."""

Verdict = Literal["exports", "not compared", "fails", "diverges", "narrower", "times out", "cannot be built"]
"""`not compared`: export passes, and nothing could be compared, since each call gives something else, for instance, or
None, or the model ends its process."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A place in the user's code that torch blames. `row` from 1.

    `lowest`: nothing of the project runs below it. It is what raises, and not what has called that. `extent` is the
    expression that ran, where Python tells (3.11): its first row and column and its last, columns in bytes from 0.
    """

    file: str
    row: int
    function: str = ""
    lowest: bool = True
    extent: Sequence[int] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that raised. `frames` are those of the user's code, the innermost last.

    `hints` are lines of code that torch suggests to add there, such as `torch._check(u0 >= 0)` in terms of variables.
    `stage` is `export` also for what only `draft_export` found; that is `further`.
    """

    stage: Stage
    type: str
    message: str
    frames: tuple[Frame, ...] = ()
    hints: tuple[str, ...] = ()
    further: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """Whether program and eager model agree in one respect.

    `label` says in which (`batch = 1`), `detail` how they do not. `difference` is the largest one of numbers, where
    there is one, also of those that agree within their tolerance.
    """

    kind: Kind
    label: str
    agreement: Agreement
    detail: str = ""
    difference: float | None = None


@dataclass(frozen=True, slots=True)
class ModelClass:
    """A class and the file that it stands in."""

    file: str
    name: str


@dataclass(frozen=True, slots=True)
class Run:
    """The outcome of one target in one mode on one device.

    `reason` is one line on the verdict, empty if it exports. `lines` are the rows of each file that ran in eager on the
    example, `model` is the class of the model, `files` the SHA-256 digests of all files of the project that were
    imported. `inputs` describes the example. `output` is what the user's code printed. `call` is the call of
    torch.export in a script that the run is about, and `again`: the script may come there once more. `deleted` are the
    files of the project that the code deleted. `cached`: this came of an earlier run. `seconds` is the wall time.
    """

    target: str
    mode: Mode
    device: str
    verdict: Verdict
    reason: str = ""
    failures: tuple[Failure, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    lines: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    model: ModelClass | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    output: str = ""
    call: Frame | None = None
    again: bool = False
    deleted: tuple[str, ...] = ()
    cached: bool = False
