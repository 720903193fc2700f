"""How a file calls what it imports, where an import goes, and which names are free."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from exportlint.analysis.domain.trails import site_of
from exportlint.analysis.project import Project
from exportlint.edits import apply
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import dotted
from exportlint.fixes.errors import DeclinedError
from exportlint.source import from_text

BODY = """
class Net:
    def forward(self, x):
        return here
"""


def code_at(text: str, path: Path, name: str = "here") -> Code:
    """As if the finding were about a name."""
    module = Project().add(from_text(text, path))
    node = next(n for n in ast.walk(module.tree) if isinstance(n, ast.Name) and n.id == name)
    return Code(module, site_of(module, node), (2, 13))


def applied(code: Code, text: str) -> str:
    fix = code.fix("", code.replace(code.expression, dotted(text)), safe=True)
    return apply(fix.edits, code.module.source.lines)


@pytest.mark.parametrize(
    ("head", "name", "written"),
    [
        ("import torch", "torch.where", "torch.where"),
        ("import torch as th", "torch.where", "th.where"),
        ("import torch.nn.functional", "torch.where", "torch.where"),
        ("import torch\nimport torch.nn.functional as F", "torch.nn.functional.pad", "F.pad"),
        ("import torch\nfrom torch import nn", "torch.nn.functional.pad", "nn.functional.pad"),
        ("import torch\nfrom torch.nn import functional", "torch.nn.functional.pad", "functional.pad"),
        ("import torch\nfrom torch import where", "torch.where", "where"),
        ("import torch\nfrom torch import where as pick", "torch.where", "pick"),
        ("try:\n    import torch\nexcept ImportError:\n    torch = None", "torch.where", "torch.where"),
        ("if available():\n    import torch", "torch.where", "torch.where"),
        ("import torch\nif available():\n    from torch import where", "torch.where", "torch.where"),
        ("import os; import torch", "torch.where", "torch.where"),
        ("with quiet():\n    import torch", "torch.where", "torch.where"),
        ("import torch\nfrom numpy import where", "torch.where", "torch.where"),
        ("from torch import *\nimport torch", "torch.where", "torch.where"),
    ],
)
def test_what_a_file_calls_it(head: str, name: str, written: str, tmp_path: Path) -> None:
    code = code_at(head + BODY, tmp_path / "x.py")
    assert applied(code, code.name(name)) == (head + BODY).replace("return here", f"return {written}")


@pytest.mark.parametrize(
    "head",
    [
        "import numpy as torch",
        "torch = 1",
        "import torch\ntorch = wrapped(torch)",
        "import torch\ndef torch(): pass",
        "import torch\nfor torch in []: pass",
        "if fast:\n    import torch\nelse:\n    import numpy as torch",
        "import torch\ntry:\n    import fast as torch\nexcept ImportError:\n    pass",
    ],
)
def test_another_thing_of_that_name(head: str, tmp_path: Path) -> None:
    with pytest.raises(DeclinedError):
        code_at(head + BODY, tmp_path / "x.py").name("torch.where")


@pytest.mark.parametrize("parameters", ["self, torch", "self, *torch", "self, **torch", "self, *, torch=1"])
def test_a_parameter_of_that_name(parameters: str, tmp_path: Path) -> None:
    text = ("import torch" + BODY).replace("self, x", parameters)
    with pytest.raises(DeclinedError):
        code_at(text, tmp_path / "x.py").name("torch.where")


@pytest.mark.parametrize(
    "body",
    [
        "torch = 1; return here",
        "import numpy as torch; return here",
        "def torch(): pass\n        return here",
        "return (lambda torch: here)(1)",
        "return [here for torch in x]",
        "for torch in x: here",
        "with x as torch: here",
        "return (torch := here)",
        "def f(): here\n        torch = 1",
    ],
)
def test_a_variable_of_that_name(body: str, tmp_path: Path) -> None:
    with pytest.raises(DeclinedError):
        code_at(("import torch" + BODY).replace("return here", body), tmp_path / "x.py").name("torch.where")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import os", "import os\nimport torch"),
        ("import os  # why", "import os  # why\nimport torch"),
        ("import os; import sys", "import os; import sys\nimport torch"),
        ("import os; x = '''\n'''", "import os; x = '''\n'''\nimport torch"),
        ('"""About."""', '"""About."""\n\nimport torch'),
        ('"""About."""\n\nfrom __future__ import annotations', None),
        ("# License\n\n'''About.'''\n# more", "# License\n\n'''About.'''\n\nimport torch\n# more"),
        ("from __future__ import annotations", None),
        ("from __future__ import annotations\n\nimport os\n\nX = 1\nimport sys", None),
        ("import os\nimport torch.nn as nn", "import os\nimport torch\nimport torch.nn as nn"),
        ("import os; import torch.nn as nn", "import os; import torch.nn as nn\nimport torch"),
        ("from torch import nn", "import torch\nfrom torch import nn"),
        ("'''About.'''; from torch import nn", "'''About.'''; from torch import nn\nimport torch"),
        (
            "import os\nif TYPE_CHECKING:\n    import torch",
            "import os\nimport torch\nif TYPE_CHECKING:\n    import torch",
        ),
        (
            "import os\ntry:\n    import a\nexcept E: pass",
            "import os\nimport torch\ntry:\n    import a\nexcept E: pass",
        ),
        ("from a import (\n    b,\n    c,\n)", "from a import (\n    b,\n    c,\n)\nimport torch"),
        ("import a, \\\n  b", "import a, \\\n  b\nimport torch"),
        ("from torch import *", "import torch\nfrom torch import *"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_where_an_import_goes(before: str, after: str | None, newline: str, tmp_path: Path) -> None:
    if after is None:
        head = before.partition("X = 1")[0]
        after = f"{head.rstrip()}\nimport torch{before[len(head.rstrip()) :]}"
    code = code_at((before + BODY).replace("\n", newline), tmp_path / "x.py")
    expected = (after + BODY).replace("here", "torch.where")
    assert applied(code, code.name("torch.where")) == expected.replace("\n", newline)
    compile(expected, "x.py", "exec")


def test_where_an_import_goes_in_a_file_without_any(tmp_path: Path) -> None:
    text = "# About.\n@a\n@b\nclass Net:\n    x = here\n"
    code = code_at(text, tmp_path / "x.py")
    expected = "# About.\nimport torch\n\n@a\n@b\nclass Net:\n    x = torch.where\n"
    assert applied(code, code.name("torch.where")) == expected


@pytest.mark.parametrize(
    "body",
    [
        "y = here", "def y(): here", "for y in here: pass", "with here as y: pass", "import y; here",
        "import y.z; here", "import z as y; here",
        "try: here\n        except E as y: pass", "global y; here", "lambda y: here",
        "match here:\n            case [*y]: pass", "match here:\n            case {**y}: pass", "return here, y",
        "return here, [y for y in x]", "class y: here", "match here:\n            case y: pass",
    ],
)  # fmt: skip
def test_a_fresh_name(body: str, tmp_path: Path) -> None:
    code = code_at(BODY.replace("return here", body), tmp_path / "x.py")
    function = next(n for n in ast.walk(code.tree.root) if isinstance(n, ast.FunctionDef) and n.name == "forward")
    inside = function.body[0]
    assert code.fresh("y", inside) == "y_1"
    assert code.fresh("y", inside) == "y_2"
    assert code.fresh("sum", inside) == "sum_1"
    assert code.fresh("Net", inside) == "Net_1"
    assert code.fix("", safe=True).names == {(3, "y_1"), (3, "y_2"), (3, "sum_1"), (3, "Net_1")}
