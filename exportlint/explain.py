"""What there is to know about a rule, for other programs; `rules.schema.json` describes it."""

from __future__ import annotations

import re
from typing import Any

from exportlint.config.toml import parse
from exportlint.pages import MODES, Block, Page
from exportlint.registry import Rule, applicabilities, family_of, find_rule, page

_REFERENCE = re.compile(r"^- \[(?P<title>[^\]]+)\]\((?P<url>[^)\s]+)\)(?P<note>(?:.|\n(?!- ))*)", re.MULTILINE)


def explain(rule: Rule) -> dict[str, Any]:
    """A rule and its page as JSON.

    Raises:
        FileNotFoundError: the installation lacks the page.
    """
    about = Page(rule.page_name, page(rule))
    return {
        "code": rule.code,
        "name": rule.name,
        "family": {"key": rule.family, **family_of(rule)._asdict()},
        "status": rule.status,
        "summary": about.summary,
        "explanation": about.text,
        "sections": {heading: about.section(heading).strip() for heading in about.headings},
        "quotes": about.quotes,
        "severities": _severities(about),
        "examples": [_example(about, block) for block in about.blocks],
        "references": [_reference(match) for match in _REFERENCE.finditer(about.section("References"))],
        "fix": _fix(about),
        "page": f"rules/{rule.page_name}",
        "url": rule.url,
    }


def _severities(about: Page) -> list[dict[str, Any]]:
    versions, rows = about.severities
    return [
        {"pattern": row.pattern, "mode": row.mode, "by_version": dict(zip(versions, row.severities, strict=True))}
        for row in rows
    ]


def _fix(about: Page) -> dict[str, Any] | None:
    shown = applicabilities(about.text)
    return {"applicabilities": shown, "safety": about.section("Fix safety").strip()} if shown else None


def _example(about: Page, block: Block) -> dict[str, Any]:
    return {
        "kind": block.kind or None,
        "label": block.label or None,
        "row": block.row,
        "rewrites": about.original_of(block).row if block.kind == "fixed" else None,
        "fix": block.fix or None,
        "note": block.note,
        "source": block.source,
        "findings": _findings(block),
        "inputs": list(block.inputs),
        "needs_cuda": block.needs_cuda,
        "dynamic_shapes": block.dynamic or None,
        "settings": parse(block.settings),
        "directives": dict(block.directives),
    }


def _findings(block: Block) -> list[dict[str, Any]]:
    """What the comments of a block state; what they state for both modes once."""
    stated: dict[tuple[int, str, str], list[str]] = {}
    for mode in MODES:
        for marked in block.marked(mode):
            stated.setdefault(marked, []).append(mode)
    return [
        {"row": row, "code": found.code, "name": name, "severity": severity, "modes": modes}
        for (row, name, severity), modes in sorted(stated.items())
        if (found := find_rule(name)) is not None
    ]


def _reference(match: re.Match[str]) -> dict[str, str]:
    return {"title": match["title"], "url": match["url"], "note": " ".join(match["note"].lstrip(":,").split())}
