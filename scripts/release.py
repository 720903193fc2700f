"""Build a release and check it: sdist, wheel, VS Code extension, documentation. Uploads nothing.

python scripts/release.py --dry-run [--output DIRECTORY]

`--dry-run` is for work in progress: it leaves out what holds on the day of the release only (a clean tree, the tag, a
dated section of the changelog). Needs the extra `release`, Node and git. Exits with 1 if a check fails.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).parents[1]
VSCODE = PROJECT / "editors" / "vscode"

VERSIONS = {
    "exportlint/__init__.py": r'^__version__ = "(.+)"$',
    "editors/vscode/package.json": r'^  "version": "(.+)",$',
    "editors/vscode/package-lock.json": r'^  "version": "(.+)",$',
    "editors/zed/Cargo.toml": r'^version = "(.+)"$',
    "editors/zed/extension.toml": r'^version = "(.+)"$',
    "README.md": r"(?:rev: |exportlint@)v(\d[\w.]+)",
    "ci/gitlab.yml": r"/v(\d[\d.]*\d)(?:/|\.tar)",
}
"""Where the version stands, and how."""

VSIX = {
    *("package.json", "readme.md", "changelog.md", "LICENSE.txt", "dist/extension.js", "bundled/run.py"),
    *(f"images/{name}.png" for name in ("icon", "squiggle", "hover", "quick-fixes")),
    *(f"walkthrough/{name}.md" for name in ("verify", "version")),
}
"""The files of the extension, but for the packages that it bundles."""
BUNDLED = "bundled/libs/"
FIRST_RUNS = "docs/accuracy/first_runs"


class FailedError(Exception):
    """A check that did not hold; its text says what to do."""


@dataclass(frozen=True)
class Release:
    """What is released: its version, where its files go, and whether this is a rehearsal."""

    version: str
    output: Path
    is_dry: bool


def main() -> int:
    """Run all checks, print what came of each, and the files with their digests."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry-run", action="store_true", help="leave out the checks of the day of the release")
    parser.add_argument("--output", type=Path, default=PROJECT / "dist", help="where the files go (default: dist/)")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    for old in [path for suffix in ("whl", "tar.gz", "vsix") for path in options.output.glob(f"exportlint-*.{suffix}")]:
        old.unlink()
    if others := sorted(options.output.iterdir()):
        parser.error(f"{options.output} holds {others[0].name}: name an empty directory with --output")
    version = re.findall(VERSIONS["exportlint/__init__.py"], _read("exportlint/__init__.py"), re.MULTILINE)[0]
    release = Release(version, options.output.resolve(), options.dry_run)
    failures = sum(not _holds(check, release) for check in CHECKS)
    for path in sorted(release.output.iterdir()):
        if path.is_file():
            print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}")
    print(f"{failures} of {len(CHECKS)} checks failed" if failures else f"exportlint {version}: all checks passed")
    return 1 if failures else 0


def _holds(check: Callable[[Release], None], release: Release) -> bool:
    name = (check.__doc__ or "").splitlines()[0].rstrip(".")
    if release.is_dry and check in OF_THE_DAY:
        print(f"skipped {name}", flush=True)
        return True
    try:
        check(release)
    except (FailedError, OSError) as error:
        print(f"FAILED  {name}: {error}", flush=True)
        return False
    print(f"ok      {name}", flush=True)
    return True


def one_version(release: Release) -> None:
    """All files name the same version."""
    for name, pattern in VERSIONS.items():
        found = set(re.findall(pattern, _read(name), re.MULTILINE))
        if found != {release.version}:
            raise FailedError(
                f"{name} has {', '.join(sorted(found)) or 'none'}, exportlint/__init__.py {release.version}"
            )


def changelog(release: Release) -> None:
    """Both changelogs have a section for the version, or in a rehearsal for what is unreleased."""
    dated = rf"^## \[{re.escape(release.version)}\] - \d{{4}}-\d\d-\d\d$"
    for name in ("CHANGELOG.md", "editors/vscode/CHANGELOG.md"):
        sections = re.findall(r"^## \[.+$", _read(name), re.MULTILINE)
        first = sections[0] if sections else ""
        if not re.match(dated, first) and not (release.is_dry and first == "## [Unreleased]"):
            raise FailedError(f"{name} begins with {first!r}: write `## [{release.version}] - YYYY-MM-DD`")


def clean_tree(release: Release) -> None:
    """The tree is clean and tagged."""
    if changed := _run("git", "status", "--porcelain").strip():
        raise FailedError(f"commit or remove {changed.splitlines()[0][3:]}")
    if f"v{release.version}" not in _run("git", "tag", "--points-at", "HEAD").split():
        raise FailedError(f"git tag v{release.version}")


def accuracy(_: Release) -> None:
    """The accuracy page is what the data say."""
    _run(sys.executable, "scripts/measure_libraries.py", "--check")


def first_runs(release: Release) -> None:
    """Models that are kept apart were measured after the last version."""
    tags = _run("git", "tag", "--merged", "HEAD", "--sort=-creatordate", cwd=PROJECT).split()
    last = next((tag for tag in tags if tag.startswith("v") and tag != f"v{release.version}"), None)
    if last and not _run("git", "diff", "--name-only", last, "HEAD", "--", FIRST_RUNS, cwd=PROJECT):
        raise FailedError(f"{FIRST_RUNS} is that of {last}: measure models that are new")


def distributions(release: Release) -> None:
    """The sdist and the wheel build, twice the same."""
    _twice(
        release,
        lambda directory: _run(sys.executable, "-m", "build", "--outdir", str(directory)),
        {f"exportlint-{release.version}.tar.gz", f"exportlint-{release.version}-py3-none-any.whl"},
    )


def metadata(release: Release) -> None:
    """The package index takes their metadata (twine check --strict)."""
    files = [str(path) for path in release.output.iterdir() if path.suffix in {".gz", ".whl"}]
    _run(sys.executable, "-m", "twine", "check", "--strict", *files)


def wheel_contents(release: Release) -> None:
    """The wheel has the package and every page of a rule, and nothing else."""
    with zipfile.ZipFile(release.output / f"exportlint-{release.version}-py3-none-any.whl") as wheel:
        names = set(wheel.namelist())
    pages = {f"exportlint/catalogue/{path.name}" for path in (PROJECT / "rules").glob("*.md")}
    modules = {path.relative_to(PROJECT).as_posix() for path in (PROJECT / "exportlint").rglob("*.py")}
    _nothing("missing from the wheel", (pages | modules) - names)
    _nothing("in the wheel", (n for n in names if not n.startswith(("exportlint/", f"exportlint-{release.version}."))))
    _nothing("in the wheel", (name for name in names if "__pycache__" in name or "tests/" in name))


def sdist_contents(release: Release) -> None:
    """The sdist has what the wheel is built from, the licence and the changelog."""
    root = f"exportlint-{release.version}"
    with tarfile.open(release.output / f"{root}.tar.gz") as archive:
        names = {name.removeprefix(f"{root}/") for name in archive.getnames()}
    wanted = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "PKG-INFO"}
    wanted |= {f"rules/{path.name}" for path in (PROJECT / "rules").glob("*.md")}
    _nothing("missing from the sdist", wanted - names)


def extension(release: Release) -> None:
    """The VS Code extension is packaged, twice the same, with nothing but what it runs on."""
    npm = shutil.which("npm")
    if npm is None:
        raise FailedError("there is no npm: install Node 20")
    _run(npm, "ci", "--no-audit", "--no-fund", cwd=VSCODE)
    name = f"exportlint-{release.version}.vsix"

    def package(directory: Path) -> None:
        _run(npm, "run", "package", cwd=VSCODE)
        shutil.copy(VSCODE / "dist" / "exportlint.vsix", directory / name)

    _twice(release, package, {name})
    with zipfile.ZipFile(release.output / name) as archive:
        found = {entry.removeprefix("extension/") for entry in archive.namelist() if entry.startswith("extension/")}
    libs = {entry.removeprefix(BUNDLED) for entry in found if entry.startswith(BUNDLED)}
    _nothing("missing from the extension", VSIX - found)
    _nothing("in the extension", (entry for entry in found - VSIX if not entry.startswith(BUNDLED)))
    bundled_packages(libs, release.version)


def bundled_packages(files: set[str], version: str) -> None:
    """The packages that the extension bundles are those that it pins and this one, with nothing that is compiled.

    Raises:
        FailedError: they are not; `files` are their paths.
    """
    pins = re.findall(r"^([\w.-]+)==([\w.]+) ", _read("editors/vscode/bundled/requirements.txt"), re.MULTILINE)
    wanted = {f"{name}-{pin}.dist-info" for name, pin in [*pins, ("exportlint", version)]}
    found = {first for first in (file.partition("/")[0] for file in files) if first.endswith(".dist-info")}
    _nothing("missing from the bundled packages", wanted - found)
    _nothing("in the bundled packages", found - wanted)
    _nothing("in the bundled packages", (file for file in files if file.endswith((".so", ".pyd", ".dylib", ".pyc"))))
    pages = {f"exportlint/catalogue/{path.name}" for path in (PROJECT / "rules").glob("*.md")}
    _nothing("missing from the bundled packages", pages - files)


def no_paths_of_this_machine(release: Release) -> None:
    """No file names a path of this machine."""
    paths = [str(place).encode() for place in (PROJECT, Path.home(), Path(sys.prefix)) if len(place.parts) > 2]
    paths += [str(Path.home()).encode() + b"/"]
    found = (f"{name} ({path.decode()})" for name, text in _members(release.output) for path in paths if path in text)
    _nothing("paths of this machine", found)


def site(_: Release) -> None:
    """The documentation builds without a warning (mkdocs build --strict)."""
    with tempfile.TemporaryDirectory() as directory:
        _run(sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", directory)


CHECKS = (
    one_version,
    changelog,
    clean_tree,
    accuracy,
    first_runs,
    distributions,
    metadata,
    wheel_contents,
    sdist_contents,
    extension,
    no_paths_of_this_machine,
    site,
)

OF_THE_DAY = (clean_tree, first_runs)
"""What a rehearsal leaves out."""


def _twice(release: Release, build: Callable[[Path], object], names: set[str]) -> None:
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        for directory in (first, second):
            build(Path(directory))
        if (built := {path.name for path in Path(first).iterdir()}) != names:
            raise FailedError(f"built {', '.join(sorted(built))} and not {', '.join(sorted(names))}")
        for name in sorted(names):
            if (Path(first) / name).read_bytes() != (Path(second) / name).read_bytes():
                raise FailedError(f"{name} differs between two builds")
            shutil.copy(Path(first) / name, release.output / name)


def _members(directory: Path) -> Iterator[tuple[str, bytes]]:
    for path in directory.iterdir():
        if path.suffix == ".gz":
            with tarfile.open(path) as archive:
                for member in archive:
                    if (file := archive.extractfile(member)) is not None:
                        yield f"{path.name}:{member.name}", file.read()
        elif path.suffix in {".whl", ".vsix"}:
            with zipfile.ZipFile(path) as wheel:
                for name in wheel.namelist():
                    yield f"{path.name}:{name}", wheel.read(name)


def _nothing(what: str, names: Iterable[str]) -> None:
    if found := sorted(names):
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        raise FailedError(f"{what}: {', '.join(found[:3])}{more}")


def _read(name: str) -> str:
    return (PROJECT / name).read_text(encoding="utf-8")


def _run(*command: str, cwd: Path = PROJECT) -> str:
    epoch = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=PROJECT, capture_output=True, text=True, check=False
    ).stdout.strip()
    # Archives hold times: those of the commit make two builds of it the same.
    environment = {**os.environ, "SOURCE_DATE_EPOCH": epoch or "315532800"}
    result = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, encoding="utf-8", check=False, env=environment
    )
    if result.returncode:
        lines = (result.stdout + result.stderr).strip().splitlines()
        raise FailedError(f"`{' '.join(Path(part).name for part in command[:4])}` says: " + " | ".join(lines[-5:]))
    return result.stdout


if __name__ == "__main__":
    sys.exit(main())
