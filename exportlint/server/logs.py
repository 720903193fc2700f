"""What the server writes about its own doings: to standard error, or to a file."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_LEVELS = {"error": logging.ERROR, "warning": logging.WARNING, "info": logging.INFO, "debug": logging.DEBUG}
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def configure(section: Any = None) -> None:
    """Log as the settings `logLevel` and `logFile` say; by default warnings, to standard error."""
    given: Mapping[str, Any] = section if isinstance(section, Mapping) else {}
    level = _LEVELS.get(str(given.get("logLevel")), logging.WARNING)
    handler: logging.Handler = logging.StreamHandler()
    problem = None
    if isinstance(given.get("logFile"), str) and given["logFile"]:
        try:
            handler = logging.FileHandler(Path(given["logFile"]).expanduser(), encoding="utf-8")
        except OSError as error:
            problem = error
    logging.basicConfig(level=level, format=_FORMAT, handlers=[handler], force=True)
    # Every message with its contents is pygls' idea of `info`.
    logging.getLogger("pygls").setLevel(logging.DEBUG if level == logging.DEBUG else max(level, logging.WARNING))
    if problem is not None:
        logging.getLogger(__name__).warning("`exportlint.logFile`: %s", problem)
