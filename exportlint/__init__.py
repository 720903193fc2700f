"""exportlint: a linter and language server for torch.export compatibility.

The names in `__all__` are the stable Python API, described in docs/api.md. They are loaded when they are first used.
"""

TYPE_CHECKING = False  # importing `typing` takes longer than the rest of this module
if TYPE_CHECKING:
    from exportlint.api import (
        Applicability,
        Caller,
        ConfigError,
        Edit,
        Explanation,
        Finding,
        Fix,
        FixedSource,
        Mode,
        Place,
        Position,
        Rule,
        SettingValues,
        Severity,
        Span,
        Step,
        all_rules,
        check_paths,
        check_source,
        explain_errors,
        find_rule,
        fix_source,
        rule_page,
    )

__all__ = [
    "Applicability",
    "Caller",
    "ConfigError",
    "Edit",
    "Explanation",
    "Finding",
    "Fix",
    "FixedSource",
    "Mode",
    "Place",
    "Position",
    "Rule",
    "SettingValues",
    "Severity",
    "Span",
    "Step",
    "all_rules",
    "check_paths",
    "check_source",
    "explain_errors",
    "find_rule",
    "fix_source",
    "rule_page",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module("exportlint.api"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
