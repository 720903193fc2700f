"""What `exportlint fix-plan` prints: for people each round, how it ends, and the difference; for programs, JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from exportlint import __version__
from exportlint.cli.differences import difference
from exportlint.findings import Finding
from exportlint.report import Context
from exportlint.report.context import located, printable
from exportlint.report.json_ import as_object, dumped
from exportlint.verify.plans import Attempt, Blocker, Plan
from exportlint.verify.plans.candidates import TORCH
from exportlint.verify.plans.plan import Verdict
from exportlint.verify.plans.progress import first_failure
from exportlint.verify.results import Run
from exportlint.verify.results import Verdict as RunVerdict
from exportlint.verify.target import Target

VERSION = 1
"""Of the JSON format; another one where a key goes away or changes its meaning."""

_STYLES: dict[Verdict, str] = {"kept": "added", "undone": "error", "no help": "dim", "not needed": "dim"}
_MAX_REASON = 200
_STILL: dict[RunVerdict, str] = {
    "cannot be built": "Cannot be run",
    "times out": "Still times out",
    "fails": "Still fails",
    "diverges": "Exports, but the program gives other results",
    "not compared": "Exports, and nothing could be compared",
    "narrower": "Exports with equal results, but rejects inputs that the model accepts",
    "exports": "",
}
"""What a model is left at, the worst first."""


@dataclass(frozen=True, slots=True)
class Told:
    """A plan for the model that `name` names on the command line, what it took, and whether it is written."""

    name: str
    targets: Sequence[Target]
    plan: Plan
    seconds: float
    is_written: bool


def as_text(told: Told, context: Context) -> str:
    """The report for people without the difference, each line with its line end."""
    plan = told.plan
    lines = [f"{context.style('bold', printable(told.name))}: {_list(_came(run, context) for run in plan.before)}"]
    for run in plan.before[:1]:
        lines += [f"  {printable(one)}" for one in run.inputs]
    for number, one in enumerate(plan.rounds, 1):
        lines += ["", context.style("bold", f"Round {number}")]
        lines += [line for attempt in one.attempts for line in _attempt(attempt, context)]
        if any(attempt.verdict == "kept" for attempt in one.attempts):
            lines.append(f"  now {_list(_came(run, context) for run in one.runs)}")
    if plan.rounds or plan.end not in ("exports", "cannot be run"):
        lines += ["", *_end(told, context)]
    return "".join(f"{line}\n" for line in lines)


def differences(told: Told, context: Context) -> bytes:
    """What the plan changes, as `patch` and `git apply` take it."""
    shown = b"".join(difference(one, context) for one in told.plan.fixed)
    return b"\n" + shown if shown else b""


def _attempt(attempt: Attempt, context: Context) -> Iterator[str]:
    finding = attempt.finding
    verdict = context.style(_STYLES[attempt.verdict], f"{attempt.verdict:<10}")
    title = "" if finding.fix is None else finding.fix.message
    unsafe = " (assumption)" if attempt.is_assumption else " (unsafe)" if attempt.is_unsafe else ""
    rule = "torch" if finding.code == TORCH else f"{finding.code} {finding.name}"
    yield f"  {verdict}  {_place(finding, context)}  {rule}: {printable(title)}{unsafe}"
    if attempt.why:
        yield f"              {_short(attempt.why)}"


def _end(told: Told, context: Context) -> Iterator[str]:
    plan = told.plan
    kept = list(plan.kept)
    assumed = sum(attempt.is_assumption for attempt in kept)
    unsafe = sum(attempt.is_unsafe for attempt in kept) - assumed
    took = f"{_count(len(plan.rounds), 'round')}, {_count(plan.runs, 'run')}, {told.seconds:.1f} s"
    fixes = _count(len(kept), "fix", "fixes")
    fixes += f", {unsafe} unsafe" if unsafe else ""
    fixes += f", {_count(assumed, 'assumption')}" if assumed else ""
    if plan.exports:
        yield context.style("added", f"Exports with equal results: {fixes} ({took}).")
    else:
        why = "`--rounds` allows more" if plan.end == "out of rounds" else "no fix gets export further"
        worst = min((blocker.run.verdict for blocker in plan.blockers), key=list(_STILL).index)
        yield context.style("error", f"{_STILL[worst]}: {fixes} kept; {why} ({took}).")
        for blocker in plan.blockers:
            yield from _blocker(blocker, context)
        if plan.other_mode and all(run.verdict == "exports" for run in plan.other_mode):
            mode = plan.other_mode[0].mode
            so_far = " with these fixes" if plan.fixed else ""
            yield f"In {mode} mode it exports with equal results{so_far}: `--mode {mode}`."
    if plan.caveat:
        yield f"With these fixes, the model {_short(plan.caveat)}."
    if assumed:
        yield (
            "Each assumption holds for the inputs that were tried. The fixed model rejects inputs that violate it, so "
            "check that it is true."
        )
    if told.is_written:
        yield f"Wrote {_list(context.shown(one.task.filename) for one in plan.fixed)}."
    elif plan.fixed:
        flags = "--write" if plan.exports else "--write --partial"
        yield f"Nothing is written; `{flags}` writes this difference:"


def _blocker(blocker: Blocker, context: Context) -> Iterator[str]:
    frame = blocker.frame
    where = "" if frame is None else f"{context.shown(frame.file)}:{frame.row}: "
    yield f"  {where}{_short(blocker.what)}"
    if blocker.finding is not None:
        finding = blocker.finding
        rule = f"{finding.code} {finding.name}"
        place = "" if frame is not None else f"{_place(finding, context)}  "
        yield f"    {place}{rule}: {_short(blocker.why)}"
        if finding.help and finding.fix is None:
            yield f"    help: {printable(finding.help)}"
    elif blocker.why:
        yield f"    {_short(blocker.why)}"


def _came(run: Run, context: Context) -> str:
    """What a run came to, in one clause."""
    how = f" in {run.mode} mode" if run.mode == "strict" else ""
    how += f" on {run.device}" if run.device != "cpu" else ""
    if run.verdict == "exports":
        return f"exports with equal results{how}"
    failure = first_failure(run)
    frame = failure.frames[-1] if failure is not None and failure.frames else None
    where = "" if frame is None or run.verdict != "fails" else f" at {context.shown(frame.file)}:{frame.row}"
    return f"{run.verdict}{how}{where}: {_short(run.reason)}"


def _place(finding: Finding, context: Context) -> str:
    return f"{context.shown(finding.filename)}:{located(finding)}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return printable(line if len(line) <= _MAX_REASON else line[: _MAX_REASON - 1].rstrip() + "…")


def _list(parts: Iterator[str]) -> str:
    return "; ".join(dict.fromkeys(parts))


def _count(number: int, noun: str, plural: str = "") -> str:
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def as_json(told: Told) -> str:
    """The report for programs. `docs/fix-plan.md` says what its keys mean."""
    plan = told.plan
    plain = Context(Path(), lambda _: None)
    document = {
        "version": VERSION,
        "exportlint": __version__,
        "target": told.name,
        "models": list(dict.fromkeys(str(target.model) for target in told.targets)),
        "exports": plan.exports,
        "caveat": plan.caveat,
        "end": plan.end,
        "seconds": round(told.seconds, 3),
        "runs": plan.runs,
        "written": told.is_written,
        "before": [_run(run) for run in plan.before],
        "after": [_run(run) for run in plan.after],
        "other_mode": [_run(run) for run in plan.other_mode],
        "rounds": [
            {"attempts": [_tried(attempt) for attempt in one.attempts], "after": [_run(run) for run in one.runs]}
            for one in plan.rounds
        ],
        "blockers": [_blocked(blocker) for blocker in plan.blockers],
        "files": [
            {"filename": one.task.filename, "diff": difference(one, plain).decode(errors="backslashreplace")}
            for one in plan.fixed
        ],
    }
    return dumped(document, indent=2) + "\n"


def _run(run: Run) -> dict[str, Any]:
    failure = first_failure(run)
    frame = failure.frames[-1] if failure is not None and failure.frames else None
    return {
        "target": run.target,
        "mode": run.mode,
        "device": run.device,
        "verdict": run.verdict,
        "reason": run.reason,
        "filename": None if frame is None else frame.file,
        "row": None if frame is None else frame.row,
        "inputs": list(run.inputs),
        "seconds": round(run.seconds, 3),
    }


def _tried(attempt: Attempt) -> dict[str, Any]:
    return {"verdict": attempt.verdict, "why": attempt.why, "finding": as_object(_short_message(attempt.finding))}


def _blocked(blocker: Blocker) -> dict[str, Any]:
    frame = blocker.frame
    return {
        "target": blocker.run.target,
        "mode": blocker.run.mode,
        "device": blocker.run.device,
        "what": blocker.what,
        "filename": None if frame is None else frame.file,
        "row": None if frame is None else frame.row,
        "finding": None if blocker.finding is None else as_object(_short_message(blocker.finding)),
        "why": blocker.why,
    }


def _short_message(finding: Finding) -> Finding:
    """What torch says goes over many lines."""
    return replace(finding, message=_short(finding.message)) if finding.code == TORCH else finding
