"""Explanations as Markdown, as an editor shows them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from exportlint.diagnosis.explanation import Explanation, headline
from exportlint.diagnosis.reports import caveat, instead, place_of
from exportlint.registry import Rule
from exportlint.report import Context
from exportlint.report.context import located, printable
from exportlint.report.fix import shown

_SPECIAL = re.compile(r"([\\`*_\[\]<>#|])")


def render(explanations: Sequence[Explanation], context: Context) -> str:
    """The report: one section an error."""
    return "\n".join("\n".join(_lines(one, context)) + "\n" for one in explanations)


def _lines(one: Explanation, context: Context) -> Iterator[str]:
    rule, finding = one.rule, one.finding
    title = f"[{rule.code} {rule.name}]({rule.url})" if rule is not None else "Unknown error"
    yield f"## {title if rule is not None or not one.remedy else one.kind or 'Error'}"
    yield ""
    yield from _fenced("text", [printable(headline(one))])
    if place := place_of(one, context):
        yield f"At {_escaped(place)}:"
        yield ""
        if one.place is not None and one.place.code:
            yield from _fenced("python", [printable(one.place.code)])
    said = finding.message if finding is not None else one.meaning
    if said:
        yield f"{_sentence(said)}"
        yield ""
    if note := caveat(one):
        yield f"*{_sentence(note)}*"
        yield ""
    if finding is not None:
        for step in finding.trail:
            yield f"- {printable(step.message)} ({_escaped(context.shown(step.filename))}:{located(step)})"
        if finding.trail:
            yield ""
        if finding.help:
            yield f"**Instead:** {_sentence(finding.help)}"
            yield ""
        if finding.fix is not None:
            changes = [_diffed(line) for line in shown(finding.fix, finding, context)[1:]]
            yield from _fenced("diff", [line for line in changes if line])
    if one.remedy:
        yield f"**Instead:** {_sentence(one.remedy)}"
        yield ""
    if rule is not None and (finding is None or finding.fix is None) and (lines := instead(rule)):
        yield f"For example, from the page of {rule.code}:"
        yield ""
        yield from _fenced("diff", lines)
    if not one.is_known and one.closest:
        yield f"exportlint does not know this error. Closest: {', '.join(map(_link, one.closest))}."
        yield ""


def _fenced(language: str, lines: Sequence[str]) -> Iterator[str]:
    longest = max((len(run) for line in lines for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield from (f"{fence}{language}", *lines, fence, "")


def _diffed(line: str) -> str:
    """A line of a fix with its sign first, as a difference has it; empty for what is not code."""
    found = re.match(r"^ *\d* ([+|-]) (.*)$", line)
    return "" if found is None else f"{found[1].replace('|', ' ')} {found[2]}"


def _sentence(text: str) -> str:
    return f"{printable(text[:1].upper() + text[1:])}."


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def _link(rule: Rule) -> str:
    return f"[{rule.code} {rule.name}]({rule.url})"
