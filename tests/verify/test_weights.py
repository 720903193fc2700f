"""Checkpoints are fetched for models that somebody configured, and for no others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.runner import write
from tests.forking import python
from tests.patience import PATIENCE

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.thorough

NET = """\
import re
import torch
from torch import nn
from torch.hub import load_state_dict_from_url
from torch.utils import model_zoo

URL = {url!r}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)
        self.old = nn.Linear(3, 2)
        {load}

    def forward(self, x):
        return self.linear(x)
"""

LOADS = {
    "as they are": "self.linear.load_state_dict(load_state_dict_from_url(URL, progress=False))",
    "of torch.hub": "self.linear.load_state_dict(torch.hub.load_state_dict_from_url(URL))",
    "of the old name": "self.linear.load_state_dict(model_zoo.load_url(URL))",
    "a part": "self.linear.load_state_dict(load_state_dict_from_url(URL)['model']['net'])",
    "renamed": "self.linear.load_state_dict({k[7:]: v for k, v in load_state_dict_from_url(URL).items()})",
    "not strict": "missing = self.load_state_dict(load_state_dict_from_url(URL), strict=False).missing_keys",
    "popped": "state = load_state_dict_from_url(URL); state.pop('bias', 0); self.linear.load_state_dict(state, False)",
}


def verified(root: Path, load: str, settings: str = "") -> dict[str, Any]:
    """The run of a model that loads weights so; what is fetched lies below `hub`."""
    torch.save({"weight": torch.ones(2, 3), "bias": torch.ones(2)}, root / "weights.pt")
    code = NET.format(url=(root / "weights.pt").as_uri(), load=load)
    write(root, {"project/pyproject.toml": settings, "project/net.py": code})
    environment = {**os.environ, "TORCH_HOME": str(root / "hub"), "XDG_CACHE_HOME": str(root / "cache")}
    command = [*python(), "-m", "exportlint", "verify", "--python", sys.executable, "--output-format", "json"]
    done = subprocess.run(
        [*command, "--no-cache"], cwd=root / "project", env=environment, capture_output=True, text=True, check=False,
        timeout=PATIENCE,
    )  # fmt: skip
    (run,) = json.loads(done.stdout)["runs"]
    found: dict[str, Any] = run
    return found


@pytest.mark.parametrize("load", LOADS)
def test_a_model_that_is_found_keeps_random_weights(load: str, tmp_path: Path) -> None:
    run = verified(tmp_path, LOADS[load])
    assert (run["verdict"], run["reason"]) == ("exports", "")
    assert not list(tmp_path.glob("hub/**/*.pt"))


def test_a_model_that_is_configured_has_its_weights(tmp_path: Path) -> None:
    settings = '[[tool.exportlint.verify.target]]\nmodel = "net:Net"\ninputs = ["float32[batch=2, 3]"]\n'
    load = f"{LOADS['as they are']}; assert self.linear.weight.sum() == 6"
    run = verified(tmp_path, load, settings)
    assert (run["verdict"], run["reason"]) == ("exports", "")
    assert list(tmp_path.glob("hub/**/weights.pt"))


@pytest.mark.parametrize(
    ("load", "verdict", "reason"),
    [
        (
            "self.linear.load_state_dict(self.old.state_dict()); assert (self.old.bias == self.linear.bias).all()",
            "",
            "",
        ),
        (
            "self.linear.load_state_dict({'weight': torch.ones(4)})",
            "cannot be built",
            'Missing key(s) in state_dict: "bias"',
        ),
    ],
    ids=["own weights", "weights that do not fit"],
)
def test_what_is_not_fetched_is_loaded_as_ever(load: str, verdict: str, reason: str, tmp_path: Path) -> None:
    for first in ("", f"{LOADS['as they are']}; "):
        run = verified(tmp_path, first + load)
        assert run["verdict"] == (verdict or "exports"), run["reason"]
        assert reason in run["reason"]


@pytest.mark.libraries
def test_the_hub_of_hugging_face_is_not_asked(tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    load = "import huggingface_hub as hub; hub.snapshot_download('nobody/has-this')"
    run = verified(tmp_path, load)
    assert run["verdict"] == "cannot be built"
    assert "LocalEntryNotFoundError" in run["reason"]
