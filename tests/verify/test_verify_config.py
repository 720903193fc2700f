"""The table `[tool.exportlint.verify]`, and how errors in it are told."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from exportlint.config import OPTIONS, ConfigError, inline
from exportlint.config.quantities import parse_memory
from exportlint.config.schema import schema
from exportlint.config.tables import with_inner
from exportlint.config.toml import parse
from tests.cli.runner import write
from tests.configured import settings
from tests.schema import violations

TARGET = """\
[[tool.exportlint.verify.target]]
model = "shop.models:Gate"
name = "gate"
arguments = [64, "None"]
keywords = { activation = "relu" }
inputs = { arguments = ["float32[batch=2, 3]"], keywords = { mask = "bool[batch]" } }
others = "shop.tests:more"
mode = "both"
device = ["cpu", "cuda:1"]
dynamic = "dynamic"
train = true
gradients = true
tolerance = 1e-3
timeout = 60
memory = "16 GiB"
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    return tmp_path


def test_what_holds_without_it(root: Path) -> None:
    found = settings(root).verify
    assert (found.python, found.timeout, found.memory, found.jobs) == (None, 300.0, None, 1)
    assert (found.calls, found.targets) == (False, ())


def test_everything_can_be_set(root: Path) -> None:
    run = 'python = ".venv/bin/python"\ntimeout = 9\nmemory = "8 GiB"\njobs = 2\ncalls = true\n'
    write(root, {"pyproject.toml": f"[tool.exportlint.verify]\n{run}\n{TARGET}"})
    found = settings(root).verify
    assert (found.python, found.timeout, found.memory) == (str(root / ".venv/bin/python"), 9.0, 8 * 2**30)
    assert (found.jobs, found.calls) == (2, True)
    (target,) = found.targets
    assert target.values["model"] == "shop.models:Gate"
    assert target.values["device"] == ("cpu", "cuda:1")
    assert (target.values["timeout"], target.values["memory"]) == (60.0, 16 * 2**30)
    assert target.base == root
    hash(settings(root))  # settings are keys of caches


def test_a_command_is_no_path(root: Path) -> None:
    write(root, {"exportlint.toml": 'verify.python = "python3.12"\n'})
    assert settings(root).verify.python == "python3.12"


def test_the_closer_file_states_key_by_key(root: Path) -> None:
    write(
        root,
        {
            "base.toml": 'verify.timeout = 9\nverify.python = "venv/python"\nverify.target = [{ model = "a:A" }]\n',
            "one/exportlint.toml": 'extend = "../base.toml"\nverify.calls = true\n',
            "two/exportlint.toml": 'extend = "../base.toml"\n[[verify.target]]\nmodel = "b:B"\n',
        },
    )
    one, two = settings(root, "one").verify, settings(root, "two").verify
    assert (one.timeout, one.calls, one.python) == (9.0, True, str(root / "venv/python"))
    assert [(target.values["model"], target.base) for target in one.targets] == [("a:A", root)]
    assert (two.timeout, two.calls) == (9.0, False)
    assert [(target.values["model"], target.base) for target in two.targets] == [("b:B", root / "two")]


def test_the_command_line_overrides(root: Path) -> None:
    write(root, {"exportlint.toml": "[verify]\ntimeout = 9\njobs = 2\n"})
    found = settings(root, overrides=[inline("verify.timeout = 3", root)]).verify
    assert (found.timeout, found.jobs) == (3.0, 2)


@pytest.mark.parametrize(
    ("text", "line", "error"),
    [
        ("[verify]\ntimeot = 1\n", 2, "unknown setting `verify.timeot`, did you mean `timeout`?"),
        ("verify = 1\n", 1, "`verify`: expected a table, got an integer"),
        ("[verify]\njobs = 1\ntimeout = 0\n", 3, "`verify.timeout`: expected seconds above 0, got 0"),
        ("[verify]\ntimeout = inf\n", 2, "`verify.timeout`: expected seconds above 0, got inf"),
        ("[verify]\njobs = 0\n", 2, "`verify.jobs`: expected a number of at least 1, got 0"),
        ('verify.memory = "8 QB"\n', 1, "`verify.memory`: `8 QB` is not an amount of memory"),
        ("[verify]\n[[verify.target]]\n", 2, "`verify.target[0]`: `model` is missing"),
        ("[verify.target]\nmodel = 'a:A'\n", 1, "`verify.target`: expected an array of tables, got a table"),
        (
            '[[verify.target]]\nmodel = "a:A"\n\n[[verify.target]]\nmodel = "b:B"\nmodes = "strict"\n',
            6,
            "unknown setting `verify.target[1].modes`, did you mean `mode`?",
        ),
        (
            '[[verify.target]]\nmodel = "a:A"\n[[verify.target]]\nmodel = "b:B"\nmode = "strct"\n',
            5,
            "`verify.target[1].mode`: `strct` is not one of `non-strict`, `strict`, `both`; did you mean `strict`?",
        ),
        (
            '[[verify.target]]\nmodel = "a:A"\n[verify.target.inputs]\nimage = "float32[2]"\n',
            3,
            "`verify.target[0].inputs`: `image` is neither `arguments` nor `keywords`: write { keywords = { im",
        ),
        (
            'verify.target = [\n  { model = "a:A" },\n  { model = 2 },\n]\n',
            1,
            "`verify.target[1].model`: expected a str",
        ),
        ('[[verify.target]]\nmodel = "a:A"\ninputs = 3\n', 3, '`verify.target[0].inputs`: expected "pkg.mod:function"'),
        ('[[verify.target]]\nmodel = "a:A"\ndevice = []\n', 3, "`verify.target[0].device`: expected a device such as"),
        (
            '[[verify.target]]\nmodel = "a:A"\ntolerance = -1\n',
            3,
            "`verify.target[0].tolerance`: expected a number above",
        ),
    ],
)
@pytest.mark.parametrize("name", ["exportlint.toml", "pyproject.toml"])
def test_errors_name_file_line_and_what_was_meant(root: Path, name: str, text: str, line: int, error: str) -> None:
    if name == "pyproject.toml":
        text = '[project]\nname = "verify"\n[tool.exportlint]\n' + re.sub(
            r"(?m)^(\[\[?)verify", r"\1tool.exportlint.verify", text
        )
        line += 3
    write(root, {name: text})
    with pytest.raises(ConfigError) as raised:
        settings(root)
    assert str(raised.value).startswith(f"{root / name}:{line}: {error}")
    assert "\n" not in str(raised.value)


def test_an_error_found_later_still_has_its_line(root: Path) -> None:
    write(root, {"pyproject.toml": TARGET + "\n" + TARGET})
    second = settings(root).verify.targets[1]
    error = second.error("there is no such thing", "keywords", "activation")
    assert str(error) == (f"{root}/pyproject.toml:21: `verify.target[1].keywords.activation`: there is no such thing")


@pytest.mark.parametrize(
    ("text", "size"),
    [("8 GiB", 8 * 2**30), ("500MB", 500 * 10**6), ("1.5 g", 15 * 10**8), ("4096", 4096), ("2 KiB", 2048), ("7B", 7)],
)
def test_memory(text: str, size: int) -> None:
    assert parse_memory(text) == size


@pytest.mark.parametrize("text", ["", "0", "-1", "lots", "8 GiBs", "0.1 B"])
def test_no_memory(text: str) -> None:
    with pytest.raises(ValueError, match="is not an amount of memory"):
        parse_memory(text)


INNER = with_inner(OPTIONS)


@pytest.mark.parametrize("key", [key for key in INNER if key.startswith("verify")])
def test_examples_are_valid_for_parser_and_schema(root: Path, key: str) -> None:
    text = INNER[key].example
    if key.startswith("verify.target."):
        model = "" if key.endswith(".model") else 'model = "a:A"\n'
        text = f"[[verify.target]]\n{model}{text}\n"
    write(root, {"exportlint.toml": text})
    settings(root)
    described = json.loads(schema())
    assert list(violations(parse(text), described, described)) == []


def test_documented_defaults_hold(root: Path) -> None:
    keys = [key for key in INNER if re.fullmatch(r"verify\.\w+", key) and INNER[key].default]
    plain = settings(root).verify
    write(root, {"exportlint.toml": "".join(f"{key} = {INNER[key].default}\n" for key in keys)})
    assert settings(root).verify == plain
    assert len(keys) == 3


def test_the_schema_refuses_what_the_parser_refuses() -> None:
    described = json.loads(schema())
    for text in ("[verify]\ntimeot = 1\n", "[[verify.target]]\nname = 'a'\n", "verify.jobs = 0\n"):
        assert list(violations(parse(text), described, described)), text
