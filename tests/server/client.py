"""An editor, as far as the protocol sees it, with a real server at its other end."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types

from tests.forking import python
from tests.patience import PATIENCE
from tests.server import texts
from tests.server.connection import Connection, connection

COMMAND = (sys.executable, "-m", "exportlint", "server")
"""Starts a server as editors do."""


def forked(*flags: str) -> list[str]:
    """The same in a fraction of the time. The process that is started is not the server, but ends as it does."""
    return [*python(), "-m", "exportlint", "server", *flags]


class Editor:
    """What a user has before their eyes: texts by URI, at their versions, in the units of the server."""

    def __init__(self, client: Connection, root: Path, initialized: types.InitializeResult) -> None:
        self.client = client
        self.root = root
        self.capabilities = initialized.capabilities
        encoding = initialized.capabilities.position_encoding or "utf-16"
        self.encoding = str(getattr(encoding, "value", encoding))
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self._closed: dict[str, int] = {}
        client.apply = self.apply

    def uri(self, name: str) -> str:
        """The URI of a file of the workspace; a URI as it is."""
        return name if ":" in name else (self.root / name).as_uri()

    def write(self, name: str, text: str) -> Path:
        """Put a file on the disk."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
        return path

    def create(self, name: str, text: str) -> None:
        """Put a file on the disk, which the client notices."""
        path = self.write(name, text)
        event = types.FileEvent(path.as_uri(), types.FileChangeType.Created)
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))

    def open(self, name: str, text: str, language: str = "python", version: int | None = None) -> str:
        """Open a document, in its first version or the one after that in which it was closed. Returns its URI."""
        uri = self.uri(name)
        version = self._closed.get(uri, 0) + 1 if version is None else version
        self.texts[uri], self.versions[uri] = text, version
        self.client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, language, version, text))
        )
        return uri

    def change(self, uri: str, *edits: types.TextEdit) -> None:
        """Edit a document: each edit is about the text that those before it leave."""
        for edit in edits:
            self.texts[uri] = texts.edited(self.texts[uri], [edit], self.encoding)
        changes = [types.TextDocumentContentChangePartial(edit.range, edit.new_text) for edit in edits]
        self._did_change(uri, changes)

    def replace(self, uri: str, old: str, new: str) -> None:
        """Write something instead of a piece of the text that is in it once."""
        self.change(uri, types.TextEdit(self.range_of(uri, old), new))

    def set_text(self, uri: str, text: str) -> None:
        """Replace the text as a whole."""
        self.texts[uri] = text
        self._did_change(uri, [types.TextDocumentContentChangeWholeDocument(text)])

    def _did_change(self, uri: str, changes: Sequence[types.TextDocumentContentChangeEvent]) -> None:
        self.versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, changes))

    def close(self, uri: str) -> None:
        """Close a document."""
        del self.texts[uri]
        self._closed[uri] = self.versions.pop(uri)
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def save(self, uri: str) -> None:
        """Say that a document was saved; it is not written."""
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def apply(self, edit: types.WorkspaceEdit) -> None:
        """Apply an edit of the server as a client does, and refuse one of another version."""
        parts: list[tuple[str, Sequence[texts.AnyEdit]]] = list((edit.changes or {}).items())
        for part in edit.document_changes or ():
            assert isinstance(part, types.TextDocumentEdit)
            uri = part.text_document.uri
            assert part.text_document.version in (None, self.versions[uri]), "an edit of another version"
            parts.append((uri, part.edits))
        for uri, edits in parts:
            after = texts.edited(self.texts[uri], edits, self.encoding)
            places = [edit for edit in edits if isinstance(edit, types.TextEdit)]
            # One after the other, from the end, so that each is about the text that those before it leave.
            places.sort(key=lambda edit: (edit.range.start, edit.range.end), reverse=True)
            self.change(uri, *places)
            assert self.texts[uri] == after

    def range_of(self, uri: str, piece: str) -> types.Range:
        """The range of a piece of the text that is in it once."""
        return texts.range_of(self.texts[uri], piece, self.encoding)

    def piece(self, uri: str, place: types.Range) -> str:
        """What a range covers."""
        return texts.piece(self.texts[uri], place, self.encoding)

    async def diagnostics(self, uri: str) -> Sequence[types.Diagnostic]:
        """What is shown of a document as it is now, in whichever way it comes."""
        if self.capabilities.diagnostic_provider is not None:
            params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
            report = await self.answer(self.client.text_document_diagnostic_async(params))
            assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
            return report.items
        await self.until(lambda: uri in self.client.published and self._is_of_now(uri))
        return self.client.published[uri].diagnostics

    def _is_of_now(self, uri: str) -> bool:
        return self.client.published[uri].version == self.versions.get(uri)

    async def codes(self, uri: str) -> list[str]:
        """The codes of what is shown of a document as it is now, in order."""
        return [str(shown.code) for shown in await self.diagnostics(uri)]

    async def until(self, holds: Callable[[], bool], patience: float = PATIENCE) -> None:
        """Wait until something holds, which changes only by what the server says."""

        async def wait() -> None:
            while not holds():
                await self.client.news.wait()

        await asyncio.wait_for(wait(), patience)

    async def answer(self, request: Any) -> Any:
        """What the server answers, unless it takes for ever."""
        return await asyncio.wait_for(request, PATIENCE)

    async def configure(self, settings: dict[str, Any]) -> None:
        """Change the settings, for a client that can be asked for them, and wait until the server has done so."""
        asked = self.client.times_asked
        self.client.set_configuration(settings, section="exportlint")
        self.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
        await self.until(lambda: self.client.times_asked > asked)
        await self.run("exportlint.debugInformation")

    async def run(self, command: str, *arguments: Any) -> Any:
        """Execute a command of the server."""
        params = types.ExecuteCommandParams(command, list(arguments))
        return await self.answer(self.client.workspace_execute_command_async(params))


@asynccontextmanager
async def editing(
    root: Path,
    capabilities: types.ClientCapabilities,
    settings: dict[str, Any] | None = None,
    folders: Sequence[Path] | None = None,
    *,
    command: Sequence[str] = (),
    quiet: bool = True,
) -> AsyncIterator[Editor]:
    """An editor with a server of its own, which ends with 0, and if it is `quiet` without having logged an error.

    `command` starts it, by default that of `forked`.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("EXPORTLINT_")}
    client = connection()
    environment["XDG_CONFIG_HOME"] = str(root / ".user")
    await client.start_io(*(command or forked()), env=environment)
    try:
        client.set_configuration(settings or {}, section="exportlint")
        opened = [types.WorkspaceFolder(path.as_uri(), path.name) for path in folders or [root]]
        params = types.InitializeParams(
            capabilities=capabilities,
            workspace_folders=opened,
            root_uri=opened[0].uri,
            initialization_options={"settings": settings or {}},
        )
        initialized = await asyncio.wait_for(client.initialize_session(params), PATIENCE)
        yield Editor(client, root, initialized)
        await asyncio.wait_for(client.shutdown_session(), PATIENCE)
        await asyncio.wait_for(client._stderr_forwarder, PATIENCE)  # type: ignore[arg-type]
        assert client.process.returncode == 0
        assert client.error is None
        assert quiet <= (" ERROR " not in client.stderr and "Traceback" not in client.stderr), client.stderr
    finally:
        if client.process.returncode is None:
            client.process.kill()
        await client.stop()  # type: ignore[no-untyped-call]
