"""The server: joins the client's messages, what is known of the session, and the analyzer."""

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
    """What the client knows: what was found in a version of a document."""

    document: Document
    found: tuple[tuple[Finding, ...], tuple[Reached, ...]]
    seen: Seen


class Server(LanguageServer):
    """One connection to one client."""

    protocol: Protocol

    def __init__(self, *, stores: bool = False) -> None:
        """`stores`: results of earlier runs are used, and kept for later ones."""
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
        """What was said to be wrong with the settings."""
        self._watcher: asyncio.Future[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.tasks: Mapping[Opened, Task] = {}
        """What is open and to be linted."""
        self._found: dict[str, Analysis] = {}
        self._told: dict[str, _Told] = {}
        self._diagnostics: dict[str, Diagnostics] = {}
        self.orders = 0
        self.everything = Everything(StoredResults() if stores else None)
        self.verifier = Verifier(self.session, lambda: self.work_done_progress, self.say, self._reshow)
        self.reported = -1
        """The order as of which the client was last told of all files."""
        self._stale_since: dict[str, int] = {}
        """The orders that came with changes in what documents depend on."""
        self._news = asyncio.Event()
        self._problems = ConfigurationProblems(self.text_document_publish_diagnostics)

    @property
    def was_shut_down(self) -> bool:
        """Whether the client asked for `shutdown`."""
        return bool(self.protocol._shutdown)

    def begin(self) -> None:
        """To be called in the event loop before anything is looked at."""
        self._loop = asyncio.get_running_loop()

    def watch(self, process: int | None) -> None:
        """End with the client's process."""
        self._watcher = end_with(process)

    def stop(self) -> None:
        """Look at nothing any more."""
        self.analyzer.stop()
        self.everything.stop()
        self.verifier.stop()

    def say(self, message: str, failed: bool = True) -> None:
        """Show a message to the user: that what they asked for failed, or the outcome of it."""
        kind = types.MessageType.Error if failed else types.MessageType.Info
        self.window_show_message(types.ShowMessageParams(kind, f"exportlint: {printable(message)}"))

    def report_server_error(self, error: Exception, source: object) -> None:
        """Something failed that the client does not hear of in an answer: a notification, or a message as a whole."""
        if source is JsonRpcException:
            self.protocol.refuse_unreadable(error)
        elif source is not FeatureRequestError:
            log.error("%s", error, exc_info=error)

    def look(self, touched: Collection[Path] = (), *, anew: bool = False) -> None:
        """Have what is open now looked at. Files that were `touched` on the disk are read again."""
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
        """What was found in a document, if that is known of its version now."""
        analysis = self._found.get(uris.same(uri))
        if analysis is None or not self._is_current(analysis):
            return None
        return replace(analysis, seen=self.verifier.seen(analysis.document))

    async def analysis(self, uri: str) -> Analysis | None:
        """What is found in a document, as soon as it is known of its version then; None if it is not to be linted."""
        while (document := self.session.document(uri)) is not None:
            if not self._is_linted(document):
                return None
            if (analysis := self.known(uri)) is not None:
                return analysis
            await self._news.wait()
        return None

    async def with_fixes(self, analysis: Analysis) -> Analysis:
        """What is known of a document, with the fixes of its findings; without, if the document changes meanwhile."""
        uri, document = analysis.document.uri, analysis.document
        while analysis.lacks_fixes:
            self.analyzer.work_out_fixes(analysis.outcome.opened)
            await self._news.wait()
            if self.session.document(uri) != document:
                return analysis
            analysis = self.known(uri) or analysis
        return analysis

    async def change(self) -> None:
        """Wait until something is no longer as the client was last told of all files."""
        while self.reported == self.orders:
            await self._news.wait()

    def related(self, uri: str) -> list[str]:
        """The other open documents whose findings a change of this one may change, and those that it reads."""
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
        """The client, which pulls, was told what was found in a document."""
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
        """Something else is known of models that were verified."""
        self._show()
        self._refresh_lenses()

    def _refresh_lenses(self) -> None:
        if self.session.client.refreshes_lenses:
            self.workspace_code_lens_refresh(None)

    def _show(self) -> None:
        """Have the client show what is known now."""
        if not self.session.client.pulls:
            for analysis in [known for key in list(self._found) if (known := self.known(key)) is not None]:
                self._show_one(analysis)
        self._tell()

    def _show_one(self, analysis: Analysis) -> None:
        """Publish what was found, unless that is what the client was told of the same version."""
        key, told = uris.same(analysis.document.uri), _Told(analysis.document, analysis.found, analysis.seen)
        if self._told.get(key) != told:
            self._told[key] = told
            self._publish(analysis.document, self.diagnostics(analysis))

    def diagnostics(self, analysis: Analysis) -> list[types.Diagnostic]:
        """What to show of a document."""
        made = self._diagnostics.setdefault(uris.same(analysis.document.uri), Diagnostics())
        return made.of(analysis, self.session.client, self.session.uris)

    def _publish(self, document: Document, shown: list[types.Diagnostic]) -> None:
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(document.uri, shown, document.version))

    def _tell(self) -> None:
        """Wake up who waits for an analysis, and who would otherwise not ask again."""
        self._news.set()
        self._news = asyncio.Event()
        if self.session.client.pulls and any(self._is_outdated(key, told) for key, told in self._told.items()):
            self._told.clear()
            self.workspace_diagnostic_refresh(None)

    def _is_outdated(self, key: str, told: _Told) -> bool:
        """Whether something else is known of the version of a document that the client asked about."""
        document = self.session.document(key)
        if document != told.document:
            return False  # closed, or changed, about which a client asks by itself
        if not self._is_linted(document):
            return any(told.found) or bool(told.seen.remarks)
        analysis = self.known(key)
        return analysis is not None and (analysis.found, analysis.seen) != (told.found, told.seen)
