"""What `scripts/measure_versions.py` has measured of the catalogue's blocks with each torch, and how pages say so."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Set
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from exportlint.findings import Mode
from exportlint.pages import MODES, Block, Page

DIRECTORY = Path(__file__).with_name("measured")
"""One file for each release of torch, with a JSON object a line."""

_SENTENCE = re.compile(r"^\*Measured\*: .*?(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)

Key = tuple[str, str, Mode]
"""The code of a page, the digest of a block, a mode."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """What torch.export made of a block in a mode.

    `outcome` is `raises`, `narrower` (it raises with dynamic sizes, and passes with static ones), `differs`, `agrees`,
    `exports` (eager has no result to compare with), `crashes` (it ended the process), or `unmeasured`, if the block
    does not run in eager with this torch as its page says. `detail` says what was raised.
    """

    code: str
    digest: str
    mode: Mode
    outcome: str
    detail: str = ""

    @property
    def key(self) -> Key:
        """What was measured."""
        return self.code, self.digest, self.mode

    def bears_out(self, claimed: Set[str]) -> bool | None:
        """Whether torch does what the severities of the block's findings claim; None if it could not be measured."""
        if self.outcome == "unmeasured":
            return None
        if "error" in claimed:
            return self.outcome in {"raises", "narrower", "crashes"}
        if "warning" in claimed:
            return self.outcome in {"differs", "narrower"}
        return self.outcome in {"agrees", "exports"}


def digest(block: Block) -> str:
    """The digest of what a measurement depends on: the code, what it is called with, and how it is exported."""
    given = [d for d in block.directives if d[0] not in {"fix", "differs"}]
    return hashlib.sha256(json.dumps([block.plain, given]).encode()).hexdigest()[:16]


def measured_blocks(page: Page) -> list[tuple[Block, Mode]]:
    """What the version columns of a page are about: its bad blocks, in both modes."""
    return [(b, mode) for b in page.blocks if b.kind == "bad" for mode in MODES]


def path_of(release: str) -> Path:
    """Where the measurements with a release of torch are kept."""
    return DIRECTORY / f"{release}.jsonl"


@cache
def measurements(release: str) -> dict[Key, Measurement]:
    """All that was measured with a release of torch."""
    lines = path_of(release).read_text(encoding="utf-8").splitlines()
    return {m.key: m for m in (Measurement(**json.loads(line)) for line in lines)}


def releases() -> list[str]:
    """The releases of torch that something was measured with, oldest first."""
    return sorted((path.stem for path in DIRECTORY.glob("*.jsonl")), key=_number)


def write(release: str, found: Iterable[Measurement]) -> None:
    """Keep measurements, in an order that makes differences readable."""
    DIRECTORY.mkdir(exist_ok=True)
    lines = [json.dumps(asdict(m)) for m in sorted(found, key=lambda m: m.key)]
    path_of(release).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def sentence(columns: Iterable[str], blocks: int, contradicted: dict[str, int], unmeasured: dict[str, int]) -> str:
    """What a page says about the versions in its columns.

    `contradicted` has, for each release that all blocks were run with, how many do something else than the table says,
    `unmeasured` how many of them cannot be run with it.
    """
    of = "every example" if blocks > 1 else "the example"
    parts = []
    right = [r for r in contradicted if not contradicted[r] and not unmeasured.get(r)]
    if right:
        parts.append(f"with torch {_listed(right)}, {of} of this page does what the table says")
    for release in contradicted:
        but = []
        if contradicted[release]:
            but.append(f"{contradicted[release]} of {2 * blocks} runs do not do what the table says")
        if unmeasured.get(release):
            lacking = f"{unmeasured[release]} of {2 * blocks} runs"
            but.append(f"{lacking} could not be made, because this torch lacks an API that they use")
        if but:
            parts.append(f"with torch {release}, {', and '.join(but)}")
    missing = [c for c in columns if c not in {r.rpartition(".")[0] for r in contradicted}]
    if missing:
        parts.append(f"not measured: {_listed(missing)}")
    return f"*Measured*: {'; '.join(parts)}."


def with_sentence(page: str, said: str) -> str:
    """The text of a page that says this about its versions, after its severity table."""
    head, heading, rest = page.partition("\n## Severity\n")
    body, following, tail = rest.partition("\n## ")
    body = _SENTENCE.sub("", body + "\n").rstrip("\n")
    return f"{head}{heading}{body}\n\n{said}\n{following}{tail}"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _number(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))
