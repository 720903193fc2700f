from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import exportlint
from exportlint.cli.overrides import configuration as cli_configuration
from exportlint.cli.parser import parse
from exportlint.config import OPTIONS, ConfigError
from exportlint.config.choice import ALWAYS
from exportlint.config.schema import pyproject_schema, schema
from exportlint.config.torch_version import NEWEST, detect_torch_version, parse_torch_version
from exportlint.registry import all_rules, expand
from tests.cli.runner import write
from tests.configured import settings
from tests.schema import violations


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    directory = tmp_path / "root"
    directory.mkdir()
    return directory


class TestDiscovery:
    def test_defaults(self, root: Path) -> None:
        found = settings(root)
        assert (found.root, found.file, found.mode) == (root, None, "non-strict")
        assert found.rules == expand("ALL")
        assert found.src == (root, root / "src")
        assert (found.output_format, found.entry_points, found.module_bases) == ("full", ("forward",), ())
        assert (found.force_exclude, found.respect_gitignore) == (False, True)

    @pytest.mark.parametrize(
        ("file", "text"),
        [
            ("exportlint.toml", 'mode = "strict"\n'),
            (".exportlint.toml", 'mode = "strict"\n'),
            ("pyproject.toml", '[tool.exportlint]\nmode = "strict"\n'),
            ("pyproject.toml", 'tool.exportlint.mode = "strict"\n'),
            ("exportlint.toml", '\ufeffmode = "strict"\r\n'),
        ],
    )
    def test_files(self, root: Path, file: str, text: str) -> None:
        write(root, {file: text})
        found = settings(root, "a/b/c")
        assert (found.mode, found.file, found.root) == ("strict", root / file, root)

    def test_the_closest_file_wins_and_nothing_is_merged(self, root: Path) -> None:
        write(root, {"exportlint.toml": 'mode = "strict"\n', "a/exportlint.toml": 'output-format = "json"\n'})
        assert settings(root, "a/b").mode == "non-strict"
        assert settings(root, "a/b").output_format == "json"
        assert settings(root, "b").mode == "strict"

    def test_order_within_a_directory(self, root: Path) -> None:
        write(root, dict.fromkeys((".exportlint.toml", "exportlint.toml"), 'mode = "strict"\n'))
        write(root, {"pyproject.toml": "[tool.exportlint]\n"})
        assert settings(root).file == root / ".exportlint.toml"
        (root / ".exportlint.toml").unlink()
        assert settings(root).file == root / "exportlint.toml"

    @pytest.mark.parametrize("text", ['[project]\nname = "exportlint-user"\n', "[tool.ruff]\n", "", "not toml at all"])
    def test_a_pyproject_of_others_is_passed_over(self, root: Path, text: str) -> None:
        write(root, {"exportlint.toml": 'mode = "strict"\n', "a/pyproject.toml": text})
        assert settings(root, "a").mode == "strict"

    def test_user_level_file_holds_where_there_is_none(self, root: Path) -> None:
        write(root.parent / "user", {"exportlint/exportlint.toml": 'mode = "strict"\n'})
        assert settings(root).mode == "strict"
        assert settings(root).root == root
        assert settings(root, isolated=True).mode == "non-strict"
        write(root, {"exportlint.toml": ""})
        assert settings(root).mode == "non-strict"

    def test_a_named_file_replaces_the_others(self, root: Path) -> None:
        write(root, {"exportlint.toml": 'mode = "strict"\n', "conf/other.toml": 'extend-exclude = ["gen/x"]\n'})
        found = settings(root, "a", file=root / "conf/other.toml")
        assert found.mode == "non-strict"
        assert (found.root, found.extend_exclude) == (root, ("gen/x",))


class TestExtend:
    def test_chain(self, root: Path) -> None:
        write(
            root,
            {
                "base.toml": 'mode = "strict"\nselect = ["EXP0"]\nextend-exclude = ["gen/a"]\nsrc = ["lib"]\n',
                "mid.toml": 'extend = "base.toml"\noutput-format = "json"\nextend-select = ["EXP1"]\n',
                "a/exportlint.toml": 'extend = "../mid.toml"\nextend-exclude = ["b/*.py"]\nignore = ["EXP002"]\n',
            },
        )
        found = settings(root, "a")
        assert (found.mode, found.output_format, found.root) == ("strict", "json", root / "a")
        assert found.rules == (expand("EXP0") | expand("EXP1")) - {"EXP002"}
        assert found.extend_exclude == (f"{root.as_posix()}/gen/a", "b/*.py")
        assert found.src == (root / "lib",)

    def test_own_settings_win(self, root: Path) -> None:
        write(
            root, {"base.toml": 'mode = "strict"\n', "exportlint.toml": 'extend = "base.toml"\nmode = "non-strict"\n'}
        )
        assert settings(root).mode == "non-strict"

    def test_pyproject_can_be_extended(self, root: Path) -> None:
        write(root, {"pyproject.toml": '[tool.exportlint]\nmode = "strict"\n'})
        write(root, {"a/exportlint.toml": 'extend = "../pyproject.toml"\n'})
        assert settings(root, "a").mode == "strict"

    @pytest.mark.parametrize(
        ("files", "error"),
        [
            ({"exportlint.toml": 'extend = "exportlint.toml"\n'}, "`extend` is circular"),
            (
                {"exportlint.toml": 'extend = "b.toml"\n', "b.toml": 'extend = "./exportlint.toml"\n'},
                "is circular",
            ),
            ({"exportlint.toml": 'extend = "nothing.toml"\n'}, "`extend`: there is no file"),
            ({"exportlint.toml": 'extend = "b.toml"\n', "b.toml": "mdoe = 1\n"}, "b.toml:1: unknown setting `mdoe`"),
        ],
    )
    def test_errors(self, root: Path, files: dict[str, str], error: str) -> None:
        write(root, files)
        with pytest.raises(ConfigError, match=re.escape(error)):
            settings(root)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("mdoe = 1\n", ":1: unknown setting `mdoe`, did you mean `mode`?"),
        ('\n\ntorch_version = "2.13"\n', ":3: unknown setting `torch_version`, did you mean `torch-version`?"),
        ("zzz = 1\n", ":1: unknown setting `zzz`"),
        ("[lint]\nselect = []\n", ":1: unknown setting `lint`"),
        ('mode = "strct"\n', ":1: `mode`: `strct` is not one of `non-strict`, `strict`; did you mean `strict`"),
        ("mode = true\n", ":1: `mode`: expected a string, got a boolean"),
        ("force-exclude = 1\n", ":1: `force-exclude`: expected a boolean, got an integer"),
        ('\nselect = "EXP1"\n', ":2: `select`: expected an array of strings, got a string"),
        ('dynamic-dims = ["a"]\n', ":1: `dynamic-dims`: expected an array of integers, got one that holds a string"),
        ("select = [1]\n", ":1: `select`: expected an array of strings, got one that holds an integer"),
        ('select = ["EXP1", "EXP7777"]\n', ":1: `select`: unknown rule selector `EXP7777`"),
        ("per-file-ignores = []\n", ":1: `per-file-ignores`: expected a table of patterns and rules, got an array"),
        ('[per-file-ignores]\n"a.py" = ["E501"]\n', ":1: `per-file-ignores`: unknown rule selector `E501`"),
        ("torch-version = 2.13\n", ':1: `torch-version`: expected a string, got a float: write "2.13"'),
        ('torch-version = "2.3.1"\n', ":1: `torch-version`: torch 2.3.1 is too old: exportlint knows 2.4 and newer"),
        ('torch-version = "latest"\n', ":1: `torch-version`: `latest` is not a torch version such as `2.13`"),
        ('mode = "strict"\nselect = [\n', ":2: not valid TOML"),
        ('mode = "strict"\nmode = "strict"\n', ":2: not valid TOML"),
        ("mode = \n", ":1: not valid TOML"),
    ],
)
@pytest.mark.parametrize("file", ["exportlint.toml", "pyproject.toml"])
def test_errors_name_file_line_and_what_was_meant(root: Path, file: str, text: str, error: str) -> None:
    if file == "pyproject.toml":
        text = "[tool.exportlint]\n" + re.sub(r"(?m)^\[([\w-]+)\]", r"[tool.exportlint.\1]", text)
        error = re.sub(r"^:(\d)", lambda row: f":{int(row[1]) + 1}", error)
    write(root, {file: text})
    with pytest.raises(ConfigError) as raised:
        settings(root)
    assert str(raised.value).startswith(f"{root / file}{error}")
    assert "\n" not in str(raised.value)


def test_a_table_of_pyproject_in_another_file_is_explained(root: Path) -> None:
    write(root, {"exportlint.toml": '[tool.exportlint]\nmode = "strict"\n'})
    with pytest.raises(
        ConfigError, match=r"`tool`: write the settings at the top level, without \[tool\.exportlint\]$"
    ):
        settings(root)


def test_errors_in_subtables_and_bytes(root: Path) -> None:
    write(root, {"pyproject.toml": '[project]\nmode = 1\n\n[tool.exportlint.per-file-ignores]\n"a.py" = ["E501"]\n'})
    with pytest.raises(ConfigError, match=r"pyproject\.toml:4: `per-file-ignores`: unknown rule selector `E501`"):
        settings(root)
    (root / "exportlint.toml").write_bytes(b"\nmode = '\xff'\n")
    with pytest.raises(ConfigError, match=r"exportlint\.toml:2: not UTF-8"):
        settings(root)


class TestSelection:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", "ALL"),
            ('select = ["EXP0"]', "EXP0"),
            ('select = ["ALL"]\nignore = ["EXP0"]', "-EXP0"),
            ('select = ["EXP002"]\nignore = ["EXP0"]', "EXP002"),
            ('select = ["EXP0"]\nignore = ["EXP002"]', "EXP0 -EXP002"),
            ('select = ["linter"]\nignore = ["unused-suppression"]', "EXP0 -EXP002"),
            ('select = ["EXP002"]\nignore = ["EXP002"]', ""),
        ],
    )
    def test_the_narrower_selector_decides(self, root: Path, text: str, expected: str) -> None:
        write(root, {"exportlint.toml": text})
        codes: set[str] = set()
        for part in (expected or "-ALL").split():
            codes = (codes or set(expand("ALL"))) - expand(part[1:]) if part[0] == "-" else codes | expand(part)
        ignored = 'ignore = ["EXP0"]' in text
        assert settings(root).rules == codes | (set() if ignored else ALWAYS)

    @pytest.mark.parametrize(
        ("pattern", "file", "ignored"),
        [
            ("a.py", "x/y/a.py", True),
            ("a.py", "x/y/ba.py", False),
            ("*_gen.py", "x/m_gen.py", True),
            ("x/*.py", "x/a.py", True),
            ("x/**", "x/y/a.py", True),
            ("**/y/*.py", "x/y/a.py", True),
            ("y/*.py", "x/y/a.py", False),
            ("{x,z}/*.py", "z/a.py", True),
            ("!x/*.py", "z/a.py", True),
            ("!x/*.py", "x/a.py", False),
        ],
    )
    def test_per_file_ignores(self, root: Path, pattern: str, file: str, ignored: bool) -> None:
        write(root, {"exportlint.toml": f'per-file-ignores = {{ "{pattern}" = ["EXP002"] }}\n'})
        found = settings(root)
        assert ("EXP002" not in found.rules_for(root / file)) == ignored
        assert "EXP001" in found.rules_for(root / file)

    def test_patterns_of_an_extended_file_are_relative_to_it(self, root: Path) -> None:
        write(
            root,
            {
                "conf[1]/base.toml": 'extend-per-file-ignores = { "x/*.py" = ["EXP001"], "../y/*.py" = ["EXP003"] }\n',
                "exportlint.toml": 'extend = "conf[1]/base.toml"\nextend-per-file-ignores = { "*.py" = ["EXP002"] }\n',
            },
        )
        found = settings(root)
        everything = expand("ALL")
        assert found.rules_for(root / "conf[1]/x/a.py") == everything - {"EXP001", "EXP002"}
        assert found.rules_for(root / "x/a.py") == everything - {"EXP002"}
        assert found.rules_for(root / "y/a.py") == everything - {"EXP002", "EXP003"}


class TestTorchVersion:
    @pytest.mark.parametrize(
        ("text", "version"),
        [
            ("2.13", (2, 13)),
            ("2.13.0", (2, 13)),
            ("2.13.0+cpu", (2, 13)),
            ("2.4", (2, 4)),
            ("2.16.0.dev20270101+cu130", (2, 16)),
            ("2.14.0a0+gitabc123", (2, 14)),
            ("2.14.0rc2", (2, 14)),
            ("3.0", (3, 0)),
            (" 2.13 ", (2, 13)),
        ],
    )
    def test_accepted(self, text: str, version: tuple[int, int]) -> None:
        assert parse_torch_version(text) == version

    @pytest.mark.parametrize(
        "text", ["", "2", "2.", ".13", "v2.13", "2.13 cpu", "two", "2.3", "1.13.1", "-2.13", "2.x"]
    )
    def test_refused(self, text: str) -> None:
        with pytest.raises(ValueError, match=r"not a torch version|too old"):
            parse_torch_version(text)

    @given(st.text())
    def test_any_text_is_a_version_or_a_value_error(self, text: str) -> None:
        try:
            major, minor = parse_torch_version(text)
        except ValueError:
            return
        assert text.strip().startswith(f"{major}.{minor}") or text.strip()[0].isdigit()

    @staticmethod
    def _install(environment: Path, version: str) -> None:
        (environment / "lib/python3.12/site-packages" / f"torch-{version}.dist-info").mkdir(parents=True)

    def test_the_environment_of_the_project(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        all_rules()  # which could not be imported any more
        monkeypatch.setattr(sys, "path", [])
        assert detect_torch_version(root) is None
        assert (settings(root).torch_version, settings(root).torch_assumed) == (NEWEST, True)
        self._install(root / "venv", "2.5.1")
        assert detect_torch_version(root) == (2, 5)
        self._install(root / ".venv", "2.6.0+cpu")
        assert detect_torch_version(root) == (2, 6)
        monkeypatch.setenv("VIRTUAL_ENV", str(root / "empty"))
        assert detect_torch_version(root) == (2, 6)
        self._install(root / "active", "2.9.0")
        monkeypatch.setenv("VIRTUAL_ENV", str(root / "active"))
        assert detect_torch_version(root) == (2, 9)
        assert (settings(root).torch_version, settings(root).torch_assumed) == ((2, 9), False)

    def test_the_environment_of_exportlint(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (root / "lib" / "torch-2.7.0a0+git1.dist-info").mkdir(parents=True)
        (root / "lib" / "torch_geometric-2.6.1.dist-info").mkdir()
        (root / "lib" / "torch-nonsense.dist-info").mkdir()
        monkeypatch.setattr(sys, "path", ["/nothing", str(root / "lib")])
        assert detect_torch_version(root) == (2, 7)

    def test_an_old_one_counts_as_the_oldest_known(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "path", [])
        self._install(root / ".venv", "1.13.1")
        assert detect_torch_version(root) == (2, 4)


def _settings_of(schema: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for key, about in {**schema.get("properties", {}), **schema.get("items", {}).get("properties", {})}.items():
        yield prefix + key, about
        yield from _settings_of(about, f"{prefix}{key}.")


class TestOptions:
    def test_the_shipped_schema_is_current(self) -> None:
        shipped = Path(exportlint.__file__).parent / "exportlint.schema.json"
        assert shipped.read_text() == schema(), "python -m exportlint.config.schema > exportlint/exportlint.schema.json"
        assert set(json.loads(schema())["properties"]) == set(OPTIONS)

    def test_the_schema_says_where_it_is_and_describes_every_setting(self) -> None:
        document = json.loads(schema())
        assert document["$id"].endswith("/exportlint/exportlint.schema.json")
        described = list(_settings_of(document))
        assert {"output-format", "verify.target.model"} <= {name for name, _ in described}
        for name, about in described:
            assert about["description"], name
            if "default" in about:
                assert [*violations(about["default"], about, document)] == [], name
        for key, option in OPTIONS.items():
            assert ("default" in document["properties"][key]) == bool(option.default)

    def test_the_schema_has_the_form_of_schemastore(self) -> None:
        document = json.loads(schema())
        assert document["$schema"] == "http://json-schema.org/draft-07/schema#"
        assert document["title"] == "exportlint"
        assert document["additionalProperties"] is False
        for name, about in _settings_of(document):
            assert not about["description"].endswith(":"), name
            # Ajv's strict mode takes no list of types.
            assert "anyOf" in about or isinstance(about["type"], str), name
            for table in (about, about.get("items", {})):
                assert table.get("additionalProperties") is False or "properties" not in table, name

    def test_the_schema_of_pyproject_is_current_and_keeps_that_of_schemastore(self) -> None:
        shipped = Path(exportlint.__file__).parent / "pyproject.schema.json"
        command = "python -m exportlint.config.schema pyproject > exportlint/pyproject.schema.json"
        assert shipped.read_text() == pyproject_schema(), command
        document = json.loads(pyproject_schema())
        assert document["allOf"] == [{"$ref": "https://json.schemastore.org/pyproject.json"}]
        assert document["properties"]["tool"]["properties"]["exportlint"]["$ref"] == json.loads(schema())["$id"]

    @pytest.mark.parametrize("key", OPTIONS)
    def test_examples_and_defaults_are_valid(self, root: Path, key: str) -> None:
        option = OPTIONS[key]
        for text in (option.example, f"{key} = {option.default}"):
            if option.default or text == option.example:
                write(root, {"exportlint.toml": text, "../exportlint.toml": ""})
                settings(root)

    def test_documented_defaults_hold(self, root: Path) -> None:
        plain = settings(root)
        stated = "".join(f"{key} = {option.default}\n" for key, option in OPTIONS.items() if option.default)
        write(root, {"exportlint.toml": stated})
        file = settings(root)
        for key, option in OPTIONS.items():
            if key == "min-severity":  # the default of the command line: an editor shows all that there is
                assert option.default == json.dumps(cli_configuration(parse([]), root).for_directory(root).min_severity)
            elif hasattr(plain, option.attribute):
                assert getattr(file, option.attribute) == getattr(plain, option.attribute), key


@given(
    st.dictionaries(
        st.sampled_from([*OPTIONS, "unknown"]),
        st.recursive(
            st.booleans() | st.integers() | st.text(st.characters(codec="ascii", exclude_categories=["Cc"])),
            lambda values: (
                st.lists(values, max_size=2) | st.dictionaries(st.sampled_from(["a", "b"]), values, max_size=2)
            ),
            max_leaves=4,
        ),
        max_size=3,
    )
)
def test_any_table_is_settings_or_one_line(table: dict[str, Any]) -> None:
    from exportlint.config import check

    try:
        check(table, Path("exportlint.toml"))
    except ConfigError as error:
        message = str(error)
    else:
        assert table.keys() <= OPTIONS.keys()
        return
    assert message.startswith("exportlint.toml: ")
    assert "\n" not in message
