"""The editor's process, without which there is nothing to serve."""

from __future__ import annotations

import asyncio
import logging
import os

_SECONDS = 2.0


def end_with(process: int | None) -> asyncio.Future[None] | None:
    """End this process once another has ended, even if something keeps standard input open.

    A process that is not there now is one of another machine or container, of which nothing can be known. To be called
    in the event loop, while the other waits for an answer.
    """
    # On Windows, signal 0 would end the process.
    if process is None or os.name == "nt" or not _lives(process):
        return None
    return asyncio.ensure_future(_outlive(process))


async def _outlive(process: int) -> None:
    while _lives(process):
        await asyncio.sleep(_SECONDS)
    logging.getLogger(__name__).warning("the client's process %s is gone", process)
    os._exit(1)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
