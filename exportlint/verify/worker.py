"""Runs torch.export on a model, under the interpreter of the project that the model belongs to.

One file that needs nothing but the standard library and torch, 2.4 or newer: whatever else is installed there,
exportlint is not. Jobs come in as lines of JSON on standard input, events go out as lines of JSON on what was standard
output; user code gets neither. See `exportlint.verify.protocol` for both.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Job = Mapping[str, Any]
Emit = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True)
class Example:
    """What a model is called with. `dynamic` is as `dynamic_shapes` of `torch.export.export`, or None.

    `sizes` are the dimensions that vary by name, with their sizes here; `remake` gives other inputs: for other sizes,
    or for another seed of their numbers, where the example can be made anew, else None.
    """

    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]
    dynamic: Any = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    remake: Callable[[Mapping[str, int], int], tuple[tuple[Any, ...], dict[str, Any]]] | None = None


# -- the host: jobs, limits, and what user code must not get hold of ---------------------------------------------------


def main() -> None:
    """Work on the jobs that come in until there are no more."""
    for line in sys.stdin:
        job = json.loads(line)
        examine(job, lambda event: print(json.dumps({"id": job["id"], **event}), flush=True))


# -- building models and inputs ----------------------------------------------------------------------------------------


# -- finding inputs that nobody wrote down -----------------------------------------------------------------------------


def infer(model: Any, hints: Mapping[str, Sequence[Any]], vary: Sequence[int], device: str) -> Example:
    """Inputs with which the model runs in eager.

    Raises:
        LookupError: none were found; the message says what was tried and what was the matter at last.
    """
    raise LookupError("no inputs are known")


# -- exporting and comparing -------------------------------------------------------------------------------------------


def examine(job: Job, emit: Emit) -> None:
    """Build the model of a job, export it, and compare the program with it."""
    raise NotImplementedError


# -- what ran ----------------------------------------------------------------------------------------------------------


def lines_of_run(function: Callable[[], Any], wanted: Callable[[str], bool]) -> Iterator[tuple[str, set[int]]]:
    """The rows of each wanted file that run while a function is called."""
    raise NotImplementedError


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    main()
