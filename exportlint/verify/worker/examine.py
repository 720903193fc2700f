"""Builds the model of a job, exports it, and compares the program with it."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import sys
import time
from collections.abc import Mapping
from typing import Any

from .blame import frames_in_graph, frames_of_data, frames_of_line, frames_of_output
from .calls import Outcome, call, copied, seed
from .comparing import Comparer
from .drafts import further_failures
from .failures import failure, suggest_checks
from .frames import is_of_project, same_places, user_frames
from .global_tensors import GlobalTensors
from .lazily import torch
from .models import LARGE, Subject
from .no_program import refuse_given
from .pristine import keep
from .rows import imported_files, rows_that_run
from .script import ExportCall, run_script
from .sources import find_source
from .texts import short, text_of, with_article
from .trials import compare_outcomes, note_outcomes, noted_example, see_instead
from .varying import Varying, dynamic_shapes, leaves_of, varying_of, zipped
from .words import Emit, Example, Job
from .worlds import Reads, environment_reads
from .writes import files_written


def examine(job: Job, emit: Emit) -> None:
    """Build the model of a job, export it, and compare the program with it."""
    keep()
    steps = _Steps(job, emit)
    try:
        steps.run()
    except BaseException as error:  # whatever users raise, SystemExit as well
        frames = user_frames(error, job["root"], strict=False)
        emit({"failure": failure(error, steps.stage, frames)})
    emit({"files": imported_files(job["root"], _script(job))})
    emit({"stage": "done"})


_FOR_ALL = 0.8
"""The part of a job's time after which nothing more is compared: a verdict is worth more than all comparisons."""


_QUICK = 1.0
"""Seconds of one processor for a call: for less, what several threads spend is mostly waiting for each other."""


_FIXED = "torch.export does not support dynamic sizes if `forward` takes arguments by `**`"


def _script(job: Job) -> str | None:
    return job["inputs"]["script"]["file"] if "script" in job["inputs"] else None


class _Steps:
    """What is done one after the other. What raises is the end of it."""

    def __init__(self, job: Job, emit: Emit) -> None:
        self.stage = "start"
        self._rows: Mapping[str, set[int]] = {}
        self._job = job
        self._emit = emit
        self._strict = job["mode"] == "strict"
        self._until = time.monotonic() + _FOR_ALL * job["timeout"]

    def _enter(self, stage: str) -> None:
        self.stage = stage
        self._emit({"stage": stage})

    def run(self) -> None:
        job, emit = self._job, self._emit
        trial = job.get("trial")
        if trial:
            see_instead(trial["texts"])
        emit({"versions": versions()})
        self._enter("import")
        for path in reversed(job["paths"]):
            if path not in sys.path:
                sys.path.insert(0, path)
        if "script" in job["inputs"]:
            run_script(job, self._examine_call)
            return
        # Fixed code is called with what the original was called with, and not with what suits it.
        is_found = not {"written", "called", "convention"}.intersection(job["inputs"])
        known = noted_example(trial["outcomes"]) if trial and trial["texts"] and is_found else None
        self._examine(*find_source(job, self._enter, known))

    def _examine_call(self, call: ExportCall) -> None:
        """Do as a call of torch.export in a script says, also in which mode."""
        if self._job["inputs"]["script"]["own_mode"]:
            self._strict = call.strict
            self._emit({"mode": "strict" if call.strict else "non-strict"})
        self._emit({"call": call.place, "again": call.again})
        call.refuse_stand_ins()
        self._enter("inputs")
        try:
            subject, example = call.taken_apart(self._job["device"])
            varying_of(subject.model, example, ())
        except Exception as error:
            self._enter("export")
            try:
                call.make()
            except BaseException as refusal:
                self._emit({"failure": failure(refusal, "export", [])})
                return
            self.stage = "inputs"  # torch makes something of it
            raise error
        self._examine(subject, example)

    def _examine(self, subject: Subject, example: Example) -> None:
        job, emit, trial = self._job, self._emit, self._job.get("trial")
        varying = varying_of(subject.model, example, job["varying"])
        if any(varying.leaves) and _gives_var_keywords(example, varying) and not _is_users_choice(example, job):
            # Whatever `dynamic_shapes` says then, torch.export raises an AssertionError.
            example = dataclasses.replace(example, dynamic={}, sizes={}, remake=None)
            varying = varying_of(subject.model, example, ())
            told = {"kind": "size", "label": "other sizes", "agreement": "skipped", "detail": _FIXED}
            emit({"comparison": {**told, "difference": None}})
        emit({"inputs": described(example, varying), "model": class_of(subject.model)})
        self._enter("eager")
        inputs = (example.arguments, dict(example.keywords))
        root = job["root"]
        subject.initialize(inputs)
        subject.globals = GlobalTensors(root, LARGE)
        with (
            files_written(root) as written,
            environment_reads(root) as variables,
            rows_that_run(lambda file: is_of_project(file, root)) as rows,
        ):
            model = subject.fresh()
            began = time.thread_time()
            outcome = call(model, inputs, 0)
        if (time.thread_time() - began) * torch.get_num_threads() < _QUICK:
            torch.set_num_threads(1)
        subject.share(model)
        del model
        self._rows = rows
        emit({"lines": {file: sorted(found) for file, found in rows.items()}})
        emit({"files": imported_files(job["root"], _script(job))})
        if outcome.error is not None and not outcome.is_refused_by_dynamo:  # which refuses it in export as well
            raise outcome.error
        refuse_given(outcome.value)
        refused, outcome = outcome.error, Outcome()
        if trial and trial["texts"]:
            agreement, detail = compare_outcomes(trial["outcomes"], subject, job["tolerance"])
            told = {"kind": "original", "label": "original", "agreement": agreement, "detail": detail}
            emit({"comparison": {**told, "difference": None}})
        elif trial:
            note_outcomes(trial["outcomes"], subject, example, varying)
        self._enter("export")
        program = self._export(subject, example, varying)
        if refused is not None and program is not None:
            self.stage = "eager"
            raise refused
        if program is not None:
            self._enter("compare")
            if written:
                detail = (
                    f"the model writes {', '.join(written[:3])}{' ...' if written[3:] else ''}, the program does not"
                )
                told = {"kind": "state", "label": "files", "agreement": "skipped", "detail": detail}
                emit({"comparison": {**told, "difference": None}})
            reads = Reads(rows, root, variables)
            Comparer(job, subject, program, example, varying, reads, emit, self._until).run()

    def _export(self, subject: Subject, example: Example, varying: Varying) -> Any:
        """The program, or None after telling why there is none."""
        strict = self._strict
        shapes = dynamic_shapes(example, varying, self._job["dynamic"])
        if "script" in self._job["inputs"] and not hasattr(example.dynamic, "dynamic_shapes"):
            shapes = example.dynamic  # as the script has it, to the letter

        def export(function: Any) -> Any:
            torch._dynamo.reset()
            arguments, keywords = copied((example.arguments, dict(example.keywords)))
            options = {"strict": strict} if "strict" in inspect.signature(function).parameters else {}
            model = subject.released()
            seed(0)  # as in eager: with other random numbers, the model may raise by itself
            made = function(model, arguments, keywords, dynamic_shapes=shapes, **options)
            if not isinstance(made, torch.export.ExportedProgram):
                name = getattr(function, "__name__", "export")
                raise TypeError(f"torch.export.{name} gives {with_article(made)}, not an ExportedProgram")
            return made

        try:
            return export(torch.export.export)
        except BaseException as error:
            first = error
        root = self._job["root"]
        frames = user_frames(first, root, strict) or frames_in_graph(first, root)
        if not frames and "fake tensor" in text_of(first):
            frames = frames_of_data(lambda: export(torch.export.export), root)
            frames = frames or frames_of_line(r"\.data\b", subject.model, self._rows)
        if not frames and "output" in text_of(first):
            frames = frames_of_line(r"^\s*return\b", subject.model, self._rows)
            inputs = (example.arguments, dict(example.keywords))
            made = frames_of_output(lambda: call(subject.fresh(), inputs, 0).value, root)
            frames = [{**frame, "lowest": False} for frame in made] + frames if frames else made
        suggest_checks(first, root)
        self._emit({"failure": failure(first, "export", frames)})
        if isinstance(first, Exception) and not isinstance(first, MemoryError) and not self._job.get("trial"):
            with contextlib.suppress(Exception):  # of drafts, which are nobody's promise
                for found in further_failures(export, root, strict):
                    if not frames or not same_places(found["frames"][-1:], frames[-1:]):
                        self._emit({"failure": found})
        return None


def _gives_var_keywords(example: Example, varying: Varying) -> bool:
    """Whether a call gives arguments that the signature names together, as `**keywords`."""
    given = varying.signature.bind(*example.arguments, **example.keywords).arguments
    return any(p.kind == p.VAR_KEYWORD and given.get(name) for name, p in varying.signature.parameters.items())


def _is_users_choice(example: Example, job: Job) -> bool:
    """Whether the user says which sizes vary."""
    return "script" in job["inputs"] or (bool(example.dynamic) and bool({"written", "called"} & job["inputs"].keys()))


def versions() -> dict[str, str]:
    """What the results depend on."""
    found = {"python": sys.version.split()[0], "torch": str(torch.__version__)}
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        found["numpy"] = str(numpy.__version__)
    if torch.cuda.is_available():
        found["cuda"], found["gpu"] = str(torch.version.cuda), torch.cuda.get_device_name()
    return found


def class_of(model: object) -> dict[str, str] | None:
    """The class of a model and its file; None if it comes from no file."""
    cls = type(model)
    with contextlib.suppress(TypeError, OSError):
        return {"file": inspect.getfile(cls), "name": cls.__qualname__}
    return None


def described(example: Example, varying: Varying) -> list[str]:
    """The example as one would write it down: `x: float32[batch=2, 3]`."""
    arguments = varying.signature.bind(*example.arguments, **example.keywords).arguments
    found = []
    for (leaf, path), sized in zipped(leaves_of(arguments), varying.leaves):
        if isinstance(leaf, torch.Tensor):
            sizes = [f"{sized[i].key}={n}" if i in sized else str(n) for i, n in enumerate(leaf.shape)]
            found.append(f"{path}: {str(leaf.dtype)[len('torch.') :]}[{', '.join(sizes)}]")
        else:
            found.append(f"{path}: {short(leaf)}")
    return found
