"""What is on record of each run: facts only, one JSON object a line, one file a library."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from exportlint import atomic
from exportlint.findings import Mode

Batch = Literal["static", "dynamic"]
"""Whether the first dimension of each input varies."""


@dataclass(frozen=True, slots=True)
class Held:
    """A finding held against one run. `file` starts with the name of the library; `row` from 1."""

    rule: str
    severity: str
    file: str
    row: int
    ruling: str


@dataclass(frozen=True, slots=True)
class Missed:
    """What a run met without a finding that claims it. `file` is empty where torch names no place."""

    severity: str
    what: str
    file: str
    row: int
    message: str


@dataclass(frozen=True, slots=True)
class Record:
    """One model, exported in one mode with one kind of batch.

    `model` is what was called with `arguments` and `keywords`, `inputs` describes the example; `guessed` says that
    verify found these inputs by trying. `error` is the first line of what export raised, `file` and `row` where.
    `seconds` is the wall time.
    """

    library: str
    version: str
    torch: str
    name: str
    model: str
    arguments: list[Any]
    keywords: dict[str, Any]
    inputs: list[str]
    guessed: bool
    mode: Mode
    batch: Batch
    verdict: str
    error: str
    file: str
    row: int
    seconds: float
    findings: tuple[Held, ...] = ()
    missed: tuple[Missed, ...] = ()

    @property
    def key(self) -> tuple[str, Mode, Batch]:
        """What tells a run from the others of its library."""
        return self.name, self.mode, self.batch


def read(path: Path) -> list[Record]:
    """The records of a file; none if there is no such file.

    Raises:
        ValueError: a line is not a record.
    """
    if not path.exists():
        return []
    return [_record(line) for line in path.read_text("utf-8").splitlines() if line]


def read_all(directory: Path) -> list[Record]:
    """The records of all libraries, in the order of their names."""
    return [record for path in sorted(directory.glob("*.jsonl")) for record in read(path)]


def write(path: Path, records: Iterable[Record]) -> None:
    """Replace what is on record of a library."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = sorted(_lines(records))
    atomic.write(path, "".join(line + "\n" for line in lines).encode())


def _lines(records: Iterable[Record]) -> Iterator[str]:
    for record in records:
        yield json.dumps(dataclasses.asdict(record), ensure_ascii=False)


def _record(line: str) -> Record:
    try:
        fields = json.loads(line)
        fields["findings"] = tuple(Held(**held) for held in fields["findings"])
        fields["missed"] = tuple(Missed(**missed) for missed in fields["missed"])
        return Record(**fields)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"this line is not a record: {line[:80]!r} ({error})") from None
