"""The JSON schema of the settings, for editors: `python -m exportlint.config.schema` prints it."""

from __future__ import annotations

import json
import sys
from typing import Any

from exportlint.config.options import OPTIONS
from exportlint.config.tables import properties


def schema() -> str:
    """The schema, as `exportlint/exportlint.schema.json` holds it."""
    document: dict[str, Any] = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "exportlint",
        "description": "Settings of exportlint: `exportlint.toml`, `.exportlint.toml`, `[tool.exportlint]`.",
        "type": "object",
        "additionalProperties": False,
        "properties": properties([*OPTIONS.values()]),
        "definitions": {
            "selector": {
                "description": "A rule by code or name, a prefix of codes, or a family.",
                "type": "string",
                "pattern": "^(ALL|EXP[0-9]{0,3}|[a-z][a-z0-9-]*)$",
            }
        },
    }
    return json.dumps(document, indent=2) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema())
