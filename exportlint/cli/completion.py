"""`exportlint --print-completion`: what a shell completes, made by shtab from the parser."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from exportlint.cli.output import UsageError
from exportlint.cli.parser import add_check_flags, build
from exportlint.config.options import OPTIONS
from exportlint.config.tables import with_inner
from exportlint.registry import FAMILIES, all_rules

_FILES = frozenset(("FILE", "FILE|KEY=VALUE", "LOG", "PATH", "TARGET"))

_PATHS = {
    "bash": [("complete -o bashdefault -F", "complete -o bashdefault -o default -F")],
    "zsh": [
        ("': :_shtab_exportlint_commands'", "'(-): :_shtab_exportlint_commands'"),  # the flags after it are its own
        ("_describe 'exportlint commands' _commands\n", "_describe 'exportlint commands' _commands || _files\n"),
        (
            "      esac\n  esac\n",
            "        *) _arguments -C -s $_shtab_exportlint_check_options ;;\n      esac\n  esac\n",
        ),
    ],
    "fish": [
        (
            "complete -c exportlint -f\n",
            "complete -c exportlint -f\ncomplete -c exportlint -n _shtab_exportlint_using -F\n",
        )
    ],
}
"""What has each shell complete paths where a command may stand, which shtab's parsers have no notion of."""


def completion(shell: str) -> str:
    """The script that has a shell complete `exportlint`.

    Raises:
        UsageError: shtab is not installed.
    """
    try:
        import shtab
    except ImportError:
        raise UsageError(
            "--print-completion needs the package shtab: install it with `pip install 'exportlint[completions]'`"
        ) from None
    parser, commands = build()
    add_check_flags(parser)  # `exportlint PATHS` is short for `exportlint check PATHS`
    for action in (action for each in (parser, *commands.values()) for action in each._actions):
        if action.metavar in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar == "DIR":
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif action.choices is None:
            action.choices = list(_values(action)) or None
        if isinstance(action.metavar, str):
            action.metavar = action.metavar.replace(":", " ")  # which separates the parts of what zsh is told
    script: str = shtab.complete(parser, shell)
    for old, new in _PATHS[shell]:
        script = script.replace(old, new)
    return script


def _values(action: argparse.Action) -> Iterator[str]:
    """What an argument can be, as far as that can be listed."""
    if action.metavar == "KEY":
        yield from with_inner(OPTIONS)
    elif action.metavar in ("RULE", "RULES"):
        yield from (name for rule in all_rules() for name in (rule.code, rule.name))
        if action.metavar == "RULES":
            yield from ("ALL", *(family.name for family in FAMILIES.values()))
    for flag in action.option_strings:
        option = OPTIONS.get(flag.removeprefix("--"))
        yield from () if option is None else option.kind.schema.get("enum", ())
