"""The JSON schemas of the settings, for editors.

`python -m exportlint.config.schema` prints that of `exportlint.toml`, and with `pyproject` that of `pyproject.toml`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from exportlint.config.option import Option
from exportlint.config.options import OPTIONS
from exportlint.config.tables import properties
from exportlint.config.toml import parse
from exportlint.registry import HOME

URL = f"{HOME}/raw/main/exportlint/exportlint.schema.json"
"""Where editors find it."""

PYPROJECT_URL = f"{HOME}/raw/main/exportlint/pyproject.schema.json"
_SCHEMA_STORE = "https://json.schemastore.org/pyproject.json"


def schema() -> str:
    """The schema, as `exportlint/exportlint.schema.json` holds it."""
    document: dict[str, Any] = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": URL,
        "title": "exportlint",
        "description": "Settings of exportlint: `exportlint.toml`, `.exportlint.toml`, `[tool.exportlint]`.",
        "type": "object",
        "additionalProperties": False,
        "properties": _with_defaults(properties([*OPTIONS.values()]), OPTIONS),
        "definitions": {
            "selector": {
                "description": "A rule by code or name, a prefix of codes, or a family.",
                "type": "string",
                "pattern": "^(ALL|[A-Z]{2,}[0-9]{0,3}|[a-z][a-z0-9-]*)$",
            }
        },
    }
    return json.dumps(document, indent=2) + "\n"


def pyproject_schema() -> str:
    """The schema of the whole `pyproject.toml`: what SchemaStore says of it, and `[tool.exportlint]`.

    An editor takes one schema for a file, so this one must not lose the others.
    """
    document: dict[str, Any] = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": PYPROJECT_URL,
        "title": "pyproject.toml with exportlint",
        "description": "What SchemaStore knows of `pyproject.toml`, and the settings of exportlint.",
        "type": "object",
        "allOf": [{"$ref": _SCHEMA_STORE}],
        "properties": {"tool": {"type": "object", "properties": {"exportlint": {"$ref": URL}}}},
    }
    return json.dumps(document, indent=2) + "\n"


def _with_defaults(described: dict[str, Any], options: Mapping[str, Option]) -> dict[str, Any]:
    """What is said of settings, with their defaults, inside of tables too."""
    found = {}
    for key, option in options.items():
        about = dict(described[key])
        if option.default:
            about["default"] = parse(f"value = {option.default}")["value"]
        found[key] = _inside(about, option.kind.options) if option.kind.options else about
    return found


def _inside(about: dict[str, Any], options: Mapping[str, Option]) -> dict[str, Any]:
    if "properties" in about:
        return {**about, "properties": _with_defaults(about["properties"], options)}
    return {**about, "items": _inside(about["items"], options)}


if __name__ == "__main__":
    sys.stdout.write(pyproject_schema() if sys.argv[1:] == ["pyproject"] else schema())
