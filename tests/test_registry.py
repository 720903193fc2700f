from __future__ import annotations

import importlib
import re
from collections.abc import Iterator

import pytest

from exportlint import registry
from exportlint.registry import FAMILIES, UnknownSelector, all_rules, expand, find_rule, page, rule, specificity


def codes() -> frozenset[str]:
    return frozenset(r.code for r in all_rules())


def test_every_rule_is_well_named_and_has_a_page() -> None:
    assert [r.code for r in all_rules()] == sorted(codes())
    assert len({r.name for r in all_rules()}) == len(all_rules())
    for r in all_rules():
        assert re.fullmatch(r"EXP\d{3}", r.code)
        assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)+", r.name)
        assert r.family in FAMILIES
        assert page(r).startswith(f"# {r.name} ({r.code})\n")
        assert r.url.endswith(f"/rules/{r.code}-{r.name}.md")


@pytest.mark.parametrize(
    ("selector", "pattern"),
    [
        ("ALL", ""),
        ("EXP", ""),
        ("EXP0", "EXP0"),
        ("EXP00", "EXP00"),
        ("EXP001", "EXP001"),
        ("syntax-error", "EXP001"),
        ("linter", "EXP0"),
        ("control-flow", "EXP1"),
        ("EXP1", "EXP1"),
        ("EXP9", "EXP9"),
    ],
)
def test_selectors(selector: str, pattern: str) -> None:
    assert expand(selector) == {code for code in codes() if code.startswith(pattern)}


@pytest.mark.parametrize(
    ("selector", "hint"),
    [
        ("EXP999", ""),
        ("EXP0011", "`EXP001`"),
        ("exp001", "`EXP001`"),
        ("syntax_error", "`syntax-error`"),
        ("Control-Flow", "`control-flow`"),
        ("", ""),
        ("all", "`ALL`"),
        ("E501", ""),
    ],
)
def test_unknown_selectors_name_what_was_meant(selector: str, hint: str) -> None:
    with pytest.raises(UnknownSelector) as raised:
        expand(selector)
    assert str(raised.value).startswith(f"unknown rule selector `{selector}`")
    assert hint in str(raised.value)


def test_narrower_selectors_are_more_specific() -> None:
    ranks = [specificity(s) for s in ("ALL", "EXP", "EXP0", "EXP00", "EXP001")]
    assert ranks == sorted(set(ranks))
    assert specificity("linter") == specificity("EXP0")
    assert specificity("syntax-error") == specificity("EXP001")


def test_rules_are_found_by_code_and_name_only() -> None:
    found = find_rule("EXP001")
    assert found is not None
    assert found is find_rule("syntax-error")
    assert find_rule("EXP0") is None
    assert find_rule("EXP001 ") is None


@pytest.fixture
def unregistered() -> Iterator[None]:
    before = dict(registry._registered)
    yield
    registry._registered.clear()
    registry._registered.update(before)


@pytest.mark.usefixtures("unregistered")
def test_the_decorator_keeps_code_name_and_facts() -> None:
    @rule("EXP098", "some-thing", int, str)
    def check() -> tuple[()]:
        return ()

    found = registry._registered["EXP098"]
    assert (found.code, found.name, found.facts, found.family) == ("EXP098", "some-thing", (int, str), "EXP0")
    assert found.check is check


@pytest.mark.usefixtures("unregistered")
@pytest.mark.parametrize(("code", "name"), [("EXP001", "another-name"), ("EXP098", "syntax-error")])
def test_two_rules_cannot_share_a_code_or_name(code: str, name: str) -> None:
    all_rules()
    with pytest.raises(ValueError, match="collides with EXP001 syntax-error"):
        rule(code, name)(lambda: ())


def test_what_is_read_of_the_rules_is_what_they_register() -> None:
    for told in all_rules():
        importlib.import_module(told.module)
        assert (told.code, told.name) == (registry._registered[told.code].code, registry._registered[told.code].name)
        assert told.fact_names == frozenset(kind.__name__ for kind in told.facts), told.code
