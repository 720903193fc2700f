from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exportlint.findings import Position, Span
from exportlint.source import Cells, LineIndex, Notebook, SourceError, as_json, from_bytes, from_cells, replaced
from tests.cli.notebooks import code, markdown, notebook
from tests.source.texts import texts

PATH = Path("net.ipynb")


def read(text: str | bytes) -> Notebook:
    source = from_bytes(text if isinstance(text, bytes) else text.encode(), PATH)
    assert isinstance(source, Notebook)
    return source


def row_starts(lines: LineIndex) -> list[int]:
    return [lines.line_start(row) for row in range(1, len(lines) + 1)]


@given(st.lists(texts(), max_size=6))
def test_every_place_of_a_cell_has_one_in_the_text_and_back(cells: list[str]) -> None:
    found = Cells(cells)
    lines = LineIndex(found.text)
    taken = 1
    for index, cell in enumerate(cells):
        own = LineIndex(cell)
        rows = found.rows(index)
        assert rows == range(taken, taken + (len(own) if cell else 0))
        taken = rows.stop
        for offset in range(len(cell) + 1) if cell else ():
            place = own.position(offset)
            there = found.position(index, place)
            assert found.locate(there) == (index, place)
            assert lines.line(there.row) == own.line(place.row)
            assert there.row in found.rows(index)
    assert lines.line(taken) == ""
    assert len(lines) == taken


def test_a_place_behind_all_is_the_end_of_the_last_cell() -> None:
    cells = Cells(["a\n", "bc", ""], [1, 4, 9])
    assert cells.text == "a\n\nbc\n"
    assert cells.locate(Position(4, 1)) == (1, Position(1, 3))
    assert cells.locate(Position(3, 2)) == (1, Position(1, 2))
    assert cells.locate(Position(2, 1)) == (0, Position(2, 1))
    assert cells.span(Span(Position(1, 1), Position(3, 2))) == (0, Span(Position(1, 1), Position(2, 1)))
    assert Cells(["", ""]).locate(Position(1, 1)) is None


@given(st.lists(texts(12), min_size=1, max_size=4), st.data())
def test_edits_of_the_text_are_those_of_cells(cells: list[str], data: st.DataObject) -> None:
    found = Cells(cells)
    start = data.draw(st.integers(0, len(found.text)))
    end = data.draw(st.integers(start, len(found.text)))
    content = data.draw(st.sampled_from(["", "n", "n\n", "\nn"]))
    around = [i for i, cell in enumerate(cells) if cell and found.start(i) <= start and end <= found.start(i + 1)]
    place = found.place((start, end, content))
    if place is None:
        assert all(start > found.start(i) + len(cells[i]) or start == found.start(i + 1) for i in around)
        return
    index, (low, high, new) = place
    assert index == around[-1]
    assert 0 <= low <= high <= len(cells[index])
    if end <= found.start(index) + len(cells[index]):
        assert found.start(index) + low == start
        assert found.start(index) + high == end
        assert new == content
    else:
        assert high == len(cells[index])


@pytest.mark.parametrize(
    ("cells", "edit", "expected"),
    [
        (["ab", "c"], (0, 2, "x"), ["x", "c"]),
        (["ab", "c"], (3, 3, "x"), ["ab", "xc"]),
        (["ab", "c"], (2, 2, "x"), ["abx", "c"]),
        (["a\nb", "c"], (2, 4, ""), ["a", "c"]),
        (["a\r\nb", "c\r\nd"], (3, 6, ""), ["a", "c\r\nd"]),
        (["a", "c"], (0, 2, ""), ["", "c"]),
        (["a\nb", "c"], (2, 4, "x\ny\n"), ["a\nx\ny", "c"]),
        (["a", "", "c"], (2, 2, "x"), ["a", "", "xc"]),
        (["a", "c"], (0, 3, ""), None),
        (["a", "c"], (1, 3, "x"), None),
    ],
)
def test_edits_belong_to_one_cell(cells: list[str], edit: tuple[int, int, str], expected: list[str] | None) -> None:
    source = from_cells(cells, PATH)
    if expected is None:
        assert not source.admits([edit])
        with pytest.raises(SourceError, match="cannot be edited at this place"):
            source.edited([edit])
        return
    assert source.admits([edit])
    after = source.edited([edit])
    assert [*after.cells.texts] == expected
    assert after.text == replaced(source.text, [edit])


@pytest.mark.parametrize(
    ("cells", "edit", "admitted"),
    [
        (["%a\nx = 1"], (3, 3, "y\n"), True),
        (["%a\nx = 1"], (0, 0, "y\n"), False),  # a cell magic has to be the first line
        (["%a\nx = 1"], (2, 2, "y"), False),
        (["%a\nx = 1"], (1, 4, ""), False),
        (["y\n%a\nx"], (1, 1, "\nz"), True),
        (["y\n%a\nx"], (0, 2, ""), True),
        (["y\n%a\nx"], (0, 2, "z"), False),
        (["y\n%a\nx"], (1, 2, ""), False),
        (["x = !ls"], (0, 1, "y"), False),
        (["def f():\n    !ls\n    return y\n\nz = 1"], (26, 27, "x"), False),
        (["def f():\n    !ls\n    return y\n\nz = 1"], (30, 31, "x"), True),
        (["%%bash\nls", "x"], (7, 9, "y"), False),
        (["%%bash\nls", "x"], (10, 11, "y"), True),
        (["def f(:", "x"], (0, 3, "y"), False),
    ],
)
def test_what_ipython_reads_is_not_edited(cells: list[str], edit: tuple[int, int, str], admitted: bool) -> None:
    assert from_cells(cells, PATH).admits([edit]) == admitted


def test_only_python_is_in_the_text() -> None:
    source = read(notebook(markdown("# x"), "import os\n%pip install torch", "%%bash\nls", "", "x = 1"))
    assert source.text == "import os\n" + " " * 18 + "\n" + " " * 6 + "\n  \nx = 1\n"
    assert source.cells.numbers == (2, 3, 4, 5)
    assert source.problems == ()


def test_a_cell_with_a_syntax_error_is_blank() -> None:
    source = read(notebook("x = 1", "def f(:\n    '''", "y = 2", "z = \\", "await f()\nreturn 3"))
    assert source.text == "x = 1\n" + " " * 7 + "\n" + " " * 7 + "\ny = 2\n" + " " * 5 + "\nawait f()\nreturn 3\n"
    assert [(problem.row, problem.column) for problem in source.problems] == [(3, 5), (5, 6)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"cells": [}', "net.ipynb:1: is not a notebook, because it is not JSON: Expecting value"),
        ("import os\n\n", "net.ipynb:1: is not a notebook, because it is not JSON: Expecting value"),
        ('{\n"cells": ]', "net.ipynb:2: is not a notebook, because it is not JSON: Expecting value"),
        ("", "net.ipynb:1: is not a notebook, because it is not JSON: Expecting value"),
        ("[]", "net.ipynb:1: is JSON but not a notebook: it has no `nbformat`"),
        ('{"cells": []}', "net.ipynb:1: is JSON but not a notebook: it has no `nbformat`"),
        (
            '{"nbformat": 3, "worksheets": []}',
            "net.ipynb:1: is a notebook of format 3, which is too old: open and save it",
        ),
        ('{"nbformat": 5}', "net.ipynb:1: is a notebook of format 5, but only format 4 is supported"),
        ('{"nbformat": 4}', "net.ipynb:1: is not a notebook: it has no list of `cells`"),
        ('{"nbformat": 4, "cells": [3]}', "net.ipynb:1: is not a notebook: the `source` of cell 1 is not text"),
        (
            '{"nbformat": 4, "cells": [{"source": ""}, {"source": [1]}]}',
            "net.ipynb:1: is not a notebook: the `source` of cell 2 is not text",
        ),
        (b'{\n"\xe9"', "net.ipynb:2: byte 0xe9 is not UTF-8, as in a notebook"),
        ("[" * 100_000, "net.ipynb:1: is not a readable notebook: "),
    ],
)
def test_what_is_no_notebook(text: str | bytes, expected: str) -> None:
    with pytest.raises(SourceError) as raised:
        read(text)
    assert str(raised.value).startswith(expected)


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        (notebook("x"), ["x"]),
        (notebook("x", language=None), ["x"]),
        (notebook("x", language="R"), []),
        (notebook("x", metadata={"kernelspec": {"language": "julia", "name": "julia-1.9"}}), []),
        (notebook("x", metadata={"kernelspec": {"name": "python3"}}), ["x"]),
        (notebook("x", metadata=None), ["x"]),
        (notebook(code("x", vscode={"languageId": "javascript"}), code("y", vscode={"languageId": "python"})), ["y"]),
        (notebook(), []),
        (notebook(markdown("x"), {"cell_type": "raw", "source": "y"}), []),
        (notebook({"cell_type": "code", "source": "a\nb"}), ["a\nb"]),
        ('{"cells": [{"source": "x"}], "nbformat": 4, "cells": [{"source": ["y"], "cell_type": "code"}]}', ["y"]),
        ("\ufeff" + notebook("x"), ["x"]),
    ],
)
def test_which_cells_are_code(text: str, cells: list[str]) -> None:
    assert [*read(text).cells.texts] == cells


SPELLINGS = [
    notebook(markdown("é"), "a = 'é'\nb = '😀'"),
    json.dumps(json.loads(notebook(markdown("é"), "a = 'é'\nb = '😀'"))),
    json.dumps(json.loads(notebook(markdown("é"), "a = 'é'\nb = '😀'")), indent="\t", sort_keys=True),
    notebook(markdown("é"), {"cell_type": "code", "source": "a = 'é'\nb = '😀'"}),
    notebook(
        markdown("é"), {"source": ["a =", " '\\u00e9'\n".replace("\\u00e9", "é"), "b ", "= '😀'"], "cell_type": "code"}
    ),
    notebook(markdown("é"), "a = 'é'\nb = '😀'").replace("\n", "\r\n"),
    "\ufeff" + notebook(markdown("é"), "a = 'é'\nb = '😀'").rstrip("\n"),
]


@pytest.mark.parametrize("text", SPELLINGS)
@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        ((0, 1, "long"), "long = 'é'\nb = '😀'"),
        ((5, 6, 'ü"'), "a = 'ü\"'\nb = '😀'"),
        ((8, 9, "import c\nd"), "a = 'é'\nimport c\nd = '😀'"),
        ((15, 15, "\nc = 3"), "a = 'é'\nb = '😀'\nc = 3"),
        ((0, 8, ""), "b = '😀'"),
        ((8, 16, ""), "a = 'é'"),
    ],
)
def test_all_but_the_edit_stays(text: str, edit: tuple[int, int, str], expected: str) -> None:
    source = read(text)
    after = source.edited([edit])
    assert [*after.cells.texts] == [expected]
    (cell,), (edited,) = source.document.cells, after.document.cells
    before, now = source.document.text, after.document.text
    assert now[: edited.start] == before[: cell.start]
    assert now[edited.end :] == before[cell.end :]
    assert after.data.startswith(b"\xef\xbb\xbf") == source.data.startswith(b"\xef\xbb\xbf")
    assert now.isascii() == before.isascii()
    kept = [line for line in before.splitlines() if line.strip() in ('"source": [', "]", "],")]
    assert all(line in now.splitlines() for line in kept)
    undone = json.loads(now)
    undone["cells"][1]["source"] = json.loads(before)["cells"][1]["source"]
    assert undone == json.loads(before)


def test_lines_of_an_edited_cell_stay_as_they_are_spelled() -> None:
    text = notebook("a = 'é'\nb = 1\nc = 2").replace("é", "\\u00E9").replace("c = 2", "c\\u0020= 2")
    after = read(text).edited([(8, 9, "d")])
    assert after.data.decode() == text.replace("b = 1", "d = 1")


def encodable(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


@given(st.lists(texts(20).filter(encodable), min_size=1, max_size=3), st.data())
def test_any_text_is_written_as_it_is(cells: list[str], data: st.DataObject) -> None:
    source = read(as_json(cells))
    assert [*source.cells.texts] == cells
    index = data.draw(st.integers(0, len(cells) - 1))
    start = data.draw(st.integers(0, len(cells[index])))
    end = data.draw(st.integers(start, len(cells[index])))
    content = data.draw(texts(5).filter(encodable))
    after = source.document.edited({index: [(start, end, content)]})
    cells[index] = replaced(cells[index], [(start, end, content)])
    assert [*read(after).cells.texts] == cells


def test_rows_of_the_file() -> None:
    source = read(notebook(markdown("x"), "a\n\nb"))
    rows = source.data.decode().split("\n")
    assert [rows[row - 1].strip() for row in source.file_rows[2]] == ['"a\\n",', '"\\n",', '"b"']
    assert len(set(read(notebook({"cell_type": "code", "source": "a\nb"})).file_rows[1])) == 1


def test_names_of_rows() -> None:
    source = from_cells(["a", "b\nc"], PATH)
    assert [source.row_name(row) for row in (1, 2, 3)] == ["line 1 of cell 1", "line 1 of cell 2", "line 2 of cell 2"]
