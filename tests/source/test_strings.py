from __future__ import annotations

import sys

import pytest

from exportlint.source import comments
from exportlint.source.strings import StringScanner

END = "|"  # marks the end of the literal


@pytest.mark.parametrize(
    "marked",
    [
        "''| '",
        "'a'|",
        "'a\\'b'|c'",
        "'''a'b''c\\'''\n'''|",
        "'a|\nb'",
        "'a|\r\nb'",
        "'a\\\r\nb'|",
        "'a\\\\'|'",
        "'''a\nb|",
        "f'{x}'| # '",
        "f'{x:#x}'|",
        "f'{{#'|}'",
        "f'{{{x}#'|",
        "f'{x!r:{w}#}'|",
        "f'{d[\"#\"]}'|",
        "f'{d['#']}'| # same quotes, Python 3.12",
        "f'{f'{f'#'}'}'|",
        "f'{x:{y:{z}}}'|",
        "f'{ {1: 2}[1] }'|",
        "f'{(lambda x: 1)}'|",
        "f'{x!r:\\'}'| # '",
        "f'\\{x:#}'|",
        "f'\\N{NUMBER SIGN}#'|",
        "f'\\\r\n#'|",
        "f'''{x}'#\n'''|",
        "f'''{\nx:#x\n}'''|",
        "f'{x  # a comment, Python 3.12\n}'|",
        "f'{x|\ny = 1",
        "f'{x'|\ny = '",
        "f'{x)}'| + '",
        "f'{\"x}'|",
        "f'{x:\n}|'".replace(":\n}|", ":|\n}"),
        "f'''{x'''|",
        "f'''{x\n|",
    ],
)
def test_end_of_literal(marked: str) -> None:
    text = marked.replace(END, "")
    quote = text.index("'")
    assert StringScanner(text).end(quote, 0) == marked.index(END)


@pytest.mark.parametrize(
    ("code", "prefixed"),
    [
        ("f", True),
        ("F", True),
        ("rf", True),
        ("fR", True),
        ("t", True),
        ("(f", True),
        ("", False),
        ("r", False),
        ("b", False),
        ("if", False),
        ("éf", False),
        ("x_f", False),
        ("1f", False),
    ],
)
def test_what_is_a_prefix_of_an_f_string(code: str, prefixed: bool) -> None:
    # As f-string one literal, else two and a comment between them.
    text = f"{code}'{{x:'#'}}'"
    assert (StringScanner(text).end(len(code), 0) == len(text)) is False  # a quote in a format spec ends nothing
    text = f"{code}'{{d['#']}}'"
    assert (StringScanner(text).end(len(code), 0) == len(text)) is prefixed


def test_comments_in_replacement_fields() -> None:
    text = "f'''{\n  x  # a\n  # b\n}''' # c\n"
    assert [(c.row, c.text, c.own_line, c.logical_start_row, c.logical_end_row) for c in comments(text)] == [
        (2, "# a", False, 1, 4),
        (3, "# b", True, 1, 4),
        (4, "# c", False, 1, 4),
    ]
    if sys.version_info >= (3, 12):
        compile(text, "net.py", "exec")
