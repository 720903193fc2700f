"""Writes bundled/libs: exportlint and the packages that it needs, as the extension ships them.

They are unpacked wheels, those of other packages as bundled/requirements.txt pins them. libcst is left out: its parser
is native code, one wheel for each platform and Python. Without it, exportlint lints and offers no fixes.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIBS = HERE / "bundled" / "libs"


def main() -> None:
    """Replace bundled/libs.

    Raises:
        SystemExit: pip fails; it has said why.
    """
    shutil.rmtree(LIBS, ignore_errors=True)
    with tempfile.TemporaryDirectory() as directory:
        # pure Python only, whatever runs this
        _pip("download", "-d", directory, "--only-binary=:all:", "--platform=any", "--implementation=py", "--abi=none",
             "--python-version=3.10", "--require-hashes", "-r", str(HERE / "bundled" / "requirements.txt"))  # fmt: skip
        _pip("wheel", "-w", directory, str(HERE.parents[1]))
        for wheel in sorted(Path(directory).glob("*.whl")):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(LIBS, [name for name in archive.namelist() if ".data/" not in name])


def _pip(command: str, *arguments: str) -> None:
    options = ("--no-deps", "--quiet", "--disable-pip-version-check")
    ran = subprocess.run([sys.executable, "-m", "pip", command, *options, *arguments], check=False)
    if ran.returncode:
        sys.exit(ran.returncode)


if __name__ == "__main__":
    main()
