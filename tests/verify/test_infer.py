"""Which inputs are found for small models about which nobody wrote anything down."""

from __future__ import annotations

import ast
import inspect
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from exportlint.verify.protocol import encode
from exportlint.verify.targets.hints import hints_of
from exportlint.verify.worker import inferring
from exportlint.verify.worker.words import Example

pytestmark = pytest.mark.usefixtures("one_thread")

FILE = Path(__file__).parents[1] / "data" / "verify" / "without_inputs.py"
MODELS: Mapping[str, Any] = runpy.run_path(str(FILE))
FORWARDS = {
    node.name: item
    for node in ast.parse(FILE.read_text("utf-8")).body
    if isinstance(node, ast.ClassDef)
    for item in node.body
    if isinstance(item, ast.FunctionDef) and item.name == "forward"
}


@pytest.mark.parametrize("name", [name for name in FORWARDS if MODELS[name].__doc__])
def test_found(name: str) -> None:
    model = MODELS[name]().eval()
    example = infer(model)
    assert shown(model, example) == MODELS[name].__doc__
    with torch.no_grad():
        model(*example.arguments, **example.keywords)


def test_made_again_with_other_sizes_and_numbers() -> None:
    example = infer(MODELS["Graph"]())
    assert example.sizes == {"batch": 2}
    assert example.remake is not None
    arguments, keywords = example.remake({"batch": 5}, 1)
    assert [tuple(tensor.shape) for tensor in arguments] == [(5, 10), (5, 5)]
    assert keywords == {}
    again, _ = example.remake({"batch": 5}, 1)
    other, _ = example.remake({"batch": 5}, 2)
    assert torch.equal(arguments[0], again[0])
    assert not torch.equal(arguments[0], other[0])


def test_what_varies_is_what_may() -> None:
    example = infer(MODELS["Positions"](), vary=(0, 1))
    assert example.dynamic == {"x": {0: "batch"}}, "there are positions for one length"
    assert example.sizes == {"batch": 2}
    assert infer(MODELS["Refuses"](), vary=(2, 3)).dynamic == {"x": {2: "height", 3: "height"}}
    assert infer(MODELS["Fixed"]()).dynamic == {"x": {}}


def test_the_model_stays_as_it_is() -> None:
    model = MODELS["Counts"]()
    weight = model.fc.weight.detach().clone()
    infer(model)
    assert model.calls == 0
    assert model.seen == []
    assert torch.equal(model.fc.weight, weight)


def test_a_model_that_cannot_run_is_given_up_at_once() -> None:
    with pytest.raises(LookupError, match="NameError: name 'undefined' is not defined"):
        infer(MODELS["Broken"]())
    with pytest.raises(LookupError, match="'Tensor' object has no attribute 'tensors'"):
        infer(MODELS["OwnObject"]())
    assert len(MODELS["CALLS"]) < 20


def test_a_model_that_takes_all_memory_is_given_up() -> None:
    with pytest.raises(LookupError, match=r"in 4 tries.*MemoryError"):
        infer(MODELS["Hog"]())


def test_what_was_tried_is_said() -> None:
    with pytest.raises(
        LookupError, match=r"^no inputs were found in 20 tries; .* x = float32\[2, .*, raised ValueError: no sh"
    ):
        infer(MODELS["Impossible"](), tries=20)


def test_a_call_without_end_is_ended() -> None:
    with pytest.raises(LookupError, match="took too long"):
        infer(MODELS["Endless"](), seconds=0.2)


def infer(model: nn.Module, vary: tuple[int, ...] = (0,), **limits: Any) -> Example:
    lines = FILE.read_text("utf-8").splitlines()
    said = hints_of(FORWARDS[type(model).__name__], lines)
    hints = {name: [encode(spec) for spec in specs] for name, specs in said.items()}
    return inferring.infer(model, hints, vary, "cpu", **limits)


def shown(model: nn.Module, example: Example) -> str:
    """An example as text, with the names of the dimensions that vary."""
    bound = inspect.signature(model.forward).bind(*example.arguments, **example.keywords).arguments
    dynamic = example.dynamic or {}
    return "; ".join(f"{name}: {text(value, dynamic.get(name))}" for name, value in bound.items())


def text(value: Any, dynamic: Any) -> str:
    if isinstance(value, Tensor):
        sizes = [(dynamic or {}).get(index, size) for index, size in enumerate(value.shape)]
        return f"{str(value.dtype).removeprefix('torch.')}[{', '.join(map(str, sizes))}]"
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{key}: {text(item, dynamic[key])}" for key, item in sorted(value.items(), reverse=True))
            + "}"
        )
    if isinstance(value, (list, tuple)):
        inner = ", ".join(text(item, dynamic[index]) for index, item in enumerate(value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    return repr(value)
