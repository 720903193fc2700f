"""`exportlint rule`: the pages of the catalogue."""

from __future__ import annotations

import argparse

from exportlint.cli.output import UsageError, write
from exportlint.registry import PREFIX, Rule, all_rules, applicabilities, find_rule, nearest, page
from exportlint.report.rule_page import readable


def run(arguments: argparse.Namespace) -> int:
    """Print the page of one rule, or of all."""
    if arguments.all == (arguments.rule is not None):
        raise UsageError("name one rule, or give --all")
    rules = all_rules() if arguments.all else (_find(arguments.rule),)
    try:
        if arguments.output_format == "json":
            import json

            from exportlint.explain import explain

            objects = [explain(rule) for rule in rules]
            write(json.dumps(objects if arguments.all else objects[0], indent=2) + "\n")
        else:
            write("\n\n".join(map(_text, rules)) + "\n")
    except FileNotFoundError as error:
        raise UsageError(str(error)) from None
    return 0


def _text(rule: Rule) -> str:
    """The page, and below its title which fixes there are, and whether the rule is in preview or deprecated."""
    title, _, rest = readable(rule).rstrip().partition("\n")
    fixes = ", ".join(applicabilities(page(rule)))
    about = [
        "Preview: only the setting `preview` turns it on." if rule.is_preview else "",
        f"Deprecated: {rule.deprecated}." if rule.deprecated else "",
        f"Fixes: {fixes}." if fixes else "",
    ]
    return "\n".join([title, *(f"\n{line}" for line in about if line), rest])


def _find(text: str) -> Rule:
    found = find_rule(text)
    if found is None:
        # `101` means what `EXP101` does
        wanted = f"{PREFIX}{text}" if text.isdigit() else text
        hint = nearest(wanted, (name for rule in all_rules() for name in (rule.code, rule.name)))
        raise UsageError(
            f"there is no rule `{text}`, " + (f"did you mean {hint}?" if hint else "see `exportlint rule --all`")
        )
    return found
