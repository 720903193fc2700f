"""Calls of a model keep no more of what was computed than is compared."""

from __future__ import annotations

import weakref
from typing import Any

import pytest

from exportlint.verify.worker.calls import call

torch = pytest.importorskip("torch")


def test_what_a_call_computes_before_it_raises_is_freed() -> None:
    computed: list[weakref.ref[Any]] = []

    def model(x: Any) -> None:
        large = x + 1
        computed.append(weakref.ref(large))
        raise ValueError

    outcome = call(model, ((torch.ones(2),), {}), 0)
    assert isinstance(outcome.error, ValueError)
    assert computed[0]() is None


def test_a_detached_outcome_holds_no_graph() -> None:
    computed: list[weakref.ref[Any]] = []

    def model(x: Any) -> dict[str, Any]:
        large = (x + torch.ones(2, requires_grad=True)).exp()
        computed.append(weakref.ref(large))
        return {"y": (large * large).sum()}

    outcome = call(model, ((torch.ones(2),), {}), 0).detached()
    assert (outcome.value["y"].grad_fn, computed[0]()) == (None, None)
