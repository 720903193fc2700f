"""Which classes are models is known without anything having been analysed before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.cli.runner import NET

ASK = """
from pathlib import Path
from exportlint.analysis.eval.engine import Options
from exportlint.analysis.exported_models import models
from exportlint.analysis.project import Project
from exportlint.source import read

project = Project()
print([cls.qualname for cls in models(project.add(read(Path("net.py").absolute())), project, Options())])
"""


def test_a_model_is_one_in_a_process_that_has_analysed_nothing(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NET, encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", ASK], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "['Net']\n"
