"""A JSON list of objects, one an error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from exportlint.diagnosis.explanation import Explanation
from exportlint.diagnosis.reports import instead
from exportlint.registry import Rule
from exportlint.report import Context
from exportlint.report.json_ import as_object, dumped


def render(explanations: Sequence[Explanation], _context: Context) -> str:
    """The report."""
    return dumped([_object(one) for one in explanations], indent=2) + "\n"


def _object(one: Explanation) -> dict[str, Any]:
    place = one.place
    return {
        "error": {"type": one.kind, "message": one.message, "row": one.row, "count": one.count},
        "known": one.is_known,
        "mode": one.mode,
        "rule": None if one.rule is None else _rule(one.rule),
        "other_rules": [_rule(rule) for rule in one.rules[1:]],
        "closest_rules": [_rule(rule) for rule in one.closest],
        "meaning": one.meaning or None,
        "remedy": one.remedy or None,
        "place": None
        if place is None
        else {
            "filename": place.file,
            "row": place.row,
            "function": place.function or None,
            "code": place.code or None,
            "found": place.is_here,
            "changed": place.has_changed,
        },
        "finding": None if one.finding is None else as_object(one.finding),
        "instead": [] if one.rule is None else list(instead(one.rule)),
        "suggestions": [*one.suggestions, *(fix.message for fix in one.fixes)],
    }


def _rule(rule: Rule) -> dict[str, str]:
    return {"code": rule.code, "name": rule.name, "url": rule.url}
