"""Models that write: files, tensors that are no buffers, and what a tokenizer keeps, as that of BLIP does."""

from __future__ import annotations

from typing import Any

import pytest

from tests.verify.workshop import verified

pytestmark = pytest.mark.thorough
pytest.importorskip("torch")

MODELS = """\
from types import SimpleNamespace

import torch
from torch import nn


class Logs(nn.Module):
    def forward(self, x):
        with open("log.txt", "a") as file:
            file.write(f"{x.shape}")
        return x * 2


class Growing:
    def __init__(self):
        self.vocabulary = {}

    def __call__(self, text):
        ids = [self.vocabulary.setdefault(letter, len(self.vocabulary)) for letter in text]
        return torch.tensor([ids])


class Grows(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokenizer = Growing()
        self.embedding = nn.Embedding(60, 4)

    def forward(self, x, text):
        return self.embedding(self.tokenizer(text)).sum() + x


class Caching:
    def __init__(self):
        self.known = {}

    def __call__(self, text):
        if text not in self.known:
            self.known[text] = torch.tensor([[ord(c) % 27 for c in text]])
        return SimpleNamespace(input_ids=self.known[text])


class Blip(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokenizer = Caching()
        self.embedding = nn.Embedding(60, 4)

    def forward(self, x, text):
        ids = self.tokenizer(text).input_ids
        ids[:, 0] += 1
        return self.embedding(ids).sum() + x


class Fixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.ids = torch.tensor([[1, 2, 3]])
        self.embedding = nn.Embedding(60, 4)

    def forward(self, x):
        self.ids[:, 0] += 1
        return self.embedding(self.ids).sum() + x


class Counted(nn.Module):
    def forward(self, x):
        with open("count.txt", "a+") as file:
            file.seek(0)
            n = len(file.read())
            file.write("x")
        return x * n
"""

TENSOR = '"float32[batch=2, 3]"'
INPUTS = {
    **dict.fromkeys(("Logs", "Fixed", "Counted"), f"[{TENSOR}]"),
    **dict.fromkeys(("Grows", "Blip"), f"[{TENSOR}, \"'abc'\"]"),
}
DECOMPOSED = "run_decompositions): it raises RuntimeError: Constant ids is mutated in the forward method"
AGAIN = "the program diverges (again, a later call): 6 of 6 numbers differ"
CASES = [
    ("Logs", "non-strict", "exports", []),
    ("Logs", "strict", "fails", [("EXP605", "confirmed", "export raises here: Unsupported")]),
    ("Counted", "non-strict", "diverges", [("missed", "missed", "numbers differ")]),
    ("Grows", "non-strict", "exports", []),
    ("Blip", "non-strict", "diverges", [("missed", "missed", AGAIN)]),
    ("Blip", "strict", "fails", [("EXP606", "confirmed", "export raises here: Unsupported")]),
    ("Fixed", "non-strict", "diverges", [("missed", "missed", DECOMPOSED)]),
    ("Fixed", "strict", "diverges", []),
]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    root = tmp_path_factory.mktemp("writes")
    targets = (f'[[verify.target]]\nmodel = "models:{name}"\ninputs = {given}\n' for name, given in INPUTS.items())
    return verified(root, MODELS, "".join(targets))


@pytest.mark.parametrize(("name", "mode", "verdict", "said"), CASES, ids=[f"{name}-{mode}" for name, mode, *_ in CASES])
def test_what_is_said(
    name: str, mode: str, verdict: str, said: list[tuple[str, str, str]], report: dict[str, Any]
) -> None:
    keys = [(run["target"], run["mode"]) for run in report["runs"]]
    index = keys.index((f"models:{name}", mode))
    assert report["runs"][index]["verdict"] == verdict, report["runs"][index]["reason"]
    found = {f["code"]: f for f in report["findings"] if f["run"] == index and f["code"] != "EXP703"}
    for code, ruling, why in said:
        assert (found[code]["verdict"], why in found[code]["why"]) == (ruling, True), found[code]
    assert ("missed" in found) == any(code == "missed" for code, *_ in said)


def test_help_names_the_rule(report: dict[str, Any]) -> None:
    (finding,) = (f for f in report["findings"] if f["code"] == "missed" and DECOMPOSED in f["message"])
    assert finding["help"] == (
        "`forward` writes to a tensor that is not a buffer; `exportlint rule EXP311` says what to write instead"
    )


@pytest.mark.parametrize(("name", "file"), [("Logs", "log.txt"), ("Counted", "count.txt"), ("Grows", None)])
def test_files_that_a_model_writes_are_told(name: str, file: str | None, report: dict[str, Any]) -> None:
    (run,) = (run for run in report["runs"] if (run["target"], run["mode"]) == (f"models:{name}", "non-strict"))
    told = [(c["agreement"], c["detail"]) for c in run["comparisons"] if c["label"] == "files"]
    assert told == ([("skipped", f"the model writes {file}, the program does not")] if file else [])
