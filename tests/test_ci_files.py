"""The GitHub Action, the GitLab template and the Dockerfile: their commands are run as far as they can be run here."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from exportlint import __version__
from tests.cli.runner import CLEAN, NET, write
from tests.patience import PATIENCE
from tests.sampling import one_in

yaml = pytest.importorskip("yaml")

PROJECT = Path(__file__).parents[1]
BASH = shutil.which("bash") or ""
TEXTS = ["ci/gitlab.yml", "docs/ci.md"]

pytestmark = pytest.mark.skipif(os.name == "nt" or not BASH, reason="the commands are those of bash on Linux")

# Stands for Python: it makes environments whose pip installs nothing but says what it was asked for.
PYTHON = f"""\
#!{BASH}
if [ "$1 $2" = "-m venv" ]; then
  mkdir -p "$3/bin"
  cp "$0" "$3/bin/python"
  printf '#!{BASH}\\nexec {sys.executable} -m exportlint "$@"\\n' > "$3/bin/exportlint"
  chmod +x "$3/bin/exportlint"
elif [ "$1 $2 $3" = "-m pip install" ]; then
  printf '%s\\n' "${{@: -1}}" >> "$INSTALLED"
else
  exit 9
fi
"""


class Runner:
    """A machine of a CI service, with a checkout of a project."""

    def __init__(self, root: Path) -> None:
        self.checkout, self.bin, self.temp = root / "checkout", root / "bin", root / "temp dir"
        for folder in (self.checkout, self.bin, self.temp):
            folder.mkdir()
        self.installed, self.output = root / "installed", root / "output"
        self.output.touch()
        for name in ("python", "python3"):
            (self.bin / name).write_text(PYTHON)
            (self.bin / name).chmod(0o755)
        (self.bin / "exportlint").write_text(f'#!{BASH}\nexec {sys.executable} -m exportlint "$@"\n')
        (self.bin / "exportlint").chmod(0o755)

    def bash(self, script: str, *flags: str, **environment: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("EXPORTLINT_", "GITHUB_"))}
        found = {
            **kept,
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "PYTHONPATH": str(PROJECT),
            "INSTALLED": str(self.installed),
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_OUTPUT": str(self.output),
            "NO_COLOR": "1",
            **environment,
        }
        return subprocess.run(
            [BASH, *flags, "-c", script],
            cwd=self.checkout,
            env=found,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def action(self, **inputs: str) -> subprocess.CompletedProcess[str]:
        """Run the steps of the action one after the other, as GitHub does, until one fails."""
        action = _action()
        given = {name: about["default"] for name, about in action["inputs"].items()}
        assert inputs.keys() <= given.keys()
        values = {f"inputs.{name}": value for name, value in {**given, **inputs}.items()}
        values |= {"github.action_path": str(PROJECT), "runner.temp": str(self.temp)}
        done = None
        for step in action["runs"]["steps"]:
            assert step["shell"] == "bash"
            assert "${{" not in step["run"], "what others write must not become part of a script"
            environment = {
                key: re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda match: values[match[1]], text)
                for key, text in step["env"].items()
            }
            done = self.bash(step["run"], "--noprofile", "--norc", "-eo", "pipefail", **environment)
            if done.returncode:
                break
        assert done is not None
        return done


def _action() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((PROJECT / "action.yml").read_text(encoding="utf-8"))
    return found


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


def test_the_action_annotates_and_fails(runner: Runner) -> None:
    write(runner.checkout, {"net.py": NET})
    done = runner.action()
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("::error title=exportlint (EXP101 tensor-branch)")
    assert runner.installed.read_text() == f"{PROJECT}\n"
    assert runner.output.read_text() == "exit-code=1\n"


@pytest.mark.thorough
def test_the_action_passes(runner: Runner) -> None:
    write(runner.checkout, {"net.py": CLEAN})
    done = runner.action(version="0.1.0")
    assert (done.returncode, done.stdout) == (0, "")
    assert runner.installed.read_text() == "exportlint==0.1.0\n"
    assert runner.output.read_text() == "exit-code=0\n"


def test_the_action_takes_paths_and_arguments_one_a_line(runner: Runner) -> None:
    write(runner.checkout, {"a b/net.py": NET, "-c.py": NET, "$(touch owned).py": NET, "other.py": NET})
    done = runner.action(
        paths="a b\n-c.py\n$(touch owned).py\n",
        args="--config=extend-exclude = ['x y']\n--select=EXP1\n",
        **{"output-format": "pylint"},
    )
    assert done.returncode == 1
    assert [line.partition(":")[0] for line in done.stdout.splitlines()] == ["$(touch owned).py", "-c.py", "a b/net.py"]
    assert not (runner.checkout / "owned").exists()


@pytest.mark.thorough
def test_the_action_writes_sarif_besides(runner: Runner) -> None:
    write(runner.checkout, {"net.py": NET})
    done = runner.action(**{"sarif-file": "out/exportlint.sarif"})
    assert done.returncode == 1
    assert done.stdout.count("::error") == 1
    (run,) = json.loads((runner.checkout / "out/exportlint.sarif").read_text())["runs"]
    assert len(run["results"]) == 1


def test_the_action_says_what_is_wrong(runner: Runner) -> None:
    write(runner.checkout, {"net.py": NET})
    done = runner.action(args="--mode=eager", **{"sarif-file": "exportlint.sarif"})
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert runner.output.read_text() == "exit-code=2\n"


def _gitlab() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((PROJECT / "ci" / "gitlab.yml").read_text(encoding="utf-8"))
    return found["exportlint"]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("files", "code"), one_in(2, [({"src/net.py": NET}, 1), ({"src/net.py": CLEAN, "net.py": NET}, 0)])
)
def test_the_gitlab_job_reports_and_says_whether_it_failed(runner: Runner, files: dict[str, str], code: int) -> None:
    write(runner.checkout, files)
    job = _gitlab()
    variables = {**job["variables"], "EXPORTLINT_PATHS": "src", "EXPORTLINT_ARGS": "--torch-version 2.13"}
    variables["EXPORTLINT_CACHE_DIR"] = str(runner.checkout / ".exportlint_cache")
    done = runner.bash("\n".join(job["script"]), "-e", **variables)
    assert done.returncode == code, done.stderr
    report = job["artifacts"]["reports"]["codequality"]
    assert job["artifacts"]["when"] == "always"
    issues = json.loads((runner.checkout / report).read_text())
    assert [issue["location"]["path"] for issue in issues] == ["src/net.py"][:code]
    assert (runner.checkout / ".exportlint_cache").is_dir()
    assert runner.installed.read_text().endswith(f"v{__version__}.tar.gz\n")


@pytest.mark.thorough
def test_the_image_is_built_of_all_that_the_package_needs(tmp_path: Path) -> None:
    lines = (PROJECT / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    ignored = (PROJECT / ".dockerignore").read_text().splitlines()
    assert ignored[0] == "*"
    for line in lines:
        if line.startswith("COPY ") and "--from" not in line:
            *sources, target = line.split()[1:]
            for source in sources:
                assert f"!{source}" in ignored
                path, to = PROJECT / source, tmp_path / target
                if target.endswith("/"):
                    to.mkdir(exist_ok=True)
                if path.is_dir():
                    shutil.copytree(path, to, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    shutil.copy(path, to)
    assert any("pip wheel" in line for line in lines)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "wheels")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert [file.name for file in (tmp_path / "wheels").iterdir()] == [f"exportlint-{__version__}-py3-none-any.whl"]


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_to_be_copied_names_this_version(name: str) -> None:
    found = set(re.findall(r"\bv(\d+\.\d+\.\d+)\b", (PROJECT / name).read_text(encoding="utf-8")))
    assert found == {__version__}


def _fenced(language: str) -> list[str]:
    text = (PROJECT / "docs" / "ci.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_commands_of_the_guide_run(runner: Runner) -> None:
    (runner.bin / "python").write_text(f'#!{BASH}\nexec {sys.executable} "$@"\n')
    write(runner.checkout, {"src/net.py": NET})
    commands = [line.partition(" |")[0] for block in _fenced("sh") for line in block.splitlines()]
    ours = [command for command in commands if re.match(r"(python -m )?exportlint ", command)]
    assert len(ours) == 3
    for command in ours:
        done = runner.bash(command)
        assert (done.returncode, done.stderr) == (0, ""), command
    assert (runner.checkout / "exportlint-baseline.jsonl").is_file()
    (table,) = _fenced("toml")
    (runner.checkout / "pyproject.toml").write_text(table)
    assert runner.bash("exportlint").returncode == 0


def test_the_workflows_of_the_guide_use_what_there_is() -> None:
    workflow, gitlab, azure = map(yaml.safe_load, _fenced("yaml"))
    (step,) = (s for s in workflow["jobs"]["exportlint"]["steps"] if s["uses"].startswith("exportlint/"))
    assert step["with"].keys() <= _action()["inputs"].keys()
    assert gitlab["variables"].keys() <= _gitlab()["variables"].keys()
    assert gitlab["include"][0]["remote"].endswith("/ci/gitlab.yml")
    assert "--output-format azure" in azure["steps"][-1]["script"]


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_shellcheck_has_no_objection(tmp_path: Path) -> None:
    for number, step in enumerate(_action()["runs"]["steps"]):
        script = tmp_path / f"{number}.sh"
        script.write_text(f"#!/bin/bash\nset -eo pipefail\n{step['run']}")
        done = subprocess.run(["shellcheck", script], capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.stdout == ""
