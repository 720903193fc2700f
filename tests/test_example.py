"""The example has the findings that a newcomer is shown, and torch.export does what each of them claims."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.forking import python
from tests.patience import PATIENCE

EXAMPLE = Path(__file__).parents[1] / "examples" / "quickstart"

NAMES = ("model", "brightness")

EXPECTED = {
    "Normalize.forward": [("EXP303", "info")],
    "Backbone.forward": [("EXP101", "error")],
    "Pool.forward": [("EXP602", "warning")],
    "Head.forward": [("EXP301", "error")],
    "Classifier.forward": [("EXP501", "error")],
}

SHAPES = {
    "Normalize": (2, 3, 16, 16),
    "Backbone": (2, 3, 16, 16),
    "Pool": (2, 16, 7, 7),
    "Head": (2, 16),
    "Classifier": (2, 3, 16, 16),
}


@pytest.fixture(scope="module")
def findings() -> list[dict[str, Any]]:
    command = [*python(), "-m", "exportlint", "check", "--show-info", "--output-format", "json", str(EXAMPLE)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert (result.returncode, result.stderr) == (1, "")
    found: list[dict[str, Any]] = json.loads(result.stdout)
    return found


@pytest.fixture(scope="module")
def model() -> Iterator[ModuleType]:
    """The example, imported."""
    pytest.importorskip("torch")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXAMPLE)
        patch.setattr(sys, "dont_write_bytecode", True)
        for name in NAMES:
            patch.delitem(sys.modules, name, raising=False)  # other examples have modules of these names
        yield importlib.import_module("model")
        for name in NAMES:
            sys.modules.pop(name, None)


def test_findings(findings: list[dict[str, Any]]) -> None:
    found: dict[str, list[tuple[str, str]]] = {}
    for finding in findings:
        assert Path(finding["filename"]).name == "model.py"
        found.setdefault(finding["symbol"], []).append((finding["code"], finding["severity"]))
    assert found == EXPECTED


def test_a_trail_leads_through_the_other_file(findings: list[dict[str, Any]]) -> None:
    (branch,) = (finding for finding in findings if finding["code"] == "EXP101")
    messages = [step["message"] for step in branch["trail"]]
    assert messages[0] == "`images` is an input of `Backbone.forward`"
    assert any("is_dark" in message for message in messages)


@pytest.mark.parametrize("name", SHAPES)
def test_torch_does_what_is_claimed(name: str, findings: list[dict[str, Any]], model: ModuleType) -> None:
    import torch

    if name == "Classifier" and torch.cuda.is_available():
        pytest.skip("the error is that of a machine without CUDA")
    module = getattr(model, name)().eval()
    images = torch.randn(SHAPES[name], generator=torch.Generator().manual_seed(0))
    claims = {severity for _, severity in EXPECTED[f"{name}.forward"]}
    if "error" in claims:
        with pytest.raises(Exception) as raised:  # noqa: PT011 - torch raises what it likes
            torch.export.export(module, (images,))
        frames = traceback.extract_tb(raised.tb)
        rows = {frame.lineno for frame in frames if Path(frame.filename) == EXAMPLE / "model.py"}
        (row,) = (f["location"]["row"] for f in findings if f["symbol"] == f"{name}.forward")
        # Export finds out about `.data` at its end, where it knows no line of the module any more.
        assert row in rows or "fake tensor in the exported program" in str(raised.value)
        return
    program = torch.export.export(module, (images.clone(),)).module()
    eager, exported = module(images.clone()), program(images.clone())
    assert (eager.shape == exported.shape and torch.allclose(eager, exported)) == ("warning" not in claims)
