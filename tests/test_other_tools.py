"""docs/other-tools.md: exportlint inside of flake8, and beside Ruff."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.runner import NET as PLAIN
from tests.cli.runner import write
from tests.documents import PROJECT
from tests.patience import PATIENCE
from tests.sampling import one_in

PAGE = (PROJECT / "docs" / "other-tools.md").read_text(encoding="utf-8")

NET = PLAIN.replace("(self, x)", "(self, x: torch.Tensor)")

MARKED = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, é: torch.Tensor):
        if é.sum() > 0:
            return é + 1
        a = "é→"; b = 3 if é.any() else 4  # noqa: E702
        if é.sum() > 1:  # noqa: EXP101
            a = 2
        if é.sum() > 2:  # exportlint: ignore[EXP101]
            a = 3
        if é.sum() > 3:  # noqa
            a = 4
        return é * a * b, é.item()
"""


def run(*command: str, cwd: Path, given: str = "") -> tuple[int, str]:
    result = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=cwd,
        input=given,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=PATIENCE,
    )
    assert "Traceback" not in result.stderr
    return result.returncode, result.stdout + result.stderr


class TestFlake8:
    def test_the_page_is_true(self, tmp_path: Path) -> None:
        (shown,) = re.findall(r"```text\n\$ flake8 net.py\n(.*?)```", PAGE, re.DOTALL)
        write(tmp_path, {"net.py": NET})
        assert run("flake8", "net.py", cwd=tmp_path) == (1, shown)

    def test_places_and_comments(self, tmp_path: Path) -> None:
        write(tmp_path, {"net.py": MARKED})
        code, out = run("flake8", "net.py", cwd=tmp_path)
        assert (code, [line.split(" ")[:2] for line in out.splitlines()]) == (
            1,
            [["net.py:7:12:", "EXP101"], ["net.py:9:28:", "EXP101"]],
        )
        _, out = run("flake8", "--disable-noqa", "--select", "EXP", "net.py", cwd=tmp_path)
        assert re.findall(r"net.py:(\d+):", out) == ["7", "9"]  # exportlint applies the comments as well

    @pytest.mark.parametrize(
        ("flags", "files", "codes"),
        one_in(
            3,
            [
                (["net.py"], {}, ["EXP101"]),
                (["--extend-ignore", "EXP", "net.py"], {}, []),
                (["--select", "E,F", "net.py"], {}, ["EXP101"]),
                (["--select", "F,W", "net.py"], {}, []),
                (["--per-file-ignores", "net.py:EXP1", "net.py"], {}, []),
                (["net.py"], {"pyproject.toml": '[tool.exportlint]\nignore = ["tensor-branch"]\n'}, []),
                (["net.py"], {"net.py": "import torch as _t  # noqa\n"}, []),
                (["net.py"], {"net.py": "def f(:\n"}, ["E999"]),
            ],
        ),
    )
    def test_settings(self, flags: list[str], files: dict[str, str], codes: list[str], tmp_path: Path) -> None:
        write(tmp_path, {"net.py": NET, **files})
        code, out = run("flake8", *flags, cwd=tmp_path)
        assert (code, [line.split(" ")[1] for line in out.splitlines()]) == (bool(codes), codes)

    def test_info_is_hidden_unless_it_is_asked_for(self, tmp_path: Path) -> None:
        write(tmp_path, {"net.py": MARKED})
        assert "EXP201" not in run("flake8", "net.py", cwd=tmp_path)[1]
        write(tmp_path, {"exportlint.toml": 'min-severity = "info"\n'})
        assert "net.py:16:27: EXP201" in run("flake8", "net.py", cwd=tmp_path)[1]

    def test_standard_input(self, tmp_path: Path) -> None:
        code, out = run("flake8", "--stdin-display-name", "src/net.py", "-", cwd=tmp_path, given=NET)
        assert (code, out.partition(" ")[0]) == (1, "src/net.py:7:12:")

    def test_imports_are_followed(self, tmp_path: Path) -> None:
        helper = "def is_dark(x):\n    return x.mean() < 0.5\n"
        code = NET.replace("x.sum() > 0", "is_dark(x)").replace(
            "from torch import nn\n", "from helper import is_dark\n", 1
        )
        code = code.replace("nn.Module", "torch.nn.Module")
        write(tmp_path, {"helper.py": helper, "net.py": code})
        assert run("flake8", ".", cwd=tmp_path)[1].startswith("./net.py:7:12: EXP101")

    @pytest.mark.parametrize("count", [1, 2])
    def test_a_wrong_setting_is_one_line(self, count: int, tmp_path: Path) -> None:
        write(tmp_path, {f"net{number}.py": NET for number in range(count)})
        write(tmp_path, {"exportlint.toml": 'mode = "strct"\n'})
        code, out = run("flake8", ".", cwd=tmp_path)
        assert code == 1
        assert re.fullmatch(
            r"There was a critical error.*:\nexportlint: .*exportlint.toml:1: `mode`: .*`strict`\?\n", out
        )


class TestRuff:
    """RUF100 removes what suppresses nothing, as far as Ruff knows."""

    CODE = "import torch\n\nNAME = torch.float  # noqa: EXP101\nOTHER = NAME  # exportlint: ignore[EXP101]\n"

    def ruff(self, root: Path, settings: str) -> list[int]:
        write(root, {"net.py": self.CODE, "pyproject.toml": settings})
        command = (
            "ruff",
            "check",
            "--no-cache",
            "--extend-select",
            "RUF100,RUF102",
            "--output-format",
            "json",
            "net.py",
        )
        result = subprocess.run(
            [sys.executable, "-m", *command], cwd=root, capture_output=True, text=True, check=False, timeout=PATIENCE
        )
        return [found["location"]["row"] for found in json.loads(result.stdout)]

    def test_the_setting_of_the_page_keeps_our_codes(self, tmp_path: Path) -> None:
        (settings,) = re.findall(r"```toml\n(\[tool\.ruff.*?)```", PAGE, re.DOTALL)
        assert set(self.ruff(tmp_path, "")) == {3}
        assert self.ruff(tmp_path, settings) == []
