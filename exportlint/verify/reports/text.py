"""For people: a line for each run, and below it the findings that it says something about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from exportlint.findings import Finding
from exportlint.report import Context
from exportlint.report.concise import heading
from exportlint.report.context import located, printable
from exportlint.report.full import block
from exportlint.verify.reports import Outcome, Unbuildable, as_finding, counted, matters
from exportlint.verify.results import Kind, Run, Verdict
from exportlint.verify.target import Target
from exportlint.verify.task import MAX_MEETINGS, leaves_models_out, longest_name
from exportlint.verify.verdicts import Judged, Judgement

_STYLES: dict[str, str] = {
    "exports": "added",
    "not compared": "warning",
    "fails": "error",
    "diverges": "warning",
    "narrower": "warning",
    "times out": "error",
    "cannot be built": "info",
    "confirmed": "error",
    "refuted": "added",
    "not reached": "dim",
    "missed": "warning",
}
_PLURALS: dict[Verdict, str] = {
    "exports": "export",
    "not compared": "could not be compared",
    "fails": "fail",
    "diverges": "diverge",
    "narrower": "narrower",
    "times out": "time out",
    "cannot be built": "cannot be built",
}
_MAX_NAME = 48
_MAX_PLACES = 4
_ROUTINE = frozenset[Kind]({"refused", "device"})
"""What cannot be compared of most models, for there is no such input, or no other device."""


class Printer:
    """Writes runs one after the other, each finding in full only the first time that it is shown."""

    def __init__(self, targets: Sequence[Target], context: Context, *, concise: bool, show_output: bool) -> None:
        self._context = context
        self._concise = concise
        self._show_output = show_output
        self._targets = {target.name: target for target in targets}
        self._name_width = min(max(map(longest_name, targets), default=0), _MAX_NAME)
        jobs = [(mode, device) for target in targets for mode in target.modes for device in target.devices]
        self._job_width = max((len(f"{mode} {device}") for mode, device in jobs), default=0)
        self._shown: set[tuple[object, ...]] = set()

    def add(self, target: Target) -> None:
        """Make a target known that came of the run of another one."""
        self._targets[target.name] = target

    def run(self, run: Run, judgement: Judgement) -> str:
        """What there is to say of one run, each line with its line end. `judgement` is of this run alone."""
        lines = [self._headline(run)]
        target = self._targets.get(run.target)
        if target is not None and leaves_models_out(target, run):
            note = f"the first {MAX_MEETINGS} models of this call are verified, others that it may meet are not"
            lines.append(f"    {self._context.style('warning', note)}")
        if run.deleted:
            shown = ", ".join(printable(self._context.shown(file)) for file in run.deleted)
            lines.append(f"    {self._context.style('warning', 'deleted by the code')}: {shown}")
        if self._show_output and run.output:
            lines += [f"    {self._context.style('frame', '|')} {printable(row)}" for row in run.output.splitlines()]
        said = [judged for judged in judgement.findings if judged.ruling != "not reached"]
        told = [text for judged in said for text in self._finding(judged)]
        told += self._missed(run, judgement)
        unreached: dict[str, list[Finding]] = {}
        for judged in judgement.findings:
            if judged.ruling == "not reached" and matters(judged):
                unreached.setdefault(judged.why, []).append(judged.finding)
        reasons = [f"not reached: {self._listed(findings)}: {printable(why)}" for why, findings in unreached.items()]
        reasons += [f"not compared: {printable(text)}" for text in _skipped(run)]
        told += [self._context.style("dim", reason) for reason in reasons]
        if self._concise:
            lines += [f"  {text}" for text in told]
        elif told:
            lines += ["", *(line for text in told for line in (text, ""))]
        return "".join(f"{line}\n" for line in lines)

    def _headline(self, run: Run) -> str:
        name = f"{printable(run.target):<{self._name_width}}"
        job = f"{run.mode} {run.device}"
        verdict = self._context.style(_STYLES[run.verdict], f"{run.verdict:<15}")
        reason = printable(" ".join(run.reason.split()))
        parts = (
            self._context.style("bold", name),
            verdict,
            f"{job:<{self._job_width}}",
            f"{'cached':>8}" if run.cached else f"{run.seconds:6.1f} s",
            reason,
        )
        return "  ".join(parts).rstrip()

    def _finding(self, judged: Judged) -> Iterator[str]:
        ruling = self._context.style(_STYLES[judged.ruling], judged.ruling)
        finding = judged.finding
        if self._is_new(finding) and not self._concise:
            if judged.ruling == "refuted":  # then there is nothing to understand or to mend
                finding = replace(finding, trail=(), help=None, fix=None)
            yield block(finding, self._context, [(judged.ruling, judged.why)])
        else:
            yield f"{self._place(finding)}: {ruling} {heading(finding, self._context)} {printable(judged.why)}"

    def _missed(self, run: Run, judgement: Judgement) -> Iterator[str]:
        target = self._targets.get(run.target)
        for surprise in judgement.missed:
            finding = as_finding(surprise, None if target is None else target.place, self._context.sources)
            if finding is None:
                continue
            if self._is_new(finding) and not self._concise:
                others = [fix.edits[0].content.strip() for fix in surprise.fixes[1:]]
                yield block(finding, self._context, [("or", text) for text in others])
            else:
                yield f"{self._place(finding)}: {heading(finding, self._context)} {printable(finding.message)}"

    def _is_new(self, finding: Finding) -> bool:
        key = finding.filename, finding.span, finding.code, finding.name, finding.message
        new = key not in self._shown
        self._shown.add(key)
        return new

    def _place(self, finding: Finding) -> str:
        return f"{self._context.style('bold', self._context.shown(finding.filename))}:{located(finding)}"

    def _listed(self, findings: Sequence[Finding]) -> str:
        listed = [f"{self._context.shown(f.filename)}:{located(f)} {f.code}" for f in findings[:_MAX_PLACES]]
        more = len(findings) - _MAX_PLACES
        return ", ".join(listed) + (f" and {more} more" if more > 0 else "")


def _skipped(run: Run) -> list[str]:
    """What was not compared, unless something else is wrong already, from which that may follow."""
    if run.verdict not in ("exports", "not compared", "narrower"):
        return []
    labels: dict[str, list[str]] = {}
    for c in run.comparisons:
        if c.agreement == "skipped" and c.kind not in _ROUTINE:
            labels.setdefault(c.detail, []).append(c.kind if c.label in (c.kind, "") else f"{c.kind}, {c.label}")
    told = run.verdict == "not compared"
    return [f"{'; '.join(named)}: {why}" for why, named in labels.items() if not (told and run.reason.endswith(why))]


def listing(targets: Sequence[Target], unbuildable: Sequence[Unbuildable], context: Context, *, calls: int = 0) -> str:
    """What would be run, and why the rest cannot be, each line with its line end.

    `calls` of torch.export are left out.
    """
    rows = [
        (printable(t.name), _place(t.place, context), "+".join(t.modes), "+".join(t.devices), t.origin) for t in targets
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    if unbuildable:
        lines += [*([""] if lines else []), context.style("bold", "Cannot be verified:")]
        for one in unbuildable:
            lines.append(f"{printable(one.name)}  {_place(one.place, context)}  {printable(one.reason)}")
            lines += [context.style("dim", f"    {printable(line)}") for line in one.proposal]
        if any(one.proposal for one in unbuildable):
            lines += ["", "`exportlint verify --init` adds these tables to the configuration, for you to complete."]
    if calls:
        lines += ["", f"{_count(calls, 'call')} of torch.export: `--calls` runs the scripts up to these calls."]
    return "".join(f"{line}\n" for line in lines)


def _place(place: tuple[Path, int], context: Context) -> str:
    return f"{context.shown(str(place[0]))}:{place[1]}"


def summary(outcome: Outcome) -> str:
    """The whole outcome, each line with its line end."""
    runs, targets = len(outcome.runs), len({run.target for run in outcome.runs})
    several = f" in {_count(runs, 'run')}" if runs != targets else ""
    cached = sum(run.cached for run in outcome.runs)
    known = f" ({cached} from the cache, `--no-cache` runs all)" if cached else ""
    verdicts = Counter(run.verdict for run in outcome.runs)
    parts = [f"{n} {verdict if n == 1 else word}" for verdict, word in _PLURALS.items() if (n := verdicts[verdict])]
    lines = [f"Verified {_count(targets, 'target')}{several} in {outcome.seconds:.1f} s{known}: {', '.join(parts)}."]
    counts = {word: count for word, count in counted(outcome).items() if count}
    if counts:
        lines.append(f"Findings: {', '.join(f'{count} {word}' for word, count in counts.items())}.")
    if outcome.unbuildable:
        lines.append(f"{_count(len(outcome.unbuildable), 'more module')} cannot be verified; `--list` says why.")
    return "".join(f"{line}\n" for line in lines)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
