"""Has models verified, one run after the other for each document, and knows their outcomes."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pygls.progress import Progress

from exportlint.config import ConfigError
from exportlint.server import uris
from exportlint.server.documents import Document
from exportlint.server.session import Session
from exportlint.server.threads import hand_over, in_thread
from exportlint.server.verification.freshness import Freshness
from exportlint.server.verification.progress import WorkDone
from exportlint.server.verification.seen import NOTHING, Seen
from exportlint.server.verification.verified import Verified, real
from exportlint.source import SourceError

if TYPE_CHECKING:
    from exportlint.server.verification.work import Wanted

log = logging.getLogger(__name__)

_PATIENCE = 5.0
"""Seconds in which what was cancelled is killed."""

Say = Callable[[str, bool], None]
"""Tells the user something, and whether it keeps from verifying."""


@dataclass(eq=False)
class _Ongoing:
    """A run that was begun: of one class, or of a whole document."""

    name: str | None
    cancelled: threading.Event = field(default_factory=threading.Event)
    thread: threading.Lock = field(default_factory=threading.Lock)
    """Held while its thread works."""
    task: asyncio.Task[None] | None = None


class Verifier:
    """Used in the event loop. `progress` gives what shows how far it is, `changed` is called when more is known."""

    def __init__(
        self, session: Session, progress: Callable[[], Progress], say: Say, changed: Callable[[], None]
    ) -> None:
        self._session = session
        self._progress = progress
        self._say = say
        self._changed = changed
        self._ongoing: dict[str, _Ongoing] = {}
        self._known: list[Verified] = []
        self._freshness = Freshness(session)
        self._holding: list[tuple[Verified, bool]] | None = None
        self._seen: dict[str, tuple[Document, Seen]] = {}

    def start(self, document: Document, wanted: Wanted) -> None:
        """Have models of a document verified. What was begun for it before is cancelled."""
        key = uris.same(document.uri)
        before = self._ongoing.get(key)
        if before is not None:
            before.cancelled.set()
        ongoing = self._ongoing[key] = _Ongoing(wanted.name)
        ongoing.task = asyncio.ensure_future(self._run(key, ongoing, wanted, before))
        self._changed()

    def cancel(self, uri: str | None = None) -> None:
        """Cancel what was begun for a document, or for all."""
        for key, ongoing in self._ongoing.items():
            if uri is None or key == uris.same(uri):
                ongoing.cancelled.set()

    def stop(self) -> None:
        """Cancel everything, and wait until what it started is gone."""
        self.cancel()
        for ongoing in self._ongoing.values():
            ongoing.thread.acquire(timeout=_PATIENCE)

    def is_running(self, uri: str, name: str) -> bool:
        """Whether a class of a document is being verified."""
        ongoing = self._ongoing.get(uris.same(uri))
        return ongoing is not None and not ongoing.cancelled.is_set() and ongoing.name in (None, name)

    def refresh(self) -> None:
        """Something was changed: what is known may no longer hold."""
        self._holding = None
        self._seen.clear()

    def seen(self, document: Document) -> Seen:
        """What a client sees in a version of a document."""
        if not self._known or document.path is None:
            return NOTHING
        from exportlint.server.verification.seeing import see

        known = self._seen.get(document.uri)
        if known is None or known[0] is not document:
            if self._holding is None:
                self._holding = [(one, self._freshness.holds(one.digests)) for one in self._known]
            known = self._seen[document.uri] = document, see(real(str(document.path)), document.text, self._holding)
        return known[1]

    async def _run(self, key: str, ongoing: _Ongoing, wanted: Wanted, before: _Ongoing | None) -> None:
        if before is not None and before.task is not None:
            await asyncio.wait([before.task])
        what = wanted.name or wanted.path.name
        shown = WorkDone(self._progress(), None)
        if self._session.client.progress:
            shown = await WorkDone.begin(self._progress(), f"Verify export of {what}", ongoing.cancelled.set)
        said, failed = await self._result(ongoing, wanted, shown)
        if self._ongoing.get(key) is ongoing:
            del self._ongoing[key]
        self.refresh()
        self._changed()
        if said:
            self._say(said if not failed else f"{what} was not verified: {said}", failed)
        shown.end(said or "cancelled")

    async def _result(self, ongoing: _Ongoing, wanted: Wanted, shown: WorkDone) -> tuple[str, bool]:
        """What to tell the user of its outcome, nothing if it was cancelled, and whether it failed."""
        from exportlint.server.verification.seeing import summary
        from exportlint.server.verification.work import work
        from exportlint.verify.interpreter import InterpreterError

        loop = asyncio.get_running_loop()

        def run() -> list[Verified]:
            with ongoing.thread:
                return work(wanted, lambda *news: hand_over(loop, shown.report, *news), ongoing.cancelled)

        try:
            found = await in_thread(lambda _: run())
        except (ConfigError, InterpreterError, SourceError) as error:
            return ("", False) if ongoing.cancelled.is_set() else (str(error), True)
        except Exception:
            log.exception("verifying %s failed", wanted.path)
            return "exportlint failed, see its log", True
        if ongoing.cancelled.is_set():
            return "", False
        self._take(wanted, found)
        if not found:
            return f"{wanted.path.name} has no model to verify", False
        holds = all(self._freshness.holds(one.digests) for one in found)
        return summary(found) + ("" if holds else " (as saved, without later changes)"), False

    def _take(self, wanted: Wanted, found: list[Verified]) -> None:
        place = real(str(wanted.path))

        def is_replaced(one: Verified) -> bool:
            return one.place[0] == place and wanted.name in (None, one.model)

        self._known = [one for one in self._known if not is_replaced(one)] + found
