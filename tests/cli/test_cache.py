"""The cache as a user sees it: what is kept where, what is not looked at again, and that it never does harm."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import exportlint.cache.directory as directory_module
from exportlint.analysis import limits
from exportlint.analysis.project import Project
from exportlint.source import stamps
from exportlint.workspace import Workspace
from tests.cli.runner import CLEAN, NET, Run, write
from tests.patience import PATIENCE

SHARED = {
    "helper.py": "def pick(x):\n    return x.sum() > 0\n",
    "one.py": "import torch\nfrom helper import pick\n\n\nclass One(torch.nn.Module):\n"
    "    def forward(self, x):\n        return x if pick(x) else -x\n",
    "two.py": "import torch\n\n\nclass Two(torch.nn.Module):\n    def forward(self, x):\n        return x.item()\n",
}


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are looked at, and not taken from the cache."""
    found: list[str] = []
    lint = Workspace.lint

    def noted(self: Workspace, task: Any, *fixes: Any) -> Any:
        found.append(task.path.name)
        return lint(self, task, *fixes)

    monkeypatch.setattr(Workspace, "lint", noted)
    return found


def again(looked_at: list[str], run: Run, *argv: str) -> list[str]:
    """The files that a run looks at."""
    looked_at.clear()
    run(*argv)
    return sorted(looked_at)


def test_only_what_depends_on_a_change_is_looked_at_again(root: Path, run: Run, looked_at: list[str]) -> None:
    write(root, SHARED)
    assert again(looked_at, run, ".") == ["helper.py", "one.py", "two.py"]
    assert again(looked_at, run, ".") == []
    write(root, {"two.py": SHARED["two.py"] + "\n"})
    assert again(looked_at, run, ".") == ["two.py"]
    write(root, {"helper.py": "def pick(x):\n    return True\n"})
    assert again(looked_at, run, ".") == ["helper.py", "one.py"]
    write(root, {"helper.pyi": "def pick(x) -> bool: ...\n"})
    assert again(looked_at, run, ".") == ["helper.py", "one.py"]
    write(root, {"unrelated.py": CLEAN})
    assert again(looked_at, run, ".") == ["unrelated.py"]
    assert again(looked_at, run, "one.py", "--follow-importers", "never") == []


def test_what_is_shown_of_the_findings_is_decided_afterwards(root: Path, run: Run, looked_at: list[str]) -> None:
    write(root, {"net.py": SHARED["two.py"], "log.py": SHARED["two.py"].replace("return x.item()", "print(x)")})
    run(".", "--output-format", "json")
    for flags in (
        ["--select", "EXP6"], ["--ignore", "EXP2"], ["--min-severity", "error"], ["--statistics"], ["--exit-zero"],
        ["--per-file-ignores", "net.py:EXP2"], ["--output-format", "concise"], ["--fail-on", "never"], ["-q"],
    ):  # fmt: skip
        looked_at.clear()
        found = run(".", *flags)
        assert looked_at == [], flags
        assert found == run(".", *flags, "--no-cache"), flags
    assert again(looked_at, run, ".", "--mode", "strict") == ["log.py", "net.py"]


def test_fixes_are_not_worked_out_again(root: Path, run: Run, looked_at: list[str]) -> None:
    write(root, {"net.py": NET})
    first = run(".")
    for flags in ([], ["--output-format", "concise"], ["-q"], ["--fail-on", "never"], ["--exit-zero"]):
        assert again(looked_at, run, ".", *flags) == []
    assert run(".") == first == run(".", "--no-cache")


@pytest.mark.parametrize("how", ["flag", "variable", "setting"])
def test_where_it_is_kept(how: str, root: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, {"net.py": NET, "exportlint.toml": 'cache-dir = "kept/here"\n' if how == "setting" else ""})
    (root / "below").mkdir()
    monkeypatch.chdir(root / "below")
    argv = ["--cache-dir", "../kept/here"] if how == "flag" else []
    if how == "variable":
        monkeypatch.setenv("EXPORTLINT_CACHE_DIR", "../kept/here")
    run("../net.py", *argv)
    kept = root / "kept" / "here"
    assert (
        (kept / "CACHEDIR.TAG").read_text(encoding="utf-8").startswith("Signature: 8a477f597d28d172789f06886806bc55\n")
    )
    assert (kept / ".gitignore").read_text(encoding="utf-8").splitlines()[-1] == "*"
    assert not (root / ".exportlint_cache").exists()
    cleaned = run("clean", *argv)
    assert (cleaned.code, cleaned.out) == (0, f"Removed {kept}\n")
    assert not kept.exists()
    assert run("clean", *argv) == (0, "", "")


def test_without_it_nothing_is_kept_or_used(root: Path, run: Run, looked_at: list[str]) -> None:
    write(root, {"net.py": NET})
    assert again(looked_at, run, "net.py", "--no-cache")[:1] == ["net.py"]
    assert not (root / ".exportlint_cache").exists()
    run("net.py")
    assert "net.py" in again(looked_at, run, "net.py", "--no-cache")


def test_by_default_it_lies_beside_the_configuration(root: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, {"exportlint.toml": "", "below/net.py": NET})
    monkeypatch.chdir(root / "below")
    run("net.py")
    assert (root / ".exportlint_cache").is_dir()
    assert sorted(path.name for path in (root / "below").iterdir()) == ["net.py"]


def test_standard_input_is_not_kept(root: Path, run: Run, looked_at: list[str]) -> None:
    write(root, {"net.py": NET})
    run("net.py")
    assert run("-", "--stdin-filename", "net.py", stdin=CLEAN.encode()).code == 0
    assert "tensor-branch" in run("-", "--stdin-filename", "net.py", stdin=NET.encode()).out
    assert again(looked_at, run, "net.py") == []


def test_fixing_reads_it_and_leaves_the_fixed_text_in_it(root: Path, run: Run, looked_at: list[str]) -> None:
    write(root, {"net.py": NET, "other.py": SHARED["two.py"]})
    run(".", "--output-format", "json")
    looked_at.clear()
    assert "1 fixed" in run(".", "--fix").out
    assert "other.py" not in looked_at
    assert again(looked_at, run, ".") == []
    assert run(".") == run(".", "--no-cache")


def test_limits_are_told_again(root: Path, run: Run, monkeypatch: pytest.MonkeyPatch, looked_at: list[str]) -> None:
    monkeypatch.setattr(limits, "MAX_STEPS", 3)
    monkeypatch.setattr(limits, "MAX_STEPS_PER_LINE", 0)
    write(root, {"net.py": NET})
    first = run("net.py", "--show-limits")
    assert "too many evaluations" in first.out
    looked_at.clear()
    assert run("net.py", "--show-limits") == first
    assert looked_at == []


def test_what_time_cuts_short_is_not_kept(
    root: Path, run: Run, monkeypatch: pytest.MonkeyPatch, looked_at: list[str]
) -> None:
    write(root, {"net.py": NET})
    with monkeypatch.context() as slow:
        slow.setattr(limits, "MAX_FILE_SECONDS", -1)
        slow.setattr("exportlint.analysis.analyze.MAX_FILE_SECONDS", -1)
        assert "processor time" in run("net.py").out
    assert "tensor-branch" in run("net.py").out
    assert "net.py" in looked_at


def test_what_exportlint_fails_on_is_not_kept(root: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, {"net.py": NET})
    with monkeypatch.context() as broken:
        broken.setattr(Project, "add", lambda *_: 1 / 0)
        assert run("net.py").code == 2
    assert run("net.py") == run("net.py", "--no-cache")


def shards(root: Path) -> list[Path]:
    return sorted(p for p in (root / ".exportlint_cache").glob("*/*") if p.is_file())


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "truncated": lambda data: data[: len(data) // 2],
    "one byte": lambda data: data[:-20] + bytes([data[-20] ^ 1]) + data[-19:],
    "no signature": lambda data: data.partition(b"\n")[2],
    "nonsense": lambda _: b"\x80\x04cposix\nsystem\n",
    "deep": lambda _: b"[" * 100_000,
    "signature of somebody else": lambda data: b"0" * 64 + b"\n" + data.partition(b"\n")[2],
}


@pytest.mark.parametrize("how", DAMAGE)
def test_what_is_damaged_is_as_good_as_none(how: str, root: Path, run: Run) -> None:
    write(root, {"net.py": NET, "other.py": SHARED["two.py"]})
    first = run(".")
    for shard in shards(root):
        shard.write_bytes(DAMAGE[how](shard.read_bytes()))
    assert run(".") == first
    assert run(".") == first


@pytest.mark.parametrize("content", ["null", "[]", "{}", "[1,2,3,4]", '[[],[],[],{"x":1}]', "[[[]],[],[],{}]", "1e999"])
def test_what_is_signed_and_nonsense_is_as_good_as_none(content: str, root: Path, run: Run) -> None:
    write(root, {"net.py": NET})
    first = run("net.py")
    for shard in shards(root):
        cache = directory_module.CacheDirectory(root / ".exportlint_cache", shard.parent.name)
        cache.write(shard.name, content.encode())
        assert not cache.problems
    assert run("net.py") == first


def test_what_a_stranger_brings_along_is_not_believed(root: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository may hold a cache that says that nothing is wrong with it, made with the same exportlint."""
    write(root, {"net.py": CLEAN})
    assert run("net.py").code == 0
    before = (root / "net.py").stat()
    monkeypatch.setenv("XDG_CACHE_HOME", str(root.parent / "somebody else"))
    monkeypatch.setattr(stamps, "stamp", lambda _: "1.1.1.1")
    monkeypatch.setattr("exportlint.cache.freshness.stamp", lambda _: "1.1.1.1")
    monkeypatch.setattr("exportlint.cache.freshness.fingerprint", lambda _: "0")
    write(root, {"net.py": NET})
    os.utime(root / "net.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert run("net.py").code == 1


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need privileges")
def test_links_of_strangers_are_not_followed(root: Path, run: Run) -> None:
    target = root.parent / "target"
    target.mkdir()
    (root / ".exportlint_cache").symlink_to(target)
    write(root, {"net.py": NET})
    found = run("net.py", "-v")
    assert found.code == 1
    assert "symbolic link" in found.err
    assert list(target.iterdir()) == []
    assert run("clean").code == 2
    assert target.is_dir()


def test_other_directories_are_neither_used_nor_removed(root: Path, run: Run) -> None:
    write(root, {"net.py": NET})
    found = run("net.py", "-v", "--cache-dir", ".")
    assert (found.code, found.err.count("name a directory for the cache alone")) == (1, 1)
    assert sorted(path.name for path in root.iterdir()) == ["net.py"]
    cleaned = run("clean", "--cache-dir", ".")
    assert cleaned.code == 2
    assert cleaned.err == f"error: {root} is not a cache of exportlint: nothing is removed\n"
    assert (root / "net.py").is_file()


@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOSPC, errno.EACCES, errno.EDQUOT, errno.ENAMETOOLONG])
def test_what_cannot_be_written_is_told_only_if_asked(
    number: int, root: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root, {"net.py": NET})
    expected = run("net.py", "--no-cache")

    def full(self: Path, _data: bytes) -> int:
        self.touch()
        raise OSError(number, os.strerror(number), str(self))

    with monkeypatch.context() as disk:
        disk.setattr(Path, "write_bytes", full)
        assert run("net.py") == expected
        assert os.strerror(number) in run("net.py", "-v").err
    left = [path for path in root.rglob("*") if path.is_file() and path.name != "net.py"]
    assert left == []
    assert run("net.py") == expected


def test_a_file_in_its_place(root: Path, run: Run) -> None:
    write(root, {"net.py": NET, ".exportlint_cache": "mine"})
    assert run("net.py") == run("net.py", "--no-cache")
    assert run("clean").code == 2
    assert (root / ".exportlint_cache").read_text(encoding="utf-8") == "mine"


@pytest.mark.thorough
def test_runs_at_the_same_time_do_not_disturb_each_other(root: Path, run: Run) -> None:
    write(root, {f"net{number}.py": NET for number in range(12)} | SHARED)
    expected = run(".", "--no-cache")
    environment = {**os.environ, "PYTHONHASHSEED": "random"}
    for _ in range(2):
        runs = [
            subprocess.Popen(
                [sys.executable, "-m", "exportlint", "check", "."],
                cwd=root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
            )
            for _ in range(3)
        ]  # fmt: skip
        for process in runs:
            out, err = process.communicate(timeout=PATIENCE)
            assert (process.returncode, out, err) == expected
    assert [path.name for path in (root / ".exportlint_cache").rglob(".*") if path.name != ".gitignore"] == []


def test_runs_over_some_files_add_to_what_is_known(root: Path, run: Run, looked_at: list[str]) -> None:
    write(root, {f"net{number}.py": NET for number in range(3)})
    for number in range(3):
        run(f"net{number}.py", "--follow-importers", "never")
    assert again(looked_at, run, ".", "--select", "EXP001") == []


def test_several_processes_keep_the_same(root: Path, run: Run, looked_at: list[str]) -> None:
    write(root, {f"net{number}.py": NET for number in range(12)} | SHARED)
    first = run(".", "-j", "3")
    assert again(looked_at, run, ".") == []
    assert run(".") == first


def test_it_stays_bounded(root: Path, run: Run) -> None:
    write(root, {"net.py": NET, "gone.py": NET})
    run(".")
    for number in range(8):
        run("net.py", "--config", f"dynamic-dims = [{number}]")
    sizes = [shard.stat().st_size for shard in shards(root) if not shard.name.startswith("trials")]
    (root / "gone.py").unlink()
    for number in range(8, 16):
        run("net.py", "--config", f"dynamic-dims = [{number}]")
    after = [shard for shard in shards(root) if not shard.name.startswith("trials")]
    assert sum(shard.stat().st_size for shard in after) < sum(sizes)
    assert b"gone.py" not in after[0].read_bytes()


def test_versions_that_nobody_uses_are_dropped(root: Path, run: Run) -> None:
    write(root, {"net.py": NET})
    run("net.py")
    cache = root / ".exportlint_cache"
    for number in range(6):
        (cache / f"0.0.{number}-0").mkdir()
        os.utime(cache / f"0.0.{number}-0", (number, number))
    write(root, {"net.py": NET + "\n"})
    run("net.py")
    assert sorted(path.name for path in cache.glob("0.0.*")) == ["0.0.4-0", "0.0.5-0"]
    old = cache / next(path.name for path in cache.iterdir() if path.name.startswith("0.1")) / "old"
    old.write_bytes(b"")
    os.utime(old, (1, 1))
    write(root, {"net.py": NET})
    run("net.py")
    assert not old.exists()


def test_another_content_with_the_same_time_and_size(root: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stamps, "_TICKS", 0)
    write(root, {"net.py": NET})
    assert run("net.py").code == 1
    before = (root / "net.py").stat()
    (root / "net.py").write_text(NET.replace("x.sum() > 0", "x.dim() > 0"), encoding="utf-8")
    os.utime(root / "net.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    after = (root / "net.py").stat()
    assert (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)
    assert run("net.py").code == 0


def test_an_unchanged_file_is_not_read(root: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, {"alone.py": SHARED["two.py"], "clean.py": CLEAN})
    monkeypatch.setattr(stamps, "_TICKS", 0)
    run(".", "--select", "EXP9")
    opened: list[str] = []
    read_bytes = Path.read_bytes

    def noted(self: Path) -> bytes:
        if self.suffix == ".py":
            opened.append(self.name)
        return read_bytes(self)

    monkeypatch.setattr(Path, "read_bytes", noted)
    run(".", "--select", "EXP9")
    assert opened == []
    (root / "clean.py").touch()
    for expected in (["clean.py"], []):  # what was read and is as it was is known by its new stamp
        opened.clear()
        run(".", "--select", "EXP9")
        assert opened == expected


WARM = ("libcst.", "exportlint.analysis.", "exportlint.check.", "exportlint.fixes.", "exportlint.fixer.",
        "exportlint.rules.t", "exportlint.workspace.", "exportlint.claims.", "exportlint.workers.",
        "multiprocessing.", "platformdirs.", "tempfile.")  # fmt: skip


@pytest.mark.parametrize("flags", [(), ("--output-format", "json"), ("--show-info", "--output-format", "github")])
def test_nothing_of_the_analysis_is_loaded_where_nothing_changed(flags: tuple[str, ...], root: Path, run: Run) -> None:
    write(root, SHARED | {"net.py": NET + "        # noqa: EXP999\n", "exportlint.toml": ""})
    expected = run(".", *flags)
    script = (
        "import sys\nfrom exportlint.cli import main\n"
        f"code = main(['.', *{flags!r}])\n"
        f"print(code, *sorted(n for n in sys.modules if any(f'{{n}}.'.startswith(w) for w in {WARM!r})), "
        "sep='\\n', file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=False, timeout=PATIENCE,
        encoding="utf-8",
    )  # fmt: skip
    assert result.stderr.splitlines() == [str(expected.code)]
    assert result.stdout == expected.out


def test_bad_names_are_told(root: Path, run: Run) -> None:
    write(root, {"net.py": NET})
    found = run("net.py", "--cache-dir", "")
    assert (found.code, found.err) == (
        2,
        "error: --cache-dir: expected a directory; `--no-cache` turns the cache off\n",
    )
    assert run("net.py", "--config", "cache-dir = 1").code == 2
