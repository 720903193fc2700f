"""Results on the disk as an editor sees them: what is as it was is not looked at, and nothing else changes."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.runner import NET, write
from tests.forking import python
from tests.patience import PATIENCE
from tests.sampling import one_in
from tests.server.raw import PULLING, PUSHING, Message, Process, process

WANTED: Message = {"initializationOptions": {"settings": {"workspaceDiagnostics": True}}}
HELPER = "def pick(x):\n    return x.sum() > 0\n"
OTHER_HELPER = "def pick(x):\n    return True\n"
USER = (
    "import torch\nfrom helper import pick\n\n\nclass One(torch.nn.Module):\n"
    "    def forward(self, x):\n        if pick(x):\n            return x\n        return -x\n"
)
FILES = {"helper.py": HELPER, "net.py": NET, "user.py": USER}

NOTING = """\
import sys
from exportlint.cli import main
from exportlint.server.analyzer import Analyzer
from exportlint.workspace import Workspace

def noted(cls, name, say):
    function = getattr(cls, name)
    def noting(self, *arguments):
        print(say(*arguments), file=sys.stderr, flush=True)
        return function(self, *arguments)
    setattr(cls, name, noting)

noted(Workspace, "lint", lambda task, *_: f"LOOKED {task.path.name}")
noted(Analyzer, "_prepare_next", lambda *_: "DONE")
sys.exit(main(["server", *sys.argv[1:]]))
"""
"""A server that notes which files it looks at, and when it has told all that it was asked for."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with files."""
    root = tmp_path / "work"
    root.mkdir()
    write(root, FILES)
    return root


@contextmanager
def serving(
    root: Path, *flags: str, capabilities: Message = PUSHING, more: Message | None = None, named: Path | None = None
) -> Iterator[Process]:
    """A server that works in a folder; the environment may have named where results are kept."""
    command = [*python(), "-c", NOTING, *flags]
    environment = {"XDG_CACHE_HOME": str(root.parent / "user"), "EXPORTLINT_CACHE_DIR": str(named or "")}
    with process(root.parent / "logs", command, **environment) as server:
        server.start(root, capabilities, **(more or {}))
        yield server
        assert server.stop() == 0
        assert " ERROR " not in server.logged, server.logged
        assert "Traceback" not in server.logged, server.logged


def looked_at(server: Process) -> set[str]:
    """The files that were looked at before all was told, once that is so."""
    until(lambda: "DONE" in server.logged)
    noted = server.logged[: server.logged.index("DONE")]
    return {line.removeprefix("LOOKED ") for line in noted.splitlines() if line.startswith("LOOKED ")}


def until(holds: Callable[[], object]) -> None:
    """Wait for something."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def opened(server: Process, file: Path, text: str | None = None) -> list[Message]:
    """What is shown of a file that is opened."""
    server.open(file.as_uri(), file.read_text() if text is None else text)
    return server.published(file.as_uri(), 1)


def told(root: Path, names: Sequence[str] = tuple(FILES)) -> dict[str, list[Message]]:
    """What a server shows of files that uses no results of earlier runs."""
    with serving(root, "--no-cache") as server:
        return {name: opened(server, root / name) for name in names}


def kept(root: Path) -> list[Path]:
    """The files in which results are."""
    folder = root / ".exportlint_cache"
    return [file for file in folder.glob("*/*") if not file.name.startswith(".")] if folder.is_dir() else []


def fill(root: Path) -> None:
    """Have a server look at all files, and leave what it finds."""
    for name in FILES:
        sizes = [file.stat().st_mtime_ns for file in kept(root)]
        with serving(root) as server:
            opened(server, root / name)
            until(lambda sizes=sizes: [file.stat().st_mtime_ns for file in kept(root)] != sizes)  # type: ignore[misc]


def check(root: Path) -> None:
    """Have the command line look at all files."""
    command = [*python(), "-m", "exportlint", "check", "-q", "--exit-zero"]
    environment = {"PATH": "", "XDG_CACHE_HOME": str(root.parent / "user")}
    subprocess.run(command, cwd=root, env=environment, capture_output=True, timeout=PATIENCE, check=True)


@pytest.mark.parametrize("by", [fill, check], ids=["server", "command line"])
@pytest.mark.parametrize("name", one_in(6, reversed(FILES)))
def test_a_file_is_not_looked_at_again_that_is_as_it_was(by: Callable[[Path], None], name: str, root: Path) -> None:
    by(root)
    expected = told(root)
    with serving(root) as server:
        assert opened(server, root / name) == expected[name]
        assert looked_at(server) == set()


@pytest.mark.thorough
def test_files_that_are_not_open_come_from_the_disk_too(root: Path) -> None:
    reports, looked = [], []
    for _ in range(2):
        with serving(root, capabilities=PULLING, more=WANTED) as server:
            answer = server.request("workspace/diagnostic", {"previousResultIds": []})
            reports.append(sorted(answer["result"]["items"], key=lambda item: str(item["uri"])))
            looked.append("LOOKED" in server.logged)
            until(lambda: kept(root))
    assert reports[0] == reports[1]
    assert len(reports[0]) == len(FILES)
    assert looked == [True, False]


@pytest.mark.parametrize("changed", one_in(2, ["user.py", "helper.py"]))
def test_a_change_of_what_it_depends_on_has_a_file_looked_at(changed: str, root: Path) -> None:
    check(root)
    write(root, {changed: OTHER_HELPER if changed == "helper.py" else USER.replace("One", "Two")})
    expected = told(root, ["user.py"])
    with serving(root) as server:
        assert opened(server, root / "user.py") == expected["user.py"]
        assert looked_at(server) == {"user.py"}


@pytest.mark.thorough
def test_a_helper_that_changes_later_has_a_stored_file_looked_at(root: Path) -> None:
    check(root)
    with serving(root) as server:
        uri = (root / "user.py").as_uri()
        assert [shown["code"] for shown in opened(server, root / "user.py")] == ["EXP101"]
        assert looked_at(server) == set()
        write(root, {"helper.py": OTHER_HELPER})
        server.touch(root / "helper.py")
        assert server.published(uri) == []


@pytest.mark.thorough
def test_text_that_is_not_saved_is_looked_at_and_not_kept(root: Path) -> None:
    check(root)
    before = [file.read_bytes() for file in kept(root)]
    unsaved = NET.replace("x.sum() > 0", "x.sum() > 1 and x.max() > 0")
    with serving(root) as server:
        shown = opened(server, root / "net.py", unsaved)
        assert looked_at(server) == {"net.py"}
    with serving(root, "--no-cache") as server:
        assert shown == opened(server, root / "net.py", unsaved)
    assert [file.read_bytes() for file in kept(root)] == before


@pytest.mark.thorough
def test_edits_of_a_stored_file_show_what_they_would_without(root: Path) -> None:
    check(root)
    edits = [
        NET.replace("Net", "Other"),
        NET.replace("x.sum() > 0", "self.training"),
        NET,
        "import torch\n" + NET,
        NET + "(",
    ]
    shown: list[list[list[Message]]] = []
    for flags in ((), ("--no-cache",)):
        with serving(root, *flags) as server:
            uri = (root / "net.py").as_uri()
            found = [opened(server, root / "net.py")]
            for version, text in enumerate(edits, 2):
                server.change(uri, version, text)
                found.append(server.published(uri, version))
            shown.append(found)
    assert shown[0] == shown[1]
    assert any(shown[0])


@pytest.mark.thorough
def test_a_fix_of_a_stored_finding_is_offered(root: Path) -> None:
    check(root)
    with serving(root) as server:
        uri = (root / "net.py").as_uri()
        (finding,) = opened(server, root / "net.py")
        params = {"textDocument": {"uri": uri}, "range": finding["range"], "context": {"diagnostics": [finding]}}
        titles = [action["title"] for action in server.request("textDocument/codeAction", params)["result"]]
        assert any("torch.where" in title for title in titles), titles


@pytest.mark.thorough
@pytest.mark.parametrize(
    "damage",
    one_in(
        4,
        [
            lambda data: data.replace(b"EXP101", b"EXP999"),
            lambda data: data[: len(data) // 2],
            lambda data: b"",
            lambda data: data[:64] + bytes(reversed(data[64:])),
        ],
    ),
    ids=["forged", "truncated", "empty", "garbled"],
)
def test_damaged_results_do_no_harm(damage: Callable[[bytes], bytes], root: Path) -> None:
    check(root)
    assert kept(root)
    for file in kept(root):
        file.write_bytes(damage(file.read_bytes()))
    expected = told(root, ["net.py"])
    with serving(root) as server:
        assert opened(server, root / "net.py") == expected["net.py"]
        assert looked_at(server) == {"net.py"}


def test_nothing_is_kept_without_a_cache(root: Path) -> None:
    told(root)
    assert not (root / ".exportlint_cache").exists()


@pytest.mark.thorough
def test_nothing_is_kept_of_a_file_outside_of_the_folders(root: Path) -> None:
    elsewhere = root.parent / "elsewhere"
    elsewhere.mkdir()
    write(elsewhere, {"pyproject.toml": "[tool.exportlint]\n", "net.py": NET})
    with serving(root) as server:
        assert opened(server, elsewhere / "net.py")
        looked_at(server)
        assert opened(server, root / "net.py")
        until(lambda: kept(root))
    assert not (elsewhere / ".exportlint_cache").exists()


@pytest.mark.thorough
def test_the_directory_that_the_environment_names_is_used(root: Path) -> None:
    named = root.parent / "named"
    for expected in ({"net.py"}, set[str]()):
        with serving(root, named=named) as server:
            opened(server, root / "net.py")
            assert looked_at(server) == expected
            until((named / "key").exists)
    assert not (root / ".exportlint_cache").exists()
