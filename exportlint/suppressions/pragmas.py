"""What a comment says about findings: the grammar of `# exportlint: ...` and of `# noqa: ...`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from exportlint.findings import Applicability, Edit, Fix, Span
from exportlint.registry import MAX_NAME, UnknownSelector, expand, letters, near, prefixes
from exportlint.source import Comment
from exportlint.suppressions.removal import Place, removal, span_in

VERBS = ("ignore", "file-ignore", "disable", "enable")

_OWN = re.compile(r"#\s*exportlint\s*:\s*(?P<verb>[\w-]*)\s*(?P<rest>[^#]*)")
_NOQA = re.compile(r"#\s*noqa\b(?P<colon>\s*:\s*(?P<codes>[A-Z]+[0-9]+(?:[\s,]+[A-Z]+[0-9]+)*)?)?", re.IGNORECASE)
_ANY_CODE = re.compile(r"[A-Z]+[0-9]+")
_ENTRY = re.compile(r"[^,]+")
_WORD = re.compile(r"\w")
_COMMENT = re.compile(r"#(?!\d)")  # `#12` is an issue


@dataclass(frozen=True, slots=True)
class Selector:
    """One entry of a list of rules, and the codes that it stands for."""

    text: str
    span: Span
    codes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Directive:
    """One instruction of a comment. Without selectors it means every rule.

    `verb` is one of `VERBS`, or `noqa`.
    """

    verb: str
    place: Place
    selectors: tuple[Selector, ...]

    @property
    def span(self) -> Span:
        """From the `#` to the end of the list."""
        return self.place.span

    @property
    def reason(self) -> str:
        """The words behind it, up to another comment; empty if there are none."""
        comment = self.place.comment
        behind = _COMMENT.split(comment.text[self.span.end.column - comment.column :])[0].strip()
        return behind if _WORD.search(behind) else ""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a pragma that cannot work."""

    span: Span
    message: str
    fix: Fix | None = None


def directives(comment: Comment) -> Iterator[Directive | Problem]:
    """The instructions in a comment, and what is wrong with them."""
    for match in _OWN.finditer(comment.text):
        yield from _own(comment, match)
    for match in _NOQA.finditer(comment.text):
        if match["codes"] is not None:
            codes = match["codes"].upper()
            entries = _spans(comment, match.start("codes"), _ANY_CODE.finditer(codes))
            place = Place(comment, span_in(comment, match.start(), match.end()), entries)
            yield from _listed("noqa", place, lambda code: letters(code) in prefixes())
        elif match["colon"] is None:
            yield Directive("noqa", Place(comment, span_in(comment, match.start(), match.end())), ())


def _own(comment: Comment, match: re.Match[str]) -> Iterator[Directive | Problem]:
    verb, rest, start = match["verb"], match["rest"], match.start("rest")
    whole = span_in(comment, match.start(), match.start() + len(match[0].rstrip()))
    if verb not in VERBS:
        hints = near(verb, VERBS, count=1)
        expected = f"did you mean `{hints[0]}`?" if hints else f"expected one of {', '.join(f'`{v}`' for v in VERBS)}"
        unknown = f"unknown `{verb if len(verb) <= MAX_NAME else verb[: MAX_NAME - 1] + '…'}`, " if verb else ""
        fix = _respelled(span_in(comment, *match.span("verb")), hints)
        yield Problem(whole, f"suppression without effect: {unknown}{expected}", fix)
        return
    if not rest.startswith("["):
        yield Directive(verb, Place(comment, span_in(comment, match.start(), match.end("verb"))), ())
        return
    end = rest.find("]")
    if end == -1:
        yield Problem(whole, "suppression without effect: the list of rules has no closing `]`")
        return
    entries = _spans(comment, start + 1, _ENTRY.finditer(rest[1:end]))
    place = Place(comment, span_in(comment, match.start(), start + end + 1), entries)
    if not entries:
        message = (
            f"suppression without effect: its list names no rule; to cover all rules, write `# exportlint: {verb}`"
        )
        yield Problem(whole, message, removal("Remove the empty suppression", (place, ())))
        return
    yield from _listed(verb, place, lambda _entry: True)


def _listed(verb: str, place: Place, is_ours: Callable[[str], bool]) -> Iterator[Directive | Problem]:
    """The directive of the entries that are ours and name rules, and what is wrong with the others of ours."""
    selectors = []
    comment = place.comment
    for span in place.entries:
        text = comment.text[span.start.column - comment.column : span.end.column - comment.column]
        if verb == "noqa":
            text = text.upper()
        if not is_ours(text):
            continue
        try:
            selectors.append(Selector(text, span, expand(text)))
        except UnknownSelector as error:
            fix = _respelled(span, error.near) if error.near else removal(f"Remove `{text}`", (place, {span}))
            yield Problem(span, f"suppression without effect: {error}", fix)
    if selectors:
        yield Directive(verb, place, tuple(selectors))


def _respelled(span: Span, near: Sequence[str]) -> Fix | None:
    """The fix for what may be a slip of the pen. It is not safe: it may suppress what was not meant."""
    if len(near) != 1:
        return None
    return Fix(Applicability.UNSAFE, f"Write `{near[0]}`", (Edit(span, near[0]),))


def _spans(comment: Comment, offset: int, entries: Iterable[re.Match[str]]) -> tuple[Span, ...]:
    """The spans of the entries of a list that are not blank, without the blanks around them."""
    found = ((offset + entry.start(), entry[0]) for entry in entries if entry[0].strip())
    return tuple(
        span_in(comment, start + len(text) - len(text.lstrip()), start + len(text.rstrip())) for start, text in found
    )
