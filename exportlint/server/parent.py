"""The editor's process, without which there is nothing to serve."""

from __future__ import annotations

import asyncio
import logging
import os

_SECONDS = 2.0


def is_here(process: int) -> bool:
    """Whether a process can be watched: one that is not there is of another machine or container."""
    # On Windows, signal 0 would end the process.
    return os.name != "nt" and _lives(process)


async def end_with(process: int) -> None:
    """End this process once another one, which was here, has ended, even if something keeps standard input open."""
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
