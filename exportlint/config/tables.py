"""Settings that are tables: one, or an array of them, each with keys of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from exportlint.config.kinds import Kind, toml_type
from exportlint.config.option import Option
from exportlint.registry import nearest

Path = tuple[str | int, ...]


class SettingError(ValueError):
    """Something is wrong in a table. `path` leads there, by keys and indices; `message` does not say where."""

    def __init__(self, message: str, path: Path, *, is_unknown: bool = False) -> None:
        super().__init__(f"unknown setting `{dotted(path)}`{message}" if is_unknown else f"`{dotted(path)}`: {message}")
        self.message = message
        self.path = path
        self.is_unknown = is_unknown

    def inside(self, *outer: str | int) -> SettingError:
        """The same as seen from further outside."""
        return SettingError(self.message, (*outer, *self.path), is_unknown=self.is_unknown)


def dotted(path: Path) -> str:
    """`verify.target[0].model`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")


def check_table(table: Mapping[str, Any], options: Mapping[str, Option]) -> dict[str, Any]:
    """The values of a table, each as `Settings` wants it.

    Raises:
        SettingError: a key is unknown, or its value is not what it may hold.
    """
    values = {}
    for key, value in table.items():
        option = options.get(key)
        if option is None:
            if key == "tool":
                hint = ": write the settings at the top level, without [tool.exportlint]"
            else:
                near = nearest(key.replace("_", "-"), options, count=1)
                hint = f", did you mean {near}?" if near else ""
            raise SettingError(hint, (key,), is_unknown=True)
        try:
            values[key] = option.kind.check(value)
        except SettingError as error:
            raise error.inside(key) from None
        except ValueError as error:
            raise SettingError(str(error), (key,)) from None
    return values


def table(*options: Option) -> Kind:
    """A table with these keys."""
    by_key = {option.key: option for option in options}

    def check(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise ValueError(f"expected a table, got {toml_type(value)}")
        return check_table(value, by_key)

    return Kind("table", check, _schema(options), by_key)


def tables(*options: Option, required: Sequence[str] = ()) -> Kind:
    """An array of tables with these keys."""
    inner = table(*options)

    def check_one(value: Any, index: int) -> dict[str, Any]:
        try:
            checked: dict[str, Any] = inner.check(value)
        except SettingError as error:
            raise error.inside(index) from None
        missing = [key for key in required if key not in checked]
        if missing:
            raise SettingError(f"`{missing[0]}` is missing", (index,))
        return checked

    def check(value: Any) -> tuple[dict[str, Any], ...]:
        if not isinstance(value, list | tuple) or not all(isinstance(item, Mapping) for item in value):
            raise ValueError(f"expected an array of tables, got {toml_type(value)}")
        return tuple(check_one(item, index) for index, item in enumerate(value))

    schema = {"type": "array", "items": {**inner.schema, "required": list(required)}}
    return Kind("array of tables", check, schema, inner.options)


def properties(options: Sequence[Option]) -> dict[str, Any]:
    """What a JSON schema says of settings."""
    return {option.key: {"description": option.doc, **option.kind.schema} for option in options}


def _schema(options: Sequence[Option]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": properties(options)}


def with_inner(options: Mapping[str, Option], prefix: str = "") -> dict[str, Option]:
    """Settings by their keys with dots, those inside of tables right behind the table."""
    found: dict[str, Option] = {}
    for key, option in options.items():
        found[prefix + key] = option
        found |= with_inner(option.kind.options, f"{prefix}{key}.")
    return found
