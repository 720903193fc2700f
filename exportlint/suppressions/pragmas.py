"""What a comment says about findings: the grammar of `# exportlint: ...` and of `# noqa: ...`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from exportlint.findings import Position, Span
from exportlint.registry import UnknownSelector, expand, nearest
from exportlint.source import Comment

VERBS = ("ignore", "file-ignore", "disable", "enable")

_OWN = re.compile(r"#\s*exportlint\s*:\s*(?P<verb>[\w-]*)\s*(?P<rest>[^#]*)")
_NOQA = re.compile(r"#\s*noqa\b(?P<colon>\s*:\s*(?P<codes>[A-Z]+[0-9]+(?:[\s,]+[A-Z]+[0-9]+)*)?)?", re.IGNORECASE)
_OUR_CODE = re.compile(r"\bEXP[0-9]+\b")
_ITEM = re.compile(r"[^,]+")


@dataclass(frozen=True, slots=True)
class Selector:
    """One entry of a list of rules, and the codes that it stands for."""

    text: str
    span: Span
    codes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Directive:
    """One instruction of a comment. Without selectors it means every rule.

    `verb` is one of `VERBS`, or `noqa`. `span` goes from the `#` to the end of the list.
    """

    verb: str
    span: Span
    selectors: tuple[Selector, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a pragma that cannot work."""

    span: Span
    message: str


def directives(comment: Comment) -> Iterator[Directive | Problem]:
    """The instructions in a comment, and what is wrong with them."""
    for match in _OWN.finditer(comment.text):
        yield from _own(comment, match)
    for match in _NOQA.finditer(comment.text):
        if match["codes"] is not None:
            found = list(_selectors(comment, match.start("codes"), _OUR_CODE.finditer(match["codes"].upper())))
            yield from (entry for entry in found if isinstance(entry, Problem))
            if selectors := tuple(entry for entry in found if isinstance(entry, Selector)):
                yield Directive("noqa", _span(comment, match.start(), match.end()), selectors)
        elif match["colon"] is None:
            yield Directive("noqa", _span(comment, match.start(), match.end()), ())


def _own(comment: Comment, match: re.Match[str]) -> Iterator[Directive | Problem]:
    verb, rest, start = match["verb"], match["rest"], match.start("rest")
    whole = _span(comment, match.start(), match.start() + len(match[0].rstrip()))
    if verb not in VERBS:
        hint = nearest(verb, VERBS, count=1)
        expected = f"did you mean {hint}?" if hint else f"expected one of {', '.join(f'`{v}`' for v in VERBS)}"
        yield Problem(
            whole,
            f"suppression without effect: unknown `{verb}`, {expected}"
            if verb
            else f"suppression without effect: {expected}",
        )
        return
    if not rest.startswith("["):
        yield Directive(verb, _span(comment, match.start(), match.end("verb")), ())
        return
    end = rest.find("]")
    if end == -1:
        yield Problem(whole, "suppression without effect: the list of rules has no closing `]`")
        return
    items = [item for item in _ITEM.finditer(rest[1:end]) if item[0].strip()]
    if not items:
        yield Problem(whole, f"suppression without effect: it names no rule; `# exportlint: {verb}` is for all of them")
        return
    found = list(_selectors(comment, start + 1, items))
    yield from (entry for entry in found if isinstance(entry, Problem))
    if selectors := tuple(entry for entry in found if isinstance(entry, Selector)):
        yield Directive(verb, _span(comment, match.start(), start + end + 1), selectors)


def _selectors(comment: Comment, offset: int, items: Iterable[re.Match[str]]) -> Iterator[Selector | Problem]:
    for item in items:
        text = item[0].strip()
        start = offset + item.start() + item[0].index(text)
        span = _span(comment, start, start + len(text))
        try:
            yield Selector(text, span, expand(text))
        except UnknownSelector as error:
            yield Problem(span, f"suppression without effect: {error}")


def _span(comment: Comment, start: int, end: int) -> Span:
    return Span(Position(comment.row, comment.column + start), Position(comment.row, comment.column + end))
