"""What is found in files that are not open, which only users get who ask for it."""

from __future__ import annotations

import queue
from pathlib import Path

import pytest

from tests.cli.runner import CLEAN, NET
from tests.server.raw import PULLING, PUSHING, Message, Process, is_of

WANTED: Message = {"initializationOptions": {"settings": {"workspaceDiagnostics": True}}}


@pytest.fixture
def root(root: Path) -> Path:
    (root / "build").mkdir()
    for name in ("a.py", "b.py", "build/c.py"):
        (root / name).write_text(NET, encoding="utf-8")
    (root / "clean.py").write_text(CLEAN, encoding="utf-8")
    return root


def reports(answer: Message, root: Path) -> dict[str, Message]:
    return {item["uri"].removeprefix(f"{root.as_uri()}/"): item for item in answer["result"]["items"]}


def codes(answer: Message, root: Path) -> dict[str, list[str]]:
    found = {name: item.get("items") for name, item in reports(answer, root).items()}
    return {name: [shown["code"] for shown in items] for name, items in found.items() if items is not None}


@pytest.mark.parametrize(("capabilities", "more"), [(PULLING, {}), (PUSHING, WANTED)])
def test_it_is_offered_only_where_it_is_wanted(
    server: Process, root: Path, capabilities: Message, more: Message
) -> None:
    offered = server.start(root, capabilities, **more)
    assert not (offered.get("diagnosticProvider") or {}).get("workspaceDiagnostics")
    assert server.request("workspace/diagnostic", {"previousResultIds": []})["error"]["code"] == -32601


def test_all_files_but_the_open_ones_are_told_and_again_when_something_changes(server: Process, root: Path) -> None:
    offered = server.start(root, PULLING, **WANTED)
    assert offered["diagnosticProvider"]["workspaceDiagnostics"] is True
    opened = (root / "b.py").as_uri()
    server.open(opened, NET)
    assert len(server.pull(opened)["items"]) == 1
    answer = server.request("workspace/diagnostic", {"previousResultIds": []})
    assert codes(answer, root) == {"a.py": ["EXP101"], "clean.py": []}

    def again(answer: Message) -> int:
        known = [{"uri": item["uri"], "value": item["resultId"]} for item in answer["result"]["items"]]
        return server.ask("workspace/diagnostic", {"previousResultIds": known})

    waiting = again(answer)
    with pytest.raises(queue.Empty):  # nothing has changed, so it is not answered
        server.hear(lambda message: message.get("id") == waiting and "method" not in message, patience=1.5)
    (root / "clean.py").write_text(NET, encoding="utf-8")
    server.touch(root / "clean.py")
    answer = server.answer(waiting)
    assert codes(answer, root) == {"clean.py": ["EXP101"]}
    assert reports(answer, root)["a.py"]["kind"] == "unchanged"
    waiting = again(answer)
    (root / "a.py").unlink()
    server.touch(root / "a.py", kind=3)
    answer = server.answer(waiting)
    assert codes(answer, root) == {"a.py": []}
    waiting = again(answer)
    server.close(opened)
    assert codes(server.answer(waiting), root) == {"b.py": ["EXP101"]}


def test_it_can_be_cancelled_and_does_not_hinder_the_end(server: Process, root: Path) -> None:
    server.start(root, PULLING, **WANTED)
    server.hear(is_of("workspace/configuration"))
    server.pull("untitled:a")  # by then, the settings have come
    answer = server.request("workspace/diagnostic", {"previousResultIds": []})
    known = [{"uri": item["uri"], "value": item["resultId"]} for item in answer["result"]["items"]]
    for _ in range(2):
        waiting = server.ask("workspace/diagnostic", {"previousResultIds": known})
        server.notify("$/cancelRequest", {"id": waiting})
        assert server.answer(waiting)["error"]["code"] == -32800
    server.ask("workspace/diagnostic", {"previousResultIds": known})


def test_a_call_is_told_of_in_files_that_are_not_open(server: Process, root: Path) -> None:
    helper = "def chosen(x):\n    if x.sum() > 0:\n        return x\n    return -x\n"
    (root / "helper.py").write_text(helper, encoding="utf-8")
    user = CLEAN + "from torch import nn\n\nimport helper\n\n\nclass User(nn.Module):\n    def forward(self, x):\n"
    (root / "user.py").write_text(f"{user}        return helper.chosen(x)\n", encoding="utf-8")
    server.start(root, PULLING, **WANTED)
    answer = server.request("workspace/diagnostic", {"previousResultIds": []})
    assert codes(answer, root)["helper.py"] == ["EXP101"]
    (shown,) = reports(answer, root)["user.py"]["items"]
    assert shown["code"] == "EXP101"
    assert shown["message"].startswith("`helper.chosen` breaks export: ")
