"""Which gradients non-strict export does not trace is what the records say of operators and modules."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from exportlint.analysis.torch.layers import LAYERS, Layer
from exportlint.analysis.torch.operator import Operator
from exportlint.analysis.torch.registry import operators
from tests.analysis import test_layers, test_operators
from tests.sampling import first_of_each

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")

DEPENDS = {"MaxPool2d", "MaxPool3d"} | {layer.name for layer in LAYERS if layer.name.startswith("LazyConv")}
"""Modules whose arguments or inputs decide, so that their records say nothing."""

UNTRACED = "We found a fake tensor in the exported program constant's list"


class Gradient(torch.nn.Module):  # type: ignore[misc, name-defined]
    """The gradient of what a function gives, with respect to its first argument."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        x = x.detach().requires_grad_(True)
        outputs = [t for t in test_operators.tensors_of(self.function(x)) if t.requires_grad]
        return torch.autograd.grad(sum(t.sum() for t in outputs), x)[0]


def is_untraced(function: Any, given: Any) -> bool:
    model = Gradient(function)
    model(given)
    try:
        torch.export.export(model, (given,), strict=False)
    except RuntimeError as error:
        if UNTRACED not in str(error):
            raise
        return True
    return False


def called_with_copies(module: Any, count: int, x: Any) -> Any:
    return module(*[x] * count)


@pytest.mark.parametrize(
    "record",
    first_of_each((r for r in operators() if r.backward == "untraced"), lambda r: (r.shape, r.needs)),
    ids=lambda r: r.name,
)
def test_a_gradient_through_such_an_operator_is_not_exported(record: Operator) -> None:
    sample = next(s for s in test_operators.samples(record) if not test_operators.in_place(s.name))
    given = next(t for t in test_operators.called(sample).positional if isinstance(t, torch.Tensor))
    assert is_untraced(lambda x: test_operators.called(sample, target=x).result, given.float())


@pytest.mark.parametrize(
    "layer", first_of_each(LAYERS, lambda layer: (layer.shape, layer.backward)), ids=lambda r: r.name
)
def test_a_gradient_through_a_module_is_exported_unless_its_record_says_not(layer: Layer) -> None:
    if layer.name in test_layers.OF_INDICES or layer.name == "AdaptiveLogSoftmaxWithLoss":
        pytest.skip("no gradient with respect to indices")
    found = set()
    for arguments, shape in test_layers.samples(layer)[:2]:
        module, given = test_layers.made(layer, arguments).eval(), test_layers.inputs(layer, shape, 6)
        found.add(is_untraced(partial(called_with_copies, module, len(given)), given[0]))
    assert layer.name in DEPENDS or found == {layer.backward == "untraced"}
