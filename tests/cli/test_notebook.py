"""Notebooks as users see them: what is found in which cell, and what becomes of the file."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.notebooks import NET_CELL, code, markdown, notebook, sources
from tests.cli.runner import NET, Run, write
from tests.patience import PATIENCE

IMPORTS = "%pip install -q torch\nfrom torch import nn"
BRANCH = """\
class Net(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x + 1
        return x * 2"""
"""A module with one finding, EXP101 at 3:12, whose fix needs `import torch`."""

DROPOUT = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout()

    def forward(self, x):
        return self.drop(x)"""

PLAIN = notebook(markdown("# Title"), IMPORTS, NET_CELL)
FIXED = PLAIN.replace(".data", ".detach()")


def test_findings_are_told_by_cell(root: Path, run: Run) -> None:
    write(root, {"a.ipynb": PLAIN})
    result = run("--output-format", "concise")
    assert result.code == 1
    assert result.out.startswith("a.ipynb:cell 3:4:16: error[EXP301 tensor-data]: [*] `.data` hides")
    assert "\n  cell 3:4:16  error[EXP301 tensor-data]: [*] " in "\n" + run("--output-format", "grouped").out


def test_full(root: Path, run: Run) -> None:
    write(root, {"a.ipynb": notebook(IMPORTS, "%%time\n!nproc\n" + BRANCH)})
    assert (
        run("--unsafe-fixes").out
        == """\
error[EXP101 tensor-branch]: [*] `if` on tensor data: torch.export cannot know which branch to take
  --> a.ipynb:cell 2:5:12
   |
 3 | class Net(nn.Module):
 4 |     def forward(self, x):
 5 |         if x.sum() > 0:
   |            ^^^^^^^^^^^
 6 |             return x + 1
 7 |         return x * 2
   |
   = trail: `x` is an input of `Net.forward` (a.ipynb:cell 2:4:23)
   = help: compute both branches and choose with `torch.where`, or use `torch.cond`
help: Choose with `torch.where`
  ::: cell 1
   |
 1 | %pip install -q torch
 2 + import torch
 3 | from torch import nn
   |
  ::: cell 2
   |
 4 |     def forward(self, x):
   -         if x.sum() > 0:
   -             return x + 1
   -         return x * 2
 5 +         return torch.where(x.sum() > 0, x + 1, x * 2)
   |

Found 1 finding (1 error, 0 warnings).
[*] 1 fixable with `--fix`.
"""
    )


def test_magics_are_shown_as_they_are(root: Path, run: Run) -> None:
    write(root, {"a.ipynb": notebook(IMPORTS, "%%time\n" + NET_CELL + "\n!nproc")})
    out = run().out
    assert "\n 6 | !nproc\n" in out
    write(root, {"a.ipynb": notebook("%%time\ndef f(:")})
    assert "\n 1 | %%time\n 2 | def f(:\n   |       ^\n" in run().out


def test_json(root: Path, run: Run) -> None:
    write(root, {"a.ipynb": notebook(IMPORTS, BRANCH)})
    (finding,) = run("--output-format", "json").findings
    assert finding["cell"] == 2
    assert (finding["location"], finding["end_location"]) == ({"row": 3, "column": 12}, {"row": 3, "column": 23})
    assert [(step["cell"], step["location"]["row"]) for step in finding["trail"]] == [(2, 2)]
    assert [(edit["cell"], edit["location"]["row"]) for edit in finding["fix"]["edits"]] == [(1, 2), (2, 3)]


def test_github_gets_rows_of_the_file(root: Path, run: Run) -> None:
    write(root, {"a.ipynb": PLAIN})
    out = run("--output-format", "github").out
    row = next(row for row, line in enumerate(PLAIN.splitlines(), start=1) if ".data" in line)
    assert f",file={root}/a.ipynb,line={row},endLine={row}::a.ipynb:cell 3:4:16: EXP301" in out


def test_a_helper_in_another_file_has_no_cell(root: Path, run: Run) -> None:
    write(root, {"helper.py": "def dark(x):\n    return x.sum() > 0\n"})
    cells = ["from torch import nn\nfrom helper import dark", BRANCH.replace("x.sum() > 0", "dark(x)")]
    write(root, {"a.ipynb": notebook(*cells)})
    (finding,) = run("--output-format", "json").findings
    assert (Path(finding["filename"]).name, finding["cell"], finding["location"]["row"]) == ("a.ipynb", 2, 3)
    found = [(Path(step["filename"]).name, step["cell"]) for step in finding["trail"]]
    assert ("a.ipynb", 2) in found
    assert all((name == "helper.py") == (cell is None) for name, cell in found)


def test_lines_in_messages_are_those_of_cells(root: Path, run: Run) -> None:
    cells = [
        "import torch\nfrom torch import nn",
        DROPOUT,
        "net = Net()\nprogram = torch.export.export(net, (torch.randn(2, 3),))",
        "\nnet.eval()",
    ]
    write(root, {"a.ipynb": notebook(*cells), "a.py": "\n".join(cells)})
    told = {
        Path(f["filename"]).name: f["message"] for f in run("--output-format", "json", "--select", "EXP806").findings
    }
    assert "`.eval()` in line 13 comes after" in told["a.py"]
    assert "`.eval()` in line 2 of cell 4 comes after" in told["a.ipynb"]


def test_an_error_in_one_cell_hides_nothing_in_the_others(root: Path, run: Run) -> None:
    text = notebook(IMPORTS, "def f(:", "await g()\nreturn", NET_CELL + "  # exportlint: ignore[EXP101]")
    write(root, {"a.ipynb": text})
    found = [(f["cell"], f["code"], f["fix"]) for f in run("--output-format", "json").findings]
    assert found == [(2, "EXP001", None), (4, "EXP301", None)]
    result = run("--fix")
    assert (result.code, (root / "a.ipynb").read_text()) == (1, text)
    assert run("--add-ignore").out == "Added 1 suppression.\n"
    assert [f["cell"] for f in run("--output-format", "json").findings] == [2]
    write(root, {"a.ipynb": notebook("# exportlint: file-ignore", "def f(:", IMPORTS, NET_CELL)})
    assert [f["cell"] for f in run("--output-format", "json").findings] == [2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{\n"cells": [}', "a.ipynb:2:11: error[EXP003 unreadable-file]: is not a notebook, because it is not JSON"),
        (
            notebook(nbformat=3),
            "a.ipynb:1:1: error[EXP003 unreadable-file]: is a notebook of format 3, which is too old",
        ),
    ],
)
def test_what_cannot_be_read_is_told(root: Path, run: Run, text: str, message: str) -> None:
    write(root, {"a.ipynb": text})
    for argv in ((), ("a.ipynb",)):
        result = run(*argv, "--output-format", "concise")
        assert (result.code, result.out.partition(":")[0]) == (1, "a.ipynb")
        assert message.partition(" ")[2] in result.out


@pytest.mark.parametrize("text", [notebook(), notebook(markdown("x")), notebook(NET, language="julia")])
def test_without_python_there_is_nothing_to_find(root: Path, run: Run, text: str) -> None:
    write(root, {"a.ipynb": text})
    for argv in ((), ("a.ipynb",), ("--fix",)):
        result = run(*argv)
        assert (result.code, result.out, result.err) == (0, "All checks passed!\n", "")


def test_notebooks_are_found_and_can_be_left_out(root: Path, run: Run) -> None:
    write(root, {"a.ipynb": PLAIN, "b/c.ipynb": PLAIN, "b/.ipynb_checkpoints/c.ipynb": PLAIN})
    assert len(run("--output-format", "json").findings) == 2
    assert len(run("a.ipynb", "--output-format", "json").findings) == 1
    assert run("--exclude", "*.ipynb").code == 0
    write(root, {"exportlint.toml": 'include = ["*.py"]\n'})
    assert run().code == 0


def test_standard_input(root: Path, run: Run) -> None:
    result = run("-", "--stdin-filename", "a.ipynb", "--output-format", "concise", stdin=PLAIN.encode())
    assert result.out.startswith("a.ipynb:cell 3:4:16: ")
    assert run("-", "--stdin-filename", "a.ipynb", "--fix", stdin=PLAIN.encode()).out == FIXED


def test_suppressions(root: Path, run: Run) -> None:
    line = NET_CELL + "  # exportlint: ignore[EXP301]"
    write(root, {"a.ipynb": notebook(IMPORTS, line)})
    assert run().code == 0
    write(root, {"a.ipynb": notebook(IMPORTS, NET_CELL, "# exportlint: file-ignore[EXP301]")})
    assert run().code == 0
    write(root, {"a.ipynb": notebook(IMPORTS, NET_CELL, "%%bash\n# exportlint: file-ignore[EXP301]")})
    assert run().code == 1
    write(
        root, {"a.ipynb": notebook("# exportlint: file-ignore[EXP301]", "x = 1  # exportlint: ignore[EXP301]\ny = 2")}
    )
    assert [(f["cell"], f["code"]) for f in run("--output-format", "json").findings] == [(1, "EXP002"), (2, "EXP002")]
    assert run("--fix").code == 0
    assert sources(root / "a.ipynb") == ["", "x = 1\ny = 2"]


SPELLINGS = [
    PLAIN,
    PLAIN.rstrip("\n"),
    json.dumps(json.loads(PLAIN)),
    json.dumps(json.loads(PLAIN), indent="\t", sort_keys=True) + "\n\n",
    PLAIN.replace("\n", "\r\n"),
    "\ufeff" + PLAIN,
    notebook(
        markdown("é 字"), {"cell_type": "code", "source": IMPORTS + "\n# é"}, {"source": NET_CELL, "cell_type": "code"}
    ),
    json.dumps(json.loads(notebook(markdown("é"), IMPORTS + "\n# é", NET_CELL + "\n# é"))),
    notebook(IMPORTS, NET_CELL, markdown("😀"), metadata={"widgets": {"b": 1.50, "a": 1e5}}).replace("1.5,", "1.50,"),
]


@pytest.mark.parametrize("text", SPELLINGS)
def test_a_fix_changes_nothing_else(root: Path, run: Run, text: str) -> None:
    (root / "a.ipynb").write_bytes(text.encode())
    result = run("--fix")
    assert (result.code, result.out) == (0, "Found 1 finding (1 fixed, 0 remaining).\n")
    assert (root / "a.ipynb").read_bytes().decode() == text.replace(".data", ".detach()")
    assert run("--fix").out == "All checks passed!\n"
    assert (root / "a.ipynb").read_bytes().decode() == text.replace(".data", ".detach()")


@pytest.mark.parametrize("text", SPELLINGS)
def test_a_suppression_changes_nothing_else(root: Path, run: Run, text: str) -> None:
    (root / "a.ipynb").write_bytes(text.encode())
    assert run("--add-ignore=as it is").out == "Added 1 suppression.\n"
    written = "y.data + 1  # exportlint: ignore[tensor-data] as it is"
    assert (root / "a.ipynb").read_bytes().decode() == text.replace("y.data + 1", written)
    assert run().code == 0


def test_a_difference_applies(root: Path, run: Run) -> None:
    write(root, {"a.ipynb": PLAIN})
    result = run("--diff")
    assert (result.code, (root / "a.ipynb").read_text()) == (1, PLAIN)
    subprocess.run(["git", "apply", "-p0"], cwd=root, input=result.out, text=True, check=True, timeout=PATIENCE)
    assert (root / "a.ipynb").read_text() == FIXED


COPIED = """\
class Net(nn.Module):
    def forward(self, x):
        y = copy.deepcopy(x)
        return y + 1
"""


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("import copy\nimport torch\nfrom torch import nn", "import torch\nfrom torch import nn"),
        ("from torch import nn; import copy", "from torch import nn; import copy"),
    ],
)
def test_an_import_that_a_fix_leaves_unused_goes_from_its_cell(root: Path, run: Run, cell: str, expected: str) -> None:
    write(root, {"a.ipynb": notebook(cell, COPIED), "b.ipynb": notebook("import copy", "from torch import nn", COPIED)})
    run("--fix", "--unsafe-fixes")
    after, alone = sources(root / "a.ipynb"), sources(root / "b.ipynb")
    assert after == [expected, COPIED.replace("copy.deepcopy(x)", "x.clone()")]
    assert alone[0] == "import copy"  # a cell stays that has nothing else
    _run_cells(after)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        # in front of what the cells below need anyway
        ([IMPORTS, BRANCH], {0: IMPORTS.replace("from", "import torch\nfrom")}),
        (
            ["!pip install torch", "SEED = 1\nfrom torch import nn", BRANCH],
            {1: "SEED = 1\nimport torch\nfrom torch import nn"},
        ),
        # what a cell below brings is not there yet
        ([IMPORTS, BRANCH, "import torch\nNet()(torch.ones(2))"], {0: IMPORTS.replace("from", "import torch\nfrom")}),
        # nothing to import
        (["import torch\nfrom torch import nn", BRANCH], {}),
    ],
)
def test_imports_are_there_when_they_are_needed(
    root: Path, run: Run, cells: list[str], expected: dict[int, str]
) -> None:
    write(root, {"a.ipynb": notebook(*cells)})
    result = run("--fix", "--unsafe-fixes")
    after = sources(root / "a.ipynb")
    assert result.code == 0
    for index, cell in enumerate(cells):
        if index in expected:
            assert after[index] == expected[index]
        elif cell == BRANCH:
            assert "torch.where(x.sum() > 0, x + 1, x * 2)" in after[index]
        else:
            assert after[index] == cell
    _run_cells(after)


def _run_cells(cells: list[str]) -> None:
    """Runs a notebook from top to bottom, each cell as soon as it is there, and what magics would do left out."""
    pytest.importorskip("torch")
    from exportlint.source.magics import mask

    names: dict[str, object] = {}
    for cell in cells:
        exec(mask(cell).text, names)
        if "Net" in names:
            exec("assert Net()(__import__('torch').ones(2)).tolist() == [2, 2]", names)


def test_the_cell_of_the_edit_gets_an_import_that_nothing_else_needs(root: Path, run: Run) -> None:
    cell = "%%time\n\nfrom lightning import LightningModule\n" + BRANCH.replace("nn.Module", "LightningModule")
    write(root, {"a.ipynb": notebook("import os\n%pip install torch lightning", cell)})
    run("--fix", "--unsafe-fixes")
    first, second = sources(root / "a.ipynb")
    assert first == "import os\n%pip install torch lightning"
    assert second.startswith("%%time\n\nfrom lightning import LightningModule\nimport torch\nclass Net")


def test_what_magics_may_need_is_left_alone(root: Path, run: Run) -> None:
    cell = NET_CELL.replace("        return", "        %time y.mean()\n        return")
    text = notebook(IMPORTS, cell, code(NET_CELL.replace("Net", "Other")))
    write(root, {"a.ipynb": text})
    found = run("--output-format", "json").findings
    assert [(f["cell"], f["fix"] is None) for f in found] == [(2, True), (3, False)]
    run("--fix")
    assert sources(root / "a.ipynb") == [IMPORTS, cell, NET_CELL.replace("Net", "Other").replace(".data", ".detach()")]


def test_many_processes_see_the_same(root: Path, run: Run) -> None:
    write(root, {f"{i}.ipynb": PLAIN for i in range(12)})
    assert run("--jobs", "2").out == run("--jobs", "1").out
    run("--fix", "--jobs", "2")
    assert {(root / f"{i}.ipynb").read_text() for i in range(12)} == {FIXED}


def test_a_cell_with_a_magic_without_its_sign_is_no_syntax_error(root: Path, run: Run) -> None:
    cells = [
        code("cd LearningToPaint/"),
        code("pip install torch"),
        code("from torch import nn"),
        code(NET_CELL),
        code("cd a\ncd b"),
    ]
    write(root, {"n.ipynb": notebook(*cells)})
    found = run("--output-format", "json").findings
    assert [(finding["cell"], finding["code"]) for finding in found] == [(4, "EXP301"), (5, "EXP001")]
