"""Exceptions that torch logs instead of raising them."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator


class _Collector(logging.Handler):
    def __init__(self, found: list[BaseException]) -> None:
        super().__init__()
        self._found = found

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            self._found.append(error)


@contextlib.contextmanager
def errors_logged(name: str) -> Iterator[list[BaseException]]:
    """The exceptions that a logger is told of meanwhile."""
    found: list[BaseException] = []
    logger, collector = logging.getLogger(name), _Collector(found)
    logger.addHandler(collector)
    try:
        yield found
    finally:
        logger.removeHandler(collector)
