"""Every setting: its key, what it may hold, its default and what it means.

Parsing, `exportlint config`, the JSON schema and the docs all read this one table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from exportlint.config.torch_version import parse_torch_version
from exportlint.registry import UnknownSelector, expand, nearest

FORMATS = ("full", "concise", "grouped", "json", "jsonl", "github")


@dataclass(frozen=True, slots=True)
class Kind:
    """What a setting may hold: its name in the docs, its JSON schema, and how to check it."""

    name: str
    check: Callable[[Any], Any]
    """Gives the value as `Settings` wants it, or raises `ValueError` with what was expected."""
    schema: dict[str, Any] = field(default_factory=dict)


def _instance(kind: type, name: str) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        # `isinstance(True, int)` and the like: TOML's types are exact.
        if type(value) is not kind:
            raise ValueError(f"expected {name}, got {_toml_type(value)}")
        return value

    return check


def _toml_type(value: Any) -> str:
    names = {
        str: "a string",
        bool: "a boolean",
        int: "an integer",
        float: "a float",
        list: "an array",
        tuple: "an array",
        dict: "a table",
    }
    return names.get(type(value), type(value).__name__)


_check_string = _instance(str, "a string")
_check_bool = _instance(bool, "a boolean")


def _check_strings(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"expected an array of strings, got {_toml_type(value)}")
    for item in value:
        if not isinstance(item, str):
            raise ValueError(f"expected an array of strings, got one that holds {_toml_type(item)}")
    return tuple(value)


def _check_selectors(value: Any) -> tuple[str, ...]:
    selectors = _check_strings(value)
    try:
        for selector in selectors:
            expand(selector)
    except UnknownSelector as error:
        raise ValueError(str(error)) from None
    return selectors


def _check_pattern_selectors(value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise ValueError(f"expected a table of patterns and rules, got {_toml_type(value)}")
    return tuple((pattern, _check_selectors(selectors)) for pattern, selectors in value.items())


def _check_version(value: Any) -> Any:
    if isinstance(value, float | int):
        raise ValueError(f'expected a string, got {_toml_type(value)}: write "{value}"')
    return parse_torch_version(_check_string(value))


def _choice(*words: str) -> Kind:
    def check(value: Any) -> str:
        word: str = _check_string(value)
        if word not in words:
            hint = nearest(word, words)
            raise ValueError(
                f"`{word}` is none of {', '.join(f'`{w}`' for w in words)}"
                + (f"; did you mean {hint}?" if hint else "")
            )
        return word

    return Kind(" | ".join(f'"{word}"' for word in words), check, {"type": "string", "enum": list(words)})


STRING = Kind("str", _check_string, {"type": "string"})
BOOL = Kind("bool", _check_bool, {"type": "boolean"})
STRINGS = Kind("list[str]", _check_strings, {"type": "array", "items": {"type": "string"}})
SELECTORS = Kind(
    "list[rule selector]", _check_selectors, {"type": "array", "items": {"$ref": "#/definitions/selector"}}
)
PATTERN_SELECTORS = Kind(
    "dict[pattern, list[rule selector]]",
    _check_pattern_selectors,
    {"type": "object", "additionalProperties": {"type": "array", "items": {"$ref": "#/definitions/selector"}}},
)
VERSION = Kind("str", _check_version, {"type": "string", "pattern": r"^\d+\.\d+"})


@dataclass(frozen=True, slots=True)
class Option:
    """One setting. `default` and `example` are as in TOML; an empty default means that the doc tells it."""

    key: str
    kind: Kind
    default: str
    doc: str
    example: str

    @property
    def attribute(self) -> str:
        """Its name in Python."""
        return self.key.replace("-", "_")


_TABLE = (
    Option(
        "extend",
        STRING,
        "",
        "Another configuration file whose settings hold unless this one states its own. Relative to this file.",
        'extend = "../exportlint.toml"',
    ),
    Option(
        "mode",
        _choice("non-strict", "strict"),
        '"non-strict"',
        "The tracer the code must pass: `torch.export.export(..., strict=False)`, today's default, or `strict=True`. "
        "What fails, and so what is an error, differs between the two.",
        'mode = "strict"',
    ),
    Option(
        "torch-version",
        VERSION,
        "",
        "The torch that exports the code, from 2.4 on. Without it: the version that the project's environment has "
        "installed, read from its metadata (the active virtual environment, `.venv` or `venv` beside the "
        "configuration, else the environment exportlint runs in; one older than 2.4 counts as 2.4); else the newest "
        "that the rules were measured on.",
        'torch-version = "2.13"',
    ),
    Option(
        "select",
        SELECTORS,
        '["ALL"]',
        "The rules to check, by code, prefix of a code, name, or name of a family. Where `select` and `ignore` "
        "disagree about a rule, the narrower selector decides.",
        'select = ["control-flow", "EXP2", "unused-suppression"]',
    ),
    Option("ignore", SELECTORS, "[]", "The rules not to check.", 'ignore = ["unused-suppression"]'),
    Option(
        "extend-select",
        SELECTORS,
        "[]",
        "Rules to check in addition to `select`.",
        'extend-select = ["EXP4"]',
    ),
    Option(
        "per-file-ignores",
        PATTERN_SELECTORS,
        "{}",
        "Rules not to check in the files that match a pattern, by file name or by path from the configuration's "
        "directory. A pattern that starts with `!` holds for the files that do not match it.",
        'per-file-ignores = { "tests/**" = ["ALL"], "legacy.py" = ["EXP3"] }',
    ),
    Option(
        "extend-per-file-ignores",
        PATTERN_SELECTORS,
        "{}",
        "More `per-file-ignores`, kept beside those of the file that this one extends.",
        'extend-per-file-ignores = { "demo.py" = ["EXP1"] }',
    ),
    Option(
        "include",
        STRINGS,
        '["*.py", "*.pyw"]',
        "Patterns of the files to lint in directories. A file that is named on the command line is linted whatever its "
        "suffix.",
        'include = ["*.py"]',
    ),
    Option(
        "exclude",
        STRINGS,
        "",
        "Patterns of files and directories to leave out; a pattern without a slash matches a name at any depth. The "
        "default leaves out what version control, virtual environments, caches and builds put into a tree.",
        'exclude = [".venv", "generated"]',
    ),
    Option("extend-exclude", STRINGS, "[]", "Patterns to leave out besides `exclude`.", 'extend-exclude = ["vendor"]'),
    Option(
        "force-exclude",
        BOOL,
        "false",
        "Leave out what `exclude` matches even where it is named on the command line, as pre-commit does.",
        "force-exclude = true",
    ),
    Option(
        "respect-gitignore",
        BOOL,
        "true",
        "Leave out what `.gitignore`, `.ignore` and git's own exclude files leave out.",
        "respect-gitignore = false",
    ),
    Option(
        "src",
        STRINGS,
        '[".", "src"]',
        "Directories that imports are resolved in, relative to the configuration.",
        'src = ["python"]',
    ),
    Option(
        "output-format",
        _choice(*FORMATS),
        '"full"',
        "The form of the report. The variable EXPORTLINT_OUTPUT_FORMAT and the flag `--output-format` override it.",
        'output-format = "concise"',
    ),
    Option(
        "module-bases",
        STRINGS,
        "[]",
        "Qualified names of classes, beside `torch.nn.Module`, whose subclasses are modules to export, for bases "
        "that lie outside of the linted files.",
        'module-bases = ["mylib.Base"]',
    ),
    Option(
        "entry-points",
        STRINGS,
        '["forward"]',
        "Patterns of the names of the methods of a module that export starts from.",
        'entry-points = ["forward", "forward_*"]',
    ),
)

OPTIONS = {option.key: option for option in _TABLE}
