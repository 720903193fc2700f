"""What exportlint says: findings, and the words every package shares to talk about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

Mode = Literal["non-strict", "strict"]
"""The two tracers of `torch.export.export`: `strict=False` and `strict=True`."""

TorchVersion = tuple[int, int]
"""Major and minor version of torch, e.g. `(2, 13)`."""


class Severity(str, Enum):
    """A claim about `torch.export` that running it can prove or refute.

    ERROR: export raises here. WARNING: export passes, and the program is wrong or narrower than the eager
    module. INFO: nothing breaks in this mode and version; it does in the other mode or in an older torch, or only
    a side effect is lost.
    """

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for the gravest."""
        return _RANKS[self]


_RANKS = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a text: row and column from 1, columns in Unicode code points, lines as `LineIndex` counts them."""

    row: int
    column: int


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """From `start` up to, not including, `end`."""

    start: Position
    end: Position


Role = Literal["value", "call", "return"]
"""What a step of a trail is about: where a value comes from, a call that it is passed to, or one that returned it."""


@dataclass(frozen=True, slots=True, order=True)
class Step:
    """One step of a trail: why a value is what it is. `cell` is as in `Finding`.

    `changes` is False where the code hands the value on as it is: `x = y`, `f(y)`, `return y`.
    """

    filename: str
    span: Span
    message: str
    cell: int | None = None
    role: Role = "value"
    changes: bool = True


class Applicability(str, Enum):
    """Whether a fix may be applied without being looked at.

    SAFE: the code does what it did, also with what it refuses, and torch.export agrees. UNSAFE: it may do something
    else in some case that the fix's message names. DISPLAY_ONLY: only a proposal, never applied.
    """

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY_ONLY = "display-only"

    @property
    def rank(self) -> int:
        """0 for the safest."""
        return list(Applicability).index(self)


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """`content` instead of what `span` covers; an insertion where that is nothing. `cell` is as in `Finding`."""

    span: Span
    content: str
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Fix:
    """A rewrite of the file that the finding is in. `edits` are in order and do not overlap.

    `names` are the variables that it brings, or whose meaning it changes or depends on, each with the row of its
    function (0 outside of functions). Fixes with the same one do not know of each other. `obstacle` is why fixing was
    found not to apply it, in one clause; empty where it holds, or nobody has tried.
    """

    applicability: Applicability
    message: str
    edits: tuple[Edit, ...]
    names: frozenset[tuple[int, str]] = frozenset()
    obstacle: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Caller:
    """A class whose export reaches a finding outside of its own code.

    `definition` is the class statement. `span` is the expression in it that leads to the finding by calling `callee`;
    that is the class itself, and `callee` is empty, where no code of the class leads there, but what it inherits.
    `cell` is as in `Finding`.
    """

    filename: str
    definition: Span
    span: Span
    callee: str = ""
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One root cause at one place.

    `symbol` is the qualified name of the function (`Net.forward`), empty outside of one. `trail` leads from the origin
    of the value (an input, a buffer) to the place of the finding, which itself is not part of it. `through` are the
    files whose code the value went through, also where the trail shows only the call. `callers` are the exported
    classes that reach it from elsewhere: exporting any of them does what the finding says.

    While a notebook is analysed and fixed, all rows are those of its text, and `cell` is None. In reports they are
    those of the cell with the number `cell` among all cells of the notebook, from 1.

    `fix_pending`: its rule has a rewrite for such findings, and nobody has worked out yet whether it holds here.
    `declined` is why it does not, empty if it does, or if there is none. `fingerprint` names the finding across edits
    (`exportlint.fingerprints`), empty where nobody needs that. `baselined`: the baseline of the project accepts it.
    """

    code: str
    name: str
    severity: Severity
    message: str
    filename: str
    span: Span
    symbol: str = ""
    mode: Mode = "non-strict"
    trail: tuple[Step, ...] = ()
    help: str | None = None
    cell: int | None = None
    fix: Fix | None = None
    callers: tuple[Caller, ...] = ()
    through: frozenset[str] = field(default=frozenset(), compare=False)
    fix_pending: bool = field(default=False, compare=False)
    declined: str = field(default="", compare=False)
    fingerprint: str = field(default="", compare=False)
    baselined: bool = False

    @property
    def sort_key(self) -> tuple[object, ...]:
        """Total order of findings in every report: by file, place, code, then whatever makes it unique."""
        place = (self.filename, self.cell or 0, self.span)
        return (*place, self.code, self.severity.rank, self.message, self.symbol, self.trail)
