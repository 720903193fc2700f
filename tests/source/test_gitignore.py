from __future__ import annotations

import os
import random
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from exportlint.source import DiscoveryOptions
from tests.source import discovering
from tests.source.discovering import make

OPTIONS = DiscoveryOptions(exclude=(".git",))


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty git repository, the working directory."""
    root = tmp_path / "repository"
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    monkeypatch.chdir(root)
    return root


def write(name: str, *lines: str) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text("\n".join(lines))


def find(*paths: str, options: DiscoveryOptions = OPTIONS) -> list[str]:
    return discovering.find(*paths, options=options)


def unignored() -> list[str]:
    """What git itself does not ignore."""
    listed = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard", "-z", "*.py"], check=True, capture_output=True, text=True
    )
    return sorted(listed.stdout.split("\0")[:-1])


@pytest.mark.parametrize(
    "lines",
    [
        [""],
        ["gen"],
        ["gen/"],
        ["/gen"],
        ["a/gen"],
        ["a/**/x.py"],
        ["**/gen/y.py"],
        ["*.py"],
        ["*.py", "!x.py"],
        ["a/", "!a/x.py"],
        ["a/*", "!a/x.py"],
        ["x.py   ", "# y.py", "\\#z.py"],
        ["[xy].py"],
        ["[!x].py"],
        ["[^x-y].py"],
        ["gen[/]x.py", "a?x.py"],
        ["[].py", "[x.py", "[z-a].py"],
        ["[]x].py", "[\\y].py"],
        ["a/**", "!a/x.py"],
        ["a/**/", "!**/gen"],
        ["**y.py", "/**", "!/**/x.py", "!*/"],
        ["\\!x.py", "\\x.py"],
        ["x.py\\ ", "y.py\\"],
        ["!", "x.py", "//"],
        ["y.py\r", "x.py\r"],
        ["\ufeffx.py"],
    ],
)
def test_as_git(lines: list[str]) -> None:
    make("x.py", "y.py", "#z.py", "gen/x.py", "a/x.py", "a/y.py", "a/gen/x.py", "a/gen/y.py")
    write(".gitignore", *lines)
    if "x.py\r" in lines:
        Path(".gitignore").write_bytes(b"y.py\r\nx.py\r\n")
    assert find(".") == unignored()


def test_nested_files_info_exclude_and_nested_repositories() -> None:
    make("x.py", "a/x.py", "a/y.py", "a/b/x.py", "a/b/y.py", "c/info.py", "c/y.py")
    write(".gitignore", "x.py")
    write("a/.gitignore", "!x.py", "/y.py")
    write("a/b/.gitignore", "x.py")
    write(".git/info/exclude", "info.py", "y.py")
    write("c/.gitignore", "!y.py")
    assert find(".") == unignored() == ["a/x.py", "c/y.py"]
    make("sub/x.py", "sub/y.py")
    write("sub/.git", "gitdir: ../.git/modules/sub")
    assert find("sub") == find(".")[2:] == ["sub/x.py", "sub/y.py"]


@pytest.mark.parametrize("seed", range(12))
def test_random_rules_as_git(seed: int) -> None:
    chance = random.Random(seed)
    names = ["a", "b", "x.py", "y.py", "*", "**", "*.py", "?"]
    make(*(f"{d}{f}" for d in ("", "a/", "b/", "a/b/", "b/a/", "a/b/a/") for f in ("x.py", "y.py")))
    for place in (".gitignore", "a/.gitignore", "a/b/.gitignore", ".git/info/exclude"):
        lines = []
        for _ in range(chance.randrange(4)):
            path = "/".join(chance.choices(names, k=chance.randrange(1, 4)))
            lines.append(chance.choice(["", "", "!"]) + chance.choice(["", "/"]) + path + chance.choice(["", "", "/"]))
        write(place, *lines)
    assert find(".") == unignored()


# What the user ignores everywhere


@pytest.mark.parametrize(
    ("config", "ignored"),
    [
        ({}, "home/.config/git/ignore"),
        ({"home/.gitconfig": "[core]\n\texcludesFile = ~/mine\n"}, "home/mine"),
        ({"home/.gitconfig": "[core]\nexcludesfile = ~/other\n[CORE] EXCLUDESFILE=~/mine # comment"}, "home/mine"),
        ({"home/.gitconfig": '[core "sub"]\nexcludesFile = ~/other\n'}, "home/.config/git/ignore"),
        ({"home/.gitconfig": '[user]\nname = "a # b"\n;[core]\nexcludesFile = ~/no\n'}, "home/.config/git/ignore"),
        ({"home/.gitconfig": '[core]\nexcludesFile = "~/with # \\"space" ; comment\n'}, 'home/with # "space'),
        ({"home/.gitconfig": "[core]\nexcludesFile = ~/mi\\\nne\n"}, "home/mine"),
        ({"home/.gitconfig": "[core]\r\nexcludesFile = ~/mine\r\n"}, "home/mine"),
        ({"home/.gitconfig": "\ufeff[core]\nexcludesFile = ~/mine\n"}, "home/mine"),
        ({"home/.gitconfig": "[core]\nexcludesFile =\n"}, "home/.config/git/ignore"),
        ({"home/.gitconfig": "[core]\nbare\nexcludesFile = mine\n"}, "repository/mine"),
        ({"home/.config/git/config": "[core]\nexcludesFile = ~/mine\n"}, "home/mine"),
        (
            {
                "home/.config/git/config": "[core]\nexcludesFile = ~/other\n",
                "home/.gitconfig": "[core]\nexcludesFile = ~/mine\n",
            },
            "home/mine",
        ),
        (
            {
                "home/.gitconfig": "[core]\nexcludesFile = ~/other\n",
                "repository/.git/config": "[core]\nexcludesFile = ~/mine\n",
            },
            "home/mine",
        ),
        ({"home/.gitconfig": "[core]\nexcludesFile = ~/nowhere\n"}, "home/.config/git/ignore"),
    ],
)
def test_the_excludes_file_of_the_user_as_git(tmp_path: Path, config: dict[str, str], ignored: str) -> None:
    make("x.py", "y.py", "a/y.py", "a/z.py")
    for name, text in config.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(text.encode())
    write(str(tmp_path / ignored), "y.py", "/a/z.py")
    write(".gitignore", "!/y.py")
    assert find(".") == unignored()
    assert find("a") == [name for name in unignored() if name.startswith("a/")]


@pytest.mark.parametrize(("variable", "name"), [("XDG_CONFIG_HOME", "config"), ("GIT_CONFIG_GLOBAL", "global")])
def test_variables_that_say_where_the_configuration_is_as_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, name: str
) -> None:
    make("x.py", "y.py")
    monkeypatch.setenv(variable, str(tmp_path / name))
    write(str(tmp_path / "config/git/ignore"), "x.py")
    write(str(tmp_path / "home/.config/git/ignore"), "y.py")
    write(str(tmp_path / "home/mine"), "*.py")
    write(str(tmp_path / "global"), "[core]", "excludesFile = ~/mine")
    assert find(".") == unignored()


def test_what_git_ignores_in_a_linked_worktree_and_in_a_submodule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_someone = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "protocol.file.allow=always"]
    inner = tmp_path / "inner"
    for command in (
        ["git", *as_someone, "commit", "-q", "--allow-empty", "-m", "x"],
        ["git", "worktree", "add", "-q", str(tmp_path / "linked")],
        ["git", "init", "-q", str(inner)],
        ["git", "-C", str(inner), *as_someone, "commit", "-q", "--allow-empty", "-m", "x"],
        ["git", *as_someone, "submodule", "--quiet", "add", str(inner), "sub"],
    ):
        subprocess.run(command, check=True, capture_output=True)
    write(".git/info/exclude", "x.py")
    write(".git/worktrees/linked/info/exclude", "z.py")
    write(".git/modules/sub/info/exclude", "y.py")
    write(".git/config", Path(".git/config").read_text(), "[core]", f"excludesFile = {tmp_path / 'mine'}")
    write(str(tmp_path / "mine"), "w.py")
    found = {}
    for place in (Path(), tmp_path / "linked", Path("sub")):
        make(*(str(place / name) for name in ("w.py", "x.py", "y.py", "z.py")))
    for place in (tmp_path / "linked", tmp_path / "repository" / "sub"):
        monkeypatch.chdir(place)
        found[place.name] = find(".")
        assert found[place.name] == unignored()
    assert found == {"linked": ["y.py", "z.py"], "sub": ["w.py", "x.py", "z.py"]}


def test_respect_gitignore_can_be_turned_off() -> None:
    make("x.py", "a/y.py")
    write(".gitignore", "*.py")
    assert find(".") == []
    assert find(".", options=replace(OPTIONS, respect_gitignore=False)) == ["a/y.py", "x.py"]


def test_rules_of_parents_hold_for_a_directory_that_is_named() -> None:
    make("a/b/x.py", "a/b/y.py")
    write(".gitignore", "x.py")
    write("a/.gitignore", "!x.py", "b/y.py")
    assert find("a/b") == ["a/b/x.py"]


def test_an_ignored_directory_or_file_that_is_named_is_meant() -> None:
    make("gen/x.py", "gen/deep/y.py", "z.py")
    write(".gitignore", "gen", "z.py")
    write("gen/deep/.gitignore", "no.py")
    assert find("gen", "z.py") == ["gen/deep/y.py", "gen/x.py", "z.py"]
    assert find("gen/deep") == ["gen/deep/y.py"]
    assert find(".") == []


def test_outside_of_a_repository_the_files_of_the_searched_tree_count(tmp_path: Path) -> None:
    place = tmp_path / "export"
    write(str(place / ".gitignore"), "x.py")
    make(str(place / "a/x.py"), str(place / "a/y.py"))
    assert find(str(place)) == [str(place / "a/y.py")]
    assert find(str(place / "a")) == [str(place / "a/x.py"), str(place / "a/y.py")]


def test_links_are_ignored_by_their_own_names_and_what_they_lead_to_by_its_own_rules(tmp_path: Path) -> None:
    make("lib/x.py", "lib/y.py", str(tmp_path / "out/x.py"))
    write(".gitignore", "x.py", "linked")
    Path("linked").symlink_to(tmp_path / "out")
    Path("also").symlink_to(tmp_path / "out")
    Path("x.py").symlink_to("lib/y.py")
    assert find(".") == ["also/x.py", "lib/y.py"]


def test_unusable_ignore_files_ignore_nothing() -> None:
    make("a/x.py", "b/y.py", "c/z.py")
    Path("a/.gitignore").mkdir()
    Path("b/.gitignore").symlink_to("nowhere")
    Path("c/.gitignore").write_bytes(b"\xff\xfe\0z.py\n")
    assert find(".") == ["a/x.py", "b/y.py", "c/z.py"]
