"""The settings of fixes: which are applied, and how safe they are taken to be."""

from __future__ import annotations

from exportlint.config.kinds import BOOL, SELECTORS
from exportlint.config.option import Option

FIX_OPTIONS = (
    Option(
        "fix",
        BOOL,
        "false",
        "Apply fixes, as `--fix` does; `--no-fix` overrides it. For `fix`, `unsafe-fixes`, `fix-only` and "
        "`show-fixes`, the configuration of the working directory applies to all files.",
        "fix = true",
    ),
    Option(
        "unsafe-fixes",
        BOOL,
        "",
        "Also apply unsafe fixes, which may change what the code does. If unset, they are not applied, but the "
        "report counts them; with `false`, it does not.",
        "unsafe-fixes = true",
    ),
    Option("fix-only", BOOL, "false", "Apply fixes, but do not report the findings that remain.", "fix-only = true"),
    Option("show-fixes", BOOL, "false", "List what was fixed in each file.", "show-fixes = true"),
    Option(
        "fixable",
        SELECTORS,
        '["ALL"]',
        "The rules whose fixes are offered. If `fixable` and `unfixable` disagree about a rule, the more specific "
        "selector wins.",
        'fixable = ["mutation", "EXP2"]',
    ),
    Option("unfixable", SELECTORS, "[]", "The rules whose fixes are not offered.", 'unfixable = ["tensor-branch"]'),
    Option(
        "extend-fixable",
        SELECTORS,
        "[]",
        "Rules whose fixes are offered in addition to `fixable`.",
        'extend-fixable = ["EXP4"]',
    ),
    Option(
        "extend-safe-fixes",
        SELECTORS,
        "[]",
        "Rules whose unsafe fixes count as safe. Display-only fixes stay display-only. If this and "
        "`extend-unsafe-fixes` disagree about a rule, the more specific selector wins; if both are equally specific, "
        "`extend-unsafe-fixes` does.",
        'extend-safe-fixes = ["input-mutation"]',
    ),
    Option(
        "extend-unsafe-fixes",
        SELECTORS,
        "[]",
        "Rules whose safe fixes count as unsafe.",
        'extend-unsafe-fixes = ["EXP3"]',
    ),
)
