"""Which documents are shown what, when: pushed or pulled, and again when something else changes it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.runner import CLEAN, NET
from tests.sampling import first_of_each
from tests.server.capabilities import EDITORS
from tests.server.client import forked
from tests.server.models import model
from tests.server.raw import PULLING, PUSHING, Message, Process, is_of, is_published, process

CAPS = Path(__file__).parent / "caps"
PULLING_EDITORS = {"vscode-1.139-languageclient-11"}
"""Those that pull and can be told to do it again; Neovim 0.11 cannot, so it is pushed to."""

REFRESH = "workspace/diagnostic/refresh"

USER = """\
from torch import nn

from helper import chosen


class Model(nn.Module):
    def forward(self, x):
        if chosen(x):
            return x + 1
        return x
"""
HELPER = "def chosen(x):\n    return x.dim() == 3\n"
TENSOR_HELPER = "def chosen(x):\n    return x.sum() > 0\n"


class Shown:
    """What a client shows of documents, pushed or pulled."""

    def __init__(self, server: Process, pulls: bool) -> None:
        self.server = server
        self.pulls = pulls
        self._refreshes = 0
        self._taken: dict[str, int] = {}

    def codes(self, uri: str, version: int | None = None) -> list[str]:
        """What is shown next of a document."""
        if self.pulls:
            return [str(item["code"]) for item in self.server.pull(uri)["items"]]
        codes = self.server.codes(uri, version)
        self._taken[uri] = len(self._published(uri))
        return codes

    def codes_again(self, uri: str) -> list[str]:
        """What is shown of a document once something else has changed it."""
        if self.pulls:
            self._refreshes += 1
            while self._heard() < self._refreshes:
                self.server.hear(is_of(REFRESH))
            self._refreshes = self._heard()
        published = self._published(uri)
        if len(published) > self._taken.get(uri, 0):  # it came before what was waited for since
            self._taken[uri] = len(published)
            return [str(item["code"]) for item in published[-1]]
        return self.codes(uri)

    def _published(self, uri: str) -> list[list[Message]]:
        told = (m["params"] for m in self.server.heard if m.get("method") == "textDocument/publishDiagnostics")
        return [params["diagnostics"] for params in told if params["uri"] == uri]

    def _heard(self) -> int:
        return [message.get("method") for message in self.server.heard].count(REFRESH)


@pytest.fixture(params=["push", "pull"])
def shown(request: pytest.FixtureRequest, server: Process, root: Path) -> Shown:
    """A client of each kind, before it initializes."""
    return Shown(server, request.param == "pull")


def start(shown: Shown, root: Path | None, **more: object) -> Process:
    shown.server.start(root, PULLING if shown.pulls else PUSHING, **more)
    return shown.server


@pytest.mark.parametrize("editor", first_of_each(EDITORS, PULLING_EDITORS.__contains__))
def test_each_editor_is_pushed_to_or_pulls_and_never_both(server: Process, root: Path, editor: str) -> None:
    capabilities = json.loads((CAPS / f"{editor}.json").read_text(encoding="utf-8"))
    offered = server.start(root, capabilities)
    uri = (root / "net.py").as_uri()
    server.open(uri, NET)
    pulls = editor in PULLING_EDITORS
    assert ("diagnosticProvider" in offered) == pulls
    codes = [item["code"] for item in server.pull(uri)["items"]] if pulls else server.codes(uri, 1)
    assert codes == ["EXP101"]
    server.request("workspace/executeCommand", {"command": "exportlint.showRule", "arguments": ["EXP101"]})
    pushed = [message["params"]["uri"] for message in server.heard if "publishDiag" in message.get("method", "")]
    assert pushed == ([] if pulls else [uri])


def test_what_did_not_change_is_named_and_not_sent(server: Process, root: Path) -> None:
    server.start(root, PULLING)
    uri = (root / "net.py").as_uri()
    server.open(uri, NET)
    first = server.pull(uri)
    assert (first["kind"], len(first["items"])) == ("full", 1)
    assert server.pull(uri, first["resultId"]) == {"kind": "unchanged", "resultId": first["resultId"]}
    server.change(uri, 2, NET + "# no matter\n")
    assert server.pull(uri, first["resultId"])["kind"] == "unchanged"
    server.change(uri, 3, "\n" + NET)
    assert server.pull(uri, first["resultId"])["kind"] == "full"
    server.change(uri, 4, NET)
    assert server.pull(uri, first["resultId"])["kind"] == "unchanged"
    (root / "exportlint.toml").write_text('mode = "strict"\n', encoding="utf-8")
    server.touch(root / "exportlint.toml", kind=1)
    server.change(uri, 5, "")
    assert server.pull(uri, first["resultId"])["items"] == []


def test_each_version_is_published_as_that_version(server: Process, root: Path) -> None:
    server.start(root)
    uri = (root / "net.py").as_uri()
    server.open(uri, NET, version=41)
    server.hear(is_published(uri, 41))
    server.change(uri, 42, NET + "\n")
    server.hear(is_published(uri, 42))
    server.close(uri)
    assert server.published(uri) == []


def test_an_edit_in_a_helper_changes_what_its_users_show(shown: Shown, root: Path) -> None:
    (root / "helper.py").touch()
    server = start(shown, root)
    user, helper = ((root / name).as_uri() for name in ("user.py", "helper.py"))
    server.open(helper, HELPER)
    assert shown.codes(helper, 1) == []
    server.open(user, USER)
    assert shown.codes(user, 1) == []
    server.change(helper, 2, TENSOR_HELPER)
    assert shown.codes(helper, 2) == []
    assert shown.codes_again(user) == ["EXP101"]
    server.change(helper, 3, HELPER)
    assert shown.codes(helper, 3) == []
    assert shown.codes_again(user) == []


@pytest.mark.thorough
def test_closing_a_helper_shows_what_it_is_on_the_disk(shown: Shown, root: Path) -> None:
    (root / "helper.py").write_text(TENSOR_HELPER, encoding="utf-8")
    server = start(shown, root)
    user, helper = ((root / name).as_uri() for name in ("user.py", "helper.py"))
    server.open(user, USER)
    assert shown.codes(user, 1) == ["EXP101"]
    server.open(helper, HELPER)
    assert shown.codes_again(user) == []
    server.close(helper)
    assert shown.codes_again(user) == ["EXP101"]


@pytest.mark.thorough
@pytest.mark.parametrize("before", [None, HELPER])
def test_a_helper_that_changes_or_comes_on_the_disk_changes_what_is_shown(
    shown: Shown, root: Path, before: str | None
) -> None:
    helper = root / "helper.py"
    if before is not None:
        helper.write_text(before, encoding="utf-8")
    server = start(shown, root)
    user = (root / "user.py").as_uri()
    server.open(user, USER)
    assert shown.codes(user, 1) == []
    helper.write_text(TENSOR_HELPER, encoding="utf-8")
    server.touch(helper, kind=1 if before is None else 2)
    assert shown.codes_again(user) == ["EXP101"]
    helper.unlink()
    server.touch(helper, kind=3)
    assert shown.codes_again(user) == []


def test_a_helper_that_a_client_without_watching_saves_is_seen_at_the_next_edit(server: Process, root: Path) -> None:
    helper = root / "helper.py"
    helper.write_text(HELPER, encoding="utf-8")
    server.start(root, {})
    user = (root / "user.py").as_uri()
    server.open(user, USER)
    assert server.codes(user, 1) == []
    helper.write_text(TENSOR_HELPER + "# longer\n", encoding="utf-8")
    server.change(user, 2, USER + "\n")
    assert server.codes(user, 2) == ["EXP101"]


def test_findings_in_a_helper_are_shown_there_while_a_user_of_it_is_open(shown: Shown, root: Path) -> None:
    (root / "helper.py").touch()
    server = start(shown, root)
    user, helper = ((root / name).as_uri() for name in ("user.py", "helper.py"))
    inner = "def chosen(x):\n    if x.sum() > 0:\n        return True\n    return False\n"
    server.open(helper, inner)
    assert shown.codes(helper, 1) == []
    server.open(user, USER)
    assert shown.codes(user, 1) == ["EXP101"]  # at the call
    assert shown.codes_again(helper) == ["EXP101"]
    server.close(user)
    assert shown.codes_again(helper) == []


def test_related_documents_come_with_the_answer_where_the_client_takes_them(server: Process, root: Path) -> None:
    (root / "helper.py").touch()
    diagnostic = {"relatedDocumentSupport": True}
    server.start(root, {**PULLING, "textDocument": {"diagnostic": diagnostic}})
    user, helper = ((root / name).as_uri() for name in ("user.py", "helper.py"))
    server.open(user, USER)
    server.open(helper, HELPER)
    assert server.pull(user)["items"] == []
    server.change(helper, 2, TENSOR_HELPER)
    report = server.pull(helper)
    assert [item["code"] for item in report["relatedDocuments"][user]["items"]] == ["EXP101"]
    same = server.pull(helper, report["resultId"])
    assert (same["kind"], list(same["relatedDocuments"])) == ("unchanged", [user])


@pytest.mark.parametrize(
    "uri",
    [
        "untitled:Untitled-1",
        "untitled:/some/folder/net.py",
        "vscode-remote://ssh-remote%2Bhost/home/net.py",
        "git:/work/net.py?%7B%22ref%22%3A%22~%22%7D",
        "file:///c%3A/Users/net%20work/net.py",
        "file:///C:/Users/net.py",
        "file://server/share/net.py",
        "file:///a/../b/./net%2Epy",
        "file:///caf%C3%A9/%F0%9F%98%80.py",
        "file:///a%FFb.py",
        "file:///%00.py",
        "file:///\ud800.py",
        "file:",
        "http://[bad",
        "net.py",
        " ",
        "",
    ],
)
def test_any_uri_is_linted_and_echoed(shared: Process, uri: str) -> None:
    shared.open(uri, NET)
    (found,) = shared.published(uri, 1)
    assert found["code"] == "EXP101"
    shared.close(uri)
    assert shared.published(uri) == []


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """One server for what leaves nothing behind."""
    root = tmp_path_factory.mktemp("shared")
    with process(root, forked()) as started:
        started.start(None, PUSHING)
        yield started
        assert started.stop() == 0
        assert " ERROR " not in started.logged, started.logged


@pytest.mark.parametrize(
    ("opened", "changed"),
    [
        ("file:///c%3A/Users/net.py", "file:///C:/Users/net.py"),
        ("file:///c:/Users/net.py", "file:///C%3A/Users/net.py"),
        ("file:///home/net%2Bwork/a.py", "file:///home/net+work/a.py"),
        ("file://localhost/home/a.py", "file:///home/a.py"),
    ],
)
def test_one_document_may_be_spelled_in_several_ways(shared: Process, opened: str, changed: str) -> None:
    shared.open(opened, NET)
    assert shared.codes(opened, 1) == ["EXP101"]
    shared.change(changed, 2, CLEAN)
    assert shared.codes(opened, 2) == []
    shared.close(changed)
    assert shared.published(opened) == []


def test_a_link_is_shown_as_the_client_names_it(server: Process, root: Path, tmp_path: Path) -> None:
    """And sees the files beside the link, as Python does of a script in a linked folder."""
    real = tmp_path / "real"
    real.mkdir()
    (real / "helper.py").write_text(TENSOR_HELPER, encoding="utf-8")
    (real / "user.py").write_text(USER, encoding="utf-8")
    (root / "linked").symlink_to(real)
    server.start(root)
    uri = (root / "linked" / "user.py").as_uri()
    server.open(uri, USER)
    (found,) = server.published(uri, 1)
    assert found["code"] == "EXP101"
    assert {
        message["params"]["uri"] for message in server.heard if message.get("method", "").endswith("Diagnostics")
    } == {uri}


@pytest.mark.parametrize(("language", "count"), [("python", 1), ("jupyter", 0), ("plaintext", 0)])
def test_only_python_is_linted(shared: Process, language: str, count: int) -> None:
    item: dict[str, Any] = {"uri": f"file:///x/{language}.py", "languageId": language, "version": 1, "text": NET}
    shared.notify("textDocument/didOpen", {"textDocument": item})
    shared.open("untitled:other.py", NET)
    shared.published("untitled:other.py", 1)
    shared.close("untitled:other.py")
    shared.published("untitled:other.py")

    def told() -> int:
        return len([m for m in shared.heard if (m.get("params") or {}).get("uri") == item["uri"]])

    if told() < count:
        shared.published(item["uri"], 1)  # which of the two is told first is nobody's business
    assert told() == count


@pytest.mark.thorough
def test_a_big_file_that_is_looked_at_keeps_nobody_waiting(server: Process, root: Path) -> None:
    server.start(root)
    big, small = ((root / name).as_uri() for name in ("big.py", "small.py"))
    text = model(8_000)
    server.open(big, text)
    server.open(small, NET)
    assert server.codes(small, 1) == ["EXP101"]
    for version in range(2, 6):
        server.change(big, version, text.replace("class Config", f"class Config{version}"))
    place = {"textDocument": {"uri": small}, "position": {"line": 6, "character": 12}}
    answer = server.request("textDocument/hover", place)
    assert "tensor-branch" in answer["result"]["contents"]["value"]
    # The small one was told first, and of the big one only what it holds at last.
    told = [
        (message["params"]["uri"], message["params"]["version"])
        for message in server.heard
        if message.get("method") == "textDocument/publishDiagnostics"
    ]
    assert told == [(small, 1)]
    assert len(server.codes(big, 5)) > 10


def test_the_document_that_is_typed_in_is_told_of_before_those_that_it_changes(server: Process, root: Path) -> None:
    helper, users = root / "helper.py", [root / f"user{n}.py" for n in range(3)]
    server.start(root, PUSHING)
    helper.write_text(HELPER, encoding="utf-8")
    for file in users:
        file.write_text(USER, encoding="utf-8")
        server.open(file.as_uri(), USER)
        server.published(file.as_uri(), 1)
    server.open(helper.as_uri(), HELPER)
    server.published(helper.as_uri(), 1)
    count = len(server.heard)
    server.change(helper.as_uri(), 2, TENSOR_HELPER + NET)
    assert [shown["code"] for shown in server.published(helper.as_uri(), 2)] == ["EXP101"]
    told = [m["params"] for m in server.heard[count:] if m.get("method") == "textDocument/publishDiagnostics"]
    assert [params["uri"] for params in told] == [helper.as_uri()]
    for file in users:
        assert server.codes(file.as_uri(), 1) == ["EXP101"]
