"""docs/accuracy.md, made of what is on record."""

from __future__ import annotations

import collections
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar, get_args

import tomllib

from exportlint.pages import MODES
from exportlint.verify.rulings import RULINGS
from library_accuracy.records import Batch, Record

CAUSES = "causes.toml"
"""Why errors were refuted, written by whoever looked: `"FILE:ROW RULE" = "cause"`."""

NONE = "-"
_UNKNOWN = "not examined yet"
_ORDER: tuple[str, ...] = RULINGS
_COLUMNS = "errors confirmed | warnings confirmed | failures found | by line"
_LONGEST = 40
_RUNS = len(MODES) * len(get_args(Batch))
"""Of each model."""

_K = TypeVar("_K", bound=Hashable)
Site = tuple[str, str, Batch, str, int, str, str]
"""Library, mode, batch, file, row, rule, severity: a finding is counted once, however many models run its line."""


@dataclass
class Tally:
    """How many findings were confirmed and refuted, and how many failures were found."""

    rulings: collections.Counter[tuple[str, str]] = field(default_factory=collections.Counter)
    failing: int = 0
    found: int = 0
    places: int = 0
    places_found: int = 0

    def of(self, severity: str) -> str:
        """The confirmed ones of a severity among those that are decided."""
        right, wrong = self.rulings[severity, "confirmed"], self.rulings[severity, "refuted"]
        return share(right, right + wrong)


def share(part: int, whole: int) -> str:
    """`3/4 (75.0 %)`."""
    return f"{part}/{whole} ({100 * part / whole:.1f} %)" if whole else NONE


def sites(records: Iterable[Record]) -> dict[Site, str]:
    """The strongest ruling on each finding."""
    found: dict[Site, str] = {}
    for record in records:
        for held in record.findings:
            site = (record.library, record.mode, record.batch, held.file, held.row, held.rule, held.severity)
            found[site] = min(held.ruling, found.get(site, held.ruling), key=_ORDER.index)
    return found


def tallies(records: Sequence[Record], key: Callable[[Record], _K]) -> dict[_K, Tally]:
    """Tallies of the groups that a key makes of records."""
    groups: dict[_K, list[Record]] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return {name: tally(group) for name, group in groups.items()}


def tally(records: Sequence[Record]) -> Tally:
    """What records say together."""
    made = Tally()
    for site, ruling in sites(records).items():
        made.rulings[site[-1], ruling] += 1
    places: dict[Hashable, bool] = {}
    for record in records:
        if record.verdict == "fails":
            claimed = is_found(record)
            made.failing += 1
            made.found += claimed
            place = record.library, record.mode, record.batch, record.file or record.name, record.row
            places[place] = places.get(place, False) or claimed
    made.places, made.places_found = len(places), sum(places.values())
    return made


def is_found(record: Record) -> bool:
    """Whether a finding claims the failure of a run."""
    return not any(missed.severity == "error" for missed in record.missed)


def page(records: Sequence[Record], first: Sequence[Record], causes: Path) -> str:
    """The page, in Markdown. `first` are the records of first runs, judged before any rule was corrected after them."""
    known: Mapping[str, str] = tomllib.loads(causes.read_text("utf-8")) if causes.exists() else {}
    built = [record for record in records if record.verdict != "cannot be built"]
    parts = [_head(records, built), _by_mode(built), _first_runs(first), _by_library(records, built), _by_rule(built)]
    return "\n".join([*parts, _refuted(built, known), _missed(built), _TAIL])


def _head(records: Sequence[Record], built: Sequence[Record]) -> str:
    models = {(record.library, record.name) for record in built}
    tried = {(record.library, record.name) for record in records}
    libraries = {record.library for record in built}
    guessed = {(record.library, record.name) for record in built if record.guessed}
    versions = ", ".join(sorted({record.torch for record in built if record.torch}))
    return f"""# Accuracy

This page measures how often exportlint is right about code that it was not written for. {len(models)} models
of {len(libraries)} published libraries are built with random weights and exported in both modes, with a static and
with a dynamic batch: {len(built)} runs in all{_not_made(models, built)}.
Every error and every warning in code that ran is compared with what happened.

{len(tried - models)} more models cannot be built or do not run in eager. The inputs of {len(models - guessed)} models
are specified, those of {len(guessed)} were found by trying. Rules were corrected after earlier runs of most of
these models, so other code may see lower figures. Measured with torch {versions} and Python 3.11 on a CPU.

All libraries are linted in the same way, with default settings. Some failures are reported only for classes that the
setting `exported` names, such as a function in the output; here they count as missed. Verdicts come from several
versions of the rules: a library is judged when its models run, and some were judged again after rules were corrected.

| word | an error is | a warning is |
|---|---|---|
| confirmed | export raises at its line | export passes, and program and model differ in what the rule claims |
| refuted | its line ran, and export passed | its line ran, and everything that could show the difference agrees |
| not reached | anything else | anything else |

The severity of a finding is its *claim*: what it says that export does. *Decided* findings are those that are confirmed
or refuted. A finding counts once for each mode and batch, however many models run its line; one model is enough to
confirm it. A failure is *found* if a finding claims it at the line that torch blames or, if torch names none, on a line
that ran. In the column *by line*, models that fail at the same line count once. A run that reaches a line by a path
other than the finding's trail does not refute the finding.
[Verify](verify.md) says how a run is judged.
"""


def _not_made(models: Set[tuple[str, str]], built: Sequence[Record]) -> str:
    """What is missing where the measuring of a library ended before all runs of its models were made."""
    runs = collections.Counter((record.library, record.name) for record in built)
    short = [model for model in models if runs[model] < _RUNS]
    missing = sum(_RUNS - runs[model] for model in short)
    return f"; {missing} more, of {len(short)} models, are not on record" if missing else ""


def _by_mode(built: Sequence[Record]) -> str:
    rows = [
        "## Totals",
        "",
        f"| mode | batch | models | export | fail | wrong or narrower | time out | {_COLUMNS} |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    groups = tallies(built, lambda record: (record.mode, record.batch))
    for (mode, batch), made in sorted(groups.items()):
        those = [record for record in built if (record.mode, record.batch) == (mode, batch)]
        verdicts = collections.Counter(record.verdict for record in those)
        passed = verdicts["exports"] + verdicts["not compared"]
        wrong = verdicts["diverges"] + verdicts["narrower"]
        rows.append(
            f"| {mode} | {batch} | {len(those)} | {passed} | {verdicts['fails']} | {wrong} | {verdicts['times out']} "
            f"| {made.of('error')} | {made.of('warning')} | {share(made.found, made.failing)} "
            f"| {share(made.places_found, made.places)} |"
        )
    for mode, made in sorted(tallies(built, lambda record: record.mode).items()):
        rows.append(
            f"| {mode} | both | | | | | | {made.of('error')} | {made.of('warning')} "
            f"| {share(made.found, made.failing)} | {share(made.places_found, made.places)} |"
        )
    return "\n".join(rows) + "\n"


def _first_runs(records: Sequence[Record]) -> str:
    built = [record for record in records if record.verdict != "cannot be built"]
    libraries = ", ".join(sorted({record.library for record in built}))
    models = len({(record.library, record.name) for record in built})
    rows = [
        "## First runs",
        "",
        f"These are {models} of the models, as they were judged when they ran for the first time: no rule had been",
        "corrected after runs of these models. On code that exportlint has not seen, expect these figures. They are of",
        f"{libraries} ([data](accuracy/first_runs)).",
        "",
        f"| mode | runs | export | fail | {_COLUMNS} |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for mode, made in sorted(tallies(built, lambda record: record.mode).items()):
        verdicts = collections.Counter(record.verdict for record in built if record.mode == mode)
        passed = verdicts["exports"] + verdicts["not compared"]
        rows.append(
            f"| {mode} | {verdicts.total()} | {passed} | {verdicts['fails']} | {made.of('error')} "
            f"| {made.of('warning')} | {share(made.found, made.failing)} | {share(made.places_found, made.places)} |"
        )
    return "\n".join(rows) + "\n" if built else ""


def _by_library(records: Sequence[Record], built: Sequence[Record]) -> str:
    rows = [
        "## Libraries",
        "",
        f"| library | version | models | not built | {_COLUMNS} |",
        "|---|---|---|---|---|---|---|---|",
    ]
    groups = tallies(built, lambda record: record.library)
    for library in sorted({record.library for record in records}):
        made = groups.get(library, Tally())
        those = {record.name for record in built if record.library == library}
        others = {record.name for record in records if record.library == library} - those
        version = ", ".join(sorted({record.version for record in records if record.library == library}))
        rows.append(
            f"| {library} | {version} | {len(those)} | {len(others)} | {made.of('error')} | {made.of('warning')} "
            f"| {share(made.found, made.failing)} | {share(made.places_found, made.places)} |"
        )
    return "\n".join(rows) + "\n"


def _by_rule(built: Sequence[Record]) -> str:
    rulings: dict[tuple[str, str], collections.Counter[str]] = {}
    for site, ruling in sites(built).items():
        rulings.setdefault(site[-2:], collections.Counter())[ruling] += 1

    def badness(item: tuple[tuple[str, str], collections.Counter[str]]) -> tuple[object, ...]:
        counts = item[1]
        decided = counts["confirmed"] + counts["refuted"]
        return (-counts["refuted"] / decided if decided else 0.0, -counts["refuted"], -counts["confirmed"], item[0])

    rows = [
        "## Rules",
        "",
        "The worst first.",
        "",
        "| rule | severity | confirmed of decided | refuted | not reached |",
        "|---|---|---|---|---|",
    ]
    for (rule, severity), counts in sorted(rulings.items(), key=badness):
        decided = counts["confirmed"] + counts["refuted"]
        said = share(counts["confirmed"], decided)
        rows.append(f"| {rule} | {severity} | {said} | {counts['refuted']} | {counts['not reached']} |")
    return "\n".join(rows) + "\n"


def _refuted(built: Sequence[Record], causes: Mapping[str, str]) -> str:
    where: dict[tuple[str, int, str], set[str]] = {}
    for (_, mode, batch, file, row, rule, severity), ruling in sites(built).items():
        if severity == "error" and ruling == "refuted":
            where.setdefault((file, row, rule), set()).add(f"{mode} {batch}")
    lines = [
        "## Refuted errors",
        "",
        "All of them. Paths are relative to the folder in which the library is installed.",
        "",
        "| file | line | rule | where | cause |",
        "|---|---|---|---|---|",
    ]
    for (file, row, rule), modes in sorted(where.items()):
        cause = causes.get(f"{file}:{row} {rule}", _UNKNOWN)
        lines.append(f"| {file} | {row} | {rule} | {', '.join(sorted(modes))} | {cause} |")
    return "\n".join(lines if where else [*lines[:2], "None."]) + "\n"


def _missed(built: Sequence[Record]) -> str:
    models: dict[tuple[str, int, str], set[str]] = {}
    for record in built:
        for missed in record.missed:
            if missed.severity == "error":
                place = (missed.file or record.library, missed.row, missed.what)
                models.setdefault(place, set()).add(f"{record.library} {record.name}")
    shown = f" These are the {_LONGEST} that most models meet:" if len(models) > _LONGEST else ""
    lines = [
        "## Missed failures",
        "",
        f"Lines at which torch.export raises without a finding: {len(models)}.{shown}",
        "",
        "| file | line | exception | models |",
        "|---|---|---|---|",
    ]
    most = sorted(models.items(), key=lambda item: (-len(item[1]), item[0]))[:_LONGEST]
    for (file, row, what), those in most:
        lines.append(f"| {file} | {row or NONE} | {what} | {len(those)} |")
    return "\n".join(lines) + "\n"


_TAIL = """## Measure it again

The data are [one file per library](accuracy), with one line per run: the model, its arguments and inputs, what
torch.export did, and the verdict on each finding. In an environment with torch and the libraries,

```sh
python scripts/measure_libraries.py --python PYTHON --library torchvision --seconds 3600
```

runs the models that are not recorded yet. `--page` generates this page from the data. `scripts/library_accuracy/zoos`
lists models of libraries. After these, the script takes modules of the library whose arguments and inputs it can tell
from their signatures: it passes small numbers to the constructor, and tries usual shapes until `forward` runs.
Only the files whose code ran are linted, with everything that they import.
Files of other packages are linted if a failure is blamed on them.
Compiled parts of torchvision and torchaudio do not load with torch for the CPU, so models that need them are not built.
"""
