"""The programs that read the formats for CI services take what exportlint writes.

`npm install @microsoft/sarif-multitool @umbrelladocs/rdformat-validator ajv-cli` and `pip install junitparser taplo`
bring them; the npm ones are looked for in PATH and in the `node_modules` that EXPORTLINT_NODE_MODULES names. taplo and
ajv take the schemas of the settings.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import exportlint
from tests.cli.projects import PROJECTS
from tests.cli.runner import Run, write
from tests.patience import PATIENCE

pytestmark = pytest.mark.consumers

# `root` takes the variables away.
REQUIRED = os.environ.get("EXPORTLINT_CONSUMERS") == "require"
NODE_MODULES = os.environ.get("EXPORTLINT_NODE_MODULES")


def _missing(what: str) -> None:
    if REQUIRED:
        pytest.fail(f"{what} is not installed")
    pytest.skip(f"{what} is not installed")


def _program(*names: str) -> str:
    path = os.environ["PATH"]
    if NODE_MODULES:
        path = os.pathsep.join([f"{NODE_MODULES}/.bin", f"{NODE_MODULES}/@microsoft/sarif-multitool-linux", path])
    found = next((program for name in names if (program := shutil.which(name, path=path))), None)
    if found is None:
        _missing(names[0])
    assert found is not None
    return found


def _said(*command: str | Path) -> tuple[int, str]:
    environment = {**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
    done = subprocess.run(
        list(map(str, command)), env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    return done.returncode, done.stdout + done.stderr


def _report(output_format: str, project: str, root: Path, run: Run) -> Path:
    write(root, PROJECTS[project])
    report = root / "out" / f"report.{output_format}"
    run("--show-info", "--output-format", output_format, "-o", str(report))
    return report


@pytest.mark.parametrize("project", PROJECTS)
def test_the_sarif_multitool_has_no_objection(project: str, root: Path, run: Run) -> None:
    tool = _program("sarif-multitool", "Sarif.Multitool")
    code, said = _said(tool, "validate", _report("sarif", project, root, run))
    assert (code, re.findall(r"^.*(?:error|warning) \w+\d+:.*$", said, re.MULTILINE)) == (0, []), said
    assert "1 files scanned" in said


def test_the_sarif_multitool_objects_to_what_is_no_sarif(root: Path, run: Run) -> None:
    tool = _program("sarif-multitool", "Sarif.Multitool")
    report = _report("sarif", "one finding", root, run)
    report.write_text(report.read_text().replace('"startLine": 7', '"startLine": -7'))
    assert "error JSON" in _said(tool, "validate", report)[1]


@pytest.mark.parametrize("project", PROJECTS)
def test_the_validator_of_rdformat_has_no_objection(project: str, root: Path, run: Run) -> None:
    tool = _program("rdformat-validator")
    code, said = _said(tool, "--strict", "--no-extra-fields", _report("rdjson", project, root, run))
    assert code == 0, said


@pytest.mark.parametrize("project", PROJECTS)
def test_junitparser_reads_the_failures(project: str, root: Path, run: Run) -> None:
    if importlib.util.find_spec("junitparser") is None:
        _missing("junitparser")
    junitparser = importlib.import_module("junitparser")
    xml = junitparser.JUnitXml.fromfile(str(_report("junit", project, root, run)))
    found = run("--show-info", "--output-format", "json").findings
    failures = [result.message for suite in xml for case in suite for result in case.result]
    assert failures == [finding["message"] for finding in found]
    assert xml.failures == len(found)


TOML = [
    ('mode = "strict"\nrequire-reason = true\nselect = ["EXP1"]\n[[verify.target]]\nmodel = "a:B"\nmemory = 1\n', ""),
    ('mode = "stric"\n', '"stric" is not one of'),
    ("modes = 1\n", "Additional properties are not allowed"),
    ('[[verify.target]]\nmodel = "a:B"\nmemory = true\n', "true is not valid under any of the schemas"),
]


@pytest.mark.parametrize(("text", "said"), TOML)
@pytest.mark.parametrize("is_pyproject", [False, True])
def test_taplo_checks_settings_by_the_schemas(text: str, said: str, is_pyproject: bool, root: Path) -> None:
    schemas = Path(exportlint.__file__).parent
    # Nothing is asked of the network: the schemas name each other by where they lie here, and a part of SchemaStore's
    # stands for all of it.
    own = (root / "own.json").as_uri()
    settings = json.loads((schemas / "exportlint.schema.json").read_text(encoding="utf-8")) | {"$id": own}
    store = {"type": "object", "properties": {"project": {"type": "object", "required": ["name"]}}}
    write(root, {"own.json": json.dumps(settings), "store.json": json.dumps(store)})
    both = json.loads((schemas / "pyproject.schema.json").read_text(encoding="utf-8"))
    both["allOf"] = [{"$ref": (root / "store.json").as_uri()}]
    both["properties"]["tool"]["properties"]["exportlint"]["$ref"] = own
    write(root, {"both.json": json.dumps(both)})
    if is_pyproject:
        text = '[project]\nname = "x"\n[tool.exportlint]\n' + text.replace("[[verify", "[[tool.exportlint.verify")
    write(root, {"settings.toml": text, "broken.toml": "[project]\n"})
    schema = (root / "both.json").as_uri() if is_pyproject else own
    code, told = _said(_program("taplo"), "check", "--schema", schema, root / "settings.toml")
    assert (code, said in told) == (int(bool(said)), True), told
    if is_pyproject:
        code, told = _said(_program("taplo"), "check", "--schema", schema, root / "broken.toml")
        assert (code, '"name" is a required property' in told) == (1, True), told


@pytest.mark.parametrize("name", ["exportlint", "rules"])
def test_ajv_compiles_the_schema_in_strict_mode(name: str) -> None:
    schema = Path(exportlint.__file__).parent / f"{name}.schema.json"
    code, told = _said(_program("ajv"), "compile", "--strict=true", "-s", schema)
    assert (code, "is valid" in told) == (0, True), told
