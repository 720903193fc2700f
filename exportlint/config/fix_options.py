"""The settings of fixes: which are applied, and how safe they are taken to be."""

from __future__ import annotations

from exportlint.config.kinds import BOOL, SELECTORS
from exportlint.config.option import Option

FIX_OPTIONS = (
    Option(
        "fix",
        BOOL,
        "false",
        "Apply fixes, as `--fix` does; `--no-fix` overrides it. This and the next three are settings of a run: those "
        "of the working directory hold for all files.",
        "fix = true",
    ),
    Option(
        "unsafe-fixes",
        BOOL,
        "",
        "Apply fixes that may change what the code does as well. Without it they are not applied but counted in the "
        "report; with `false` not even that.",
        "unsafe-fixes = true",
    ),
    Option("fix-only", BOOL, "false", "Apply fixes, and report nothing of what remains.", "fix-only = true"),
    Option("show-fixes", BOOL, "false", "List what was fixed in each file.", "show-fixes = true"),
    Option(
        "fixable",
        SELECTORS,
        '["ALL"]',
        "The rules whose fixes are offered. Where `fixable` and `unfixable` disagree about a rule, the narrower "
        "selector decides.",
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
        "Rules whose unsafe fixes count as safe. A fix that is display-only stays so. Where this and "
        "`extend-unsafe-fixes` disagree about a rule, the narrower selector decides, and of equal ones the latter.",
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
