"""Calls of a model, and what they leave behind."""

from __future__ import annotations

import copy
import random
import sys
import traceback
from dataclasses import dataclass, field, replace
from typing import Any

from .differences import difference
from .lazily import pytree, torch
from .pristine import restored, undisturbed
from .texts import first_line, text_of
from .words import Inputs


@dataclass
class Outcome:
    """What a call left behind: what it gave or raised, its arguments, and the model's state.

    `changes`: it wrote to the state or to its arguments, as far as both were kept.
    """

    value: Any = None
    error: BaseException | None = None
    inputs: Any = None
    state: dict[str, Any] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    """The first name of state that has several."""
    written: frozenset[str] = frozenset()
    changes: bool = False

    def detached(self) -> Outcome:
        """The same without what gradients would be computed from, which is as large as all that the call computed."""
        try:
            return replace(self, value=snapshot(self.value), inputs=snapshot(self.inputs))
        except Exception:  # of tensors that cannot be copied
            return self

    @property
    def is_refused_by_dynamo(self) -> bool:
        """Whether Dynamo raised, which traces operators such as `torch.cond` in eager, too."""
        return type(self.error).__module__.startswith("torch._dynamo")

    @property
    def raised(self) -> str:
        """What was raised, on one line."""
        return "" if self.error is None else f"{type(self.error).__name__}: {first_line(text_of(self.error))}"


@undisturbed
def seed(number: int) -> None:
    """Seed everything that can be seeded."""
    torch.manual_seed(number)
    random.seed(number)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(number)


def copied(inputs: Any) -> Any:
    """Inputs that a call may write to. What they share they still share, strides and all."""
    with restored():
        try:
            return copy.deepcopy(inputs)
        except Exception:
            return snapshot(inputs)


def snapshot(value: Any) -> Any:
    """A value that no later call changes."""
    with restored():
        return pytree.tree_map(lambda leaf: leaf.detach().clone() if isinstance(leaf, torch.Tensor) else leaf, value)


def call(module: Any, inputs: Inputs, number: int, keep_state: bool = False) -> Outcome:
    """Call a module, with all that is random seeded."""
    arguments, keywords = given = copied(inputs)
    before = snapshot(state_of(module)) if keep_state else {}
    outcome = Outcome(inputs=given)
    seed(number)
    try:
        outcome.value = module(*arguments, **keywords)
    except BaseException as error:  # whatever users raise, SystemExit as well
        outcome.error = error
        traceback.clear_frames(error.__traceback__)  # which hold all tensors that were computed until then
    if keep_state:
        outcome.state = state_of(module)
        outcome.names = first_names(module)
        changed = (n for n, t in outcome.state.items() if n not in before or difference(before[n], t, 0.0) is not None)
        outcome.written = frozenset(changed)
        outcome.changes = bool(outcome.written) or difference(inputs, given, 0.0) is not None
    return outcome


def state_of(module: Any) -> dict[str, Any]:
    """The parameters and buffers of a model, also those that have several names."""
    with restored():
        return {name: tensor.detach() for name, tensor in _named_state(module)}


def first_names(module: Any) -> dict[str, str]:
    """The first name of each parameter and buffer, by its names."""
    firsts: dict[int, str] = {}
    return {name: firsts.setdefault(id(tensor), name) for name, tensor in _named_state(module)}


def _named_state(module: Any) -> tuple[tuple[str, Any], ...]:
    return *module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)
