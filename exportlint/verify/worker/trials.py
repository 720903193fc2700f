"""Fixes that are to be proven: what the original does, and whether the fixed one does so as well."""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery
import importlib.util
import inspect
import linecache
import os
import pickle
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .calls import Outcome, call, snapshot, state_of
from .differences import difference
from .lazily import pytree, torch
from .models import Subject
from .slopes import gradients
from .texts import text_of
from .values import changed_values
from .varying import Varying, other_sizes, with_sizes, zipped
from .words import Example, Inputs


def see_instead(texts: Mapping[str, str]) -> None:
    """Have Python import other texts than files hold, by their paths. Each is the bytes of a file, as Latin-1."""
    found = {os.path.realpath(path): text.encode("latin-1") for path, text in texts.items()}
    loader = importlib.machinery.SourceFileLoader
    get_data, path_stats = loader.get_data, loader.path_stats

    def data(self: Any, path: Any) -> bytes:
        text = found.get(os.path.realpath(path))
        return get_data(self, path) if text is None else text

    def stats(self: Any, path: Any) -> Mapping[str, Any]:
        if os.path.realpath(path) in found:
            raise OSError(f"{path} is not to be taken from, or put into, a cache")
        return path_stats(self, path)

    loader.get_data, loader.path_stats = data, stats  # type: ignore[method-assign]
    for path in texts:  # for `inspect.getsource`, and for tracebacks
        with contextlib.suppress(SyntaxError, ValueError):
            lines = importlib.util.decode_source(found[os.path.realpath(path)]).splitlines(keepends=True)
            linecache.cache[path] = (len(lines), None, lines, path)


Probe = tuple[str, str, Inputs]
"""How a model is called: what to call it, whether `once`, on the same object as `before`, or for `gradients`."""


def probes(example: Example, varying: Varying) -> Iterator[Probe]:
    """The calls by which two models are compared."""
    inputs: Inputs = (example.arguments, dict(example.keywords))
    changed = changed_values(example, 1)
    yield "example", "once", inputs
    for label, others in changed:
        yield label, "once", others
    for label, sizes in other_sizes(varying):
        with contextlib.suppress(ValueError, RuntimeError, LookupError):
            yield label, "once", with_sizes(example, varying, sizes, 1)
    for others in (inputs, changed[0][1] if changed else inputs, inputs):
        yield "a later call", "before", others
    yield "gradients", "gradients", inputs


def observed(subject: Subject, calls: Iterable[Probe]) -> Iterator[Outcome]:
    """What comes of each call."""
    lasting = subject.fresh()
    for number, (_, how, inputs) in enumerate(calls, 1):
        if how == "gradients":
            yield gradients(subject.fresh(), inputs, number, of_inputs=True)
        else:
            yield call(lasting if how == "before" else subject.fresh(), inputs, number, keep_state=True)


def _portable(value: Any, opaque: set[str]) -> Any:
    """A value whose leaves can be pickled. What cannot is what its class and its attributes are; its class is noted."""

    def leaf(value: Any) -> Any:
        name = f"{type(value).__module__}.{type(value).__qualname__}"
        if isinstance(value, torch.Tensor):
            return value
        if name not in opaque:
            try:
                pickle.dumps(value)
            except Exception:
                opaque.add(name)
            else:
                return value
        held = getattr(value, "__dict__", {})
        return name, {key: _portable(item, opaque) for key, item in held.items()}

    def is_opaque(value: Any) -> bool:  # also where torch has come to know the class
        return f"{type(value).__module__}.{type(value).__qualname__}" in opaque

    leaves = inspect.signature(pytree.tree_map).parameters
    options = {"is_leaf": is_opaque} if "is_leaf" in leaves and opaque else {}
    return pytree.tree_map(leaf, value, **options)


def note_outcomes(file: str, subject: Subject, example: Example, varying: Varying) -> None:
    """Write down what comes of calls, for a model with fixes to be compared with.

    Raises:
        TypeError: it cannot be written, as it holds something that cannot be pickled.
    """
    calls = list(probes(example, varying))
    first, again = (next(observed(subject, calls[:1])) for _ in range(2))
    outcomes, opaque = [], set[str]()
    for outcome in observed(subject, calls):
        written = {name: outcome.state[name] for name in outcome.written}  # of the state, which may be large
        parts = _portable(outcome.value, opaque), outcome.inputs, written
        outcomes.append((outcome.raised, snapshot(parts)))
    varies = difference(first.value, again.value, None) is not None
    noted = {"calls": calls, "outcomes": outcomes, "state": list(state_of(subject.model)), "varies": varies}
    noted["opaque"] = sorted(opaque)
    noted["result_leaves"] = len(pytree.tree_leaves(first.value))
    said = {"dynamic": example.dynamic, "sizes": dict(example.sizes), "ranges": tuple(example.ranges)}
    try:
        torch.save({**noted, "leaves": len(pytree.tree_leaves(calls[0][2])), "example": said}, file)
    except Exception as error:
        raise TypeError(f"the results of calls cannot be stored for comparison: {text_of(error)}") from None


def noted_example(file: str) -> Example:
    """What the original was called with: a model with fixes must not be called with what suits it better."""
    noted = _noted(file)
    arguments, keywords = noted["calls"][0][2]
    return Example(arguments, keywords, **noted["example"])


def _noted(file: str) -> Any:
    options = {"weights_only": False} if "weights_only" in inspect.signature(torch.load).parameters else {}
    return torch.load(file, **options)


def compare_outcomes(file: str, subject: Subject, tolerance: float | None) -> tuple[str, str]:
    """Whether a model does what was written down of another one, and how it does not.

    It does so `loosely` if results are equal, but it accepts what the other one refuses, or has other gradients.
    """
    accepted = ""
    noted = _noted(file)
    if noted["varies"]:
        return "skipped", "each call of the original returns a different result, or one that cannot be compared"
    # A class that torch has come to know has tensors in it now, of which there are gradients.
    same = noted["leaves"] == len(pytree.tree_leaves(noted["calls"][0][2]))
    seen = observed(subject, noted["calls"])
    for (label, how, _), ((raised, one), outcome) in zipped(noted["calls"], zipped(noted["outcomes"], seen)):
        if how == "gradients" and not same:
            continue
        if label == "example":
            same = same and noted["result_leaves"] == len(pytree.tree_leaves(one[0]))
        if raised or outcome.error is not None:
            if not raised:
                return "diverges", f"{label}: this raises {outcome.raised}"
            if outcome.error is None:
                accepted = accepted or f"{label}: the original raises {raised}, and this does not"
            continue
        value, inputs, written = one
        names = sorted(name for name in written if name in outcome.state)
        pairs = (
            ("", value, _portable(outcome.value, set(noted["opaque"])) if noted["opaque"] else outcome.value),
            ("the inputs after the call: ", inputs, outcome.inputs),
            ("state: ", {name: written[name] for name in names}, {name: outcome.state[name] for name in names}),
        )
        for what, ours, theirs in pairs:
            found = difference(ours, theirs, tolerance)
            if found is not None:
                text = re.sub(
                    r"\beager gives", "the original gives", re.sub(r"\bin eager\b", "in the original", found[0])
                )
                agreement = "loosely" if how == "gradients" else "diverges"
                return agreement, f"{label}: {what}{text.replace('the program', 'this one')}"
    return ("loosely", accepted) if accepted else ("agrees", f"in {len(noted['calls'])} calls")
