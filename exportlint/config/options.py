"""Every setting: its key, what it may hold, its default and what it means.

Parsing, `exportlint config`, the JSON schema and the docs all read this one table.
"""

from __future__ import annotations

from exportlint.config.fix_options import FIX_OPTIONS
from exportlint.config.kinds import (
    BOOL,
    CLASS_PATTERNS,
    DIMENSIONS,
    PATTERN_SELECTORS,
    SELECTORS,
    STRING,
    STRINGS,
    VERSION,
    choice,
)
from exportlint.config.option import Option
from exportlint.config.severity_options import SEVERITY_OPTIONS
from exportlint.config.verify_options import VERIFY
from exportlint.source import DEFAULT_EXCLUDE

__all__ = ["FORMATS", "OPTIONS", "Option"]

FORMATS = (
    "full", "concise", "grouped", "json", "jsonl", "github", "gitlab", "azure", "sarif", "junit", "rdjson", "pylint",
)  # fmt: skip


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
        choice("non-strict", "strict"),
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
        "require-reason",
        BOOL,
        "false",
        "Report a suppression without a reason as `invalid-suppression`. The reason is what stands behind the list of "
        "rules: `# exportlint: ignore[EXP101] exported with masks only`.",
        "require-reason = true",
    ),
    *FIX_OPTIONS,
    Option(
        "include",
        STRINGS,
        '["*.py", "*.pyw", "*.ipynb"]',
        "Patterns of the files to lint in directories. A file that is named on the command line is linted whatever its "
        "suffix.",
        'include = ["*.py"]',
    ),
    Option(
        "exclude",
        STRINGS,
        "[" + ", ".join(f'"{name}"' for name in DEFAULT_EXCLUDE) + "]",
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
        "Directories that imports are resolved in, relative to the configuration; patterns such as `pkgs/*/lib` stand "
        "for all directories that match. Imports also start from the directory above the topmost package of a file, "
        "and from those of the project that are called `src` or hold a `pyproject.toml`, `setup.py` or `setup.cfg`.",
        'src = ["python", "pkgs/*/lib"]',
    ),
    Option(
        "follow-importers",
        choice("auto", "always", "never"),
        '"auto"',
        "Look at linted files together with the files of the project that import them, directly or through others: "
        "findings there are told if the way to them goes through a linted file. `auto` does so for files that are "
        "named, not for those found in a directory, and looks at the closest importers, some ten thousand lines "
        "together; `always` for all files, and at all importers.",
        'follow-importers = "never"',
    ),
    Option(
        "output-format",
        choice(*FORMATS),
        '"full"',
        "The form of the report. The variable EXPORTLINT_OUTPUT_FORMAT and the flag `--output-format` override it.",
        'output-format = "concise"',
    ),
    *SEVERITY_OPTIONS,
    Option(
        "cache-dir",
        STRING,
        '".exportlint_cache"',
        "Where results are kept for the next run, relative to the configuration. The variable EXPORTLINT_CACHE_DIR and "
        "the flag `--cache-dir` override it; `--no-cache` does without.",
        'cache-dir = "build/exportlint"',
    ),
    Option(
        "baseline",
        STRING,
        '""',
        "A file of findings that are accepted for now, relative to the configuration: `exportlint check` reports what "
        "is not in it, and an editor shows the rest as hints. `--update-baseline` writes it. The flag `--baseline` "
        "overrides it; an empty name means none.",
        'baseline = "exportlint-baseline.jsonl"',
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
    Option(
        "exported",
        CLASS_PATTERNS,
        "[]",
        "Patterns of the classes that torch.export is called with, as `module:Class`. Other modules are then followed "
        "only from these. Without it, every module may be exported.",
        'exported = ["app.models:*", "app.heads:Detector"]',
    ),
    Option(
        "returns-tensor",
        STRINGS,
        "[]",
        "Patterns of the qualified names of functions that return a tensor, where exportlint cannot see it: compiled "
        "extensions, libraries that are not linted.",
        'returns-tensor = ["fastops.gate", "einops.*"]',
    ),
    Option(
        "train",
        BOOL,
        "false",
        "Modules are exported in training mode: `self.training` is true. Without it they are exported after `.eval()`.",
        "train = true",
    ),
    Option(
        "dynamic-dims",
        DIMENSIONS,
        "[0]",
        "The dimensions of the inputs that are meant to vary from call to call, where no `dynamic_shapes` in the code "
        "says so. Code that fixes one of them is reported; `[]` means that all shapes are static.",
        "dynamic-dims = [0, 1]",
    ),
    VERIFY,
)

OPTIONS = {option.key: option for option in _TABLE}
