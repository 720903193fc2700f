"""Compares a program with its model, in one respect after the other."""

from __future__ import annotations

import contextlib
import copy
import functools
import importlib
import io
import itertools
import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from .answers import Asked
from .aside import Aside
from .calls import Outcome, call
from .counters import counters
from .devices import baked_devices, has_module
from .differences import difference, says_nothing
from .global_tensors import GlobalTensors
from .guards import guarded_numbers, refused_sizes
from .inputs import as_inputs, to_device
from .lazily import pytree, torch
from .logs import errors_logged
from .memory import defined_numbers, filled, takes_memory
from .models import LARGE, Subject
from .modules import load
from .settled import digest_of, is_settled
from .slopes import gradient_difference, gradients
from .system import memory_limit
from .texts import first_line, is_of_memory, is_refusal, text_of
from .values import changed_apart, changed_constants, changed_values, shared_in, with_shared
from .varying import Varying, beyond, far_sizes, other_sizes, with_sizes
from .words import Emit, Example, Inputs, Job
from .worlds import Reads, worlds

_WRONG = "the program itself does not agree"

_NO_TIME = 2.0
"""Seconds that a call may take which few models need, if all of what a small one takes grew with the size."""


_MOST_CALLS, _LATE = 256, 0.5
"""How many calls are made of a model that counts them, and the seconds that they may take."""


class _NoTimeError(Exception):
    """What is left of the time of the job is not enough to call model and program once more."""


class Comparer:
    """Compares the model with its program in one respect after the other, and tells of each.

    What would take it beyond `until`, a time of `time.monotonic`, is skipped, but for the example.
    """

    def __init__(
        self,
        job: Job,
        subject: Subject,
        program: Any,
        example: Example,
        varying: Varying,
        reads: Reads,
        emit: Emit,
        until: float = math.inf,
    ) -> None:
        self._job = job
        self._until = until
        self._deadline = math.inf
        self._longest, self._shortest = 0.0, math.inf
        self._is_wrong = False
        self._kind = "example"
        self._kept: set[str] = set()
        self._memory: Callable[[], AbstractContextManager[Any]] = contextlib.nullcontext
        self._undefined = ""
        """Why agreeing tells nothing: all that is returned is what memory held."""
        self._subject = subject
        self._program = program
        self._module = program.module()
        self._exported_globals = GlobalTensors(job["root"], LARGE)
        self._example = example
        self._varying = varying
        self._reads = reads
        self._emit = emit
        self._numbers = itertools.count(1)
        self._directly = 0, Outcome(error=LookupError("it was not called")), Outcome()
        """The seed of the calls with the example, and what the model and the program did."""
        self._inputs: Inputs = (example.arguments, dict(example.keywords))

    def run(self) -> None:
        """All of it. Nothing that goes wrong in one respect keeps the others from being looked at."""
        self._step("example", self._look_at_memory)
        self._step("example", self._compare_example)
        self._deadline = self._until
        self._step("identity", self._compare_apart)
        self._step("again", self._compare_again)
        if self._job.get("trial"):  # what else becomes of the program is nothing for fixes
            self._compare_inputs()
            return
        derived = self._job.get("derived", True)
        digest = digest_of(self._program) if derived else None
        settled = is_settled(self._job.get("settled"), digest)
        # Of what is wrong already, nothing that is made shows more. It takes longer than all the rest.
        without = settled or self._is_wrong or not derived
        finish = None if without else self._aside("decomposed", self._compare_decomposed)
        # A model may do anything where a global of its module is another one: also end its process.
        finish_worlds = self._aside("environment", self._compare_worlds, here=False)
        self._compare_inputs()
        self._step("argument", self._compare_constants)
        if not derived:
            pass
        elif settled or self._is_wrong:
            agreement = "agrees" if settled and not self._is_wrong else "skipped"
            detail = "as an equal program does" if settled and not self._is_wrong else _WRONG
            self._tell("reloaded", "save and load", agreement, detail)
        else:
            self._step("reloaded", self._compare_reloaded)
        self._step("device", self._compare_device)
        finish_worlds()
        if finish is not None:
            finish()
        elif derived:
            agreement, detail = ("agrees", "as an equal program does") if settled else ("skipped", _WRONG)
            self._tell("decomposed", "run_decompositions", agreement, detail)
        if digest and self._kept == {"decomposed", "reloaded"}:
            self._emit({"settled": digest})

    def _compare_inputs(self) -> None:
        self._step("values", self._compare_values)
        self._step("values", self._compare_others)
        self._step("size", self._compare_sizes)
        self._step("gradients", self._compare_gradients)

    def _aside(self, kind: str, compare: Callable[[], None], *, here: bool = True) -> Callable[[], None]:
        """Begin to compare in a process of its own. What is returned finishes that, if need be and if possible here."""

        def begin(emit: Emit) -> None:
            self._emit, self._deadline = emit, self._until
            self._step(kind, compare)

        def finish() -> None:
            events = running.events(self._until) if running else None
            if events is None and (here or running is None):
                self._step(kind, compare)
            elif events is None:
                self._tell(kind, kind, "skipped", "its process ended before the end")
            for event in events or ():
                self._emit(event)
                compared = event.get("comparison", {})
                self._note(compared.get("kind"), compared.get("agreement"))

        is_aside = self._job["device"] == "cpu" and Aside.is_possible() and (not here or Aside.is_faster())
        running = Aside(begin) if is_aside else None
        return finish

    def _step(self, kind: str, compare: Callable[[], None]) -> None:
        self._kind = kind
        try:
            compare()
        except _NoTimeError:
            self._tell(kind, kind, "skipped", "no time is left for it")
        except Exception as error:
            self._tell(kind, kind, "skipped", f"{type(error).__name__}: {first_line(text_of(error))}")

    def _tell(self, kind: str, label: str, agreement: str, detail: str = "", difference: float | None = None) -> None:
        event = {"kind": kind, "label": label, "agreement": agreement, "detail": detail, "difference": difference}
        self._emit({"comparison": event})
        self._note(kind, agreement)

    def _note(self, kind: Any, agreement: Any) -> None:
        self._is_wrong = self._is_wrong or (agreement == "diverges" and kind in ("example", "again", "values"))
        if agreement == "agrees" and kind in ("decomposed", "reloaded"):
            self._kept.add(kind)

    def _fresh_program(self) -> Any:
        self._exported_globals.restore()  # of which the program holds the tensors
        return _apart(self._program, self._module, bool(self._subject.shared))

    def _probe(self, what: str) -> None:
        """Say what comes next, which may be the last that is heard."""
        self._emit({"probe": what, "kind": self._kind})

    def _observe(self, label: str, module: Any, who: str, inputs: Inputs, number: int, keep_state: bool) -> Outcome:
        start = time.monotonic()
        if start + self._longest > self._deadline:
            raise _NoTimeError
        self._probe(f"{who}, {label}")
        outcome = self._called(module, inputs, number, keep_state)
        seconds = time.monotonic() - start
        self._longest, self._shortest = max(self._longest, 2 * seconds), min(self._shortest, seconds)
        return outcome

    def _called(self, module: Any, inputs: Inputs, number: int, keep_state: bool = False) -> Outcome:
        with self._memory():
            return call(module, inputs, number, keep_state)

    def _both(self, kind: str, label: str, inputs: Inputs, state: bool = False) -> tuple[int, Outcome, Outcome]:
        """Call both with the same, and tell how they agree; with `state`, also what they leave behind."""
        number = next(self._numbers)
        one = self._observe(label, self._subject.fresh(), "eager", inputs, number, state)
        other = self._observe(label, self._fresh_program(), "the program", inputs, number, state)
        self._judge(kind, label, one, other, lambda: self._repeated(inputs, number))
        if state and one.error is None and other.error is None:
            self._tell_state(label, one, other)
        return number, one, other

    def _repeated(self, inputs: Inputs, number: int) -> bool:
        """Whether both give other results each time that they are called, so that none can be compared."""
        for make in (self._subject.fresh, self._fresh_program):
            one, other = self._called(make(), inputs, number), self._called(make(), inputs, number)
            if difference(one.value, other.value, self._job["tolerance"]) is None:
                return False
        return True

    def _judge(
        self, kind: str, label: str, one: Outcome, other: Outcome, both_vary: Callable[[], bool] = lambda: False
    ) -> None:
        if is_of_memory(one.error) or is_of_memory(other.error):
            limit = f"; {memory_limit[0]}" if memory_limit else ""
            self._tell(kind, label, "skipped", f"there is not enough memory for it{limit}")
            return
        if one.error is not None:
            kind = "refused" if kind == "values" else kind
            if other.error is not None:
                self._tell(kind, label, "agrees", f"both raise; eager {one.raised}")
            else:
                self._tell(kind, label, "diverges", f"eager raises {one.raised}, and the program does not")
            return
        if other.error is not None:
            agreement = "narrower" if is_refusal(other.error) else "diverges"
            self._tell(kind, label, agreement, f"the program raises {other.raised}")
            return
        found, tolerated = self._difference(one.value, other.value)
        if found is None:
            self._tell(kind, label, *self._agreement([one]), tolerated or None)
        elif both_vary():
            self._tell(kind, label, "skipped", "the model and the program return different results on each call")
        else:
            self._tell(kind, label, "diverges", *found)

    def _agreement(self, seen: Sequence[Outcome]) -> tuple[str, str]:
        """What to tell of calls that agree, with a detail: they do, unless nothing could have differed."""
        nothing = ["" if one.changes else self._undefined or says_nothing(one.value) for one in seen]
        return ("skipped", nothing[0]) if nothing and all(nothing) else ("agrees", "")

    def _difference(self, one: Any, other: Any) -> tuple[tuple[str, float | None] | None, float]:
        """How values differ, and by how much those differ that agree within the tolerance."""
        exact = difference(one, other, 0.0)
        found = exact and difference(one, other, self._job["tolerance"])
        return found, 0.0 if found or not exact else exact[1] or 0.0

    def _tell_state(self, label: str, one: Outcome, other: Outcome) -> None:
        largest = 0.0
        known = {one.names.get(name) for name in other.state}  # strict mode keeps one name of what has several
        lost = (name for name in one.written - other.state.keys() if one.names.get(name) not in known)
        for name in (*(one.state.keys() & other.state.keys()), *lost):
            if name not in other.state:
                self._tell("state", label, "diverges", f"{name} is written by eager, and the program has no such state")
                return
            found, tolerated = self._difference(one.state[name], other.state[name])
            if found:
                self._tell("state", label, "diverges", f"{name}: {found[0]}", found[1])
                return
            largest = max(largest, tolerated)
        found, tolerated = self._difference(one.inputs, other.inputs)
        if found:
            self._tell("state", label, "diverges", f"the inputs as the call leaves them: {found[0]}", found[1])
            return
        self._tell("state", label, "agrees", difference=max(largest, tolerated) or None)

    def _look_at_memory(self) -> None:
        """Have memory that a model leaves as it is be the same for the model and the program, if it shows."""
        if not takes_memory(self._program, self._reads.names):
            return
        seen = []
        for number in (0, 1):
            with filled(number):
                seen.append(call(self._subject.fresh(), self._inputs, 0))
        torch._dynamo.reset()  # what it keeps of operators such as `torch.cond` does not run outside of that
        one, other = seen
        if one.error is not None or other.is_refused_by_dynamo:  # which `torch.cond` uses also in eager
            return
        if other.error is None and difference(one.value, other.value, 0.0) is None:
            return
        self._memory = functools.partial(filled, 0)
        same, every = (0, 0) if other.error else defined_numbers(one.value, other.value)
        which = f"{every - same} of {every} numbers are" if same else "all that eager returns is"
        why = f"{which} memory that nothing was written to, as that of `torch.empty`"
        if same:
            self._tell("example", "memory", "skipped", why)
        else:
            self._undefined = why

    def _compare_example(self) -> None:
        number, one, other = self._both("example", "example", self._inputs, state=True)
        self._directly = number, one.detached(), other.detached()

    def _compare_apart(self) -> None:
        """Call both with other numbers in each of the inputs that are one tensor in the example."""
        bound = self._varying.signature.bind(*self._example.arguments, **self._example.keywords)
        shared = shared_in(bound.arguments)
        inputs = changed_apart(self._example, next(self._numbers)) if shared else None
        if inputs is None:
            return
        label, number = "separate inputs", next(self._numbers)
        one = self._observe(label, self._subject.fresh(), "eager", inputs, number, keep_state=False)
        other = self._observe(label, self._fresh_program(), "the program", inputs, number, keep_state=False)
        found = None if one.error or other.error else self._difference(one.value, other.value)[0]
        if found is None or self._repeated(inputs, number):
            self._judge("identity", label, one, other, lambda: True)
            return
        names = "; ".join(" and ".join((", ".join(paths[:-1]), paths[-1])) for paths in shared)
        why = f"the example passes one tensor as {names}, and the program takes these for one input"
        self._tell("identity", label, "diverges", f"{why}: {found[0]}", found[1])

    def _compare_again(self) -> None:
        """Call the same two objects once more, with other numbers where there are any."""
        model, program = self._subject.fresh(), self._fresh_program()
        others = [made for _, made in changed_values(self._example, next(self._numbers))]
        calls = [self._inputs, others[0] if others else self._inputs, self._inputs]
        largest, seen = 0.0, []
        before = counters(model, self._reads.modules)
        for inputs in calls:
            number = next(self._numbers)
            one = self._observe("a later call", model, "eager", inputs, number, keep_state=True)
            other = self._observe("a later call", program, "the program", inputs, number, keep_state=True)
            if one.error is not None and other.error is not None:
                break
            found, tolerated = self._difference(one.value, other.value)
            if found is not None or one.error or other.error:
                vary = functools.partial(self._repeated, self._inputs, number)
                self._judge("again", "a later call", one, other, vary)
                return
            largest = max(largest, tolerated)
            seen.append(one.detached())
        if one.error is None:
            self._tell_state("after several calls", one, other)
        self._tell("again", "a later call", *self._agreement(seen), largest or None)
        if one.error is None and counters(model, self._reads.modules) != before:
            self._compare_late(model, program, len(calls))

    def _compare_late(self, model: Any, program: Any, done: int) -> None:
        """Call both on, as often as numbers in the code of a model that counts may tell of."""
        named = [number for number in self._reads.numbers if number >= done]
        last, until = named[-1] + 2 if named else 0, time.monotonic() + _LATE
        for count in range(done + 1, last + 1):
            label, number = f"call {count}", next(self._numbers)
            if count > _MOST_CALLS or time.monotonic() > until:
                why = f"the model counts, its code names {last - 2}, and so many calls take too long"
                self._tell("again", f"call {last - 1}", "skipped", why)
                return
            one = self._observe(label, model, "eager", self._inputs, number, keep_state=False)
            other = self._observe(label, program, "the program", self._inputs, number, keep_state=False)
            if one.error is not None and other.error is not None:
                return
            if one.error or other.error or self._difference(one.value, other.value)[0]:
                self._judge("again", label, one, other, functools.partial(self._repeated, self._inputs, number))
                return

    def _compare_values(self) -> None:
        refused = False
        for label, inputs in changed_values(self._example, next(self._numbers)):
            number = next(self._numbers)
            one = self._observe(label, self._subject.fresh(), "eager", inputs, number, keep_state=False)
            refused |= one.error is not None
            if label == "NaN" and one.error is None:
                continue  # both give no numbers, of which nothing can be said
            other = self._observe(label, self._fresh_program(), "the program", inputs, number, keep_state=False)
            self._judge("values", label, one, other, functools.partial(self._repeated, inputs, number))
        if not refused:
            self._tell("refused", "refused inputs", "skipped", "eager accepts all inputs that were tried")

    def _compare_constants(self) -> None:
        """Call both with other flags, strings and numbers than those of the example, which programs mostly refuse."""
        for label, inputs in changed_constants(self._example, self._reads.texts):
            number = next(self._numbers)
            one = self._observe(label, self._subject.fresh(), "eager", inputs, number, keep_state=False)
            if one.error is not None:
                continue
            other = self._observe(label, self._fresh_program(), "the program", inputs, number, keep_state=False)
            if other.error is not None and is_refusal(other.error):
                self._tell("argument", label, "baked", f"the program raises {other.raised}")
            else:
                self._judge("argument", label, one, other, functools.partial(self._repeated, inputs, number))

    def _compare_worlds(self) -> None:
        """Call both where what they read besides their inputs is otherwise."""
        number, one, direct = self._directly
        if one.error or direct.error or difference(one.value, direct.value, self._job["tolerance"]) is not None:
            return
        for world in worlds(self._subject.model, self._reads, self._asked()):
            inputs = self._inputs if world.shares is None else with_shared(self._inputs, share=world.shares)
            if inputs is None:
                continue
            model, program = self._subject.fresh(), self._fresh_program()
            with world.enter(model):
                one = self._observe(world.label, model, "eager", inputs, number + world.seed, keep_state=False)
            if one.error is not None:
                continue
            with world.enter(program):
                other = self._observe(
                    world.label, program, "the program", inputs, number + world.seed, keep_state=False
                )
            found = None if other.error else difference(one.value, other.value, self._job["tolerance"])
            if world.is_claimed or (other.error is None and found is None):
                self._judge(world.kind, world.label, one, other)
            else:
                self._tell(world.kind, world.label, "baked", *(found or (f"the program raises {other.raised}",)))

    def _asked(self) -> Asked:
        """What the model asks of the process and the machine."""
        asked = Asked()
        model = self._subject.fresh()
        if self._reads.questions.may_be_asked(model):
            with self._reads.questions.listening(model) as asked:
                call(model, self._inputs, 0)
        return asked

    def _compare_others(self) -> None:
        if not self._job["others"]:
            return
        for i, given in enumerate(load(self._job["others"])()):
            inputs = to_device(as_inputs(given), self._job["device"])
            if self._are_of_other_sizes(inputs):
                self._tell("values", f"others[{i}]", "skipped", "it has other sizes, in dimensions that do not vary")
            else:
                self._both("values", f"others[{i}]", inputs, state=True)

    def _are_of_other_sizes(self, inputs: Inputs) -> bool:
        """Whether inputs have other sizes than the example, in dimensions that do not vary."""
        try:
            arguments = self._varying.signature.bind(*inputs[0], **inputs[1]).arguments
        except TypeError:
            return False
        example = self._varying.signature.bind(*self._example.arguments, **self._example.keywords).arguments
        ours, structure = pytree.tree_flatten(dict(example))
        theirs, other = pytree.tree_flatten(dict(arguments))
        if structure != other:
            return False
        for a, b, sized in zip(ours, theirs, self._varying.leaves):  # noqa: B905
            if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
                continue
            if a.dim() != b.dim() or any(a.size(i) != b.size(i) for i in range(a.dim()) if i not in sized):
                return True
        return False

    def _compare_sizes(self) -> None:
        bounds = beyond(self._program)
        others = other_sizes(self._varying, bounds, self._telling_sizes())
        refused = refused_sizes(self._program, self._example, self._varying)
        tried: list[dict[str, int]] = []
        for label, sizes in itertools.chain(others, refused, self._far_sizes(bounds)):
            if sizes in tried:
                continue
            tried.append(sizes)
            try:
                inputs = with_sizes(self._example, self._varying, sizes, 1)
            except (ValueError, RuntimeError, LookupError) as error:
                self._tell("size", label, "skipped", first_line(text_of(error)))
            else:
                self._both("size", label, inputs)

    def _far_sizes(self, bounds: list[int]) -> Iterator[tuple[str, dict[str, int]]]:
        """The sizes far from the example where the bounds of the program end, as far as a call will take no time."""
        for name, size in far_sizes(self._varying, bounds):
            times = size / self._varying.sizes[name]
            if self._varying.is_affordable(name, size) and self._shortest * times < _NO_TIME:
                yield f"{name} = {size}", {**self._varying.sizes, name: size}
            else:
                why = "the program's bounds end here, and this size is too large to try"
                self._tell("size", f"{name} = {size}", "skipped", why)

    def _telling_sizes(self) -> list[int]:
        """The sizes that guards of the program and the code of the model name: there something may change."""
        return [*guarded_numbers(self._program, self._module), *self._reads.numbers]

    def _compare_gradients(self) -> None:
        if not self._job["gradients"]:
            return
        number = next(self._numbers)
        for label, of_inputs in (("of the parameters", False), ("of inputs and parameters", True)):
            self._probe(f"eager, gradients {label}")
            with self._memory():
                one = gradients(self._subject.fresh(), self._inputs, number, of_inputs)
            self._probe(f"the program, gradients {label}")
            with self._memory():
                other = gradients(self._fresh_program(), self._inputs, number, of_inputs)
            if one.error is not None or other.error is not None:
                self._judge("gradients", label, one, other)
            elif found := gradient_difference(one.value, other.value, self._job["tolerance"]):
                self._tell("gradients", label, "diverges", *found)
            else:
                self._tell("gradients", label, "agrees")

    def _variant(self, kind: str, label: str, make: Callable[[], Any]) -> None:
        """Compare what becomes of the program with the model, on the example."""
        number, one, direct = self._directly
        if one.error or direct.error or difference(one.value, direct.value, self._job["tolerance"]) is not None:
            self._tell(kind, label, "skipped", _WRONG)  # torch may even crash on it
            return
        self._probe(f"the program, {label}")
        self._exported_globals.restore()
        try:
            program = make()
            module = _apart(program, program.module(), bool(self._subject.shared))
        except Exception as error:
            # What torch cannot write into a file, or read, is a program nevertheless.
            agreement = "skipped" if kind == "reloaded" else "diverges"
            self._tell(kind, label, agreement, f"it raises {type(error).__name__}: {first_line(text_of(error))}")
            return
        with torch.no_grad():  # what switched gradients off is gone from a program that is decomposed
            other = self._observe(label, module, "the program", self._inputs, number, keep_state=False)
        self._judge(kind, label, one, other, lambda: self._is_random(number))

    def _is_random(self, number: int) -> bool:
        """Whether the program draws random numbers, which may come in another order."""
        one, other = (self._called(self._fresh_program(), self._inputs, n) for n in (number, number + 1000))
        return difference(one.value, other.value, self._job["tolerance"]) is not None

    def _compare_decomposed(self) -> None:
        self._variant("decomposed", "run_decompositions", self._program.run_decompositions)

    def _compare_reloaded(self) -> None:
        def make() -> Any:
            buffer = io.BytesIO()
            torch.export.save(self._program, buffer)
            buffer.seek(0)
            with errors_logged("torch.export") as logged:
                try:
                    return torch.export.load(buffer)
                except Exception as error:
                    raise (logged or [error])[-1] from None  # torch says no more than that it has logged the reason

        self._variant("reloaded", "save and load", make)

    def _compare_device(self) -> None:
        passes = importlib.import_module("torch.export.passes") if has_module("torch.export.passes") else None
        baked = baked_devices(self._program)
        here = torch.device(self._job["device"]).type
        where = f"the program holds {'; '.join(baked[:3])}{' and more' if len(baked) > 3 else ''}" if baked else ""
        there = "cpu" if here != "cpu" else "cuda" if torch.cuda.is_available() else "meta"
        if passes is None:
            why = "this torch cannot move programs"
            self._tell("device", "another device", "skipped", f"{why}; {where}" if where else why)
            return
        if there == "meta" and not baked:  # where only what names a device shows: there are no numbers
            self._tell("device", there, "agrees", "the program names no device")
            return
        inputs = to_device(self._inputs, there)
        number = next(self._numbers)
        one = self._observe(there, self._subject.fresh().to(there), "eager", inputs, number, keep_state=False)
        if one.error is not None:
            self._tell("device", there, "skipped", f"eager does not run there: {one.raised}")
            return
        moved = passes.move_to_device_pass(copy.deepcopy(self._program), there).module()
        other = self._observe(there, moved, "the program", inputs, number, keep_state=False)
        if there == "meta" and other.error is not None and "device" not in text_of(other.error):
            self._tell("device", there, "skipped", f"the program does not run there: {other.raised}")
            return
        found = None if other.error else difference(one.value, other.value, self._job["tolerance"])
        if other.error is None and found is None:
            self._tell("device", there, "agrees", f"once it is moved by torch.export.passes: {where}" if where else "")
        elif found is not None and "eager gives the device" in found[0]:
            self._tell(
                "device",
                there,
                "skipped",
                f"`move_to_device_pass` moves a tensor that eager leaves in place: {found[0]}",
            )
        else:
            self._judge("device", there, one, other, lambda: self._is_random(number))


def _apart(program: Any, module: Any, shares: bool) -> Any:
    """A copy of the module of a program, whose state calls do not change in the program as well.

    `shares`: the model does not write to its large parameters, which need not be copied then.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of torch, about how torch copies it
            shared = {id(p): p for p in module.parameters() if p.numel() >= LARGE} if shares else {}
            return copy.deepcopy(module, shared)
    except Exception:  # a FakeTensor that leaked into it has no data to copy
        return program.module()
