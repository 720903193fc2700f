"""What the records of torch's modules say is what the modules do."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from exportlint.analysis.torch.layers import LAYERS, Layer, find_layer
from tests.sampling import one_in

torch = pytest.importorskip("torch")

ARGUMENTS: tuple[tuple[Any, ...], ...] = (
    (), (3,), (3, 3), (3, 3, 1), (1, 3), ((3,),), (2,), ((8, 8),), (0.5,), ((1, 1),), (1, 0.5), (3, 3, 3), (1, (3, 1)),
)  # fmt: skip
OWN_ARGUMENTS: dict[str, tuple[tuple[Any, ...], ...]] = {
    **dict.fromkeys(("MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer"), ((8, 2),)),
    "Transformer": ((8, 2, 1, 1),),
    "AdaptiveLogSoftmaxWithLoss": ((3, 9, [2, 5]),),
}
SHAPES = ((3,), (3, 8), (3, 8, 8), (3, 8, 8, 8), (4, 8, 8))
ROWS = (6, 10)
OF_TWO = {"Bilinear", "Transformer", "TransformerDecoder", "TransformerDecoderLayer"}
OF_INDICES = {"Embedding", "EmbeddingBag"}

each_layer = pytest.mark.parametrize("layer", one_in(2, LAYERS), ids=lambda layer: layer.name)
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("one_thread")]


def made(layer: Layer, arguments: tuple[Any, ...], **options: Any) -> Any:
    """The module with these arguments; None if it takes others."""
    torch.manual_seed(0)
    if layer.name in {"TransformerEncoder", "TransformerDecoder"}:
        arguments = (getattr(torch.nn, f"{layer.name}Layer")(8, 2, 16), 1)
    try:
        return getattr(torch.nn, layer.name)(*arguments, **options)
    except Exception:
        return None


def modules(layer: Layer, **options: Any) -> list[Any]:
    found = (made(layer, arguments, **options) for arguments in OWN_ARGUMENTS.get(layer.name, ARGUMENTS))
    return [module for module in found if module is not None]


def inputs(layer: Layer, shape: tuple[int, ...], rows: int) -> tuple[Any, ...]:
    tensor = torch.randn(rows, *shape)
    if layer.name in OF_INDICES:
        return (tensor.long().clamp(0, 1),)
    if layer.name == "AdaptiveLogSoftmaxWithLoss":
        return tensor, torch.zeros(rows).long()
    return (tensor,) * (3 if layer.name == "MultiheadAttention" else 2 if layer.name in OF_TWO else 1)


@cache
def samples(layer: Layer) -> list[tuple[tuple[Any, ...], tuple[int, ...]]]:
    """Arguments of the constructor, and shapes that such a module takes."""
    found = []
    for arguments, shape in itertools.product(OWN_ARGUMENTS.get(layer.name, ARGUMENTS), SHAPES):
        if called(made(layer, arguments), inputs(layer, shape, ROWS[0])) is not None:
            found.append((arguments, shape))
    return found


def called(module: Any, given: tuple[Any, ...]) -> list[Any] | None:
    """The tensors that a module gives; None if it does not take what it is given."""
    try:
        return flat(module.eval()(*given))
    except Exception:
        return None


def flat(value: Any) -> list[Any]:
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for item in value for t in flat(item)] if isinstance(value, tuple) else []


def dimensions(name: str) -> int:
    """How many dimensions a sample has at least: channels, and those in the name."""
    return int(name[-2]) + 1 if name[-2].isdigit() else 3 if name in {"Unfold", "PixelShuffle", "PixelUnshuffle"} else 1


SPATIAL = {"signal": 1, "image": 2, "volume": 3}
"""How many dimensions stand behind the channels."""


@pytest.mark.parametrize("layer", one_in(4, [layer for layer in LAYERS if layer.shape]), ids=lambda layer: layer.name)
def test_a_module_keeps_the_rows_of_its_input(layer: Layer) -> None:
    kept, same, features, ranks = [], [], [], []
    for (arguments, shape), rows in itertools.product(samples(layer), ROWS):
        if len(shape) < dimensions(layer.name):
            continue  # one sample, not a batch of them
        given = inputs(layer, shape, rows)
        result = called(made(layer, arguments), given)
        if result is not None:
            kept.append(result[0].shape[0] == rows)
            same.append(result[0].shape == given[0].shape)
            features.append(result[0].shape[:-1] == given[0].shape[:-1])
            ranks.append(result[0].dim())
    assert kept
    assert all(kept)
    assert layer.shape != "same" or all(same)
    assert layer.shape != "features" or all(features)
    assert layer.shape not in SPATIAL or set(ranks) == {SPATIAL[layer.shape] + 2}


@each_layer
def test_a_module_has_parameters_where_its_record_says(layer: Layer) -> None:
    with_parameters = {bool(list(module.parameters())) for module in modules(layer)}
    if layer.parameters == "always":
        assert with_parameters == {True}
    elif layer.parameters == "never":
        assert {bool(module.state_dict()) for module in modules(layer)} == {False}
    else:
        option = "elementwise_affine" if layer.name in {"LayerNorm", "RMSNorm"} else "affine"
        asked = {option: layer.parameters == "asked"}
        assert with_parameters == {layer.parameters == "unless"}
        assert {bool(list(m.parameters())) for m in modules(layer, **asked)} == set(asked.values())


@pytest.mark.parametrize(
    # in training mode, that module runs on CUDA only
    "layer", one_in(4, [layer for layer in LAYERS if layer.name != "SyncBatchNorm"]), ids=lambda layer: layer.name
)  # fmt: skip
def test_a_module_draws_and_writes_when_its_record_says(layer: Layer) -> None:
    trained, evaluated = (set(differences(layer, training=mode)) for mode in (True, False))
    assert trained
    assert (True in evaluated) is (layer.effects == "always")
    assert (True in trained) is (layer.effects in {"always", "training"})


def differences(layer: Layer, *, training: bool) -> Iterator[bool]:
    """For some calls: whether a second one gives something else, or the first changes the state."""
    for arguments, shape in samples(layer)[:8]:
        module, given = made(layer, arguments), inputs(layer, shape, ROWS[0])
        if called(module, given) is None:
            continue
        module.train(training)
        before = {key: value.clone() for key, value in module.state_dict().items()}
        one, other, after = flat(module(*given)), flat(module(*given)), module.state_dict()
        is_same = all(torch.allclose(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))
        yield not is_same or any(not torch.equal(value, after[key]) for key, value in before.items())


@each_layer
def test_a_recurrent_module_takes_packed_sequences(layer: Layer) -> None:
    packed = torch.nn.utils.rnn.pack_padded_sequence(torch.rand(4, 2, 3), torch.tensor([4, 2]))
    assert any(takes(module, packed) for module in modules(layer)) is layer.recurrent


def takes(module: Any, packed: Any) -> bool:
    try:
        return isinstance(module(packed)[0], torch.nn.utils.rnn.PackedSequence)
    except Exception:
        return False


@pytest.mark.parametrize("name", ["torch.nn.MSELoss", "mine.Linear", "torch.nn.Sequential"])
def test_of_other_modules_nothing_is_claimed(name: str) -> None:
    assert find_layer(name) is None


def test_a_module_is_known_by_where_it_is_defined() -> None:
    assert find_layer("torch.nn.modules.linear.Linear") is find_layer("torch.nn.Linear") is not None
