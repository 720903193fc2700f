"""Models that return a cache if a flag, a configuration or a size says so, as those of transformers do."""

from __future__ import annotations

from typing import Any

import pytest

from tests.verify.workshop import verified

pytestmark = pytest.mark.thorough
pytest.importorskip("torch")

MODELS = """\
from dataclasses import dataclass
from typing import Optional, Union

import torch
from torch import nn


class Cache:
    def __init__(self):
        self.keys = []

    def update(self, key):
        self.keys.append(key)
        return torch.stack(self.keys).sum(0)


class Known(Cache):
    def __init__(self, keys=()):
        self.keys = list(keys)


torch.utils._pytree.register_pytree_node(Known, lambda cache: (cache.keys, None), lambda keys, _: Known(keys))


class Config:
    use_cache = True


class Always(nn.Module):
    def forward(self, x, cache: Optional[Cache] = None):
        cache = Cache() if cache is None else cache
        return cache.update(x), cache  # confirmed


class Flag(nn.Module):
    def forward(self, x, use_cache: bool = True):
        cache = Cache() if use_cache else None
        return x * 2, cache  # missed


class Configured(nn.Module):
    def __init__(self, config=Config()):
        super().__init__()
        self.config = config

    def forward(self, x, cache: Optional[Cache] = None, use_cache: Optional[bool] = None):
        use_cache = self.config.use_cache if use_cache is None else use_cache
        if use_cache and cache is None:
            cache = Cache()  # confirmed
        return x * 2, cache


class Dictionary(nn.Module):
    def __init__(self, use_cache=True):
        super().__init__()
        self.use_cache = use_cache

    def forward(self, x):
        out = {"x": x * 2}
        if self.use_cache:
            out["cache"] = Cache()
        return out  # missed


class Either(nn.Module):
    def forward(self, x) -> Union[torch.Tensor, Cache]:
        if x.shape[1] == 3:
            return x * 2
        return Cache()  # not reached


class Without(nn.Module):
    def forward(self, x, use_cache: bool = False):
        cache = Cache() if use_cache else None
        return x * 2, cache


class Registered(nn.Module):
    def forward(self, x, use_cache: bool = True):
        cache = Known() if use_cache else None
        return cache.update(x) if cache is not None else x, cache
"""

NAMES = ["Always", "Flag", "Configured", "Dictionary", "Either", "Without", "Registered"]
VERDICTS = {"Always": "fails", "Flag": "fails", "Configured": "fails", "Dictionary": "fails"}
SAID = {
    "non-strict": "Found <class 'models.Cache'> in output, which is not a known type.",
    "strict": "Encountered unrecognized type UserDefinedObjectVariable(Cache) at output",
}
HELP = (
    "the model returns an object of a type that torch.export does not accept as an output; "
    "`exportlint rule EXP701` says what to write instead"
)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    root = tmp_path_factory.mktemp("caches")
    targets = (f'[[verify.target]]\nmodel = "models:{name}"\ninputs = ["float32[batch=2, 3]"]\n' for name in NAMES)
    return verified(root, MODELS, "".join(targets))


@pytest.mark.parametrize("mode", SAID)
def test_verdicts(mode: str, report: dict[str, Any]) -> None:
    runs = {run["target"].partition(":")[2]: run for run in report["runs"] if run["mode"] == mode}
    assert {name: run["verdict"] for name, run in runs.items()} == {
        name: VERDICTS.get(name, "exports") for name in NAMES
    }
    assert all(SAID[mode] in runs[name]["reason"] for name in VERDICTS)


@pytest.mark.parametrize("mode", SAID)
def test_what_is_said_of_each_line(mode: str, report: dict[str, Any]) -> None:
    expected = {
        row: line.partition("  # ")[2] for row, line in enumerate(MODELS.splitlines(), 1) if line.partition("  # ")[2]
    }
    found = [finding for finding in report["findings"] if (finding["mode"], finding["severity"]) == (mode, "error")]
    assert {finding["location"]["row"]: finding["verdict"] for finding in found} == expected
    assert {finding["help"] for finding in found if finding["verdict"] == "missed"} == {HELP}
