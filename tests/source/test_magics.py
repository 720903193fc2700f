from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exportlint.source import LineIndex
from exportlint.source.magics import mask
from tests.source.texts import texts

PYTHON = [
    "x = (a\n  % b)",
    "x = (a\n% b)",
    "x = [\na\n% b]",
    "x = a \\\n% b",
    "s = '''\n%time\n!ls\n?\n'''",
    "s = 'a?'",
    "s = f'{x!r}?' % 3",
    "# what?",
    "x = 1  # !ls",
    "x = 1  # = %time",
    "x %= 3",
    "x = y != z",
    "x = '= !ls'",
    "f(a=1)",
    "get_ipython().run_line_magic('time', 'x')",
    "s = '%%bash'\n",
    "x = 1\r\n(y\r\n% z)\r\n",
    "time = 3",
    "time, load = 3, 4",
    "time.sleep(3)",
    "timeit(f)",
    "run[0]",
    "ls",
    "store -1",
    "more is not None",
    "edit: int = 3",
]


@pytest.mark.parametrize("text", PYTHON)
def test_python_stays(text: str) -> None:
    ast.parse(text)
    masked = mask(text)
    assert (masked.text, masked.gaps) == (text, ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%time f(x)\ny = 1", "          \ny = 1"),
        ("%time f(x)\r\ny = 1", "          \r\ny = 1"),
        ("!ls 'a\ny = 1", "      \ny = 1"),
        ("!ls \\\n  b'\ny = 1", "     \n    \ny = 1"),
        ("?print\ny", "      \ny"),
        ("print?\ny", "      \ny"),
        ("a.b??  # why\ny", "            \ny"),
        ("y = a.b?", "        "),
        (";f a b", "      "),
        ("x = !ls\ny", "x = __ \ny"),
        ("x =!ls", "x =__ "),
        ("x: int = %who_ls", "x: int = __     "),
        ("a, b = !cat 'x \\\n  y\nz", "a, b = __       \n   \nz"),
        ("if x:\n    %time g()\n    y = 1", "if x:\n    __       \n    y = 1"),
        ("if x:\n    !a", "if x:\n    __"),
        ("if x:\n    g?", "if x:\n    __"),
        ("%%time\ny = 1", "      \ny = 1"),
        ("\n  \n%%time -n 3\ny = 1", "\n  \n           \ny = 1"),
        ("%%time\n%%capture out\n!ls\ny = 1", "      \n             \n   \ny = 1"),
        ("%%bash\necho 'a\ny = 1", "      \n       \n     "),
        ("%%writefile net.py\ny = 1\n", "                  \n     \n"),
        ("%%time\n%%bash\ny", "      \n      \n "),
        ("%%time?\ny = 1", "       \ny = 1"),
        ("y = 1\n%%time\nz = 2", "y = 1\n      \nz = 2"),
        ("cd LearningToPaint/", "                   "),
        ("\n  cd ..\n", "\n       \n"),
        ("ls *.py", "       "),
        ("pip install 'x>1' -U", "                    "),
        ("mkdir it's", "          "),
        ("time f(x) + 1\r\n", "             \r\n"),
        ("%%", "  "),
        ("%", " "),
    ],
)
def test_what_ipython_reads_is_blank(text: str, expected: str) -> None:
    masked = mask(text)
    assert masked.text == expected
    ast.parse(masked.text + "\n")
    changed = {i for i, (one, other) in enumerate(zip(text, expected, strict=True)) if one != other}
    assert changed <= {i for start, end in masked.gaps for i in range(start, end)}


@pytest.mark.parametrize(
    "text",
    [
        "cd a\ncd b",
        "# go there\ncd there",
        "x = 1\npip install y",
        "cdd there",
        "cd.. there",
        "cd, there is",
        "print 'x'",
    ],
)
def test_what_is_a_syntax_error_to_ipython_is_one(text: str) -> None:
    assert mask(text).text == text
    with pytest.raises(SyntaxError):
        ast.parse(text)


SPECIAL = ["%", "%%", "!", "?", "=", "= !", "= %a", "%%time\n", "\\\n", "'", '"""', "(", ")", "#", "\n", " ", "x"]


@given(st.lists(st.sampled_from(SPECIAL) | texts(3), max_size=12).map("".join))
def test_rows_and_columns_stay(text: str) -> None:
    masked = mask(text)
    before, after = LineIndex(text), LineIndex(masked.text)
    assert len(masked.text) == len(text)
    assert [before.line_start(row) for row in range(len(before))] == [after.line_start(r) for r in range(len(after))]
    assert all(0 <= start <= end <= len(text) for start, end in masked.gaps)
    outside = [i for i in range(len(text)) if not any(start <= i < end for start, end in masked.gaps)]
    assert all(masked.text[i] == text[i] for i in outside)
