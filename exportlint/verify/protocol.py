"""What goes to the worker and what comes back: a `Target` becomes jobs, the events of a job become a `Run`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from exportlint.findings import Mode
from exportlint.verify.constraints import in_short
from exportlint.verify.results import Agreement, Comparison, Failure, Frame, Kind, ModelClass, Run, Stage, Verdict
from exportlint.verify.specs import Constant, DictSpec, ListSpec, Spec, TensorSpec
from exportlint.verify.target import (
    Called,
    Convention,
    Device,
    Guessed,
    Inputs,
    Part,
    Reference,
    Script,
    Snippet,
    Target,
    Trial,
    Written,
)

_EARLY = frozenset[Stage]({"start", "import", "build", "inputs", "eager"})
"""The stages that export has no part in."""

_OF_RESULTS = frozenset[Kind]({"example", "values", "again", "size", "original"})
"""The comparisons of which one at least has to agree. That of buffers is not a sign where there are none."""

_DISAGREEMENTS: tuple[Literal["diverges"], Literal["narrower"]] = ("diverges", "narrower")
"""What is a verdict if one comparison comes to it, the worse one first."""


@dataclass(frozen=True, slots=True)
class End:
    """How the process of a job ended. `detail` says more: the signal, the exit code, the limit."""

    how: Literal["finished", "timed out", "out of memory", "crashed", "cancelled"]
    detail: str = ""


def jobs_of(target: Target) -> list[tuple[Mode, Device]]:
    """What is run of a target, each by itself, so that one which hangs or crashes says nothing about the others."""
    return [(mode, device) for mode in target.modes for device in target.devices]


def job(target: Target, mode: Mode, device: Device, identity: int) -> dict[str, Any]:
    """A target in one mode on one device, for the worker, which reads it as JSON."""
    return {
        "id": identity,
        "name": target.name,
        "mode": mode,
        "device": device,
        "root": os.fspath(target.root),
        "paths": [os.fspath(path) for path in target.paths],
        "model": _reference(target.model),
        "arguments": [encode(value) for value in target.arguments],
        "keywords": {name: encode(value) for name, value in target.keywords.items()},
        "init_inputs": target.init_inputs,
        "inputs": _inputs(target.inputs, device),
        "others": _reference(target.others) if target.others else None,
        "dynamic": target.dynamic,
        "varying": list(target.varying),
        "train": target.train,
        "gradients": target.gradients,
        "tolerance": target.tolerance,
        "timeout": target.timeout,
        "memory": target.memory,
        "trial": _trial(target.trial) if target.trial else None,
        "otherwise": [_source(other, device) for other in target.otherwise],
        "derived": target.derived,
    }


def _source(target: Target, device: Device) -> dict[str, Any]:
    """A target as a way to a model and its inputs."""
    return job(target, target.modes[0], device, 0)


def encode(value: object) -> Any:
    """A value that may hold Specs, as `make_value` of the worker reads it.

    Raises:
        TypeError: it holds something that JSON cannot say.
    """
    match value:
        case TensorSpec(dtype, shape, low, high):
            return {"tensor": {"dtype": dtype, "shape": list(shape), "low": low, "high": high}}
        case Constant(plain) | (None | bool() | int() | float() | str() as plain):
            return {"value": plain}
        case ListSpec(items, is_tuple):
            return {"tuple" if is_tuple else "list": [encode(item) for item in items]}
        case tuple():
            return {"tuple": [encode(item) for item in value]}
        case list():
            return {"list": [encode(item) for item in value]}
        case DictSpec(members):
            return {"dict": {name: encode(item) for name, item in members.items()}}
        case Mapping():
            return {"dict": {str(name): encode(item) for name, item in value.items()}}
        case _:
            raise TypeError(f"{type(value).__name__} is not a value that a model can be built with: {value!r}")


def _reference(reference: Reference) -> dict[str, Any]:
    file = None if reference.file is None else os.fspath(reference.file)
    return {"module": reference.module, "name": reference.name, "file": file}


def _trial(trial: Trial) -> dict[str, Any]:
    texts = {os.fspath(path): data.decode("latin-1") for path, data in trial.texts.items()}
    return {"texts": texts, "outcomes": os.fspath(trial.outcomes)}


def _inputs(inputs: Inputs, device: Device) -> dict[str, Any]:
    match inputs:
        case Written(arguments, keywords, dimensions):
            return {
                "written": {
                    "arguments": [encode(spec) for spec in arguments],
                    "keywords": {name: encode(spec) for name, spec in keywords.items()},
                    "dimensions": dict(dimensions),
                }
            }
        case Called(function, dynamic):
            return {"called": {"function": _reference(function), "dynamic": dynamic}}
        case Convention(name, of_model):
            return {"convention": {"name": name, "of_model": of_model}}
        case Guessed(hints):
            return {"guessed": _hints(hints)}
        case Snippet(file, statements, model, given, is_imported, hints):
            return {
                "snippet": {
                    "file": _reference(file),
                    "statements": [list(statement) for statement in statements],
                    "model": model,
                    "inputs": given,
                    "is_imported": is_imported,
                    "hints": _hints(hints),
                }
            }
        case Part(wholes):
            return {"part": [_source(whole, device) for whole in wholes]}
        case Script(file, row, own_mode, meeting):
            return {"script": {"file": os.fspath(file), "row": row, "own_mode": own_mode, "meeting": meeting}}


def _hints(hints: Mapping[str, tuple[Spec, ...]]) -> dict[str, Any]:
    return {name: [encode(spec) for spec in specs] for name, specs in hints.items()}


class Record:
    """What the events of one job say, as they come in."""

    def __init__(self, target: Target, mode: Mode, device: Device) -> None:
        self.stage: Stage = "start"
        """What the worker is at."""
        self._of = (target.name, device)
        self._mode = mode
        self._probe = ""
        self._kind: Kind = "example"
        self._failures: list[Failure] = []
        self._comparisons: list[Comparison] = []
        self._lines: Mapping[str, Sequence[int]] = {}
        self._files: Mapping[str, str] = {}
        self._versions: Mapping[str, str] = {}
        self._inputs: tuple[str, ...] = ()
        self._model: ModelClass | None = None
        self._call: Frame | None = None
        self._again = False
        self._deleted: list[str] = []

    def take(self, event: Mapping[str, Any]) -> None:
        """Add what an event says. What it says that this version does not know is left out."""
        self.stage = event.get("stage", self.stage)
        self._mode = event.get("mode", self._mode)
        self._probe = event.get("probe", self._probe)
        self._kind = event.get("kind", self._kind)
        self._versions = event.get("versions", self._versions)
        self._inputs = tuple(event.get("inputs", self._inputs))
        if event.get("model"):
            self._model = ModelClass(**event["model"])
        self._lines = event.get("lines", self._lines)
        self._files = event.get("files", self._files)
        if deleted := event.get("deleted"):
            self._deleted.append(deleted)
        self._again = event.get("again", self._again)
        if call := event.get("call"):
            self._call = Frame(**call)
        if failure := event.get("failure"):
            frames = tuple(Frame(**frame) for frame in failure["frames"])
            self._failures.append(Failure(**{**failure, "frames": frames, "hints": tuple(failure["hints"])}))
        if comparison := event.get("comparison"):
            self._comparisons.append(Comparison(**comparison))

    def run(self, end: End, seconds: float, output: str) -> Run:
        """The outcome of the job, after the process ended as told. `output` is what it printed."""
        name, device = self._of
        verdict, reason = self._verdict(end)
        return Run(
            target=name,
            mode=self._mode,
            device=device,
            verdict=verdict,
            reason=reason,
            failures=tuple(self._failures),
            comparisons=(*self._comparisons, *self._cut_short(end)),
            lines={file: tuple(rows) for file, rows in self._lines.items()},
            files=dict(self._files),
            inputs=self._inputs,
            model=self._model,
            versions=dict(self._versions),
            seconds=seconds,
            output=output,
            call=self._call,
            again=self._again,
            deleted=tuple(self._deleted),
        )

    def _cut_short(self, end: End) -> list[Comparison]:
        """The comparison that did not come to its end. Without it, its kind would seem to be compared in full."""
        if self.stage != "compare":
            return []
        agreement: Agreement = "diverges" if self._is_ended_by_program(end) else "skipped"
        return [Comparison(self._kind, self._probe.partition(", ")[2], agreement, self._unfinished(end)[1])]

    def _is_ended_by_program(self, end: End) -> bool:
        """Whether the program crashed where the model did not.

        Memory may run out for other reasons, and what torch cannot write into a file is a program nevertheless.
        """
        is_other = end.how not in ("crashed", "finished") or self._kind == "reloaded"
        return self._probe.startswith("the program") and not is_other

    def _verdict(self, end: End) -> tuple[Verdict, str]:
        failures = [failure for failure in self._failures if not failure.further]
        if failures:
            where = "" if failures[0].stage == "export" else f"{failures[0].stage}: "
            summary = _summary(failures[0])
            if failures[0].stage not in _EARLY:
                return "fails", summary
            frames = failures[0].frames if failures[0].stage != "inputs" else ()
            at = f" (line {frames[-1].row} of {Path(frames[-1].file).name})" if frames else ""
            return "cannot be built", f"{where}{summary}{at}"
        for agreement in _DISAGREEMENTS:
            seen = [c for c in self._comparisons if c.agreement == agreement]
            if seen:
                return agreement, _describe(seen[0])
        if end.how == "finished" and self.stage == "done":
            if any(c.agreement == "agrees" and c.kind in _OF_RESULTS for c in self._comparisons):
                return "exports", ""
            return "not compared", _describe(self._comparisons[0]) if self._comparisons else "nothing could be compared"
        return self._unfinished(end)

    def _unfinished(self, end: End) -> tuple[Verdict, str]:
        """The verdict on what did not get to its end, and was all right until then."""
        how = "ended by itself" if end.how == "finished" else end.how
        detail = f" ({end.detail})" if end.detail else ""
        during = f" of {self._probe}" if self.stage == "compare" and self._probe else ""
        reason = f"{how} during {self.stage}{during}{detail}"
        if end.how in ("timed out", "cancelled"):
            return "times out", reason
        if self.stage in _EARLY:
            return "cannot be built", reason
        if self.stage == "compare" and self._probe:
            return ("diverges" if self._is_ended_by_program(end) else "not compared"), reason
        return "fails", reason


def _summary(failure: Failure) -> str:
    """The first line of what was raised, with its type; a line that ends with a colon goes on in the next one."""
    first, *others = in_short(failure.message.strip()).splitlines() or [""]
    if first.endswith(":") and others:
        first = f"{first} {others[0].strip()}"
    return f"{failure.type}: {first}" if first else failure.type


def _describe(comparison: Comparison) -> str:
    label = comparison.label if comparison.label == comparison.kind else f"{comparison.kind}, {comparison.label}"
    return f"{label}: {comparison.detail}".split("\n", 1)[0]
