"""Models that are built, and how to have them again as they were."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .calls import call, seed
from .copies import faithful_copy
from .global_tensors import GlobalTensors
from .lazily import torch
from .modules import load
from .pristine import restored
from .specs import make_value
from .texts import with_article
from .words import Inputs, Job

LARGE = 1 << 20
"""How many numbers a parameter has to have for not being copied before each call."""


@dataclass
class Subject:
    """A model that was built, and how to have it again as it was."""

    model: Any
    rebuild: Callable[[], Any] | None
    copies: bool | None = None
    shared: Mapping[int, Any] = field(default_factory=dict)
    globals: GlobalTensors | None = None

    def share(self, called: Any) -> None:
        """From now on, let copies share the parameters that are large, and that a call has not written to."""
        if called is self.model:
            return
        after = dict(called.named_parameters())
        large = [(n, p) for n, p in self.model.named_parameters() if p.numel() >= LARGE and n in after]
        with restored(), contextlib.suppress(RuntimeError):  # of dtypes that cannot be compared
            self.shared = {id(p): p for n, p in large if torch.equal(p.detach(), after[n].detach())}

    def initialize(self, inputs: Inputs) -> None:
        """Give the parameters of lazy layers their sizes, as their first call does."""
        if any(map(torch.nn.parameter.is_lazy, itertools.chain(self.model.parameters(), self.model.buffers()))):
            is_training = self.model.training
            with torch.no_grad():
                call(self.model.eval(), inputs, 0)
            self.model.train(is_training)

    def released(self) -> Any:
        """The model itself, for torch.export: copies of some models, such as TorchScript, are not traced as they are.

        From now on, copies are made of a copy.
        """
        copied = self.fresh()
        if not self.copies:
            return copied
        released, self.model = self.model, copied
        return released

    def fresh(self) -> Any:
        """The model as it was before any call: a copy, the model built anew, or itself where neither is possible.

        Global tensors are again what they were as well.
        """
        if self.globals is not None:
            self.globals.restore()
        if self.copies is not False:
            try:
                copied = faithful_copy(self.model, self.shared)
            except Exception:
                if self.copies:
                    raise
            else:
                self.copies = True
                return copied
        self.copies = False
        if self.rebuild is None:
            return self.model
        again = self.rebuild()
        with contextlib.suppress(Exception):
            again.load_state_dict(self.model.state_dict())
        return again


def build(job: Job) -> Subject:
    """Import what the job names, and make a model of it.

    Raises:
        TypeError: it is not a model, and gives none. And whatever the user's code raises.
    """
    reference = job["model"]
    found = load(reference)

    def make() -> Any:
        seed(0)
        if isinstance(found, torch.nn.Module):
            made = found
        elif callable(found):
            made = found(*_constructor_arguments(job), **_constructor_keywords(job))
        else:
            made = found
        if not isinstance(made, torch.nn.Module):
            what = f"gives {with_article(made)}" if callable(found) else f"is {with_article(found)}"
            raise TypeError(f"{reference['module']}:{reference['name']} {what}, not an nn.Module")
        return _prepared(made, job)

    return Subject(make(), None if isinstance(found, torch.nn.Module) else make)


def _prepared(model: Any, job: Job) -> Any:
    model.train(job["train"])
    device = torch.device(job["device"])
    held = itertools.chain(model.parameters(), model.buffers())
    # Some models, such as quantized ones, refuse to be moved, also to where they are.
    is_there = device.type == "cpu" and all(tensor.device == device for tensor in held)
    return model if is_there else model.to(device)


def _constructor_arguments(job: Job) -> tuple[Any, ...]:
    return _constructor(job)[0]


def _constructor_keywords(job: Job) -> dict[str, Any]:
    return _constructor(job)[1]


def _constructor(job: Job) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What a class or a factory is called with."""
    if not job.get("init_inputs"):
        generator = torch.Generator().manual_seed(0)
        arguments = [make_value(spec, {}, generator, "cpu") for spec in job["arguments"]]
        return tuple(arguments), {n: make_value(s, {}, generator, "cpu") for n, s in job["keywords"].items()}
    given = load({**job["model"], "name": job["init_inputs"]})()
    if isinstance(given, Mapping):
        return (), dict(given)
    if not isinstance(given, (list, tuple)):
        return (given,), {}
    if len(given) == 2 and isinstance(given[0], (list, tuple)) and isinstance(given[1], Mapping):
        return tuple(given[0]), dict(given[1])
    return tuple(given), {}
