from __future__ import annotations

import codecs
import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from exportlint.source import SourceError, from_bytes, from_text, read
from tests.source.privileges import unprivileged
from tests.source.texts import texts

PATH = Path("net.py")
BOM = codecs.BOM_UTF8


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"", "", "utf-8"),
        (b"x = 1", "x = 1", "utf-8"),
        (b"a\r\nb\rc\n\x0cd", "a\r\nb\rc\n\x0cd", "utf-8"),
        ("é = '😀'\n".encode(), "é = '😀'\n", "utf-8"),
        (BOM + b"x\n", "x\n", "utf-8-sig"),
        (BOM, "", "utf-8-sig"),
        (BOM + BOM, "\ufeff", "utf-8-sig"),
        (BOM + b"# coding: utf-8\n", "# coding: utf-8\n", "utf-8-sig"),
        (b"# -*- coding: latin-1 -*-\n# \xe9\n", "# -*- coding: latin-1 -*-\n# é\n", "iso-8859-1"),
        (b"#!/bin/python\r# coding=cp1252\r# \x80\r", "#!/bin/python\r# coding=cp1252\r# €\r", "cp1252"),
        (b"# caf\xe9 vim: set fileencoding=latin-1 :\n", "# café vim: set fileencoding=latin-1 :\n", "iso-8859-1"),
        (b"x = 1\n# coding: cp1252\n", "x = 1\n# coding: cp1252\n", "utf-8"),  # too late: after code
        (b"\n\n# coding: cp1252\n", "\n\n# coding: cp1252\n", "utf-8"),  # too late: line 3
        ("# coding: shift_jis\n# 字\n".encode("shift_jis"), "# coding: shift_jis\n# 字\n", "shift_jis"),
    ],
)
def test_decode_and_encode(data: bytes, text: str, encoding: str) -> None:
    source = from_bytes(data, PATH)
    assert (source.text, source.encoding, source.has_bom) == (text, encoding, data.startswith(BOM))
    assert (source.path, source.filename, source.data) == (PATH, "net.py", data)
    assert source.encode(source.text) == data


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (
            b"ok\r\nx = '\xe9'\n",
            "net.py:2: byte 0xe9 is not UTF-8: save it as UTF-8, or declare its encoding in line 1",
        ),
        (BOM + b"ok\rx = '\xe9'\n", "net.py:2: byte 0xe9 is not UTF-8: save it as UTF-8"),
        (b"# coding: ascii\n\n# \xc3\n", "net.py:3: byte 0xc3 is not ascii"),
        (b"# coding: klingon\n", "net.py:1: unknown encoding: klingon: no such encoding"),
        (b"# coding: rot13\n", "net.py:1: declares the encoding 'rot13', which is not a text encoding"),
        (b"# coding: undefined\n", "net.py:1: declares the encoding 'undefined', which is not a text encoding"),
        (BOM + b"# coding: latin-1\n", "net.py:1: has a UTF-8 byte order mark, but declares another encoding"),
        ("x = 1\n".encode("utf-16"), "net.py:1: is UTF-16, which Python cannot read: save it as UTF-8"),
        (b"a\nb\0c\n", "net.py:2: holds a NUL character, so it is not Python text"),
    ],
)
def test_bytes_that_are_no_python_text(data: bytes, problem: str) -> None:
    with pytest.raises(SourceError) as caught:
        from_bytes(data, PATH)
    assert str(caught.value).startswith(problem)
    assert "\n" not in str(caught.value)
    assert problem.startswith(f"net.py:{caught.value.row}: {caught.value.message[:10]}")


@given(st.binary() | texts().map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_read_back_as_they_were_or_refused(data: bytes) -> None:
    try:
        source = from_bytes(data, PATH)
    except SourceError:
        return
    assert source.encode(source.text) == data


@given(st.from_regex(r"[-\w.]{1,12}", fullmatch=True), st.binary(max_size=30))
@example("utf-7", b"+AAA")
@example("utf-16", b"\0\0\0")
@example("idna", b"\xff..")
@example("punycode", b"\xff-x")
@example("unicode_escape", b"\\ud8 \\N{}")
@example("hex", b"00")
def test_any_declaration_is_understood_or_refused(encoding: str, data: bytes) -> None:
    said = ""
    try:
        said = from_bytes(f"# coding: {encoding}\n".encode() + data, PATH).encoding
    except SourceError as error:
        said = str(error)
    assert said
    assert "\n" not in said


@given(texts())
def test_text_of_an_editor_is_taken_as_it_is(text: str) -> None:
    source = from_text(text, PATH, "untitled:1")
    assert ("\ufeff" if source.has_bom else "") + source.text == text
    assert source.filename == "untitled:1"
    if text.isprintable():
        assert source.encode(source.text) == source.data == text.encode()


@pytest.mark.parametrize(
    ("source", "text", "problem"),
    [
        (from_bytes(b"# coding: latin-1\n", PATH), "a\n\u2192\n", "net.py:2: U+2192 cannot be written as iso-8859-1"),
        (from_text("", PATH), "\ud800", "net.py:1: U+D800 cannot be written as utf-8"),
    ],
)
def test_text_that_the_encoding_lacks(source: object, text: str, problem: str) -> None:
    with pytest.raises(SourceError) as caught:
        source.encode(text)  # type: ignore[attr-defined]
    assert str(caught.value) == problem


def test_read(tmp_path: Path) -> None:
    path = tmp_path / "é.py"
    path.write_bytes(b"x\r\n")
    source = read(path)
    assert (source.path, source.filename, source.text) == (path, str(path), "x\r\n")
    assert source.lines.line(1) == "x"
    assert source.lines is source.lines


def test_read_keeps_the_name_of_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.py").write_bytes(b"x\n")
    (tmp_path / "link.py").symlink_to("real.py")
    assert read(tmp_path / "link.py").filename == str(tmp_path / "link.py")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.py", "cannot be read: no such file or directory"),
        (".", "cannot be read: is a directory"),
        ("loop.py", "cannot be read: too many levels of symbolic links"),
        ("n" * 300, "cannot be read: file name too long"),
        ("nul\0.py", "cannot be read: not a valid path"),
    ],
)
def test_read_what_cannot_be_read(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "loop.py").symlink_to("loop.py")
    with pytest.raises(SourceError) as caught:
        read(tmp_path / name)
    assert (caught.value.message, caught.value.row) == (message, None)
    assert str(caught.value) == f"{tmp_path / name}: {message}"


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_read_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.chdir(place)
    Path("secret.py").touch(mode=0)
    with unprivileged(), pytest.raises(SourceError, match=r"^secret\.py: cannot be read: permission denied$"):
        read(Path("secret.py"))
