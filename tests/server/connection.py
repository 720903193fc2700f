"""The client's end of a connection: what the server sends, as it came."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cache
from typing import Any

from cattrs import Converter
from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import LanguageClient
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, progress, register_lsp_features


@cache
def _converter() -> Converter:
    """lsprotocol's, of all connections, which takes every code action that comes with a command for a command."""
    converter: Converter = default_converter()  # type: ignore[no-untyped-call]

    def action(value: Any, _: object) -> types.Command | types.CodeAction:
        kind: Any = types.Command if isinstance(value.get("command"), str) else types.CodeAction
        found: types.Command | types.CodeAction = converter.structure(value, kind)
        return found

    converter.register_structure_hook(types.Command | types.CodeAction, action)
    return converter


class Connection(LanguageClient):
    """pytest-lsp's client, which keeps what the server writes to standard error."""

    def __init__(self) -> None:
        super().__init__(converter_factory=_converter)
        self.stderr = ""
        self.published: dict[str, types.PublishDiagnosticsParams] = {}
        self.publications: list[types.PublishDiagnosticsParams] = []
        self.registrations: list[types.Registration] = []
        self.times_asked = 0
        self.lens_refreshes = 0
        self.edits: list[types.ApplyWorkspaceEditParams] = []
        self.refusal: str | None = None
        self.apply: Callable[[types.WorkspaceEdit], None] | None = None
        self.news = asyncio.Event()

    async def start_io(self, cmd: str, *args: Any, **kwargs: Any) -> None:
        await super(LanguageClient, self).start_io(cmd, *args, **kwargs)
        self._stderr_forwarder = asyncio.create_task(self._read_stderr())

    async def _read_stderr(self) -> None:
        assert self._server is not None
        assert self._server.stderr is not None
        while line := await self._server.stderr.readline():
            self.stderr += line.decode("utf-8", "replace")

    @property
    def process(self) -> asyncio.subprocess.Process:
        """The server's process."""
        assert self._server is not None
        return self._server

    def tell(self) -> None:
        """Wake up who waits for something to happen."""
        self.news.set()
        self.news = asyncio.Event()


def connection() -> Connection:
    """A client with a handler for all that the server may send."""
    client = Connection()
    own: dict[str, Any] = {
        types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: _published,
        types.WORKSPACE_CODE_LENS_REFRESH: _refresh_lenses,
        types.WORKSPACE_APPLY_EDIT: _apply_edit,
        types.WORKSPACE_CONFIGURATION: _configuration,
        types.CLIENT_REGISTER_CAPABILITY: _register,
        types.WINDOW_SHOW_MESSAGE: _message,
        types.PROGRESS: _progress,
    }
    register_lsp_features(client, DEFAULT_CLIENT_FEATURES | own)
    return client


def _published(client: Connection, params: types.PublishDiagnosticsParams) -> None:
    client.diagnostics[params.uri] = params.diagnostics
    client.published[params.uri] = params
    client.publications.append(params)
    client.tell()


def _message(client: Connection, params: types.ShowMessageParams) -> None:
    client.messages.append(params)
    client.tell()


def _progress(client: Connection, params: types.ProgressParams) -> None:
    progress(client, params)
    client.tell()


def _configuration(client: Connection, params: types.ConfigurationParams) -> list[Any]:
    client.times_asked += 1
    client.tell()
    return [client.get_configuration(section=item.section, scope_uri=item.scope_uri) for item in params.items]


def _register(client: Connection, params: types.RegistrationParams) -> None:
    client.registrations += params.registrations
    client.tell()


def _refresh_lenses(client: Connection, params: None) -> None:
    client.lens_refreshes += 1
    client.tell()


def _apply_edit(client: Connection, params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
    client.edits.append(params)
    if client.refusal is not None:
        return types.ApplyWorkspaceEditResult(applied=False, failure_reason=client.refusal)
    if client.apply is not None:
        client.apply(params.edit)
    client.tell()
    return types.ApplyWorkspaceEditResult(applied=True)
