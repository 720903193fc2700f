"""Work that lasts, as the client shows it, with a button to cancel it."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable

from lsprotocol import types

from exportlint.server.server import Server

log = logging.getLogger(__name__)

_PATIENCE = 5.0
"""Seconds that a client may take to say that it shows progress."""


class WorkDone:
    """Something that is shown from `begin` to `end`. Nothing is, by a client that does not show progress."""

    def __init__(self, server: Server, token: str | None) -> None:
        self._progress = server.work_done_progress
        self._token = token

    @classmethod
    async def begin(cls, server: Server, title: str, cancel: Callable[[], None]) -> WorkDone:
        """Show that something has begun; `cancel` is called when the user has had enough of it."""
        if not server.session.client.progress:
            return cls(server, None)
        token, progress = f"exportlint.{uuid.uuid4()}", server.work_done_progress
        try:
            await asyncio.wait_for(progress.create_async(token), _PATIENCE)
        except Exception as error:  # whatever the client has against it, the work is done all the same
            log.warning("the client shows no progress: %s", error)
            return cls(server, None)
        progress.begin(token, types.WorkDoneProgressBegin(title, cancellable=True, percentage=0))
        progress.tokens[token].add_done_callback(lambda _: cancel())
        return cls(server, token)

    def report(self, message: str, percentage: int) -> None:
        """Show how far it is."""
        if self._token is not None:
            self._progress.report(
                self._token, types.WorkDoneProgressReport(cancellable=True, message=message, percentage=percentage)
            )

    def end(self, message: str) -> None:
        """Show that it has ended, and how."""
        if self._token is not None:
            self._progress.end(self._token, types.WorkDoneProgressEnd(message))
            self._progress.tokens.pop(self._token, None)
