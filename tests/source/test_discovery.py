from __future__ import annotations

import os
import shutil
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from exportlint.source import Discovery, DiscoveryOptions, discover, is_excluded
from tests.source import discovering
from tests.source.discovering import make
from tests.source.privileges import unprivileged

OPTIONS = DiscoveryOptions()


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.chdir(root)
    return root


def find(*paths: str, options: DiscoveryOptions = OPTIONS) -> list[str]:
    return discovering.find(*paths, options=options)


def problems(*paths: str) -> list[str]:
    found = discover([Path(path) for path in paths], lambda _: OPTIONS)
    return [str(problem) for problem in found.problems]


def test_directories_are_searched_for_python_files() -> None:
    make("b.py", "a.py", "a/c.py", "a/b/d.pyw", "a/stub.pyi", "a/data.txt", "script", ".hidden/e.py", "A.PY")
    assert find(".") == [".hidden/e.py", "a.py", "a/b/d.pyw", "a/c.py", "b.py"]


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        (["a"], ["a/x.py"]),
        (["./a/"], ["a/x.py"]),
        (["a/../a"], ["a/../a/x.py"]),
        (["b", "a"], ["a/x.py", "b/y.py"]),
        (["a", "a/x.py", "./a", "a"], ["a/x.py"]),
        (["a", "."], ["a/x.py", "b/y.py"]),
        ([], []),
        (["empty"], []),
    ],
)
def test_paths_are_as_the_user_names_them(paths: list[str], found: list[str]) -> None:
    make("a/x.py", "b/y.py")
    Path("empty").mkdir()
    assert find(*paths) == found


def test_absolute_and_parent_paths(project: Path) -> None:
    make("a/x.py", "../other/y.py")
    assert find(str(project / "a"), "../other") == ["../other/y.py", f"{project}/a/x.py"]
    assert find("a", str(project)) == ["a/x.py"]


def test_a_named_file_needs_no_suffix() -> None:
    make("script", "stub.pyi", ".venv/x.py", "ignored.py")
    Path(".gitignore").write_text("ignored.py")
    assert find("script", "stub.pyi", ".venv/x.py", "ignored.py") == [".venv/x.py", "ignored.py", "script", "stub.pyi"]


def test_a_file_that_is_no_regular_one_is_not_met() -> None:
    make("a.py")
    os.mkfifo("fifo.py")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.py")
        assert find(".") == ["a.py"]


def test_names_that_are_not_utf8() -> None:
    with open(b"\xff.py", "w"):  # noqa: PTH123
        pass
    assert find(".") == ["\udcff.py"]


@pytest.mark.parametrize("name", [".git", ".venv", "venv", "node_modules", "__pypackages__", "build", "dist", ".tox"])
def test_default_excludes(name: str) -> None:
    make(f"{name}/x.py", f"src/{name}/x.py", f"src/x{name}/x.py", f"src/{name}.py")
    assert find(".") == sorted([f"src/x{name}/x.py", f"src/{name}.py"])
    assert find(name) == [f"{name}/x.py"]  # named by the user


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (replace(OPTIONS, exclude=("a",)), ["b/c.py", "build/z.py"]),
        (replace(OPTIONS, extend_exclude=("a",)), ["b/c.py"]),
        (replace(OPTIONS, extend_exclude=("b/*.py",)), ["a/b/c.py", "a/x.py"]),
        (replace(OPTIONS, extend_exclude=("x.py", "c.py")), []),
        (replace(OPTIONS, extend_exclude=("a/b",)), ["a/x.py", "b/c.py"]),
        (replace(OPTIONS, root=Path("a"), extend_exclude=("b/c.py",)), ["a/x.py", "b/c.py"]),
        (replace(OPTIONS, include=("x.*",)), ["a/x.py", "a/x.txt"]),
        (replace(OPTIONS, include=("a/b/*.py",)), ["a/b/c.py"]),
    ],
)
def test_include_and_exclude(options: DiscoveryOptions, found: list[str]) -> None:
    make("a/x.py", "a/x.txt", "a/b/c.py", "b/c.py", "build/z.py")
    assert find(".", options=options) == found


def test_force_exclude() -> None:
    make("a/x.py", "build/y.py", "src/build/deep/z.py")
    named = ["a/x.py", "build/y.py", "src/build/deep/z.py", "build"]
    assert find(*named, options=replace(OPTIONS, force_exclude=True)) == ["a/x.py"]
    assert find(*named) == ["a/x.py", "build/y.py", "src/build/deep/z.py"]


@pytest.mark.parametrize(
    ("path", "root", "excluded"),
    [
        ("a.py", "/x/build/project", False),
        ("/x/build/project/a.py", "/x/build/project", False),
        ("/x/build/project", "/x/build/project", False),
        ("/x/build/project/dist/b/a.py", "/x/build/project", True),
        ("/x/build/other/a.py", "/x/build/project", True),
    ],
)
def test_is_excluded_looks_no_further_up_than_the_root(path: str, root: str, excluded: bool) -> None:
    assert is_excluded(Path(path), replace(OPTIONS, root=Path(root))) is excluded


def test_each_directory_has_its_own_options(project: Path) -> None:
    make("x.py", "a/x.py", "a/y.py", "a/b/x.py", "c/x.py")
    asked: list[str] = []

    def settings_for(directory: Path) -> DiscoveryOptions:
        asked.append(str(directory))
        return replace(OPTIONS, exclude=("x.py",)) if directory == Path("a") else OPTIONS

    found = discover([Path(), Path("a"), Path("a/x.py"), Path("c/x.py")], settings_for)
    assert [str(path) for path in found.files] == ["a/b/x.py", "a/x.py", "a/y.py", "c/x.py", "x.py"]
    assert sorted(asked) == [".", "a", "a/b", "c"]


# Symbolic links


def test_links_are_followed() -> None:
    make("../other/x.py", "../other/y.py", "a/z.py")
    Path("a/file.py").symlink_to("../../other/x.py")
    Path("a/dir").symlink_to("../../other")
    assert find("a") == ["a/dir/x.py", "a/dir/y.py", "a/z.py"]  # by links, the first name counts
    assert find("a", "../other") == ["../other/x.py", "../other/y.py", "a/z.py"]


def test_a_file_is_listed_once_by_its_name_without_links() -> None:
    make("src/x.py")
    Path("a.py").symlink_to("src/x.py")
    Path("lib").symlink_to("src")
    assert find(".") == ["src/x.py"]
    assert find("lib", ".") == ["lib/x.py"]
    assert find("a.py", "src") == ["a.py"]


def test_hard_links_are_files_of_their_own() -> None:
    make("a.py")
    os.link("a.py", "b.py")
    assert find(".") == ["a.py", "b.py"]


def test_loops_of_directories_end() -> None:
    make("a/b/x.py", "y.py")
    Path("a/b/up").symlink_to("..")
    Path("a/self").symlink_to(".")
    Path("c").mkdir()
    Path("c/to_d").symlink_to("../d")
    Path("d").mkdir()
    Path("d/to_c").symlink_to("../c")
    assert find(".") == ["a/b/x.py", "y.py"]
    assert find("a") == ["a/b/x.py"]  # `up` does not lead out of it


def test_links_to_what_is_excluded_are_not_followed() -> None:
    make(".venv/x.py", "src/y.py")
    Path("src/env").symlink_to("../.venv")
    Path("src/build").symlink_to("../../project")
    assert find("src") == ["src/y.py"]


def test_broken_links(project: Path) -> None:
    make("a.py")
    Path("broken.py").symlink_to("nowhere.py")
    Path("loop.py").symlink_to("loop.py")
    Path("broken").symlink_to("nowhere")
    Path(".#a.py").symlink_to("me@host.1234:56")  # a lock of Emacs
    assert problems(".") == [
        "broken.py: is a broken symbolic link: 'nowhere.py' does not exist",
        "loop.py: is a symbolic link to 'loop.py': too many levels of symbolic links",
    ]
    assert problems("broken", "a.py") == ["broken: is a broken symbolic link: 'nowhere' does not exist"]


# Problems


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("src/modles/net.py", "no such file or directory; did you mean 'src/models/net.py'?"),
        ("src/modles/other.py", "no such file or directory; did you mean 'src/models'?"),
        ("src/models/nett.py", "no such file or directory; did you mean 'src/models/net.py'?"),
        ("scr", "no such file or directory; did you mean 'src'?"),
        ("quite/different", "no such file or directory"),
        ("src/models/net.py/x", "not a directory"),
        ("nul\0", "not a valid path"),
        ("n" * 300, "file name too long"),
    ],
)
def test_what_does_not_exist(path: str, problem: str) -> None:
    make("src/models/net.py")
    found = discover([Path(path), Path("src")], lambda _: OPTIONS)
    assert [str(file) for file in found.files] == ["src/models/net.py"]
    assert [(error.filename, error.message) for error in found.problems] == [(path, problem)]


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_an_unreadable_directory_does_not_stop_the_others() -> None:
    make("a.py", "secret/x.py", "z/y.py")
    Path("secret").chmod(0)
    with unprivileged():
        found = discover([Path(), Path("secret/x.py")], lambda _: OPTIONS)
    Path("secret").chmod(0o755)
    assert [str(path) for path in found.files] == ["a.py", "z/y.py"]
    assert [str(problem) for problem in found.problems] == [
        "secret: cannot be searched: permission denied",
        "secret/x.py: permission denied",
    ]


def test_a_directory_that_vanishes_during_the_walk_does_not_stop_the_others() -> None:
    make("a/x.py", "b/x.py", "c/x.py")
    seen: list[Path] = []

    def options(directory: Path) -> DiscoveryOptions:
        seen.append(directory)
        if len(seen) == 2:  # after the listing of the root: the first of its directories is being searched
            shutil.rmtree(directory)
        return OPTIONS

    found = discover([Path()], options)
    gone = str(seen[1])
    assert [str(path) for path in found.files] == [f"{name}/x.py" for name in "abc" if name != gone]
    assert [str(problem) for problem in found.problems] == [f"{gone}: cannot be searched: no such file or directory"]


def test_links_that_lead_in_circles() -> None:
    make("a/x.py", "b/y.py")
    Path("a/other").symlink_to("../b")
    Path("b/other").symlink_to("../a")
    Path("a/up").symlink_to("..")
    Path("b/self").symlink_to("self")
    Path("c").symlink_to("d")
    Path("d").symlink_to("c")
    assert find(".") == ["a/x.py", "b/y.py"]


def test_a_deep_tree() -> None:
    for _ in range(300):
        Path("deep").mkdir()
        os.chdir("deep")
    make("x.py")
    os.chdir("../" * 300)
    assert find(".") == ["deep/" * 300 + "x.py"]


def test_many_runs_agree() -> None:
    make(*(f"{a}/{b}.py" for a in "zyxcba" for b in "cab"))
    runs: set[Discovery] = set()
    for paths in (["."], ["a", "b", "c", "x", "y", "z"], ["z", "y", ".", "x"]):
        runs.add(discover([Path(path) for path in paths], lambda _: OPTIONS))
    assert len(runs) == 1
