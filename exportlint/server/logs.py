"""What the server writes about its own doings: to standard error, or to a file."""

from __future__ import annotations

import logging
from pathlib import Path

_LEVELS = {"error": logging.ERROR, "warning": logging.WARNING, "info": logging.INFO, "debug": logging.DEBUG}
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def configure(level: str = "warning", file: str | None = None) -> None:
    """Log messages of a level or graver ones, to standard error or to a file."""
    handler: logging.Handler = logging.StreamHandler()
    problem = None
    if file is not None:
        try:
            handler = logging.FileHandler(Path(file).expanduser(), encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            problem = error
    number = _LEVELS[level]
    logging.basicConfig(level=number, format=_FORMAT, handlers=[handler], force=True)
    # Every message with its contents is pygls' idea of `info`.
    logging.getLogger("pygls").setLevel(number if number == logging.DEBUG else max(number, logging.WARNING))
    if problem is not None:
        logging.getLogger(__name__).warning("`exportlint.logFile`: %s", problem)
