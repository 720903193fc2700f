"""Checks JSON against a JSON schema: the keywords of draft 7 that exportlint's own schemas use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_KEYWORDS = {
    "$id", "$ref", "$schema", "additionalProperties", "anyOf", "default", "definitions", "description", "enum", "items",
    "minimum", "pattern", "properties", "required", "title", "type",
}  # fmt: skip


def violations(value: Any, schema: dict[str, Any], root: dict[str, Any], where: str = "$") -> Iterator[str]:
    """What about a value the schema does not allow. `root` is the whole schema, which references are looked up in."""
    assert schema.keys() <= _KEYWORDS, f"{where}: this checker does not know {schema.keys() - _KEYWORDS}"
    if "$ref" in schema:
        yield from violations(value, root["definitions"][schema["$ref"].rpartition("/")[2]], root, where)
        return
    if "anyOf" in schema and all(any(violations(value, option, root)) for option in schema["anyOf"]):
        yield f"{where}: {value!r} is none of the options"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r} is none of {schema['enum']}"
    types = schema.get("type", [])
    names = [types] if isinstance(types, str) else types
    if names and not any(type(value) in _TYPES[name] for name in names):
        yield f"{where}: {value!r} is no {' or '.join(names)}"
    elif isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        yield f"{where}: {value!r} does not match {schema['pattern']}"
    elif isinstance(value, int) and value < schema.get("minimum", value):
        yield f"{where}: {value!r} is less than {schema['minimum']}"
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from violations(item, schema.get("items", {}), root, f"{where}[{index}]")
    elif isinstance(value, dict):
        yield from _of_object(value, schema, root, where)


def _of_object(value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any], where: str) -> Iterator[str]:
    yield from (f"{where}: there is no {key!r}" for key in schema.get("required", []) if key not in value)
    others = schema.get("additionalProperties", {})
    for key, item in value.items():
        known = schema.get("properties", {}).get(key, others)
        if known is False:
            yield f"{where}: {key!r} is not described"
        else:
            yield from violations(item, known, root, f"{where}.{key}")
