"""The server object, which connects the client's messages, the state of the session and the analyzer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import FeatureRequestError, JsonRpcException
from pygls.lsp.server import LanguageServer

from exportlint import __version__
from exportlint.findings import Finding
from exportlint.report.context import printable
from exportlint.server import uris
from exportlint.server.analyses import Analysis, Outcome, Reached, analyses
from exportlint.server.analyzer import Analyzer, Order, changed_files
from exportlint.server.diagnostics import Diagnostics, converter
from exportlint.server.documents import Document
from exportlint.server.everything import Everything
from exportlint.server.notebooks import SYNC, Opened, parts
from exportlint.server.parent import end_with
from exportlint.server.problems import ConfigurationProblems
from exportlint.server.protocol import Protocol
from exportlint.server.session import Session
from exportlint.server.stored_results import StoredResults
from exportlint.server.threads import hand_over
from exportlint.server.verification.seen import NOTHING, Seen
from exportlint.server.verification.verifier import Verifier
from exportlint.workspace import Task

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Told:
    """The result that the client last got for a document, and its version."""

    document: Document
    found: tuple[tuple[Finding, ...], tuple[Reached, ...]]
    seen: Seen


class Server(LanguageServer):
    """One connection to one client."""

    protocol: Protocol

    def __init__(self, *, stores: bool = False) -> None:
        """`stores`: use the cache."""
        super().__init__(
            "exportlint",
            __version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            notebook_document_sync=SYNC,
            protocol_cls=Protocol,
            converter_factory=converter,
        )
        self.session = Session()
        self.analyzer = Analyzer(self._deliver, StoredResults() if stores else None)
        self.exited = False
        self.initial: Mapping[str, object] = {}
        """Settings that the client sent with `initialize`."""
        self.complaints: frozenset[str] = frozenset()
        """The errors in settings that were already shown."""
        self._watcher: asyncio.Future[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.tasks: Mapping[Opened, Task] = {}
        """The open documents that are linted, each with its task."""
        self._found: dict[str, Analysis] = {}
        self._told: dict[str, _Told] = {}
        self._diagnostics: dict[str, Diagnostics] = {}
        self.orders = 0
        self.everything = Everything(StoredResults() if stores else None)
        self.verifier = Verifier(self.session, lambda: self.work_done_progress, self.say, self._reshow)
        self.reported = -1
        """The number of the order whose results for all files the client has."""
        self._stale_since: dict[str, int] = {}
        """By URI, the number of the order with the last change in what a document depends on."""
        self._news = asyncio.Event()
        self._problems = ConfigurationProblems(self.text_document_publish_diagnostics)

    @property
    def was_shut_down(self) -> bool:
        """Whether the client asked for `shutdown`."""
        return bool(self.protocol._shutdown)

    def begin(self) -> None:
        """Start; to be called in the event loop before the first order."""
        self._loop = asyncio.get_running_loop()

    def watch(self, process: int | None) -> None:
        """Exit when the client's process ends."""
        self._watcher = end_with(process)

    def stop(self) -> None:
        """Stop analyzing and verifying."""
        self.analyzer.stop()
        self.everything.stop()
        self.verifier.stop()

    def say(self, message: str, failed: bool = True) -> None:
        """Show a message to the user: the outcome of a request, or why it failed."""
        kind = types.MessageType.Error if failed else types.MessageType.Info
        self.window_show_message(types.ShowMessageParams(kind, f"exportlint: {printable(message)}"))

    def report_server_error(self, error: Exception, source: object) -> None:
        """Report an error that no response carries: in a notification, or in a message as a whole."""
        if source is JsonRpcException:
            self.protocol.refuse_unreadable(error)
        elif source is not FeatureRequestError:
            log.error("%s", error, exc_info=error)

    def look(self, touched: Collection[Path] = (), *, anew: bool = False) -> None:
        """Order an analysis of the open documents. Files that were `touched` on disk are read again."""
        before, self.tasks = self.tasks, self.session.tasks()
        self.verifier.refresh()
        self._problems.show(self.session.problems)
        self.orders += 1
        changed = {*touched, *changed_files(before.values(), self.tasks.values())}
        for key, analysis in self._found.items():
            if anew or analysis.outcome.unit.reads & changed:
                self._stale_since[key] = self.orders
        linted = {uris.same(document.uri) for opened in self.tasks for document in parts(opened)}
        for key in self._found.keys() - linted:
            document = self._found.pop(key).document
            if not self.session.client.pulls:
                self._publish(document, [])
                self._told.pop(key, None)
        self._told = {key: told for key, told in self._told.items() if self.session.document(key) is not None}
        self._diagnostics = {key: made for key, made in self._diagnostics.items() if key in linted}
        self._tell()
        self.analyzer.order(Order(self.tasks, frozenset(touched), anew, self.orders, tuple(self.session.folders)))

    def known(self, uri: str) -> Analysis | None:
        """The result for the current version of a document, None if it is not there yet."""
        analysis = self._found.get(uris.same(uri))
        if analysis is None or not self._is_current(analysis):
            return None
        return replace(analysis, seen=self.verifier.seen(analysis.document))

    async def analysis(self, uri: str) -> Analysis | None:
        """Wait for the result for the current version of a document; None if the document is not linted."""
        while (document := self.session.document(uri)) is not None:
            if not self._is_linted(document):
                return None
            if (analysis := self.known(uri)) is not None:
                return analysis
            await self._news.wait()
        return None

    async def with_fixes(self, analysis: Analysis) -> Analysis:
        """The result with fixes; without them if the document changes in the meantime."""
        uri, document = analysis.document.uri, analysis.document
        while analysis.lacks_fixes:
            self.analyzer.work_out_fixes(analysis.outcome.opened)
            await self._news.wait()
            if self.session.document(uri) != document:
                return analysis
            analysis = self.known(uri) or analysis
        return analysis

    async def change(self) -> None:
        """Wait until there is a newer result than the client has for all files."""
        while self.reported == self.orders:
            await self._news.wait()

    def related(self, uri: str) -> list[str]:
        """The other open documents that this one reads, or whose findings a change of this one may change."""
        path = uris.to_path(uri)
        mine = self._found.get(uris.same(uri))
        reads = mine.outcome.unit.reads if mine is not None else frozenset()
        return [
            other.document.uri
            for key, other in self._found.items()
            if key != uris.same(uri) and (path in other.outcome.unit.reads or other.outcome.task.path in reads)
        ]

    def _is_linted(self, document: Document) -> bool:
        opened = self.session.whole(document.uri)
        if opened is None:
            return False
        linted = self.session.linted(opened)
        return linted in self.tasks and any(uris.same(part.uri) == uris.same(document.uri) for part in parts(linted))

    def _is_current(self, analysis: Analysis) -> bool:
        key, outcome = uris.same(analysis.document.uri), analysis.outcome
        is_of_now = self.tasks.get(outcome.opened) == outcome.task
        return is_of_now and outcome.order >= self._stale_since.get(key, 0)

    def told(self, uri: str, analysis: Analysis | None) -> None:
        """Note which result a client that pulls diagnostics got for a document."""
        document = self.session.document(uri)
        if document is not None:
            found = (analysis.found, analysis.seen) if analysis else (((), ()), NOTHING)
            self._told[uris.same(uri)] = _Told(document, *found)

    def _deliver(self, outcomes: Mapping[Opened, Outcome]) -> None:
        if self._loop is not None:
            found = {part: one for outcome in outcomes.values() for part, one in analyses(outcome).items()}
            hand_over(self._loop, self._take, found)

    def _take(self, found: Mapping[Document, Analysis]) -> None:
        changed = False
        for document, analysis in found.items():
            if not self._is_current(analysis):
                continue
            before = self._found.get(uris.same(document.uri))
            self._found[uris.same(document.uri)] = analysis
            changed |= before is not None and before.document == document and before.found != analysis.found
        self._show()
        if changed:
            self._refresh_lenses()

    def _reshow(self) -> None:
        """Show the changed results of verification."""
        self._show()
        self._refresh_lenses()

    def _refresh_lenses(self) -> None:
        if self.session.client.refreshes_lenses:
            self.workspace_code_lens_refresh(None)

    def _show(self) -> None:
        """Make the client show the current results."""
        if not self.session.client.pulls:
            for analysis in [known for key in list(self._found) if (known := self.known(key)) is not None]:
                self._show_one(analysis)
        self._tell()

    def _show_one(self, analysis: Analysis) -> None:
        """Publish the diagnostics of a document, unless the client already has them for this version."""
        key, told = uris.same(analysis.document.uri), _Told(analysis.document, analysis.found, analysis.seen)
        if self._told.get(key) != told:
            self._told[key] = told
            self._publish(analysis.document, self.diagnostics(analysis))

    def diagnostics(self, analysis: Analysis) -> list[types.Diagnostic]:
        """The diagnostics of a document."""
        made = self._diagnostics.setdefault(uris.same(analysis.document.uri), Diagnostics())
        return made.of(analysis, self.session.client, self.session.uris)

    def _publish(self, document: Document, shown: list[types.Diagnostic]) -> None:
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(document.uri, shown, document.version))

    def _tell(self) -> None:
        """Wake up requests that wait for a result, and make the client pull again where it would not by itself."""
        self._news.set()
        self._news = asyncio.Event()
        if self.session.client.pulls and any(self._is_outdated(key, told) for key, told in self._told.items()):
            self._told.clear()
            self.workspace_diagnostic_refresh(None)

    def _is_outdated(self, key: str, told: _Told) -> bool:
        """Whether the result for the version that the client has asked about has changed."""
        document = self.session.document(key)
        if document != told.document:
            return False  # closed; or changed, and then the client pulls by itself
        if not self._is_linted(document):
            return any(told.found) or bool(told.seen.remarks)
        analysis = self.known(key)
        return analysis is not None and (analysis.found, analysis.seen) != (told.found, told.seen)
