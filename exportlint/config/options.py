"""Every setting: its key, what it may hold, its default and what it means.

Parsing, `exportlint config`, the JSON schema and the docs all read this one table.
"""

from __future__ import annotations

from exportlint.config.fix_options import FIX_OPTIONS
from exportlint.config.function_options import FUNCTIONS
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
        "Another configuration file to inherit settings from; settings in this file override them. The path is "
        "relative to this file.",
        'extend = "../exportlint.toml"',
    ),
    Option(
        "mode",
        choice("non-strict", "strict"),
        '"non-strict"',
        "The mode of torch.export that the code must work with: `torch.export.export(..., strict=False)`, the "
        "default in current torch, or `strict=True`. Which code fails, and so which findings are errors, differs "
        "between the two.",
        'mode = "strict"',
    ),
    Option(
        "torch-version",
        VERSION,
        "",
        "The version of torch that exports the code, 2.4 or newer. If unset, it is the version installed in the "
        "project's environment, read from its metadata: the active virtual environment, `.venv` or `venv` beside the "
        "configuration, or else exportlint's own. Versions older than 2.4 count as 2.4. If torch is not installed, "
        "it is the newest version that the rules were measured on.",
        'torch-version = "2.13"',
    ),
    Option(
        "select",
        SELECTORS,
        '["ALL"]',
        "The rules to check, by code, prefix of a code, name or family. If `select` and `ignore` disagree about a "
        "rule, the more specific selector wins.",
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
        "preview",
        BOOL,
        "false",
        "Also check rules that are in preview, unless `select` or `ignore` leaves them out. Such rules are new and may "
        "still change.",
        "preview = true",
    ),
    Option(
        "per-file-ignores",
        PATTERN_SELECTORS,
        "{}",
        "Rules not to check in files that match a pattern. Patterns match the file name or the path relative to the "
        "configuration. A pattern that starts with `!` applies to files that do not match it.",
        'per-file-ignores = { "tests/**" = ["ALL"], "legacy.py" = ["EXP3"] }',
    ),
    Option(
        "extend-per-file-ignores",
        PATTERN_SELECTORS,
        "{}",
        "`per-file-ignores` in addition to those of the configuration file that this one extends.",
        'extend-per-file-ignores = { "demo.py" = ["EXP1"] }',
    ),
    Option(
        "require-reason",
        BOOL,
        "false",
        "Report a suppression without a reason as `invalid-suppression`. The reason is the text after the list of "
        "rules: `# exportlint: ignore[EXP101] exported with masks only`.",
        "require-reason = true",
    ),
    *FIX_OPTIONS,
    Option(
        "include",
        STRINGS,
        '["*.py", "*.pyw", "*.ipynb"]',
        "Patterns of files to lint in directories. Files named on the command line are linted whatever their suffix.",
        'include = ["*.py"]',
    ),
    Option(
        "exclude",
        STRINGS,
        "[" + ", ".join(f'"{name}"' for name in DEFAULT_EXCLUDE) + "]",
        "Patterns of files and directories to skip. A pattern without a slash matches a name at any depth. The default "
        "skips the directories of version control, virtual environments, caches and builds.",
        'exclude = [".venv", "generated"]',
    ),
    Option(
        "extend-exclude", STRINGS, "[]", "Patterns to skip in addition to `exclude`.", 'extend-exclude = ["vendor"]'
    ),
    Option(
        "force-exclude",
        BOOL,
        "false",
        "Skip files that match `exclude` even if they are named on the command line, as pre-commit does.",
        "force-exclude = true",
    ),
    Option(
        "respect-gitignore",
        BOOL,
        "true",
        "Skip files that `.gitignore` and git's own exclude files ignore.",
        "respect-gitignore = false",
    ),
    Option(
        "src",
        STRINGS,
        '[".", "src"]',
        "Directories in which imports are resolved, relative to the configuration. Patterns such as `pkgs/*/lib` "
        "match several directories. Imports are also resolved from the directory above the topmost package "
        "of a file, and from directories of the project that are called `src` or contain a `pyproject.toml`, "
        "`setup.py` or `setup.cfg`.",
        'src = ["python", "pkgs/*/lib"]',
    ),
    Option(
        "follow-importers",
        choice("auto", "always", "never"),
        '"auto"',
        "Also analyze the files of the project that import the linted files, directly or indirectly. Findings there "
        "are reported if their trail goes through a linted file. `auto` does this for files that you name, but not "
        "for files found in a directory, and analyzes the closest importers, up to 200 kB of source. "
        "`always` does it for all files and all importers.",
        'follow-importers = "never"',
    ),
    Option(
        "output-format",
        choice(*FORMATS),
        '"full"',
        "The format of the report. The environment variable EXPORTLINT_OUTPUT_FORMAT and the flag `--output-format` "
        "override it.",
        'output-format = "concise"',
    ),
    *SEVERITY_OPTIONS,
    Option(
        "cache-dir",
        STRING,
        '".exportlint_cache"',
        "The directory of the cache, relative to the configuration. The environment variable EXPORTLINT_CACHE_DIR "
        "and the flag `--cache-dir` override it. `--no-cache` turns the cache off.",
        'cache-dir = "build/exportlint"',
    ),
    Option(
        "baseline",
        STRING,
        '""',
        "A file of accepted findings, relative to the configuration. `exportlint check` reports only findings that "
        "are not in it; editors show the accepted ones as hints. `--update-baseline` writes it. The flag "
        "`--baseline` overrides it. An empty name means no baseline.",
        'baseline = "exportlint-baseline.jsonl"',
    ),
    Option(
        "module-bases",
        STRINGS,
        "[]",
        "Qualified names of classes whose subclasses are modules to export, in addition to `torch.nn.Module`. Use it "
        "for base classes outside the linted files.",
        'module-bases = ["mylib.Base"]',
    ),
    Option(
        "entry-points",
        STRINGS,
        '["forward"]',
        "Patterns of names of the module methods that torch.export traces.",
        'entry-points = ["forward", "forward_*"]',
    ),
    Option(
        "exported",
        CLASS_PATTERNS,
        "[]",
        "Patterns of the classes that are exported, as `module:Class`. Other modules are analyzed only if a matching "
        "class uses them. If unset, every module may be exported.",
        'exported = ["app.models:*", "app.heads:Detector"]',
    ),
    Option(
        "returns-tensor",
        STRINGS,
        "[]",
        "Patterns of qualified names of functions that return a tensor and whose code exportlint cannot read: compiled "
        "extensions, libraries that are not linted.",
        'returns-tensor = ["fastops.gate", "xformers.ops.*"]',
    ),
    FUNCTIONS,
    Option(
        "train",
        BOOL,
        "false",
        "Whether modules are exported in training mode, where `self.training` is true. By default they are exported "
        "after `.eval()`.",
        "train = true",
    ),
    Option(
        "dynamic-dims",
        DIMENSIONS,
        "[0]",
        "The dimensions of the inputs that are dynamic, unless the code specifies `dynamic_shapes`. Code that "
        "specializes one of them is reported. `[]` means that all shapes are static.",
        "dynamic-dims = [0, 1]",
    ),
    VERIFY,
)

OPTIONS = {option.key: option for option in _TABLE}
