"""docs/own-rules.md: rules and described functions of other packages, in a site folder of their own."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from exportlint import plugin
from exportlint.config.options import FORMATS
from tests.cli.runner import NET, write
from tests.documents import PROJECT
from tests.patience import PATIENCE
from tests.sampling import one_in
from tests.server.raw import PULLING, Process

EXAMPLE = PROJECT / "examples" / "own_rules"
PAGE = (PROJECT / "docs" / "own-rules.md").read_text(encoding="utf-8")

RULE = (EXAMPLE / "acme_export" / "device_sync.py").read_text(encoding="utf-8")
ENTRY = "[exportlint.rules]\nACME001-device-sync = acme_export.device_sync:check\n"
FUNCTIONS = "[exportlint.functions]\nacme-ops = acme_export.functions:FUNCTIONS\n"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder in which the example is installed."""
    place = tmp_path / "site"
    install(place, "acme-export", ENTRY + "\n" + FUNCTIONS)
    shutil.copytree(EXAMPLE / "acme_export", place / "acme_export")
    shutil.copy(EXAMPLE / "model.py", tmp_path / "model.py")
    return place


def install(place: Path, name: str, entry_points: str, version: str = "1.0") -> None:
    folder = f"{name.replace('-', '_')}-{version}.dist-info"
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nProject-URL: Home, https://acme.test/export\n"
    write(place, {f"{folder}/METADATA": about, f"{folder}/entry_points.txt": entry_points})


def run(site: Path, *argv: str) -> tuple[int, str, str]:
    """Run exportlint where the packages of a folder are installed."""
    result = subprocess.run(
        [sys.executable, "-m", "exportlint", *argv],
        cwd=site.parent,
        env={**os.environ, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=PATIENCE,
    )
    return result.returncode, result.stdout, result.stderr


def found(site: Path, *argv: str) -> list[str]:
    """The row and code of each finding in the model of the example."""
    _, out, err = run(site, "--isolated", "--no-cache", "--output-format", "json", *argv, "model.py")
    assert err == ""
    return [f"{one['location']['row']} {one['code']}" for one in json.loads(out)]


class TestInstalled:
    ALL = ("10 ACME001", "12 EXP101", "14 EXP208")

    @pytest.mark.parametrize(
        ("argv", "rows"),
        one_in(
            4,
            [
                ((), ALL),
                (("--select", "ACME"), ALL[:1]),
                (("--select", "ACME0"), ALL[:1]),
                (("--select", "device-sync"), ALL[:1]),
                (("--ignore", "ACME001"), ALL[1:]),
                (("--select", "EXP"), ALL[1:]),
                (("--mode", "strict", "--select", "ACME001"), ALL[:1]),
                (("--config", 'functions = { "acme_ops.*" = {} }'), ALL),
            ],
        ),
    )
    def test_findings_and_selectors(self, argv: tuple[str, ...], rows: tuple[str, ...], site: Path) -> None:
        assert found(site, *argv) == list(rows)  # a pattern counts after the names that the package gives

    def test_the_page_and_what_other_programs_read(self, site: Path) -> None:
        page = (EXAMPLE / "acme_export" / "ACME001-device-sync.md").read_text(encoding="utf-8")
        for name in ("ACME001", "device-sync"):
            assert run(site, "rule", name) == (0, page.rstrip() + "\n", "")
        _, out, _ = run(site, "rule", "ACME001", "--output-format", "json")
        told = json.loads(out)
        assert (told["family"]["key"], told["url"]) == ("ACME", "https://acme.test/export")
        assert "Reports calls of" in told["summary"]

    @pytest.mark.parametrize("form", one_in(10, FORMATS))
    def test_reports(self, form: str, site: Path) -> None:
        code, out, err = run(site, "--isolated", "--no-cache", "--output-format", form, "model.py")
        assert (code, err) == (1, "")
        assert "ACME001" in out

    @pytest.mark.parametrize(
        "comment", one_in(3, ["# noqa: E501, ACME001", "# exportlint: ignore[ACME001]", "# noqa: ACME001"])
    )
    def test_comments(self, comment: str, site: Path) -> None:
        file = site.parent / "model.py"
        text = file.read_text(encoding="utf-8").replace("acme_ops.synchronize()", f"acme_ops.synchronize()  {comment}")
        file.write_text(text, encoding="utf-8")
        assert found(site) == list(self.ALL[1:])
        file.write_text(text.replace("ACME001", "ACME002"), encoding="utf-8")
        assert "10 EXP005" in found(site)

    def test_the_configuration_counts_before_the_package(self, site: Path) -> None:
        write(site.parent, {"exportlint.toml": '[functions]\n"acme_ops.gate" = { returns = "int" }\n'})
        _, out, _ = run(site, "--no-cache", "--output-format", "concise", "model.py")
        assert "EXP101" not in out
        assert "ACME001" in out

    @pytest.mark.thorough
    def test_processes_of_their_own_know_it_too(self, site: Path) -> None:
        for number in range(12):
            shutil.copy(site.parent / "model.py", site.parent / "many" / f"m{number}.py") if number else (
                site.parent / "many"
            ).mkdir()
        _, out, err = run(site, "--isolated", "--no-cache", "--jobs", "2", "--statistics", "many")
        assert err == ""
        assert re.search(r"11\s.*ACME001", out)

    @pytest.mark.thorough
    def test_a_run_from_the_cache_loads_none_of_it(self, site: Path) -> None:
        code = (
            "import sys; from exportlint.cli import main; main(['model.py', '--quiet'])\n"
            "print(sorted(name for name in sys.modules if name.startswith('acme')), file=sys.stderr)"
        )
        said = [
            subprocess.run(
                [sys.executable, "-c", code],
                cwd=site.parent,
                env={**os.environ, "PYTHONPATH": str(site)},
                capture_output=True,
                text=True,
                check=True,
                timeout=PATIENCE,
            )
            for _ in range(2)
        ]
        assert said[0].stdout == said[1].stdout != ""
        assert "acme_export.device_sync" in said[0].stderr
        assert said[1].stderr == "[]\n"

    @pytest.mark.thorough
    def test_an_editor_shows_it(self, site: Path) -> None:
        server = Process(site.parent, PYTHONPATH=str(site))
        server.start(site.parent, PULLING)
        uri = (site.parent / "model.py").as_uri()
        server.open(uri, (site.parent / "model.py").read_text(encoding="utf-8"))
        assert [one["code"] for one in server.pull(uri)["items"]] == [row.split()[1] for row in self.ALL]
        place = {"textDocument": {"uri": uri}, "position": {"line": 9, "character": 12}}
        assert "https://acme.test/export" in json.dumps(server.request("textDocument/hover", place))
        assert server.stop() == 0

    @pytest.mark.thorough
    def test_an_editor_shows_that_it_cannot_be_used(self, site: Path) -> None:
        write(site, {"acme_export/device_sync.py": "import nowhere\n"})
        server = Process(site.parent, PYTHONPATH=str(site))
        server.start(site.parent, PULLING)
        uri = (site.parent / "model.py").as_uri()
        server.open(uri, (site.parent / "model.py").read_text(encoding="utf-8"))
        (found,) = server.pull(uri)["items"]
        assert found["message"].startswith(
            "the plugin acme-export 1.0: `acme_export.device_sync:check` cannot be loaded"
        )
        assert server.stop() == 0

    @pytest.mark.thorough
    def test_results_are_kept_for_the_version(self, site: Path) -> None:
        def once() -> str:
            return run(site, "--output-format", "concise", "model.py")[1]

        assert "ACME001" in once()
        assert once() == once()
        rule = site / "acme_export" / "device_sync.py"
        rule.write_text(RULE.replace("runs only during", "RUNS ONLY DURING"), encoding="utf-8")
        assert "RUNS ONLY DURING" in once()
        shutil.rmtree(site / "acme_export-1.0.dist-info")
        assert "ACME001" not in once()
        install(site, "acme-export", ENTRY, version="1.1")
        assert "ACME001" in once()

    def test_it_is_loaded_when_it_is_needed(self, site: Path) -> None:
        write(site, {"acme_export/device_sync.py": "raise SystemExit('loaded')\n"})
        write(site.parent, {"clean.py": "import os\n"})
        assert run(site, "--version")[0] == 0
        assert run(site, "config", "mode")[0] == 0
        assert "ACME001" in run(site, "rule", "ACME001")[1]

    @pytest.mark.parametrize(
        "command",
        one_in(
            2,
            [
                (("-c", "import exportlint as e; print(*(f.code for f in e.check_source(open('model.py').read())))"),),
                (("-m", "flake8", "--select", "EXP,ACME", "--format", "%(code)s", "--exit-zero", "model.py"),),
            ],
        ),
    )
    def test_the_api_and_flake8_know_it(self, command: tuple[str, ...], site: Path) -> None:
        result = subprocess.run(
            [sys.executable, *command],
            cwd=site.parent,
            env={**os.environ, "PYTHONPATH": str(site)},
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE,
        )
        assert result.stdout.split() == [row.split()[1] for row in self.ALL]


PROBE = """\
from exportlint.plugin import Branch, Call, Conversion, Creation, HostRead, Mutation, Report, Severity
from exportlint.plugin import constant_of, kind_of, rule


@rule(Call, Branch, Conversion, Creation, HostRead, Mutation)
def check(fact, context):
    if isinstance(fact, Call) and fact.name == "probe.see":
        told = [(kind_of(value), constant_of(value)) for value in fact.positional]
        yield Report(Severity.INFO, f"{told} {kind_of(fact.keyword('key'))} {fact.symbol} {fact.guarded}")
    elif not isinstance(fact, Call):
        about = getattr(fact, "construct", None) or getattr(fact, "target", None) or getattr(fact, "api", None)
        yield Report(Severity.INFO, f"{type(fact).__name__} {about if isinstance(about, str) else fact.api}")
"""
PROBED = """\
import probe
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x: torch.Tensor, other, flag=None):
        probe.see(x, x.sum().item(), x.shape[0], 3, "a", None, other.thing, key=x)
        try:
            probe.see(*other)
        except Exception:
            pass
        y = torch.zeros(3)
        y.add_(1)
        if x.sum() > 0:
            y += int(x.max())
        return y
"""


def test_what_a_rule_can_ask(site: Path) -> None:
    write(site, {"acme_export/device_sync.py": PROBE})
    write(site.parent, {"model.py": PROBED})
    _, out, err = run(
        site,
        "--isolated",
        "--no-cache",
        "--select",
        "ACME",
        "--output-format",
        "json",
        "--torch-version",
        "2.13",
        "model.py",
    )
    assert err == ""
    first, *others = [one["message"] for one in json.loads(out)]
    assert first == (
        "[('tensor', None), ('number from data', None), ('size', None), ('constant', 3), ('constant', 'a'), "
        "('constant', None), ('unknown', None)] tensor Net.forward False"
    )
    assert others == [
        "HostRead item",
        "[('unknown', None)] unknown Net.forward True",
        "Creation torch.zeros",
        "Mutation add_",
        "Branch if",
        "Mutation +=",
        "Conversion int()",
    ]


@pytest.mark.parametrize("severity", one_in(2, ["ERROR", "INFO"]))
@pytest.mark.thorough
def test_it_hides_nothing_and_nothing_hides_it(severity: str, site: Path) -> None:
    everything = PROBE.replace("Severity.INFO", f"Severity.{severity}")
    write(site, {"acme_export/device_sync.py": everything})
    before = [one for one in found(site, "--select", "EXP") if not one.endswith("ACME001")]
    assert before == list(TestInstalled.ALL[1:])
    assert "12 ACME001" in found(site)
    assert [one for one in found(site) if "EXP" in one] == before


class TestBroken:
    @pytest.mark.parametrize(
        ("files", "entry_points", "said"),
        one_in(
            5,
            [
                (
                    {"device_sync.py": "import nowhere\n"},
                    ENTRY,
                    "`acme_export.device_sync:check` cannot be loaded: Module",
                ),
                ({"device_sync.py": "def f(:\n"}, ENTRY, "cannot be loaded: SyntaxError"),
                ({"device_sync.py": "raise SystemExit(3)\n"}, ENTRY, "cannot be loaded: SystemExit: 3"),
                ({"device_sync.py": "x = 1\n"}, ENTRY, "has no attribute 'check'"),
                (
                    {"device_sync.py": "def check(): ...\n"},
                    ENTRY,
                    "is not a rule: decorate it with `exportlint.plugin.rule`",
                ),
                ({"device_sync.py": RULE.replace("(Call)", "(int)", 1)}, ENTRY, "`rule` takes classes of facts"),
                ({}, ENTRY.replace("ACME001", "EXP101"), "EXP101 is a code of exportlint's own"),
                ({}, ENTRY.replace("ACME001", "EXPX01"), "not named as in `ACME001-no-gather`"),
                ({}, ENTRY.replace("ACME001", "EXPX001"), "EXPX001 is a code of exportlint's own"),
                ({}, ENTRY.replace("ACME001-device-sync", "sync"), "the rule `sync` is not named as in"),
                ({}, ENTRY.replace("device-sync", "tensor-branch"), "collides with EXP101 tensor-branch"),
                (
                    {},
                    ENTRY + ENTRY.splitlines()[1].replace("device-sync =", "other-name ="),
                    "collides with ACME001 device",
                ),
                ({"functions.py": "FUNCTIONS = 3\n"}, FUNCTIONS, "expected a table of functions, got an integer"),
                ({"functions.py": "FUNCTIONS = {'a.b': {'return': 'int'}}\n"}, FUNCTIONS, "did you mean `returns`?"),
                ({"functions.py": "FUNCTIONS = {'a.b': {'returns': 'tensr'}}\n"}, FUNCTIONS, "did you mean `tensor`?"),
                ({"functions.py": "FUNCTIONS = {'a': {}}\n"}, FUNCTIONS, "expected a qualified name"),
                ({}, ENTRY + "no value\n", "its `entry_points.txt` cannot be read: a line has no `=`"),
            ],
        ),
    )
    def test_one_line_names_the_package(self, files: dict[str, str], entry_points: str, said: str, site: Path) -> None:
        write(site, {f"acme_export/{name}": text for name, text in files.items()})
        install(site, "acme-export", entry_points)
        code, out, err = run(site, "--isolated", "model.py")
        assert (code, out) == (2, "")
        assert err.startswith("error: the plugin acme-export 1.0: ")
        assert said in err
        assert err.count("\n") == 1

    def test_two_packages_collide(self, site: Path) -> None:
        install(site, "other-rules", ENTRY)
        code, _, err = run(site, "--isolated", "model.py")
        assert code == 2
        assert (
            "the plugin other-rules 1.0: its rule ACME001 device-sync collides with ACME001 device-sync of acme" in err
        )

    @pytest.mark.parametrize(
        "body", one_in(3, ["raise KeyError(fact.name)", "yield 'a text'", "yield Report('error', 'a text')"])
    )
    def test_a_rule_that_fails_hides_nothing(self, body: str, site: Path) -> None:
        head = RULE.partition("    if fact.name")[0]
        write(site, {"acme_export/device_sync.py": f"{head}    {body}\n    yield\n"})
        code, out, err = run(site, "--isolated", "--no-cache", "--output-format", "concise", "model.py")
        assert (code, err) == (2, "")
        assert "internal error: ACME001 device-sync of acme-export 1.0 failed: " in out
        assert "model.py:12:12: error[EXP101 tensor-branch]" in out

    def test_a_page_that_is_missing(self, site: Path) -> None:
        (site / "acme_export" / "ACME001-device-sync.md").unlink()
        code, _, err = run(site, "rule", "ACME001")
        assert (code, err.count("\n")) == (2, 1)
        assert "acme-export 1.0 has no page ACME001-device-sync.md beside `acme_export.device_sync`" in err
        assert found(site) == list(TestInstalled.ALL)

    def test_what_lies_in_the_folder_is_not_installed(self, site: Path) -> None:
        result = subprocess.run(
            [sys.executable, "-m", "exportlint", "--isolated", "--output-format", "concise", "../model.py"],
            cwd=site,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        assert "EXP" not in result.stdout
        assert "ACME001" not in result.stdout + result.stderr


def test_the_stable_interface_is_there() -> None:
    section = PAGE.partition("### What is stable")[2].partition("\n### ")[0]
    rows: list[tuple[str, str]] = re.findall(r"^\| `(\w+)` \|.*\| (.*) \|$", section, re.MULTILINE)
    assert len(rows) == 7
    for name, fields in rows:
        kind: Any = getattr(plugin, name)
        stated = set(re.findall(r"(?:^|; |, )`(\w+)", fields))
        assert stated <= {field.name for field in dataclasses.fields(kind)} | {"keyword"}, name
    assert {name for name in plugin.__all__ if not hasattr(plugin, name)} == set()


def test_the_page_shows_the_example() -> None:
    (shown,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert RULE.endswith(shown.partition("\n\n")[2])
    (entries,) = re.findall(r"```toml\n(\[project.*?)```", PAGE, re.DOTALL)
    assert entries in (EXAMPLE / "pyproject.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("functions", "body", "codes"),
    [
        ({}, "return 1 if ops.gate(x).sum() > 0 else 2", []),
        ({"ops.gate": {"returns": "tensor"}}, "return 1 if ops.gate(x).sum() > 0 else 2", ["EXP101"]),
        ({"ops.*": {"returns": "tensor"}}, "return 1 if ops.gate(x).sum() > 0 else 2", ["EXP101"]),
        ({"ops.*": {"returns": "tensor"}, "ops.gate": {"returns": "int"}}, "return 1 if ops.gate(x) else 2", []),
        ({"ops.gate": {"returns": "like"}}, "return x if ops.gate(x).shape[0] == 3 else -x", ["EXP401"]),
        ({"ops.gate": {"returns": "like"}}, "return x if ops.gate(x).shape[1] == 3 else -x", []),
        ({"ops.gate": {"reads-data": True}}, "ops.gate(x)\n        return x", ["EXP208"]),
        ({"ops.gate": {"reads-data": True}}, "ops.gate(x.shape[0])\n        return x", []),
        ({"ops.gate": {"returns": "int"}}, "return x if ops.gate(x) > 3 else -x", []),
        ({"ops.gate": {"returns": "none"}}, "return x if ops.gate(x) is None else int(x.sum())", []),
        ({"net.helper": {"returns": "tensor"}}, "return 1 if helper(x) else 2", ["EXP101"]),
        ({"net.helper": {"returns": "int"}}, "return 1 if plain(x) else 2", ["EXP101"]),
        ({"torch.ops.acme.gate": {"returns": "tensor"}}, "return 1 if torch.ops.acme.gate(x) > 0 else 2", ["EXP101"]),
    ],
)
def test_described_functions(functions: dict[str, Any], body: str, codes: list[str]) -> None:
    import exportlint

    code = NET.partition("        if x.sum()")[0].replace("import torch\n", "import torch\nimport ops\n", 1)
    code = code.replace("(self, x)", "(self, x: torch.Tensor)") + f"        {body}\n"
    code += "\n\ndef helper(x):\n    return ops.compute(x)\n\n\ndef plain(x):\n    return x.sum() > 0\n"
    found = exportlint.check_source(code, filename="net.py", isolated=True, functions=functions, fixes=False)
    assert [finding.code for finding in found] == codes


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ('functions = { gate = { returns = "int" } }', "expected a qualified name"),
        ('functions = { "a.b" = { returns = "tensr" } }', "did you mean `tensor`?"),
        ('functions = { "a.b" = { reads = true } }', "unknown setting"),
        ('functions = { "a.b" = "tensor" }', "expected a table"),
        ("functions = 3", "expected a table of functions"),
    ],
)
def test_wrong_descriptions_are_one_line(setting: str, said: str, tmp_path: Path) -> None:
    write(tmp_path, {"exportlint.toml": setting + "\n"})
    code, _, err = run(tmp_path / "site", "--show-settings")
    assert (code, err.count("\n")) == (2, 1)
    assert "exportlint.toml:1: " in err
    assert said in err


@pytest.mark.thorough
def test_the_example_is_installed_and_runs(tmp_path: Path) -> None:
    """In an environment without torch, as the page has it."""
    venv.create(tmp_path / "venv", with_pip=True)
    folder = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    shutil.copytree(PROJECT / "examples", tmp_path / "examples")

    def call(*command: str) -> str:
        result = subprocess.run(
            [folder / command[0], *command[1:]], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600
        )
        assert result.returncode in (0, 1), result.stdout + result.stderr
        assert not command[0].startswith("exportlint") or result.stderr == ""
        return result.stdout

    call("python", "-m", "pip", "install", "-q", str(PROJECT))
    (session,) = re.findall(r"```text\n(\$ python.*?)```", PAGE, re.DOTALL)
    for step in session.removeprefix("$ ").split("\n$ "):
        command, _, shown = step.partition("\n")
        out = call(*command.split())
        if shown:
            assert out.startswith(shown.removesuffix("...\n")), out
    assert "torch" not in call("python", "-m", "pip", "list")
