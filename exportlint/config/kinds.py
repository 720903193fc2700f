"""What a setting may hold, and how a value of TOML is checked against it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from exportlint.config.torch_version import parse_torch_version
from exportlint.registry import UnknownSelector, expand, nearest

if TYPE_CHECKING:
    from exportlint.config.option import Option


@dataclass(frozen=True, slots=True)
class Kind:
    """What a setting may hold: its name in the docs, its JSON schema, and how to check it."""

    name: str
    check: Callable[[Any], Any]
    """Gives the value as `Settings` wants it, or raises `ValueError` with what was expected."""
    schema: dict[str, Any] = field(default_factory=dict)
    options: Mapping[str, Option] = field(default_factory=dict)
    """The keys of a table that is known in advance."""


def _instance(kind: type, name: str) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        # `isinstance(True, int)` and the like: TOML's types are exact.
        if type(value) is not kind:
            raise ValueError(f"expected {name}, got {toml_type(value)}")
        return value

    return check


def toml_type(value: Any) -> str:
    """What a value is called in TOML."""
    names = {
        str: "a string",
        bool: "a boolean",
        int: "an integer",
        float: "a float",
        list: "an array",
        tuple: "an array",
        dict: "a table",
    }
    return names.get(type(value), type(value).__name__)


_check_string = _instance(str, "a string")
_check_bool = _instance(bool, "a boolean")


def _check_strings(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"expected an array of strings, got {toml_type(value)}")
    for item in value:
        if not isinstance(item, str):
            raise ValueError(f"expected an array of strings, got one that holds {toml_type(item)}")
    return tuple(value)


def _check_class_patterns(value: Any) -> tuple[str, ...]:
    patterns = _check_strings(value)
    for pattern in patterns:
        module, _, name = pattern.partition(":")
        if not module or not name or ":" in name:
            raise ValueError(f"expected `module:Class`, got `{pattern}`")
    return patterns


def _check_dimensions(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"expected an array of integers, got {toml_type(value)}")
    for item in value:
        if type(item) is not int:
            raise ValueError(f"expected an array of integers, got one that holds {toml_type(item)}")
        if item < 0:
            raise ValueError(f"expected dimensions of at least 0, got {item}")
    return tuple(value)


def _check_selectors(value: Any) -> tuple[str, ...]:
    selectors = _check_strings(value)
    try:
        for selector in selectors:
            expand(selector)
    except UnknownSelector as error:
        raise ValueError(str(error)) from None
    return selectors


def _check_pattern_selectors(value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise ValueError(f"expected a table of patterns and rules, got {toml_type(value)}")
    return tuple((pattern, _check_selectors(selectors)) for pattern, selectors in value.items())


def _check_version(value: Any) -> Any:
    if isinstance(value, float | int):
        raise ValueError(f'expected a string, got {toml_type(value)}: write "{value}"')
    return parse_torch_version(_check_string(value))


def one_of(*types: str) -> dict[str, Any]:
    """The JSON schema of a value of several types, each as a schema of its own: not all validators take a list."""
    return {"anyOf": [{"type": kind} for kind in types]}


def choice(*words: str) -> Kind:
    """One of some words."""

    def check(value: Any) -> str:
        word: str = _check_string(value)
        if word not in words:
            hint = nearest(word, words)
            raise ValueError(
                f"`{word}` is not one of {', '.join(f'`{w}`' for w in words)}"
                + (f"; did you mean {hint}?" if hint else "")
            )
        return word

    return Kind(" | ".join(f'"{word}"' for word in words), check, {"type": "string", "enum": list(words)})


STRING = Kind("str", _check_string, {"type": "string"})
BOOL = Kind("bool", _check_bool, {"type": "boolean"})
STRINGS = Kind("list[str]", _check_strings, {"type": "array", "items": {"type": "string"}})
CLASS_PATTERNS = Kind(
    "list[module:Class]",
    _check_class_patterns,
    {"type": "array", "items": {"type": "string", "pattern": "^[^:]+:[^:]+$"}},
)
DIMENSIONS = Kind("list[int]", _check_dimensions, {"type": "array", "items": {"type": "integer", "minimum": 0}})
SELECTORS = Kind(
    "list[rule selector]", _check_selectors, {"type": "array", "items": {"$ref": "#/definitions/selector"}}
)
PATTERN_SELECTORS = Kind(
    "dict[pattern, list[rule selector]]",
    _check_pattern_selectors,
    {"type": "object", "additionalProperties": {"type": "array", "items": {"$ref": "#/definitions/selector"}}},
)
VERSION = Kind("str", _check_version, {"type": "string", "pattern": r"^\d+\.\d+"})
