"""Who has models verified, one after the other for each document, and knows what came of them."""

from __future__ import annotations

import asyncio
import logging
import threading
from dataclasses import dataclass, field

from lsprotocol import types

from exportlint.server import uris
from exportlint.server.analyses import Analysis
from exportlint.server.documents import Document
from exportlint.server.server import Server
from exportlint.server.threads import hand_over, in_thread
from exportlint.server.verification.freshness import Freshness
from exportlint.server.verification.progress import WorkDone
from exportlint.server.verification.seeing import see
from exportlint.server.verification.seen import NOTHING, Seen
from exportlint.server.verification.verified import Verified, real
from exportlint.server.verification.work import Wanted, work

log = logging.getLogger(__name__)

_PATIENCE = 5.0
"""Seconds in which what was cancelled is killed."""


@dataclass(eq=False)
class Ongoing:
    """Models of a document that are being verified: one class, or all."""

    name: str | None
    cancelled: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    task: asyncio.Task[None] | None = None


class Verifier:
    """Used in the event loop only, but for `stop`."""
