"""Patterns of strangers: they mean what they say, and keep nobody busy."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from exportlint.source import PathPatterns
from exportlint.source.gitignore import IgnoreRules, rules_within
from exportlint.source.globs import Part, alternatives, assembled

ROOT = Path("/r")


def expected(pattern: str, text: str) -> bool:
    """What `*`, `**/` and `?` mean, tried in all ways."""

    @cache
    def match(at: int, place: int) -> bool:
        if at == len(pattern):
            return place == len(text)
        if pattern.startswith("**/", at) and (at == 0 or pattern[at - 1] == "/"):
            ends = [place, *(end + 1 for end in range(place, len(text)) if text[end] == "/")]
            return any(match(at + 3, end) for end in ends)
        if pattern[at] == "*":
            return any(match(at + 1, end) for end in range(place, len(text) + 1))
        if place == len(text) or pattern[at] not in ("?", text[place]):
            return False
        return match(at + 1, place + 1)

    return match(0, 0)


@pytest.mark.thorough
@settings(max_examples=2000)
@given(
    st.text(alphabet="ab/*?", min_size=1, max_size=14).filter(lambda text: "//" not in text),
    st.text(alphabet="ab/", min_size=1, max_size=14),
)
@example("a/**/b*a/**/a*b", "a/ba/b/bxa/a/ab")
@example("**/a*b", "ab/a/b")
def test_a_pattern_matches_what_it_would_if_all_ways_were_tried(pattern: str, path: str) -> None:
    assume(pattern.strip("/") and path.strip("/"))
    pattern, path = f"x/{pattern.strip('/')}", f"x/{path.strip('/')}"
    assert PathPatterns([pattern], ROOT).match(f"/r/{path}") is expected(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "choices"),
    [
        ("a", ["a"]),
        ("{a,b}c", ["ac", "bc"]),
        ("{a,{b,c}d}e", ["ae", "ae", "bde", "cde"]),
        ("{a", ["{a"]),
        ("{a{b,c}", ["{ab", "{ac"]),
        ("a}b,c", ["a}b,c"]),
        ("[{]a,b}", ["[{]a,b}"]),
        ("[!]{]{a}", ["[!]{]a"]),
        ("\\{a,b}", ["\\{a,b}"]),
        ("{a,b}" * 9, None),
    ],
)
def test_braces_stand_for_several_patterns(pattern: str, choices: list[str] | None) -> None:
    found = alternatives(pattern, 256)
    assert (found if found is None else sorted(found)) == choices


def test_wildcards_but_the_last_are_tried_once() -> None:
    """Which is what makes matching end; each test below would take years otherwise."""
    expression = assembled([Part(".*?", is_wildcard=True), Part("a")] * 3)
    assert len(re.findall(r"\(\?>|\(\?=", expression)) == 2


LONG = "a" * 250


@pytest.mark.parametrize(
    "pattern", ["*a" * 100 + "*b", "{*a,*aa}" * 5 + "*a*a*a*a*a*b", "*?" * 100 + "b", "*[ab]" * 100 + "c"]
)
def test_no_pattern_of_the_settings_takes_for_ever(pattern: str) -> None:
    assert not PathPatterns([pattern], ROOT).match(f"/r/{LONG}")
    assert not PathPatterns([f"x/{pattern}"], ROOT).match(f"/r/x/{LONG}")
    assert not PathPatterns(["x/" + "**/a/" * 50 + "b"], ROOT).match("/r/x" + "/a" * 1000)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [("*a" * 100 + "*b", LONG), ("x/" + "**/a/" * 50 + "b", "x" + "/a" * 1000), ("**/*a*a*a*a*a*b", f"x/{LONG}/a")],
)
def test_no_pattern_of_gitignore_takes_for_ever(tmp_path: Path, pattern: str, path: str) -> None:
    (tmp_path / ".gitignore").write_text(f"{pattern}\n", encoding="utf-8")
    rules = rules_within(tmp_path, None)
    assert isinstance(rules, IgnoreRules)
    assert not rules.ignores((tmp_path / path).as_posix(), False)
