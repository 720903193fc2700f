"""Tests of the wheel on each supported Python, without torch: `nox`, or `nox -s core-3.12` for one of them.

Sessions whose Python is not installed are listed as skipped; `nox --error-on-missing-interpreters` makes them fail.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import nox

nox.needs_version = ">=2024.4"
nox.options.error_on_missing_interpreters = False
nox.options.reuse_existing_virtualenvs = True

PROJECT = Path(__file__).parent
PYTHONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]

REQUIREMENTS = ["hypothesis", "pytest>=8.4", "pytest-lsp>=1.0", "pytest-xdist", "pyyaml"]

CORE = [
    "tests/analysis/test_exports.py",
    "tests/analysis/test_facts.py",
    "tests/cache",
    "tests/cli/test_check.py",
    "tests/cli/test_fix.py",
    "tests/cli/test_notebook.py",
    "tests/cli/test_process.py",
    "tests/cli/test_rule.py",
    "tests/fixer",
    "tests/fixes/edit",
    "tests/messages",
    "tests/report",
    "tests/server/test_documents.py",
    "tests/server/test_notebooks.py",
    "tests/source",
    "tests/test_check.py",
    "tests/test_config.py",
    "tests/test_edits.py",
    "tests/test_fingerprints.py",
    "tests/test_fix_settings.py",
    "tests/test_registry.py",
    "tests/test_suppression_fixes.py",
    "tests/test_suppressions.py",
]
"""What runs without torch and with the wheel alone: every package of exportlint but `verify`."""

METADATA = "Metadata-Version: 2.1\nName: torch\nVersion: 2.13.0\n"
"""The reports that the tests expect are for this torch. exportlint reads nothing of it but this."""


@nox.session(python=PYTHONS)  # type: ignore[untyped-decorator, unused-ignore]
def core(session: nox.Session) -> None:
    """Install the wheel into an environment without torch and run the core tests with it."""
    temporary = Path(session.create_tmp()).resolve()
    session.install("build", *REQUIREMENTS)
    for old in (temporary / "dist").glob("*.whl"):
        old.unlink()
    session.run("python", "-m", "build", "--wheel", "--outdir", str(temporary / "dist"), str(PROJECT), silent=True)
    (wheel,) = (temporary / "dist").glob("*.whl")
    session.install("--force-reinstall", "--no-deps", str(wheel))
    session.install(str(wheel))

    site = session.run("python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", silent=True)
    torch = Path(str(site).strip()) / "torch-2.13.0.dist-info"
    torch.mkdir(exist_ok=True)
    (torch / "METADATA").write_text(METADATA, encoding="utf-8")

    tree = _without_the_package(temporary / "tree")
    session.chdir(tree)
    session.run("python", "-c", "import exportlint as e; assert 'site-packages' in e.__file__, e.__file__")
    arguments = session.posargs or ["-n", "2"]
    session.run("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments, *CORE)


def _without_the_package(tree: Path) -> Path:
    """A copy of the files that git has but of the package, so that the tests import the wheel's."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=PROJECT, check=True, capture_output=True, text=True).stdout.split("\0")
    wanted = {name for name in names if name and not name.startswith("exportlint/") and (PROJECT / name).is_file()}
    for old in [path for path in tree.rglob("*") if path.is_file()]:
        old.unlink()
    for name in wanted:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes((PROJECT / name).read_bytes())
    return tree
