from __future__ import annotations

from pathlib import PurePath, PurePosixPath, PureWindowsPath
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exportlint.report.paths import folder_uri, portable, uri

WINDOWS = PureWindowsPath("C:\\my project")
POSIX = PurePosixPath("/my project")


@pytest.mark.parametrize(
    ("root", "filename", "named", "located"),
    [
        (POSIX, "/my project/a b/ü.py", "a b/ü.py", ("a%20b/%C3%BC.py", True)),
        (POSIX, "/elsewhere/a:b.py", "/elsewhere/a:b.py", ("file:///elsewhere/a%3Ab.py", False)),
        (POSIX, "-", "-", ("-", True)),
        (WINDOWS, "C:\\my project\\pkg\\net.py", "pkg/net.py", ("pkg/net.py", True)),
        (WINDOWS, "c:\\My Project\\net.py", "net.py", ("net.py", True)),
        (WINDOWS, "D:\\x y\\net.py", "D:/x y/net.py", ("file:///D:/x%20y/net.py", False)),
    ],
)
def test_names(root: PurePath, filename: str, named: str, located: tuple[str, bool]) -> None:
    assert portable(filename, root) == named
    assert uri(filename, root) == located


def test_folders() -> None:
    assert folder_uri(POSIX) == "file:///my%20project/"
    assert folder_uri(WINDOWS) == "file:///C:/my%20project/"
    assert folder_uri(PurePosixPath("/")) == "file:///"


@given(st.text(st.characters(exclude_characters="/\0"), min_size=1).filter(lambda name: name not in (".", "..")))
def test_a_uri_is_ascii_and_leads_back(name: str) -> None:
    found, is_relative = uri(f"/my project/{name}", POSIX)
    assert is_relative
    assert found.isascii()
    assert unquote_to_bytes(found) == name.encode("utf-8", "surrogatepass")
