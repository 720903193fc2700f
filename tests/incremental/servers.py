"""Language servers in this process, and all that they show of documents."""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import converters, types
from pygls.capabilities import ServerCapabilitiesBuilder

from exportlint.server import uris
from exportlint.server.analyses import Analysis
from exportlint.server.client import Client
from exportlint.server.diagnostics import diagnostics
from exportlint.server.documents import Document
from exportlint.server.notebooks import NotebookDocument, parts
from exportlint.server.requests import code_action, code_lens
from exportlint.server.server import Server
from exportlint.source import is_notebook
from tests.server.capabilities import capable

CELL = "# %%\n"
"""What begins a cell in the text of a notebook."""
WHAT = ("diagnostics", "lenses", "actions")
_converter = converters.get_converter()


@dataclass(frozen=True, slots=True)
class Shown:
    """What a server shows of a document, as JSON: diagnostics with all that belongs to them, lenses, and actions."""

    diagnostics: Sequence[object]
    lenses: Sequence[object]
    actions: Sequence[object]


class InProcess(Server):
    """A server whose client is the caller, and which publishes to nobody."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.begin()
        capabilities = capable()
        encoding = ServerCapabilitiesBuilder.choose_position_encoding(capabilities)
        self.session.client = Client.of(capabilities, str(getattr(encoding, "value", encoding)))
        self.session.set_folders([(uris.from_path(root), "")])
        self._version = 0
        self._settled = -1
        """The last order of which all is known."""

    def hold(self, texts: Mapping[Path, str]) -> None:
        """From now on, the editor has these documents open with these texts, besides those that it has open."""
        for path, text in texts.items():
            uri = uris.from_path(path)
            self._version += 1
            if is_notebook(path):
                cells = enumerate(text.split(CELL))
                synced = tuple(Document(f"{uri}#{n}", self._version, cell, "python") for n, cell in cells)
                self.session.put(NotebookDocument(uri, self._version, synced))
            else:
                self.session.put(Document(uri, self._version, text, "python"))
            self.look()

    def close(self, path: Path) -> None:
        """The editor closes a document."""
        self.session.drop(uris.from_path(path))
        self.look()

    def stop(self) -> None:
        """Look at nothing any more, and leave nothing behind."""
        super().stop()
        self.analyzer._thread.join()
        gc.unfreeze()  # a server expects its process to end with it

    def configure(self) -> None:
        """A configuration file changed."""
        self.session.reload()
        self.look()

    async def shown(self, path: Path, *, actions: bool = False) -> Shown:
        """What is shown of an open document as it is now, once all that is open was looked at."""
        while self._settled < self.orders:
            await self._news.wait()
        opened = self.session.whole(uris.from_path(path)) or self.session.notebook(uris.from_path(path))
        assert opened is not None
        found: dict[str, list[object]] = {what: [] for what in WHAT}
        for document in parts(opened):
            analysis = await self.analysis(document.uri)
            assert analysis is not None
            shown = diagnostics(analysis, self.session.client, self.session.uris)
            identifier = types.TextDocumentIdentifier(document.uri)
            found["diagnostics"] += _plain(shown)
            found["lenses"] += _plain(await code_lens.handle(self, types.CodeLensParams(identifier)))
            if actions:
                place = types.Range(types.Position(0, 0), types.Position(len(document.lines) + 1, 0))
                kinds: list[types.CodeActionKind | str] = [types.CodeActionKind.QuickFix]
                context = types.CodeActionContext(shown, kinds, types.CodeActionTriggerKind.Invoked)
                asked = types.CodeActionParams(identifier, place, context)
                found["actions"] += _plain(await code_action.handle(self, asked))
        return Shown(**found)

    def _take(self, found: Mapping[Document, Analysis]) -> None:
        super()._take(found)
        # What is known of one document may change once the others were looked at.
        is_partial = any(analysis.outcome.unit.is_partial for analysis in found.values())
        if not is_partial and {analysis.document for analysis in found.values()} == {*self.session.documents}:
            self._settled = max(self._settled, *(analysis.outcome.order for analysis in found.values()))
            self._tell()

    def _publish(self, document: Document, shown: list[types.Diagnostic]) -> None:
        pass

    def _refresh_lenses(self) -> None:
        pass


def _plain(values: Sequence[object]) -> list[object]:
    """As JSON, without the versions of documents."""
    return [_without_versions(_converter.unstructure(value)) for value in values]


def _without_versions(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_versions(one) for key, one in value.items() if key != "version"}
    return [_without_versions(one) for one in value] if isinstance(value, list) else value
