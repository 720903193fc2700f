"""From what torch says to the rules that it is about."""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from dataclasses import dataclass

from exportlint.messages.families import FAMILIES, Candidate, Family
from exportlint.registry import Rule, all_rules, find_rule, page

_VARYING = re.compile(r"'[^']*'|\d+")
_ENOUGH = 40
"""So many characters tell one message of torch from the others."""
_TELLING = 20
"""So many literal characters of a message make a line an error."""
_MOST = 20_000
"""Characters of a message that are looked at."""
_LINTER = "EXP0"
_HEADER = re.compile(r"^(?:async )?def \w+\(.*?\)(?: *->[^:]+)?:\s*(?=[^\s#])")
"""What stands before the code of a function that is written on one line."""
_HINTS = re.compile(r"^\s*(?:Hint: |\d+\. torch\._check|For more|Set TORCH|If you suspect).*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Recognition:
    """What a message is. `codes` are the rules that fit the line, the most probable first; none if no rule does.

    `others` are those that it is about with other lines. `family` is None where only the page of a rule quotes it.
    """

    family: Family | None
    codes: tuple[str, ...]
    others: tuple[str, ...] = ()

    @property
    def is_wrapper(self) -> bool:
        """Whether another error of the chain says more."""
        return self.family is not None and self.family.is_wrapper


def recognize(kind: str, message: str, line: str = "") -> Recognition | None:
    """What an exception is, by its type, its message and the line of code that raised it; None if it is unknown."""
    text = f"{kind.rpartition('.')[2]}: {message[:_MOST]}" if kind else message[:_MOST]
    said = _HINTS.sub("", text)
    flat = " ".join(said.split())
    matching = [family for family in FAMILIES if any(text.is_in(said, flat) for text in _texts(family))]
    found = next((family for family in matching if not family.is_wrapper), next(iter(matching), None))
    if found is not None:
        code = _HEADER.sub("", line.strip())
        fitting = tuple(dict.fromkeys(one.code for one in found.candidates if _fits(one, code, said)))
        others = dict.fromkeys(one.code for one in found.candidates if one.code not in fitting)
        return Recognition(found, fitting, tuple(others))
    if len(_plain(text)) < _ENOUGH // 2:
        return None
    quoting = tuple(rule.code for rule in all_rules() if is_quoted(rule.code, kind, message))
    return Recognition(None, quoting) if quoting else None


def _fits(candidate: Candidate, line: str, said: str) -> bool:
    at_line = not candidate.line or (bool(line) and re.search(candidate.line, line) is not None)
    return at_line and (not candidate.said or re.search(candidate.said, said, re.MULTILINE) is not None)


def mentions(line: str) -> bool:
    """Whether a line, without anything that says that it is an error, has a message that nothing else looks like."""
    by_word, others = _telling()
    return any(text.is_in(line, line) for word in line.split() for text in by_word.get(word, ())) or any(
        text.is_in(line, line) for text in others
    )


class _Text:
    """How messages of a family read: literal parts in this order on a line, with anything between them."""

    def __init__(self, text: str) -> None:
        parts = [" ".join(part.split()) for part in text.split("…")]
        self.literal = max(parts, key=len)
        self._is_whole = "…" not in text
        gaps = (r"\s+".join(map(re.escape, re.split(r"\s+", part))) for part in text.split("…"))
        self._pattern = re.compile(r"[^\n]*?".join(gaps))

    def is_in(self, said: str, flat: str) -> bool:
        """Whether a message reads so; `flat` is the message with one blank for each run of blanks."""
        # To look for the literal part first makes logs of a hundred megabytes bearable.
        return self.literal in flat and (self._is_whole or self._pattern.search(said) is not None)


@functools.cache
def _texts(family: Family) -> tuple[_Text, ...]:
    return tuple(map(_Text, family.texts))


@functools.cache
def _telling() -> tuple[dict[str, list[_Text]], list[_Text]]:
    """The texts that tell an error by themselves: by a word that stands in them as a whole, and those without one."""
    by_word: dict[str, list[_Text]] = {}
    others: list[_Text] = []
    for text in (text for family in FAMILIES for text in _texts(family) if len(text.literal) >= _TELLING):
        whole = text.literal.split(" ")[1:-1]
        (by_word.setdefault(max(whole, key=len), []) if whole else others).append(text)
    return by_word, others


def is_quoted(code: str, kind: str, message: str) -> bool:
    """Whether the page of a rule has what torch says, but for names and numbers."""
    said = _plain(f"{kind.rpartition('.')[2]}: {message[:_MOST]}" if kind else message[:_MOST])[:_ENOUGH].rstrip()
    return said in _page(code)


@functools.cache
def _page(code: str) -> str:
    rule = find_rule(code)
    return "" if rule is None else _plain(_text(rule))


def _text(rule: Rule) -> str:
    try:
        return page(rule)
    except FileNotFoundError:
        return ""


def _plain(text: str) -> str:
    return " ".join(_VARYING.sub("", text).split())


def closest(message: str, line: str = "", most: int = 3) -> tuple[str, ...]:
    """The codes of the rules whose pages share the rarest words with a message and its line, the closest first."""
    pages = _words_of_pages()
    rarity = Counter(word for words in pages.values() for word in words)
    words = _words(f"{message[:_MOST]} {line}")
    weights = {
        code: sum(math.log(len(pages) / rarity[word]) for word in words & of_page) / math.sqrt(len(of_page) or 1)
        for code, of_page in pages.items()
    }
    best = sorted((code for code, weight in weights.items() if weight > 0), key=lambda code: -weights[code])
    return tuple(best[:most])


@functools.cache
def _words_of_pages() -> dict[str, frozenset[str]]:
    return {rule.code: _words(_text(rule)) for rule in all_rules() if not rule.code.startswith(_LINTER)}


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z_]{4,}", text.lower()))
