"""One JSON object with everything. `docs/verify.md` says what its keys mean."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from exportlint import __version__
from exportlint.report.json_ import as_object, dumped
from exportlint.verify.reports import Outcome, counted, told
from exportlint.verify.results import Comparison, Failure, Run
from exportlint.verify.target import Target
from exportlint.verify.task import leaves_models_out
from exportlint.verify.verdicts import Sources

VERSION = 1
"""Of the format; another one where a key goes away or changes its meaning."""


def render(outcome: Outcome, sources: Sources) -> str:
    """The report."""
    numbers = {id(run): number for number, run in enumerate(outcome.runs)}
    targets = {target.name: target for target in outcome.targets}
    document = {
        "version": VERSION,
        "exportlint": __version__,
        "seconds": round(outcome.seconds, 3),
        "agrees": outcome.agrees,
        "counts": counted(outcome),
        "targets": [_target(target) for target in outcome.targets],
        "unbuildable": [
            {"name": one.name, "filename": str(one.place[0]), "row": one.place[1], "reason": one.reason}
            for one in outcome.unbuildable
        ],
        "runs": [_run(run, targets.get(run.target)) for run in outcome.runs],
        "findings": [
            {**as_object(finding), "verdict": verdict, "why": why, "run": None if run is None else numbers.get(id(run))}
            for finding, verdict, why, run in told(outcome, sources)
        ],
    }
    return dumped(document, indent=2) + "\n"


def _target(target: Target) -> dict[str, Any]:
    return {
        "name": target.name,
        "origin": target.origin,
        "model": str(target.model),
        "filename": str(target.place[0]),
        "row": target.place[1],
        "modes": list(target.modes),
        "devices": list(target.devices),
    }


def _run(run: Run, target: Target | None) -> dict[str, Any]:
    return {
        "target": run.target,
        "mode": run.mode,
        "device": run.device,
        "verdict": run.verdict,
        "reason": run.reason,
        "seconds": round(run.seconds, 3),
        "inputs": list(run.inputs),
        "versions": dict(run.versions),
        "failures": [_failure(failure) for failure in run.failures],
        "comparisons": [_comparison(comparison) for comparison in run.comparisons],
        "lines": {file: list(rows) for file, rows in run.lines.items()},
        "files": dict(run.files),
        "output": run.output,
        "deleted": list(run.deleted),
        "models_left_out": target is not None and leaves_models_out(target, run),
        "cached": run.cached,
    }


def _failure(failure: Failure) -> dict[str, Any]:
    frames = [{"filename": f.file, "row": f.row, "function": f.function} for f in failure.frames]
    return {**dataclasses.asdict(failure), "frames": frames}


def _comparison(comparison: Comparison) -> dict[str, Any]:
    difference = comparison.difference
    finite = difference is not None and math.isfinite(difference)
    return {**dataclasses.asdict(comparison), "difference": difference if finite else None}
