"""Settings: of the client by every way it has, of folders, and of files that are watched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.runner import NET
from tests.sampling import one_in
from tests.server.client import forked
from tests.server.raw import PULLING, PUSHING, Message, Process, is_of, is_published, process

TWO = NET.replace("return x + 1", "return x + x.max().item()")
"""A module with two findings, EXP101 and EXP201."""
BOTH = ["EXP101", "EXP201"]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """A server whose client is asked for its settings again and again."""
    root = tmp_path_factory.mktemp("shared")
    (root / "other.toml").write_text('extend = "base.toml"\n', encoding="utf-8")
    (root / "base.toml").write_text('ignore = ["EXP101"]\n', encoding="utf-8")
    with process(root, forked()) as started:
        started.start(root, PUSHING)
        started.root = root
        yield started
        assert started.stop() == 0
        assert " ERROR " not in started.logged, started.logged


SETTINGS: list[tuple[Message, list[str], str]] = [
    ({}, BOTH, ""),
    ({"enable": False}, [], ""),
    ({"enable": "no"}, BOTH, "`exportlint.enable`: `no` is not one of true, false"),
    ({"lint": {"select": ["EXP101"]}}, ["EXP101"], ""),
    ({"lint.select": ["leaving-graph"]}, ["EXP201"], ""),
    ({"lint": {"ignore": ["tensor-branch"]}}, ["EXP201"], ""),
    ({"lint": {"select": ["EXP1"], "extendSelect": ["EXP201"]}}, BOTH, ""),
    ({"lint": {"select": None, "extendSelect": None, "ignore": None}}, BOTH, ""),
    ({"lint": {"ignore": ["EXP9999", "EXP101"]}}, BOTH, "`exportlint.lint.ignore`: unknown rule selector `EXP9999`"),
    ({"lint": {"select": "EXP101"}}, BOTH, "`exportlint.lint.select`: "),
    ({"lint": {"run": "always"}}, BOTH, "`exportlint.lint.run`: `always` is not one of onType, onSave"),
    ({"mode": "strict"}, BOTH, ""),
    ({"mode": "eager"}, BOTH, "`exportlint.mode`: "),
    ({"torchVersion": "2.4"}, BOTH, ""),
    ({"torchVersion": "1.0"}, BOTH, "`exportlint.torchVersion`: torch 1.0 is too old"),
    ({"torchVersion": 2.4}, BOTH, "`exportlint.torchVersion`: "),
    ({"configuration": {"ignore": ["EXP101"]}}, ["EXP201"], ""),
    ({"configuration": {"min-severity": "warning"}}, ["EXP101"], ""),
    ({"configuration": {"show-info": True, "fail-on": "never"}}, BOTH, ""),
    (
        {"configuration": {"ignor": []}},
        BOTH,
        "`exportlint.configuration`: unknown setting `ignor`, did you mean `ignore`?",
    ),
    ({"configuration": "other.toml"}, ["EXP201"], ""),
    ({"configuration": "none.toml"}, BOTH, "none.toml: cannot be read"),
    ({"configuration": 5}, BOTH, "`exportlint.configuration` is neither a path nor a table"),
    ({"configuration": None, "configurationPreference": None}, BOTH, ""),
    ({"configurationPreference": "mine"}, BOTH, "`exportlint.configurationPreference`: `mine` is not one of"),
    ({"lint": {"selct": ["EXP101"]}}, BOTH, "`exportlint.lint.selct` is not a setting, did you mean `lint.select`?"),
    ({"logLevel": "loud"}, BOTH, "`exportlint.logLevel`: `loud` is not one of warning, error, info, debug"),
    ({"logFile": 5}, BOTH, "`exportlint.logFile`: not taken from a client, start the server with `--log-file FILE`"),
    ({"unsafeFixes": True, "fixAll": False, "codeLens": {"enable": False}, "workspaceDiagnostics": True}, BOTH, ""),
    ({"codeAction": {"fixViolation": {"enable": False}, "disableRuleComment": {"enable": False}}}, BOTH, ""),
    ({"path": [], "interpreter": ["python"], "importStrategy": "fromEnvironment"}, BOTH, ""),
    ({"showNotifications": "off", "trace": {"server": "verbose"}}, BOTH, ""),
]


@pytest.mark.parametrize(("settings", "codes", "complaint"), one_in(2, SETTINGS))
def test_each_setting_does_what_it_says_or_is_said_to_be_wrong_and_ignored(
    shared: Process, settings: Message, codes: list[str], complaint: str
) -> None:
    logged = len(shared.logged)
    shared.settings = lambda scope: settings
    shared.notify("workspace/didChangeConfiguration", {"settings": None})
    shared.hear(is_of("workspace/configuration"))
    shared.request("workspace/executeCommand", {"command": "exportlint.showRule", "arguments": ["EXP101"]})
    uri = (shared.root / "net.py").as_uri()
    shared.open(uri, TWO)
    if settings.get("enable") is not False:
        assert shared.codes(uri, 1) == codes
    warnings = [line for line in shared.logged[logged:].splitlines() if " WARNING " in line]
    assert [complaint in line for line in warnings] == ([True] if complaint else [])
    shared.settings = lambda scope: {}
    shared.notify("workspace/didChangeConfiguration", {"settings": None})
    if settings.get("enable") is False:
        assert shared.codes(uri, 1) == BOTH
    shared.close(uri)
    shared.hear(lambda message: message.get("params") == {"uri": uri, "diagnostics": [], "version": 1})


@pytest.mark.parametrize("settings", [{"exportlint": {"lint": {"ignore": ["EXP101"]}}}, {"lint.ignore": ["EXP101"]}])
def test_settings_are_taken_from_a_client_that_cannot_be_asked(server: Process, root: Path, settings: Message) -> None:
    server.start(root, {})
    uri = (root / "net.py").as_uri()
    server.open(uri, TWO)
    assert server.codes(uri) == BOTH
    server.notify("workspace/didChangeConfiguration", {"settings": settings})
    assert server.codes(uri) == ["EXP201"]
    others: object
    for others in ({"python": {"enable": False}}, {}, None, [], {"exportlint": None}):
        server.notify("workspace/didChangeConfiguration", {"settings": others})
    server.change(uri, 2, TWO + "\n")
    assert server.codes(uri, 2) == ["EXP201"]
    server.notify("workspace/didChangeConfiguration", {"settings": {"exportlint": {}}})
    assert server.codes(uri) == BOTH


@pytest.mark.parametrize("nested", [True, False])
def test_settings_come_with_initialize_and_others_override_them_one_by_one(
    server: Process, root: Path, nested: bool
) -> None:
    initial = {"lint": {"ignore": ["EXP101"]}, "logLevel": "warning"}
    server.start(root, {}, initializationOptions={"settings": initial} if nested else initial)
    uri = (root / "net.py").as_uri()
    server.open(uri, TWO)
    assert server.codes(uri) == ["EXP201"]
    server.notify("workspace/didChangeConfiguration", {"settings": {"exportlint": {"mode": "strict"}}})
    server.change(uri, 2, TWO + "\n")
    assert server.codes(uri, 2) == ["EXP201"]
    server.notify("workspace/didChangeConfiguration", {"settings": {"exportlint": {"lint": {"ignore": []}}}})
    assert server.codes(uri) == BOTH


@pytest.mark.parametrize(
    ("preference", "codes"),
    [("editorFirst", ["EXP101"]), ("filesystemFirst", ["EXP201"]), ("editorOnly", ["EXP101"])],
)
def test_the_user_says_whether_files_or_the_editor_decide(
    server: Process, root: Path, preference: str, codes: list[str]
) -> None:
    (root / "exportlint.toml").write_text('select = ["EXP2"]\nmode = "strict"\n', encoding="utf-8")
    settings = {"configurationPreference": preference, "lint": {"select": ["EXP1"]}}
    server.start(root, {}, initializationOptions={"settings": settings})
    uri = (root / "net.py").as_uri()
    server.open(uri, TWO)
    assert server.codes(uri) == codes


def test_on_save_looks_at_what_was_saved(server: Process, root: Path) -> None:
    server.start(root, {}, initializationOptions={"settings": {"lint": {"run": "onSave"}}})
    uri = (root / "net.py").as_uri()
    server.open(uri, NET)
    assert server.codes(uri, 1) == ["EXP101"]
    server.change(uri, 2, TWO)
    server.open("untitled:other", NET)
    assert server.codes("untitled:other") == ["EXP101"]
    assert [m["params"].get("version") for m in server.heard if (m.get("params") or {}).get("uri") == uri] == [1]
    server.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    assert server.codes(uri, 2) == BOTH


def test_on_save_has_a_client_that_pulls_ask_again(server: Process, root: Path) -> None:
    server.start(root, PULLING, initializationOptions={"settings": {"lint": {"run": "onSave"}}})
    uri = (root / "net.py").as_uri()
    server.open(uri, NET)
    first = server.pull(uri)
    server.change(uri, 2, TWO)
    assert server.pull(uri, first["resultId"])["kind"] == "unchanged"
    server.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    server.hear(is_of("workspace/diagnostic/refresh"))
    assert [item["code"] for item in server.pull(uri)["items"]] == BOTH


def test_what_is_excluded_is_not_linted(server: Process, root: Path) -> None:
    (root / "exportlint.toml").write_text('extend-exclude = ["generated"]\n', encoding="utf-8")
    server.start(root)
    inside, beside = (root / "generated" / "net.py").as_uri(), (root / "net.py").as_uri()
    server.open(inside, NET)
    server.open(beside, NET)
    assert server.codes(beside) == ["EXP101"]
    assert all((message.get("params") or {}).get("uri") != inside for message in server.heard)
    (root / "exportlint.toml").write_text('extend-exclude = ["net.py"]\n', encoding="utf-8")
    server.touch(root / "exportlint.toml")
    assert server.codes(beside) == []
    (root / "exportlint.toml").unlink()
    server.touch(root / "exportlint.toml", kind=3)
    assert {(uri, tuple(server.codes(uri))) for uri in (beside, inside)} == {
        (beside, ("EXP101",)),
        (inside, ("EXP101",)),
    }


@pytest.mark.parametrize("name", ["exportlint.toml", ".exportlint.toml", "pyproject.toml"])
def test_configuration_files_are_watched(server: Process, root: Path, name: str) -> None:
    server.start(root)
    (registered,) = server.hear(is_of("client/registerCapability"))["params"]["registrations"]
    assert registered["method"] == "workspace/didChangeWatchedFiles"
    patterns = [watcher["globPattern"] for watcher in registered["registerOptions"]["watchers"]]
    assert patterns == ["**/*.toml", "**/*.{py,pyi}", "**/*baseline*"]
    uri = (root / "net.py").as_uri()
    server.open(uri, TWO)
    assert server.codes(uri) == BOTH
    table = "[tool.exportlint]\n" if name == "pyproject.toml" else ""
    (root / name).write_text(f'{table}ignore = ["EXP101"]\n', encoding="utf-8")
    server.touch(root / name, kind=1)
    assert server.codes(uri) == ["EXP201"]
    (root / name).unlink()
    server.touch(root / name, kind=3)
    assert server.codes(uri) == BOTH


def test_a_changed_configuration_has_a_client_that_pulls_ask_again(server: Process, root: Path) -> None:
    server.start(root, PULLING)
    uri = (root / "net.py").as_uri()
    server.open(uri, TWO)
    assert len(server.pull(uri)["items"]) == 2
    for enabled, count in ((False, 0), (True, 2)):
        server.settings = lambda scope, enabled=enabled: {"enable": enabled}  # type: ignore[misc]
        server.notify("workspace/didChangeConfiguration", {"settings": None})
        server.hear(is_of("workspace/diagnostic/refresh"))
        assert len(server.pull(uri)["items"]) == count


def _replace(file: Path, text: str) -> None:
    """Write a file as editors do, so that nobody reads it while it is empty."""
    (file.parent / "written").write_text(text, encoding="utf-8")
    (file.parent / "written").replace(file)


@pytest.mark.parametrize("capabilities", [PUSHING, PULLING])
def test_errors_of_a_configuration_are_shown_in_it_until_they_are_mended(
    server: Process, root: Path, capabilities: Message
) -> None:
    """Meanwhile, the last settings that were good hold."""
    file, uri = root / "exportlint.toml", (root / "net.py").as_uri()
    file.write_text('ignore = ["EXP101"]\n', encoding="utf-8")
    server.start(root, capabilities)
    server.open(uri, TWO)
    pulls = capabilities is PULLING
    codes = [item["code"] for item in server.pull(uri)["items"]] if pulls else server.codes(uri)
    assert codes == ["EXP201"]
    for text, row, message in (
        ('ignore = ["EXP101"]\nmod = "strict"\n', 1, "unknown setting `mod`, did you mean `mode`?"),
        ("\n\nignore = [\n", 2, "not valid TOML"),
        ('\nmode = "eager"\n', 1, "`mode`: "),
    ):
        _replace(file, text)
        server.touch(file)
        (shown,) = server.published(file.as_uri())
        assert (shown["range"]["start"]["line"], shown["severity"], shown["source"]) == (row, 1, "exportlint")
        assert message in shown["message"]
        server.notify("workspace/didChangeConfiguration", {"settings": None})
    if pulls:
        assert [item["code"] for item in server.pull(uri)["items"]] == ["EXP201"]
    server.change(uri, 2, TWO + "\n")
    assert ([item["code"] for item in server.pull(uri)["items"]] if pulls else server.codes(uri, 2)) == ["EXP201"]
    _replace(file, "")
    server.touch(file)
    changed = is_of("workspace/diagnostic/refresh") if pulls else is_published(uri)
    told = server.hear_all(is_published(file.as_uri()), changed)
    assert told[0]["params"]["diagnostics"] == []
    items = server.pull(uri)["items"] if pulls else told[1]["params"]["diagnostics"]
    assert [item["code"] for item in items] == BOTH


def test_a_configuration_that_is_wrong_from_the_start_leaves_the_editors_settings(server: Process, root: Path) -> None:
    (root / "exportlint.toml").write_text("mode = 5\n", encoding="utf-8")
    server.start(root, {}, initializationOptions={"settings": {"lint": {"ignore": ["EXP101"]}}})
    uri = (root / "net.py").as_uri()
    server.open(uri, TWO)
    assert server.codes(uri) == ["EXP201"]


def test_a_file_that_the_settings_name_is_read_again_when_it_changes(server: Process, root: Path) -> None:
    (root / "strict.toml").write_text('ignore = ["EXP101"]\n', encoding="utf-8")
    server.start(root, {}, initializationOptions={"settings": {"configuration": "strict.toml"}})
    uri = (root / "net.py").as_uri()
    server.open(uri, TWO)
    assert server.codes(uri) == ["EXP201"]
    (root / "strict.toml").write_text('ignore = ["EXP201"]\n', encoding="utf-8")
    server.touch(root / "strict.toml")
    assert server.codes(uri) == ["EXP101"]


class TestFolders:
    """A folder in a folder, beside another."""

    @pytest.fixture
    def folders(self, root: Path) -> dict[str, Path]:
        made = {name: root / name for name in ("outer", "outer/inner", "other")}
        for folder in made.values():
            folder.mkdir()
        (made["outer"] / "exportlint.toml").write_text('mode = "strict"\n', encoding="utf-8")
        return made

    def start(self, server: Process, folders: list[Path]) -> None:
        ignored = {"outer": ["EXP101"], "inner": ["EXP201"], "other": []}

        def settings(scope: str | None) -> object:
            return {"lint": {"ignore": ignored[scope.rpartition("/")[2]] if scope else ["EXP1", "EXP2"]}}

        server.settings = settings
        opened = [{"uri": folder.as_uri(), "name": folder.name} for folder in folders]
        server.start(folders[0], PUSHING, workspaceFolders=opened)
        server.hear(is_of("workspace/configuration"))
        server.request("workspace/executeCommand", {"command": "exportlint.showRule", "arguments": ["EXP101"]})

    def test_each_file_has_the_settings_of_the_innermost_folder(
        self, server: Process, folders: dict[str, Path], root: Path
    ) -> None:
        self.start(server, list(folders.values()))
        for place, codes in (
            (folders["outer"], ["EXP201"]),
            (folders["outer/inner"], ["EXP101"]),
            (folders["outer/inner"] / "deep", ["EXP101"]),
            (folders["other"], BOTH),
            (root, []),
            (root / "outermost", []),
        ):
            server.open((place / "net.py").as_uri(), TWO)
            assert server.codes((place / "net.py").as_uri()) == codes

    def test_folders_come_and_go(self, server: Process, folders: dict[str, Path]) -> None:
        self.start(server, [folders["outer"], folders["other"]])
        uri = (folders["outer/inner"] / "net.py").as_uri()
        server.open(uri, TWO)
        assert server.codes(uri) == ["EXP201"]
        inner = {"uri": folders["outer/inner"].as_uri(), "name": "inner"}
        for event, codes in (
            ({"added": [inner], "removed": []}, ["EXP101"]),
            ({"added": [], "removed": [inner]}, ["EXP201"]),
            ({"added": [], "removed": [{"uri": folders["outer"].as_uri(), "name": "outer"}]}, []),
        ):
            server.notify("workspace/didChangeWorkspaceFolders", {"event": event})
            assert server.codes(uri) == codes


@pytest.mark.parametrize("answer", [None, 5])
def test_an_answer_that_is_none_leaves_the_settings(tmp_path: Path, root: Path, answer: object) -> None:
    with process(tmp_path, forked()) as server:
        server.answers["workspace/configuration"] = answer
        server.start(root, initializationOptions={"settings": {"lint": {"ignore": ["EXP101"]}}})
        uri = (root / "net.py").as_uri()
        server.open(uri, TWO)
        assert server.codes(uri, 1) == ["EXP201"]
        (root / "exportlint.toml").write_text('per-file-ignores = {"net.py" = ["EXP201"]}', encoding="utf-8")
        server.notify("workspace/didChangeConfiguration", {"settings": None})
        assert server.codes(uri, 1) == []
        assert server.stop() == 0
        assert "the client does not send its settings" in server.logged
        assert not any("error" in message for message in server.heard), "an answer was answered"


def test_no_client_chooses_where_the_log_goes(server: Process, root: Path) -> None:
    """Its settings may be those of a folder that it has open."""
    log = root / "x.log"
    server.start(root, {}, initializationOptions={"settings": {"logFile": str(log), "enabel": True}})
    server.notify("workspace/didChangeConfiguration", {"settings": {"exportlint": {"logFile": str(log)}}})
    server.request("workspace/executeCommand", {"command": "exportlint.showRule", "arguments": ["EXP101"]})
    assert "`exportlint.enabel` is not a setting, did you mean `enable`?" in server.logged
    assert "`exportlint.logFile`: not taken from a client, start the server with `--log-file FILE`" in server.logged
    assert not log.exists()
