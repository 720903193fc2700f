"""What the baseline of a project holds is shown as hints, through edits, and what is new as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from exportlint.cli import main
from tests.cli.runner import NET, write
from tests.server.raw import PULLING, PUSHING, Process, is_of, is_published

NAME = "exportlint-baseline.jsonl"
MORE = NET + "\n\nclass Second(nn.Module):\n    def forward(self, x):\n        return x.data\n"
HINT, ERROR = 4, 1


def accept(root: Path, monkeypatch: pytest.MonkeyPatch, **files: str) -> None:
    """A project that accepts what is found in its files."""
    write(root, {"exportlint.toml": f'baseline = "{NAME}"\n', **{f"{name}.py": text for name, text in files.items()}})
    monkeypatch.chdir(root)
    assert main(["--update-baseline", "-q"]) == 0


def shown(server: Process, uri: str, version: int | None, pulls: bool) -> list[tuple[str, int]]:
    items = server.pull(uri)["items"] if pulls else server.published(uri, version)
    return [(item["code"], item["severity"]) for item in items]


both_ways = pytest.mark.parametrize("pulls", [False, True], ids=["pushed", "pulled"])


def opened(server: Process, root: Path, text: str, pulls: bool = False) -> str:
    """The URI of the file `net.py` of a project, opened with a text."""
    server.start(root, PULLING if pulls else PUSHING)
    uri = (root / "net.py").as_uri()
    server.open(uri, text)
    return uri


@both_ways
def test_it_holds_while_one_types(server: Process, root: Path, monkeypatch: pytest.MonkeyPatch, pulls: bool) -> None:
    accept(root, monkeypatch, net=NET)
    uri = opened(server, root, NET, pulls)
    assert shown(server, uri, 1, pulls) == [("EXP101", HINT)]
    server.change(uri, 2, "# moved\n\n" + NET)
    assert shown(server, uri, 2, pulls) == [("EXP101", HINT)]
    server.change(uri, 3, MORE)
    assert shown(server, uri, 3, pulls) == [("EXP101", HINT), ("EXP301", ERROR)]
    server.change(uri, 4, MORE + "def f(:\n")
    assert shown(server, uri, 4, pulls)[:2] == [("EXP101", HINT), ("EXP301", ERROR)]


def test_a_hint_says_why_and_keeps_its_fix(server: Process, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept(root, monkeypatch, net=NET)
    uri = opened(server, root, NET)
    (item,) = server.published(uri, 1)
    assert item["message"].endswith("accepted: it is in the baseline")
    actions = server.request(
        "textDocument/codeAction",
        {"textDocument": {"uri": uri}, "range": item["range"], "context": {"diagnostics": [item]}},
    )["result"]
    assert any("torch.where" in action["title"] for action in actions)


@both_ways
def test_a_baseline_that_is_written_anew_holds_at_once(
    server: Process, root: Path, monkeypatch: pytest.MonkeyPatch, pulls: bool
) -> None:
    accept(root, monkeypatch, net=NET)
    uri = opened(server, root, MORE, pulls)
    assert shown(server, uri, 1, pulls) == [("EXP101", HINT), ("EXP301", ERROR)]
    accept(root, monkeypatch, net=MORE)
    server.touch(root / NAME)
    if pulls:
        server.hear(is_of("workspace/diagnostic/refresh"))
    assert shown(server, uri, None, pulls) == [("EXP101", HINT), ("EXP301", HINT)]


def test_a_helper_that_is_accepted_breaks_no_call(server: Process, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    helper = "def dark(x):\n    return bool(x.mean() < 0)\n"
    net = "from ops import dark\n" + NET.replace("x.sum() > 0", "dark(x)")
    accept(root, monkeypatch, net=net, ops=helper)
    uri = opened(server, root, net)
    assert server.codes(uri, 1) == []


@pytest.mark.parametrize("damage", [None, b"", b"no baseline\n"], ids=["missing", "empty", "damaged"])
def test_one_that_cannot_be_used_is_told_where_it_is_named(
    server: Process, root: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes | None
) -> None:
    accept(root, monkeypatch, net=NET)
    baseline, file = root / NAME, root / "exportlint.toml"
    good = baseline.read_bytes()
    baseline.unlink()
    if damage is not None:
        baseline.write_bytes(damage)
    uri = opened(server, root, NET)
    (problem,) = server.published(file.as_uri())
    assert NAME in problem["message"]
    assert shown(server, uri, 1, pulls=False) == [("EXP101", ERROR)]
    baseline.write_bytes(good)
    server.touch(baseline)
    told = server.hear_all(is_published(file.as_uri()), is_published(uri))
    problems, (accepted,) = (message["params"]["diagnostics"] for message in told)
    assert (problems, accepted["code"], accepted["severity"]) == ([], "EXP101", HINT)
