"""The programs that read the formats for CI services take what exportlint writes.

`npm install @microsoft/sarif-multitool @umbrelladocs/rdformat-validator` and `pip install junitparser` bring them; the
npm ones are looked for in PATH and in the `node_modules` that EXPORTLINT_NODE_MODULES names.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

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
