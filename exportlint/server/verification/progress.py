"""Work that lasts, as the client shows it, with a button to cancel it."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable

from lsprotocol import types
from pygls.progress import Progress

log = logging.getLogger(__name__)

_PATIENCE = 5.0
"""Seconds that a client may take to say that it shows progress."""


class WorkDone:
    """Something that is shown from `begin` to `end`; without a token, nothing is."""

    def __init__(self, progress: Progress, token: str | None) -> None:
        self._progress = progress
        self._token = token

    @classmethod
    async def begin(cls, progress: Progress, title: str, cancel: Callable[[], None]) -> WorkDone:
        """Show that something has begun. `cancel` is called when the user has had enough of it."""
        token = f"exportlint.{uuid.uuid4()}"
        try:
            await asyncio.wait_for(progress.create_async(token), _PATIENCE)
        except Exception as error:  # whatever the client has against it, the work is done all the same
            log.warning("the client shows no progress: %s", error)
            return cls(progress, None)
        progress.begin(token, types.WorkDoneProgressBegin(title, cancellable=True, percentage=0))
        progress.tokens[token].add_done_callback(lambda _: cancel())
        return cls(progress, token)

    def report(self, message: str, percentage: int) -> None:
        """Show how far it is."""
        if self._token is not None:
            said = types.WorkDoneProgressReport(cancellable=True, message=message, percentage=percentage)
            self._progress.report(self._token, said)

    def end(self, message: str) -> None:
        """Show that it has ended, and how."""
        if self._token is not None:
            self._progress.end(self._token, types.WorkDoneProgressEnd(message=message))
            self._progress.tokens.pop(self._token, None)
