"""The setting `functions`: what people say of their own functions. Packages that describe theirs write the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from exportlint.config.kinds import BOOL, Kind, choice, toml_type
from exportlint.config.option import Option
from exportlint.config.tables import SettingError, table

RETURNED = ("tensor", "like", "bool", "int", "float", "str", "none", "unknown")


@dataclass(frozen=True, slots=True)
class FunctionSettings:
    """What is said of the functions whose qualified names match a pattern."""

    pattern: str
    returns: str = "unknown"
    reads_data: bool = False


_ABOUT = table(
    Option(
        "returns",
        choice(*RETURNED),
        '"unknown"',
        "What it returns. `tensor`: a tensor whose shape does not follow from the arguments. `like`: a tensor with the "
        "shape and dtype of the first tensor argument. `bool`, `int`, `float`, `str`: a value of that type, not "
        "computed from tensor data. `none`: nothing.",
        'returns = "tensor"',
    ),
    Option(
        "reads-data",
        BOOL,
        "false",
        "The function reads the values of its tensor arguments, as `int(x)` does.",
        "reads-data = true",
    ),
)


def check_functions(value: Any) -> tuple[FunctionSettings, ...]:
    """A table of what is said of functions, by the patterns of their names.

    Raises:
        ValueError: it is none; the message says where.
    """
    if not isinstance(value, Mapping):
        raise ValueError(f"expected a table of functions, got {toml_type(value)}")
    found = []
    for pattern, about in value.items():
        if not isinstance(pattern, str) or "." not in pattern:
            raise SettingError('expected a qualified name, such as "fastops.gate"', (str(pattern),))
        try:
            values = _ABOUT.check(about)
        except SettingError as error:
            raise error.inside(pattern) from None
        except ValueError as error:
            raise SettingError(str(error), (pattern,)) from None
        found.append(FunctionSettings(pattern, **{key.replace("-", "_"): held for key, held in values.items()}))
    return tuple(found)


FUNCTIONS = Option(
    "functions",
    Kind(
        "dict[function, table]",
        check_functions,
        {"type": "object", "additionalProperties": _ABOUT.schema},
    ),
    "{}",
    "What your own functions do that exportlint cannot look into, such as compiled operators, by patterns of their "
    "qualified names: `returns` (`tensor`, `like`, `bool`, `int`, `float`, `str`, `none`) and `reads-data`. A name "
    "without `*` counts before patterns.",
    'functions = { "fastops.gate" = { returns = "like" }, "fastops.count" = { returns = "int", reads-data = true } }',
)
