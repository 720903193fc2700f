"""Settings that are amounts: of memory, of time."""

from __future__ import annotations

import math
import re
from typing import Any

from exportlint.config.kinds import Kind, one_of, toml_type

_MEMORY = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([KMGT])(i?))?B?", re.IGNORECASE)
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def parse_memory(text: str) -> int:
    """How many bytes `8 GiB`, `500 MB` or `1073741824` are.

    Raises:
        ValueError: it is not an amount of memory, or none at all.
    """
    found = _MEMORY.fullmatch(text.strip())
    size = 0
    if found is not None:
        size = int(float(found[1]) * (1024 if found[3] else 1000) ** _POWERS[(found[2] or "").upper()])
    if size <= 0:
        raise ValueError(f'`{text}` is not an amount of memory such as "8 GiB"')
    return size


def _check_memory(value: Any) -> int:
    if type(value) is int or isinstance(value, str):
        return parse_memory(str(value))
    raise ValueError(f'expected bytes, or a string such as "8 GiB", got {toml_type(value)}')


def _positive(what: str) -> Any:
    def check(value: Any) -> float:
        if type(value) not in (int, float):
            raise ValueError(f"expected {what}, got {toml_type(value)}")
        if not (value > 0 and math.isfinite(value)):
            raise ValueError(f"expected {what} above 0, got {value}")
        return float(value)

    return check


def _check_count(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise ValueError(f"expected a number of at least 1, got {value if type(value) is int else toml_type(value)}")
    return value


MEMORY = Kind("int | str", _check_memory, one_of("integer", "string"))
SECONDS = Kind("float", _positive("seconds"), {"type": "number"})
POSITIVE = Kind("float", _positive("a number"), {"type": "number"})
COUNT = Kind("int", _check_count, {"type": "integer", "minimum": 1})
