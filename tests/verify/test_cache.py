"""What is known of a target is not run again, as long as nothing that it depends on has changed."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from exportlint.verify.cache import Cache, clean, default_directory
from exportlint.verify.interpreter import ask
from exportlint.verify.results import Run
from exportlint.verify.run import verify
from exportlint.verify.target import Script, Target
from exportlint.verify.task import Progress, Task
from tests.verify.workshop import HEAD, module, target

pytestmark = pytest.mark.thorough

PYTHON = Path(sys.executable)
INTERPRETER = ask(PYTHON)
COUNTING = "from helper import NOTHING\n"


def runs(targets: list[Target], cache: Cache) -> tuple[list[Run], int]:
    """What comes of targets, and how many of them were run."""
    told: list[Progress] = []
    found = list(verify(targets, PYTHON, cache=cache, tell=told.append))
    return found, sum(progress.stage == "start" for progress in told)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "helper.py").write_text("NOTHING = 0\n", encoding="utf-8")
    return tmp_path


def test_what_is_kept(project: Path, tmp_path: Path) -> None:
    directory = tmp_path / "cache"
    good = target(project, module("print('out')\nreturn x + NOTHING", first=COUNTING), "good")
    fails = target(project, module("return x + int(x.sum())"), "fails")
    late = target(project, module("while torch.compiler.is_exporting(): pass\nreturn x"), "late", timeout=5.0)
    broken = target(project, HEAD + "import nowhere_to_be_found", "broken")
    killed = target(project, module("if torch.compiler.is_exporting(): os._exit(1)\nreturn x"), "killed")
    targets = [good, fails, late, broken, killed]

    first, count = runs(targets, Cache(directory, INTERPRETER))
    assert count == 5
    assert {run.target: run.verdict for run in first} == {
        "good": "exports",
        "fails": "fails",
        "late": "times out",
        "broken": "cannot be built",
        "killed": "fails",
    }
    again, count = runs(targets, Cache(directory, INTERPRETER))
    # The module may be installed meanwhile, and memory may have been short.
    assert count == 2
    known = [run for run in first if run.target in ("good", "fails", "late")]
    assert {run.target: run for run in again if run.cached} == {run.target: replace(run, cached=True) for run in known}
    assert again[0].output.startswith("out\n")
    assert again[0].comparisons
    assert again[1].failures[0].frames

    def is_known(of: Target, cache: Cache | None = None) -> bool:
        task = Task(of, of.modes[0], of.devices[0])
        return (cache or Cache(directory, INTERPRETER)).get(task) is not None

    assert is_known(good)
    assert not is_known(replace(good, timeout=5.0))
    assert not is_known(replace(good, modes=("strict",)))
    assert not is_known(good, Cache(directory, replace(INTERPRETER, torch="2.99.0")))
    assert not is_known(good, Cache(directory, replace(INTERPRETER, installed="other")))
    assert not is_known(good, Cache(tmp_path / "other", INTERPRETER))

    helper = project / "helper.py"
    helper.write_text("NOTHING = 1\n", encoding="utf-8")
    assert (is_known(good), is_known(fails)) == (False, True)
    helper.write_text("NOTHING = 0\n", encoding="utf-8")
    assert is_known(good)
    helper.unlink()
    assert not is_known(good)
    helper.write_text("NOTHING = 0\n", encoding="utf-8")

    for file in directory.rglob("*.json"):
        text = file.read_text(encoding="utf-8")
        for spoilt in ("", "{}", text[:-9], text.replace("out", "oat"), "\0" * len(text)):
            file.write_text(spoilt, encoding="utf-8")
            assert not all(map(is_known, (good, fails, late)))
        file.write_text(text, encoding="utf-8")
    assert all(map(is_known, (good, fails, late)))
    assert {path.suffix for path in directory.rglob("*") if path.is_file()} == {".json", ".program"}

    clean(directory)
    assert not is_known(good)
    clean(directory)


def test_a_zoo_goes_on_where_it_stopped(project: Path, tmp_path: Path) -> None:
    zoo = [target(project, module("return x + int(x.sum())"), f"model{number}") for number in range(4)]
    interrupted = verify(zoo, PYTHON, cache=Cache(tmp_path / "cache", INTERPRETER))
    done = {next(interrupted).target, next(interrupted).target}
    interrupted.close()
    found, count = runs(zoo, Cache(tmp_path / "cache", INTERPRETER))
    assert [run.target for run in found[:2]] == sorted(done)
    assert len(found) == 4
    assert count == 2


def test_where_nothing_can_be_written(project: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    fails = target(project, module("return x + int(x.sum())"), "fails")
    (run,), _ = runs([fails], Cache(tmp_path / "file" / "cache", INTERPRETER))
    assert run.verdict == "fails"


def test_default_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("elsewhere the system says where it is")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_directory() == tmp_path / "exportlint" / "verify"


def test_a_script_that_changed_is_run_again(project: Path, tmp_path: Path) -> None:
    script = project / "script.py"
    code = "import torch\nfrom net import Model\ntorch.export.export({}, (torch.ones(2, 3),))\n"
    of_call = replace(target(project, module("return x"), "net"), inputs=Script(script, 3))
    cache = tmp_path / "cache"

    script.write_text(code.format("Model()"), encoding="utf-8")
    assert [(run.verdict, run.cached) for run in runs([of_call], Cache(cache, INTERPRETER))[0]] == [("exports", False)]
    assert [(run.verdict, run.cached) for run in runs([of_call], Cache(cache, INTERPRETER))[0]] == [("exports", True)]

    script.write_text(code.format("Model().forward"), encoding="utf-8")
    assert [(run.verdict, run.cached) for run in runs([of_call], Cache(cache, INTERPRETER))[0]] == [("fails", False)]
