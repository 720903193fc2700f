"""The configurations for editors that the tests cannot run: what they start, talked to as those editors do."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from lsprotocol import converters, types

from tests.patience import PATIENCE
from tests.sampling import one_in
from tests.server.client import Editor
from tests.server.connection import connection
from tests.server.editors.drive import CONFIGURATIONS, Project
from tests.server.editors.scenario import Model

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CAPABILITIES = Path(__file__).parent / "caps"
"""What they announce, from their sources, as far as it matters to a linter."""


class Server(NamedTuple):
    """What a configuration has the editor start."""

    command: list[str]
    options: Any


def _json(path: str) -> Any:
    return json.loads((CONFIGURATIONS / path).read_text(encoding="utf-8"))


def _toml(path: str) -> dict[str, Any]:
    return tomllib.loads((CONFIGURATIONS / path).read_text(encoding="utf-8"))


def _helix() -> Server:
    configuration = _toml("helix/languages.toml")
    (language,) = configuration["language"]
    assert (language["name"], language["language-servers"][0]) == ("python", "exportlint")
    server = configuration["language-server"]["exportlint"]
    return Server([server["command"], *server["args"]], server["config"])


def _kate() -> Server:
    server = _json("kate/settings.json")["servers"]["python"]
    assert server["highlightingModeRegex"] == "^Python$"
    return Server(server["command"], server["initializationOptions"])


def _lsp4ij() -> Server:
    template = _json("pycharm/exportlint/template.json")
    (mapping,) = template["fileTypeMappings"]
    assert (mapping["languageId"], mapping["fileType"]["patterns"]) == ("python", ["*.py"])
    return Server(
        shlex.split(template["programArgs"]["default"]), _json("pycharm/exportlint/initializationOptions.json")
    )


def _sublime() -> Server:
    server = _json("sublime/LanguageServers.sublime-settings")["exportlint"]
    assert server["enabled"]
    assert server["selector"] == "source.python"
    return Server(server["command"], server["initialization_options"])


def _zed() -> Server:
    extension, package = _toml("zed/extension.toml"), _toml("zed/Cargo.toml")
    (name,) = extension["language_servers"]
    assert extension["language_servers"][name]["languages"] == ["Python"]
    assert (CONFIGURATIONS / "zed" / package["lib"]["path"]).is_file()
    settings = _json("zed/settings.json")
    assert settings["languages"]["Python"]["language_servers"][0] == name
    server = settings["lsp"][name]
    return Server([server["binary"]["path"], *server["binary"]["arguments"]], server["initialization_options"])


SERVERS: dict[str, Callable[[], Server]] = {
    "helix": _helix,
    "kate": _kate,
    "lsp4ij": _lsp4ij,
    "sublime": _sublime,
    "zed": _zed,
}


@pytest.mark.parametrize("name", one_in(3, SERVERS))
async def test_starts_a_server_that_suits_the_editor(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, server = Project(tmp_path, Model()), SERVERS[name]()
    monkeypatch.setenv("PATH", project.environment["PATH"])
    announced = json.loads((CAPABILITIES / f"{name}.json").read_text(encoding="utf-8"))
    root = types.WorkspaceFolder(project.work.as_uri(), "work")
    client = connection()
    await client.start_io(*server.command, env=project.environment)
    try:
        initialized = await asyncio.wait_for(
            client.initialize_session(
                types.InitializeParams(
                    capabilities=converters.get_converter().structure(announced, types.ClientCapabilities),
                    initialization_options=server.options,
                    root_uri=root.uri,
                    workspace_folders=[root],
                    process_id=os.getpid(),
                )
            ),
            PATIENCE,
        )
        editor = Editor(client, project.work, initialized)
        assert editor.encoding == announced.get("general", {"positionEncodings": ["utf-16"]})["positionEncodings"][0]
        pulls = "diagnostic" in announced["textDocument"]
        assert (initialized.capabilities.diagnostic_provider is not None) == pulls
        uri = editor.open("model.py", project.model.text)
        shown = [(found.code, editor.piece(uri, found.range)) for found in await editor.diagnostics(uri)]
        assert shown == [found[1:] for found in project.model.states()["opened"].findings]
        assert (uri in client.published) != pulls
        await asyncio.wait_for(client.shutdown_session(), PATIENCE)
    finally:
        if client.process.returncode is None:
            client.process.kill()
        await client.stop()  # type: ignore[no-untyped-call]
    assert project.starts == ["server"]
    assert project.ended()


def test_each_directory_is_in_the_table() -> None:
    table = (CONFIGURATIONS / "README.md").read_text(encoding="utf-8")
    for directory in CONFIGURATIONS.iterdir():
        if directory.is_dir():
            assert f"]({directory.name}/" in table
            assert (directory / "README.md").is_file()
