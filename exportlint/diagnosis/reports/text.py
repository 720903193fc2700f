"""Explanations for people, as findings are shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from exportlint.diagnosis.explanation import Explanation, headline
from exportlint.diagnosis.reports import caveat, instead, place_of
from exportlint.registry import Rule
from exportlint.report import Context
from exportlint.report.context import printable
from exportlint.report.full import block
from exportlint.report.wrapping import wrapped

_MOST_OTHERS = 2


def render(explanations: Sequence[Explanation], context: Context) -> str:
    """The report: one paragraph an error, and a last line that counts them."""
    parts = ["\n".join(_lines(one, context)) + "\n" for one in explanations]
    known = sum(one.is_known for one in explanations)
    errors = "error" if len(explanations) == 1 else "errors"
    return "\n".join([*parts, f"Explained {known} of {len(explanations)} {errors}.\n"])


def _lines(explanation: Explanation, context: Context) -> Iterator[str]:
    yield from wrapped(context.style("bold", printable(headline(explanation))), context.width, "    ")
    finding = explanation.finding
    if finding is not None:
        yield block(finding, context, [(label, text) for label, text in _notes(explanation)])
    else:
        yield from _without_finding(explanation, context)
    for fix in explanation.fixes if finding is None or finding.fix is None else ():
        yield f"  {context.style('bold', 'torch suggests')}: {printable(fix.message)}"
    rule = explanation.rule
    if rule is not None:
        if finding is None or (finding.fix is None and finding.help is None):
            yield from _instead(rule, context)
        yield f"  {context.style('bold', 'more')}: `exportlint rule {rule.code}`, {rule.url}"


def _notes(explanation: Explanation) -> Iterator[tuple[str, str]]:
    place, finding = explanation.place, explanation.finding
    if place is not None and finding is not None and place.row != finding.span.start.row:
        yield "torch", f"blames line {place.row}, `{place.code}`"
    if explanation.count > 1:
        yield "note", f"the log has this {explanation.count} times"
    if place is not None and place.has_changed:
        yield "note", caveat(explanation)


def _without_finding(explanation: Explanation, context: Context) -> Iterator[str]:
    rule = explanation.rule
    if rule is not None:
        title = f"{context.style('error', f'error[{rule.code} {rule.name}]')}: {explanation.meaning}"
        yield from wrapped(title.removesuffix(": "), context.width, "    ")
    elif explanation.meaning:
        yield from wrapped(explanation.meaning, context.width, "    ")
    place = explanation.place
    if place is not None:
        yield f"  {context.style('frame', '-->')} {place_of(explanation, context)}"
        if place.code:
            yield f"  {context.style('frame', f'{place.row} |')} {printable(place.code)}"
    notes = [caveat(explanation)]
    if explanation.count > 1:
        notes.append(f"the log has this {explanation.count} times")
    for note in filter(None, notes):
        yield f"  {context.style('bold', 'note')}: {printable(note)}"
    if explanation.remedy:
        yield from wrapped(f"  {context.style('bold', 'help')}: {explanation.remedy}", context.width, "      ")
    for suggestion in explanation.suggestions:
        yield f"  {context.style('bold', 'torch suggests')}: {printable(suggestion)}"
    if others := explanation.rules[1 : 1 + _MOST_OTHERS]:
        yield f"  {context.style('bold', 'or')}: {_named(others)}"
    if not explanation.is_known:
        yield f"  {context.style('bold', 'note')}: exportlint does not know this error"
        if explanation.closest:
            yield f"  {context.style('bold', 'closest')}: {_named(explanation.closest)}"


def _instead(rule: Rule, context: Context) -> Iterator[str]:
    lines = instead(rule)
    if lines:
        yield f"  {context.style('bold', 'instead')}: as in this example"
    for line in lines:
        style = {"-": "removed", "+": "added"}.get(line[0], "dim")
        yield f"    {context.style(style, line)}"


def _named(rules: Sequence[Rule]) -> str:
    return ", ".join(f"{rule.code} {rule.name}" for rule in rules)
