"""Targets that are added to the configuration: what they say, where they go, and that all else stays as it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exportlint.config import ConfigError, Configuration
from exportlint.config.toml import parse
from exportlint.verify.targets import find_targets
from exportlint.verify.targets.adding import Addition, add_target

MODELS = """\
import torch
from torch import Tensor, nn


class Config:
    scale = 2.0


class Needs(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config

    def forward(self, x):
        return x * self.config.scale


class Typed(nn.Module):
    def __init__(self, scale: Config):
        super().__init__()

    def forward(self, lengths, one: tuple[Tensor], *, flag: bool):
        return lengths


class Gate(nn.Module):
    def __init__(self, width: int, depth, name: str, *, rate: float, sizes: list[int]):
        super().__init__()

    def forward(self, x: Tensor, lengths, deep: int = 3):
        return x


class Defaults(nn.Module):
    def __init__(self, width=4, name="a\\"b", config=None, flag=True):
        super().__init__()

    def forward(self, *xs):
        return xs


class Wide(nn.Linear):
    pass


def make():
    class Hidden(nn.Module):
        def __init__(self, width):
            super().__init__()

        def forward(self, x):
            return x

    return Hidden(1)
"""
LINES = {
    "Needs": [
        'model = "models:Needs"',
        "# Needs(config) takes values that TOML cannot express: name a function that returns the model,",
        '# as in `model = "models:make_needs"`',
        "# forward(x)",
        '# inputs = ["float32[batch=2, 3]"]',
    ],
    "Typed": [
        'model = "models:Typed"',
        "# Typed(scale: Config) takes values that TOML cannot express: name a function that returns the model,",
        '# as in `model = "models:make_typed"`',
        "# forward(lengths, one: tuple[Tensor], *, flag: bool)",
        '# inputs = { arguments = ["int64[batch=2] >= 1 < 2", ["float32[batch, 3]"]], keywords = { flag = false } }',
    ],
    "Gate": [
        'model = "models:Gate"',
        "# Gate(width: int, depth, name: str, *, rate: float, sizes: list[int])",
        '# arguments = [2, 2, ""]',
        "# keywords = { rate = 0.5, sizes = [2, 2] }",
        "# forward(x: Tensor, lengths, deep: int=3)",
        '# inputs = ["float32[batch=2, 3]", "int64[batch] >= 1 < 2"]',
    ],
    "Defaults": [
        'model = "models:Defaults"',
        "# Defaults(width=4, name='a\"b', config=None, flag=True)",
        '# keywords = { width = 4, name = "a\\"b", flag = true }',
    ],
    "Wide": [
        'model = "models:Wide"',
        "# Wide(in_features, out_features)",
        "# keywords = { in_features = 2, out_features = 2 }",
    ],
}


@pytest.fixture
def models(tmp_path: Path) -> Path:
    file = tmp_path / "models.py"
    file.write_text(MODELS, encoding="utf-8")
    return file


def added(file: Path, name: str, root: Path | None = None) -> Addition:
    """What to add for a model, in a project that reaches up to the root."""
    root = root or file.parent
    return add_target(file, name, Configuration(root).for_file(file), root)


def written(addition: Addition) -> str:
    """The file as the addition leaves it, which is written."""
    text = (addition.before or "") + addition.text
    addition.file.write_bytes(text.encode())
    return text


@pytest.mark.parametrize("name", LINES)
def test_the_signature_says_what_there_is_to_complete(name: str, models: Path) -> None:
    addition = added(models, name)
    assert addition.text == "\n".join(["[[verify.target]]", *LINES[name], ""])


@pytest.mark.parametrize("name", LINES)
def test_what_is_suggested_can_be_taken_as_it_is(name: str, models: Path) -> None:
    addition = added(models, name)
    text = re.sub(r"^# (?=\w+ = )", "", addition.text, flags=re.MULTILINE)
    assert text != addition.text
    addition.file.write_text(text, encoding="utf-8")
    (target,) = find_targets([], Configuration(models.parent), models.parent).targets
    assert (target.origin, target.model.file, target.model.name) == ("configured", models, name)


@pytest.mark.parametrize(
    ("files", "expected", "header"),
    [
        ([], "exportlint.toml", "[[verify.target]]"),
        (["pyproject.toml"], "pyproject.toml", "[[tool.exportlint.verify.target]]"),
        (["pyproject.toml", "exportlint.toml"], "exportlint.toml", "[[verify.target]]"),
        ([".exportlint.toml"], ".exportlint.toml", "[[verify.target]]"),
        (["src/shop/pyproject.toml"], "src/shop/pyproject.toml", "[[tool.exportlint.verify.target]]"),
        (["exportlint.toml", "src/pyproject.toml"], "exportlint.toml", "[[verify.target]]"),
    ],
)
def test_the_file_is_that_which_holds(files: list[str], expected: str, header: str, tmp_path: Path) -> None:
    model = tmp_path / "src" / "shop" / "models.py"
    model.parent.mkdir(parents=True)
    model.write_text(MODELS, encoding="utf-8")
    for file in files:
        (tmp_path / file).write_text("", encoding="utf-8")
    addition = added(model, "Needs", tmp_path)
    assert addition.file == tmp_path / expected
    assert (addition.before is None) is (not files)
    written(addition)
    (target,) = find_targets([], Configuration(tmp_path), addition.file.parent).targets
    assert (target.model.file, target.place[0]) == (model, model)


def test_a_file_that_cannot_be_imported_by_a_name_is_named_by_its_path(tmp_path: Path) -> None:
    model = tmp_path / "my models" / "net.py"
    model.parent.mkdir()
    model.write_text(MODELS, encoding="utf-8")
    assert 'model = "my models/net.py::Needs"\n' in written(added(model, "Needs", tmp_path))
    (target,) = find_targets([], Configuration(tmp_path), tmp_path).targets
    assert target.model.file == model


@pytest.mark.parametrize(
    ("before", "gap"),
    [
        ("", ""),
        ("[project]\nname = 'x'\n", "\n"),
        ("[project]\nname = 'x'", "\n\n"),
        ("[project]\nname = 'x'\n\n", ""),
        ("[project]\r\nname = 'x'\r\n", "\r\n"),
        ("[project]\r\nname = 'x'", "\r\n\r\n"),
        ("[tool.exportlint]\nverify.timeout = 5\n", "\n"),
        ("[tool.exportlint.verify]\ntimeout = 5\n[[tool.exportlint.verify.target]]\nmodel = 'models:Gate'\n", "\n"),
    ],
)
def test_the_table_is_appended_in_the_style_of_the_file(before: str, gap: str, models: Path) -> None:
    file = models.with_name("pyproject.toml")
    file.write_bytes(before.encode())
    addition = added(models, "Needs")
    assert (addition.before, addition.text.partition("[")[0]) == (before, gap)
    text = written(addition)
    assert text.startswith(before)
    assert text.count("\n") == text.count("\r\n") or "\r" not in text
    assert text.split("\n")[addition.row - 1].rstrip("\r") == "[[tool.exportlint.verify.target]]"
    assert "models:Needs" in [t.name for t in find_targets([], Configuration(models.parent), models.parent).targets]


@given(
    before=st.lists(
        st.sampled_from(
            ["[tool.exportlint]", "mode = 'strict'", "[project]", "x.y = 1", "z = {a = [1,\n2]}", "# é", "", "[[a.b]]"]
        ),
        max_size=6,
    ).map("\n".join)
)
def test_whatever_the_file_says_it_says_afterwards(before: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("project")
    (folder / "models.py").write_text(MODELS, encoding="utf-8")
    (folder / "pyproject.toml").write_text(before, encoding="utf-8")
    try:
        addition = added(folder / "models.py", "Needs")
    except ConfigError:
        return  # it was no configuration before
    document = parse(written(addition))
    target = document["tool"]["exportlint"]["verify"].pop("target")
    assert target == [{"model": "models:Needs"}]
    del document["tool"]["exportlint"]["verify"]
    assert {**parse(before).get("tool", {}).get("exportlint", {})} == document["tool"]["exportlint"]
    assert {k: v for k, v in parse(before).items() if k != "tool"} == {k: v for k, v in document.items() if k != "tool"}


@pytest.mark.parametrize(
    ("before", "name", "said"),
    [
        ("[tool.exportlint]\nverify = { timeout = 5 }\n", "Needs", "write `verify` as a table"),
        ("[tool.exportlint.verify]\ntarget = [{ model = 'models:Gate' }]\n", "Needs", "a target cannot be appended"),
        ("[[tool.exportlint.verify.target]]\nmodel = 'models:Needs'\n", "Needs", "a target for `Needs` already"),
        ("[[tool.exportlint.verify.target]]\nmodel = 'models.py::Needs'\n", "Needs", "a target for `Needs` already"),
        ("[project\n", "Needs", "not valid TOML"),
        ("", "Nedes", "did you mean `Needs`"),
        ("", "Config", "`Config` is not a `torch.nn.Module`"),
        ("", "make.<locals>.Hidden", "`make.<locals>.Hidden` is defined inside of a function"),
    ],
)
def test_what_cannot_be_added_is_said(before: str, name: str, said: str, models: Path) -> None:
    models.with_name("pyproject.toml").write_text(before, encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        added(models, name)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
