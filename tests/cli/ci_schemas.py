"""What the formats for CI services allow of what exportlint writes, as JSON schemas after their specifications.

They allow less than these do: a key that exportlint does not write is a mistake. `test_consumers.py` asks the programs
that read the formats.
"""

from __future__ import annotations

from typing import Any


def _object(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "properties": required | (optional or {}),
    }


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _one_of(*values: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


TEXT = {"type": "string", "pattern": r"\S"}
CONTENT = {"type": "string"}
FROM_1 = {"type": "integer", "minimum": 1}
FROM_0 = {"type": "integer", "minimum": 0}
URI = {"type": "string", "pattern": r"^[A-Za-z0-9%/._~:@!$&'()*+,;=-]+$"}
RELATIVE_PATH = {"type": "string", "pattern": r"^[^/\\][^\\]*$"}

_MESSAGE = _object({"text": TEXT})
_ARTIFACT = _object({"uri": URI}, {"uriBaseId": _one_of("%SRCROOT%")})
_REGION = _object({"startLine": FROM_1, "endLine": FROM_1}, {"startColumn": FROM_1, "endColumn": FROM_1})
_PLACE = _object({"artifactLocation": _ARTIFACT, "region": _REGION})
_LOGICAL = _list(_object({"fullyQualifiedName": TEXT, "kind": _one_of("function")}))
_STEP = _object(
    {
        "location": _object({"physicalLocation": _PLACE, "message": _MESSAGE}),
        "importance": _one_of("essential", "important", "unimportant"),
    }
)
_CHANGE = _object(
    {
        "artifactLocation": _ARTIFACT,
        "replacements": _list(_object({"deletedRegion": _REGION, "insertedContent": _object({"text": CONTENT})})),
    }
)
_RESULT = _object(
    {
        "ruleId": TEXT,
        "ruleIndex": FROM_0,
        "level": _one_of("error", "warning", "note"),
        "message": _MESSAGE,
        "locations": _list(_object({"physicalLocation": _PLACE}, {"logicalLocations": _LOGICAL})),
        "properties": _object({"mode": TEXT}, {"cell": FROM_1}),
        "partialFingerprints": _object({"exportlint/v1": {"type": "string", "pattern": "^[0-9a-f]{16}$"}}),
    },
    {
        "codeFlows": _list(_object({"threadFlows": _list(_object({"locations": _list(_STEP)}))})),
        "fixes": _list(_object({"description": _MESSAGE, "artifactChanges": _list(_CHANGE)})),
    },
)
_RULE = _object(
    {
        "id": {"type": "string", "pattern": r"^EXP\d{3}$"},
        "name": TEXT,
        "helpUri": URI,
        "shortDescription": _MESSAGE,
        "fullDescription": _MESSAGE,
        "help": _object({"text": TEXT, "markdown": TEXT}),
        "properties": _object({"tags": _list(TEXT)}),
    }
)
SARIF = _object(
    {
        "$schema": URI,
        "version": _one_of("2.1.0"),
        "runs": _list(
            _object(
                {
                    "tool": _object(
                        {
                            "driver": _object(
                                {"name": TEXT, "version": TEXT, "informationUri": URI, "rules": _list(_RULE)}
                            )
                        }
                    ),
                    "columnKind": _one_of("unicodeCodePoints", "utf16CodeUnits"),
                    "originalUriBaseIds": _object({"%SRCROOT%": _object({"uri": {"type": "string", "pattern": "/$"}})}),
                    "invocations": _list(_object({"executionSuccessful": {"type": "boolean"}})),
                    "results": _list(_RESULT),
                }
            )
        ),
    }
)

GITLAB = _list(
    _object(
        {
            "description": TEXT,
            "check_name": TEXT,
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
            "severity": _one_of("info", "minor", "major", "critical", "blocker"),
            "location": _object({"path": RELATIVE_PATH, "lines": _object({"begin": FROM_1, "end": FROM_1})}),
        }
    )
)

_POSITION = _object({"line": FROM_1}, {"column": FROM_1})
_RANGE = _object({"start": _POSITION, "end": _POSITION})
RDJSON = _object(
    {
        "source": _object({"name": TEXT, "url": URI}),
        "diagnostics": _list(
            _object(
                {
                    "message": TEXT,
                    "location": _object({"path": TEXT, "range": _RANGE}),
                    "severity": _one_of("ERROR", "WARNING", "INFO"),
                    "code": _object({"value": TEXT, "url": URI}),
                },
                {"suggestions": _list(_object({"range": _RANGE, "text": CONTENT}))},
            )
        ),
    }
)

JSON = {"sarif": SARIF, "gitlab": GITLAB, "rdjson": RDJSON}
"""The schemas of the formats that are JSON."""
