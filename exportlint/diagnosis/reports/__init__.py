"""Explanations for people and for programs: one module a format."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Sequence

from exportlint.diagnosis.explanation import Explanation
from exportlint.pages import Page
from exportlint.registry import Rule, page
from exportlint.report import Context

FORMATS = ("text", "json", "markdown")


def render(explanations: Sequence[Explanation], output_format: str, context: Context) -> str:
    """The report in one of `FORMATS`, each line with its line end."""
    name = "json_" if output_format == "json" else output_format
    text: str = importlib.import_module(f"{__name__}.{name}").render(explanations, context)
    return text


def instead(rule: Rule) -> tuple[str, ...]:
    """What the page of a rule writes instead of its first example, as lines of a difference; none if it has none."""
    try:
        about = Page(rule.page_name, page(rule))
    except FileNotFoundError:
        return ()
    fixed = next((block for block in about.blocks if block.kind == "fixed"), None)
    if fixed is None:
        return ()
    before, after = about.original_of(fixed).plain.splitlines(), fixed.plain.splitlines()
    changes = difflib.unified_diff(before, after, n=1, lineterm="")
    return tuple(line for line in changes if line[:2] not in ("--", "++", "@@") and line.strip())


def place_of(explanation: Explanation, context: Context) -> str:
    """The user's line: `model.py:7 in forward`; empty if there is none."""
    place = explanation.place
    if place is None:
        return ""
    inside = f" in {place.function}" if place.function and place.function != "<module>" else ""
    return f"{context.shown(place.file)}:{place.row}{inside}"


def caveat(explanation: Explanation) -> str:
    """What keeps the line from being looked at, in one clause; empty if nothing does."""
    place = explanation.place
    if place is None:
        return "the log names no line of your code"
    if place.has_changed:
        if place.is_here:
            return f"the file has changed since: the line is now {place.row}"
        return "the file has changed since: the line is not there any more"
    return "" if place.is_here else "the file was not found, so only the log is used"
