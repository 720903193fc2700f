"""Messages are recognized by their form, and by what the pages quote."""

from __future__ import annotations

import pytest

from exportlint.messages import closest, recognize
from exportlint.messages.families import FAMILIES
from exportlint.pages import Page
from exportlint.registry import all_rules, find_rule, page

QUOTES = [
    (rule.code, quote)
    for rule in all_rules()
    for quote in Page(rule.page_name, page(rule)).quotes
    if "eager" not in quote and not quote.startswith("exported:")
]


@pytest.mark.parametrize(("code", "quote"), QUOTES)
def test_what_a_page_quotes_is_recognized(code: str, quote: str) -> None:
    first, _, rest = quote.partition("\n")
    kind, colon, said = first.partition(": ")
    if not colon or not kind.isidentifier():
        kind, said = "", first
    found = recognize(kind, f"{said}\n{rest}".strip())
    assert found is not None
    about = (*found.codes, *found.others)
    assert code in about


GUARD = "Could not guard on data-dependent expression Eq(u0, 1) (unhinted: Eq(u0, 1)).  (Size-like symbols: none)"
LINES = {
    "if mask.any():": "EXP101",
    "elif x.sum() > 0:": "EXP101",
    "return x if x.sum() > 0 else -x": "EXP101",
    "while x.sum() < 100:": "EXP102",
    "if not done.all():": "EXP103",
    "return any(x > 0)": "EXP103",
    "assert x.min() > 0": "EXP104",
    "if len(index) == 0:": "EXP105",
    "def forward(self, x): assert x.min() > 0": "EXP104",
}


@pytest.mark.parametrize(("line", "code"), LINES.items())
def test_the_line_tells_the_rule(line: str, code: str) -> None:
    found = recognize("torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode", GUARD, line)
    assert found is not None
    assert found.codes[0] == code


def test_a_wrapper_gives_way_to_what_it_wraps() -> None:
    found = recognize("RuntimeError", f"Failed running call_function f(*(), **{{}}):\n{GUARD}")
    assert found is not None
    assert not found.is_wrapper


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_records_are_whole(family: object) -> None:
    record = next(one for one in FAMILIES if one is family)
    assert record.texts
    assert record.meaning
    assert not record.meaning.endswith(".")
    assert record.candidates or record.remedy or record.is_wrapper
    assert all(find_rule(candidate.code) is not None for candidate in record.candidates)


def test_names_tell_the_records_apart() -> None:
    names = [family.name for family in FAMILIES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("message", ["division by zero", "[Errno 2] No such file or directory: 'x'", "", "x" * 100_000])
def test_other_errors_are_unknown(message: str) -> None:
    assert recognize("ValueError", message, "y = 1 / 0") is None


def test_pages_that_share_rare_words_are_close() -> None:
    assert "EXP906" in closest("RuntimeError: my operator has no fake kernel registered: register_fake")
