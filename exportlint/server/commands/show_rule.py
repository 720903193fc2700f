"""`exportlint.showRule`: the page of a rule, as Markdown."""

from __future__ import annotations

from exportlint.registry import all_rules, find_rule, nearest
from exportlint.server.pages import readable
from exportlint.server.server import Server

NAME = "exportlint.showRule"


def run(server: Server, rule: object = None, *others: object) -> str | None:
    """The page of the rule with a code or name; None, and a message to the user, if there is no such rule."""
    found = find_rule(str(rule))
    if found is not None:
        return readable(found)
    near = nearest(str(rule), (name for each in all_rules() for name in (each.code, each.name)))
    hint = f", did you mean {near}?" if near else ""
    server.say(f"there is no rule `{rule}`{hint}")
    return None
