"""`exportlint rule`: the pages of the catalogue."""

from __future__ import annotations

import argparse

from exportlint.cli.output import UsageError, write
from exportlint.registry import Rule, all_rules, applicabilities, find_rule, nearest, page


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
            write("\n\n".join(_text(page(rule)) for rule in rules) + "\n")
    except FileNotFoundError as error:
        raise UsageError(str(error)) from None
    return 0


def _text(page: str) -> str:
    """The page, and below its title which fixes there are."""
    title, _, rest = page.rstrip().partition("\n")
    shown = applicabilities(page)
    return f"{title}\n\nFixes: {', '.join(shown)}.\n{rest}" if shown else f"{title}\n{rest}"


def _find(text: str) -> Rule:
    found = find_rule(text)
    if found is None:
        hint = nearest(text, (name for rule in all_rules() for name in (rule.code, rule.name)))
        raise UsageError(
            f"there is no rule `{text}`, " + (f"did you mean {hint}?" if hint else "see `exportlint rule --all`")
        )
    return found
