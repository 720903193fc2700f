from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exportlint.source import PathPatterns

ROOT = Path("/home/me/pro[j]ect")


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        # A name, anywhere.
        (".venv", "/home/me/pro[j]ect/.venv", True),
        (".venv", "/home/me/pro[j]ect/a/b/.venv", True),
        (".venv", "/elsewhere/.venv", True),
        (".venv", "/home/me/pro[j]ect/.venv/a.py", False),
        (".venv", "/home/me/pro[j]ect/x.venv", False),
        ("*_pb2.py", "/home/me/pro[j]ect/a/b_pb2.py", True),
        ("*_pb2.py", "/home/me/pro[j]ect/a/b_pb2.pyi", False),
        ("a?c.py", "/x/abc.py", True),
        ("a?c.py", "/x/ac.py", False),
        ("[ab].py", "/x/b.py", True),
        ("[!ab].py", "/x/b.py", False),
        ("[!ab].py", "/x/c.py", True),
        ("[a-c].py", "/x/b.py", True),
        ("[]].py", "/x/].py", True),
        ("[^].py", "/x/^.py", True),
        ("*.{py,pyw}", "/x/a.pyw", True),
        ("*.{py,pyw}", "/x/a.pyi", False),
        ("\\*.py", "/x/*.py", True),
        ("\\*.py", "/x/a.py", False),
        ("a.py", "/x/a_py", False),
        ("(a|b)$.py", "/x/(a|b)$.py", True),
        # Not closed, or backwards: literal.
        ("[a.py", "/x/[a.py", True),
        ("{a,b.py", "/x/{a,b.py", True),
        ("a}.py", "/x/a}.py", True),
        ("[z-a].py", "/x/[z-a].py", True),
        ("a\\", "/x/a\\", True),
        # A path below the root.
        ("src/gen", "/home/me/pro[j]ect/src/gen", True),
        ("src/gen/", "/home/me/pro[j]ect/src/gen", True),
        ("./src//gen", "/home/me/pro[j]ect/src/gen", True),
        ("src/gen", "/home/me/pro[j]ect/lib/src/gen", False),
        ("src/gen", "/elsewhere/src/gen", False),
        ("src/*.py", "/home/me/pro[j]ect/src/a.py", True),
        ("src/*.py", "/home/me/pro[j]ect/src/a/b.py", True),
        ("src/**/t.py", "/home/me/pro[j]ect/src/t.py", True),
        ("src/**/t.py", "/home/me/pro[j]ect/src/a/b/t.py", True),
        ("src/**/t.py", "/home/me/pro[j]ect/src/a/bt.py", False),
        ("**/t.py", "/home/me/pro[j]ect/t.py", True),
        ("src/**", "/home/me/pro[j]ect/src/a", True),
        ("src/**", "/home/me/pro[j]ect/src", False),
        ("../other/x.py", "/home/me/other/x.py", True),
        ("/abs/*.py", "/abs/x.py", True),
        ("/abs/dir/", "/abs/dir", True),
        ("/abs/*.py", "/home/me/pro[j]ect/abs/x.py", False),
    ],
)
def test_match(pattern: str, path: str, matches: bool) -> None:
    assert PathPatterns([pattern], ROOT).match(path) is matches
    assert PathPatterns(["no.py", "n/o", "?", pattern], ROOT).match(path) is matches


def test_no_patterns_match_nothing() -> None:
    assert not PathPatterns([], ROOT).match("/home/me/pro[j]ect/a.py")


def test_a_relative_root_is_that_of_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert PathPatterns(["src/a.py"], Path()).match(f"{Path(os.getcwd()).as_posix()}/src/a.py")  # noqa: PTH109


@given(st.text(alphabet="a/*?[]{}!^-\\,.|&~#", max_size=12), st.text(alphabet="a/[]{}-", max_size=12))
def test_any_pattern_is_usable(pattern: str, path: str) -> None:
    assert PathPatterns([pattern], ROOT).match(path) in (True, False)


@given(st.text(alphabet="ab.-+()$|&~ é", min_size=1, max_size=8))
def test_a_plain_name_matches_itself_only(name: str) -> None:
    assert PathPatterns([name], ROOT).match(f"/x/{name}")
    assert not PathPatterns([name], ROOT).match(f"/x/{name}a")
    assert PathPatterns([f"s/{name}?"], ROOT).match(f"{ROOT}/s/{name}a")
