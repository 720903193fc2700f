"""The server: joins the client's messages, what is known of the session, and the analyzer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter

from exportlint import __version__
from exportlint.config import ConfigError
from exportlint.server import uris
from exportlint.server.analyzer import Analysis, Analyzer, Order
from exportlint.server.diagnostics import SOURCE, diagnostics
from exportlint.server.documents import Document
from exportlint.server.session import Session

log = logging.getLogger(__name__)

_OWN = (
    types.TEXT_DOCUMENT_DID_OPEN,
    types.TEXT_DOCUMENT_DID_CHANGE,
    types.TEXT_DOCUMENT_DID_CLOSE,
    types.NOTEBOOK_DOCUMENT_DID_OPEN,
    types.NOTEBOOK_DOCUMENT_DID_CHANGE,
    types.NOTEBOOK_DOCUMENT_DID_CLOSE,
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS,
)


class _Protocol(LanguageServerProtocol):
    """pygls' protocol without its own copies of documents, whose lines end at more than LSP's line ends."""

    def _register_builtin_features(self) -> None:
        super()._register_builtin_features()  # type: ignore[no-untyped-call]
        for method in _OWN:
            self.fm.builtin_features.pop(method, None)


class Server(LanguageServer):
    """One connection to one client."""

    def __init__(self) -> None:
        super().__init__(
            "exportlint",
            __version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            protocol_cls=_Protocol,
            converter_factory=default_converter,
        )
        self.session = Session()
        self.analyzer = Analyzer(self._deliver)
        self.exited = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._found: dict[str, Analysis] = {}
        self._news = asyncio.Event()
        self._shown_problems: set[Path] = set()

    @property
    def was_shut_down(self) -> bool:
        """Whether the client asked for `shutdown`."""
        return bool(self.protocol._shutdown)

    def begin(self) -> None:
        """To be called in the event loop before anything is looked at."""
        self._loop = asyncio.get_running_loop()

    def stop(self) -> None:
        """Look at nothing any more."""
        self.analyzer.stop()

    def look(self, touched: Iterable[Path] = (), *, anew: bool = False) -> None:
        """Have what is open now looked at. Files that were `touched` on the disk are read again."""
        tasks = self.session.tasks()
        self._show_problems()
        for key in self._found.keys() - {uris.same(document.uri) for document in tasks}:
            self._show(self._found.pop(key).document, [])
        self._tell()
        self.analyzer.order(Order(tasks, frozenset(touched), anew))

    def known(self, uri: str) -> Analysis | None:
        """What was found in a document, if that is known of its version now."""
        analysis = self._found.get(uris.same(uri))
        return analysis if analysis is not None and self._is_current(analysis) else None

    async def analysis(self, uri: str) -> Analysis | None:
        """What is found in a document, as soon as it is known of its version then; None if it is not to be linted."""
        while (document := self.session.document(uri)) is not None:
            if self.session.linted(document) not in self.session.tasks():
                return None
            if (analysis := self.known(uri)) is not None:
                return analysis
            await self._news.wait()
        return None

    def _is_current(self, analysis: Analysis) -> bool:
        document = self.session.document(analysis.document.uri)
        return document is not None and self.session.linted(document) == analysis.document

    def _deliver(self, found: Mapping[Document, Analysis]) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._take, found)

    def _take(self, found: Mapping[Document, Analysis]) -> None:
        changed = False
        for document, analysis in found.items():
            if not self._is_current(analysis):
                continue
            before = self._found.get(uris.same(document.uri))
            self._found[uris.same(document.uri)] = analysis
            if before is None or before.findings != analysis.findings or before.document != document:
                self._show(document, diagnostics(analysis, self.session.client, self.opened))
                changed |= before is not None and before.document == document
        self._tell()
        if changed and self.session.client.pulls and self.session.client.refreshes_diagnostics:
            self.workspace_diagnostic_refresh(None)
        if found and self.session.client.refreshes_lenses:
            self.workspace_code_lens_refresh(None)

    def _tell(self) -> None:
        """Wake up who waits for an analysis."""
        self._news.set()
        self._news = asyncio.Event()

    @property
    def opened(self) -> dict[str, str]:
        """The URIs of open documents by the filename that findings know them by."""
        return {str(self.session.path(document)): document.uri for document in self.session.documents}

    def _show(self, document: Document, shown: list[types.Diagnostic]) -> None:
        if not self.session.client.pulls:
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(document.uri, shown, document.version)
            )

    def _show_problems(self) -> None:
        """Show in configuration files what is wrong with them; these are pushed, because nobody asks for them."""
        problems = self.session.problems
        for file in self._shown_problems - problems.keys():
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uris.from_path(file), []))
        for file, problem in problems.items():
            shown = [_about_configuration(problem)]
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uris.from_path(file), shown))
        self._shown_problems = set(problems)


def _about_configuration(problem: ConfigError) -> types.Diagnostic:
    row = (problem.line or 1) - 1
    place = types.Range(types.Position(row, 0), types.Position(row, 10_000))
    return types.Diagnostic(place, problem.message, types.DiagnosticSeverity.Error, source=SOURCE)
