"""What fixes make of the cases in this folder that say what to run: it exports, and agrees with eager."""

from __future__ import annotations

import copy
import sys
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils import _pytree as pytree

from tests.fixes.rewrites import Rewrite
from tests.fixes.test_rewrites import CASES
from tests.sampling import one_in


@pytest.mark.parametrize("case", one_in(4, [case for case in CASES if case.run]), ids=lambda case: case.name)
def test_exports_and_agrees(case: Rewrite) -> None:
    assert case.after
    calls = [eval(call, {"torch": torch}) for call in case.run.split(";")]
    source = case.after[max(case.after, key=lambda applicability: applicability.rank)]
    expected = _results(_model(case.before), calls)
    if expected.count(None) == len(calls):  # eager refuses it, as export does
        expected = _results(_model(source), calls)
    assert len({str(result) for result in expected}) > 1, "all inputs give the same"
    _assert_same(expected, _results(_model(source), calls))
    program = torch.export.export(_model(source), copy.deepcopy(calls[0]), strict=False)
    _assert_same(expected, _results(program.module(), calls))


def _model(source: str) -> nn.Module:
    module = ModuleType("case")
    sys.modules["case"] = module  # torch.compile imports it
    exec(source, module.__dict__)
    torch.manual_seed(0)
    model: nn.Module = module.__dict__["Model"]()
    return model


def _results(model: nn.Module, calls: list[tuple[Any, ...]]) -> list[Any]:
    """What calls give, one after the other; None for one that is refused."""
    return [_result(model, copy.deepcopy(call)) for call in calls]


def _result(model: nn.Module, call: tuple[Any, ...]) -> Any:
    try:
        return model(*call)
    except (RuntimeError, IndexError, ValueError, AssertionError):
        return None


def _assert_same(expected: list[Any], found: list[Any]) -> None:
    for one, other in zip(expected, found, strict=True):
        assert (one is None) == (other is None)
        leaves, others = pytree.tree_leaves(one), pytree.tree_leaves(other)
        for leaf, of_other in zip(leaves, others, strict=True):
            torch.testing.assert_close(torch.as_tensor(of_other), torch.as_tensor(leaf), equal_nan=True)
