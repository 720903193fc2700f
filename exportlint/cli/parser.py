"""The grammar of the command line."""

from __future__ import annotations

import argparse
import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn, TypedDict

from exportlint import __version__
from exportlint.cli import fix_plan_flags, verify_flags
from exportlint.cli.flags import add_configuration, codes
from exportlint.cli.output import UsageError

_CHECK_CODES = """\
exit codes:
  0    nothing found that --fail-on counts: by default, no errors or warnings
  1    errors or warnings; with --diff: a difference; never with --fix-only
  2    wrong usage, bad configuration or an internal failure
  130  interrupted by Ctrl-C
"""
_CODES = """\
exit codes:
  0    success
  2    wrong usage, bad configuration or an internal failure
  130  interrupted by Ctrl-C
"""
_SERVER_CODES = """\
exit codes:
  0    the client shut the server down, or closed the connection
  1    the client sent `exit` without `shutdown`
  2    wrong usage or an internal failure
  130  interrupted by Ctrl-C
"""

_VERBS = frozenset({"fix", "diff", "watch"})
"""Flags of `check` that other tools have as commands."""

_COMPLETION = "--print-completion"


class _Style(TypedDict):
    allow_abbrev: bool
    formatter_class: type[argparse.HelpFormatter]


_STYLE = _Style(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter)


def build() -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """The parser of the whole command line, and those of the subcommands by name."""
    parser = _Parser(
        **_STYLE,
        prog="exportlint",
        description="Find the code that torch.export fails on, or exports incorrectly.\n"
        "`exportlint PATHS` is short for `exportlint check PATHS`.",
        epilog=_CHECK_CODES + "\nRun `exportlint COMMAND --help` for the options of a command.\n",
    )
    parser.add_argument("-V", "--version", action="version", version=f"exportlint {__version__}")
    parser.add_argument(
        _COMPLETION,
        action=_PrintCompletion,
        choices=("bash", "zsh", "fish"),
        help="print the completions for a shell (needs exportlint[completions])",
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=_Parser)
    for name, (text, fill) in _COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text, epilog=_CODES, **_STYLE)
        fill(command)
        command.set_defaults(run=_runner(name))
    return parser, commands.choices


class _PrintCompletion(argparse.Action):
    def __call__(self, _parser: object, _namespace: object, values: object, _option: object = None) -> NoReturn:
        from exportlint.cli.completion import completion
        from exportlint.cli.output import write

        write(completion(str(values)))
        raise SystemExit(0)


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The arguments, with the function to call as `run`.

    Raises:
        UsageError: there is no such flag, subcommand or value.
    """
    parser, commands = build()
    words = [_with_value(word) for word in _with_command(argv)]
    command_line: list[str] | None = None
    if words[:1] == ["explain"] and "--" in words:
        at = words.index("--")
        words, command_line = words[:at], words[at + 1 :]
    arguments, unknown = parser.parse_known_args(words)
    if unknown:
        raise UsageError(_unexpected(unknown[0], commands.get(words[0], parser)))
    if words[:1] == ["explain"]:
        arguments.command = command_line
    return arguments


def _with_command(argv: Sequence[str]) -> list[str]:
    """`argv` beginning with a subcommand, or asking about exportlint itself."""
    first = argv[0] if argv else ""
    if first in (*_COMMANDS, "-h", "--help", "-V", "--version") or first.partition("=")[0] == _COMPLETION:
        return list(argv)
    if first[:1].isalpha() and first.replace("-", "").isalpha() and not os.path.lexists(first):
        from exportlint.registry import nearest

        # `exportlint fix src` means what `--fix` does
        hint = f"`--{first}`" if first in _VERBS else nearest(first, _COMMANDS, count=1)
        if hint:
            raise UsageError(f"`{first}` is neither a file nor a subcommand, did you mean {hint}?")
    return ["check", *argv]


def _with_value(word: str) -> str:
    # A value is given only with `=`, so that `--add-ignore src` names a path.
    return "--add-ignore=" if word == "--add-ignore" else word


def _unexpected(word: str, parser: argparse.ArgumentParser) -> str:
    from exportlint.registry import nearest

    flag = word.partition("=")[0]
    flags = (option for action in parser._actions for option in action.option_strings)
    hint = nearest(flag, flags, count=1) if flag.startswith("-") else ""
    return f"unexpected argument `{word}`, " + (f"did you mean {hint}?" if hint else f"see `{parser.prog} --help`")


def _runner(command: str) -> Callable[[argparse.Namespace], int]:
    def run(arguments: argparse.Namespace) -> int:
        code: int = importlib.import_module(f"exportlint.cli.{command.replace('-', '_')}").run(arguments)
        return code

    return run


class _Parser(argparse.ArgumentParser):
    """Reports wrong use as `UsageError`."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see `{self.prog} --help`")


def _fill_check(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _CHECK_CODES
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and directories, or `-` for standard input [.]")
    add_check_flags(parser)


def add_check_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `exportlint check`."""
    rules = parser.add_argument_group(
        "rules", "RULES are codes, prefixes of codes, names or families, separated by commas"
    )
    for flag, text in (
        ("--select", "rules to check [ALL]"),
        ("--ignore", "rules not to check"),
        ("--extend-select", "rules to check in addition to --select"),
    ):
        rules.add_argument(flag, action="extend", type=codes, metavar="RULES", help=text)
    for flag in ("--per-file-ignores", "--extend-per-file-ignores"):
        text = ("more " if "extend" in flag else "") + "rules not to check in files that match"
        rules.add_argument(flag, action="extend", type=codes, metavar="PATTERN:RULE", help=text)
    rules.add_argument("--preview", action=argparse.BooleanOptionalAction, help="also check rules that are in preview")
    rules.add_argument(
        "--require-reason", action=argparse.BooleanOptionalAction, help="report suppressions without a reason"
    )
    rules.add_argument("--mode", metavar="MODE", help="the mode of torch.export: non-strict or strict [non-strict]")
    rules.add_argument(
        "--torch-version", metavar="VERSION", help="the version of torch that exports the code [the one installed]"
    )
    files = parser.add_argument_group("files")
    files.add_argument(
        "--exclude", action="extend", type=codes, metavar="PATTERNS", help="files and directories to skip"
    )
    files.add_argument(
        "--extend-exclude",
        action="extend",
        type=codes,
        metavar="PATTERNS",
        help="files and directories to skip in addition",
    )
    flag_type = argparse.BooleanOptionalAction
    files.add_argument("--force-exclude", action=flag_type, help="skip excluded files even if they are named here")
    files.add_argument("--respect-gitignore", action=flag_type, help="skip what git ignores [yes]")
    files.add_argument(
        "--follow-importers",
        metavar="WHEN",
        help="also analyze files that import the linted ones: auto (for files named here), always, never [auto]",
    )
    files.add_argument("--stdin-filename", metavar="FILE", help="file name to use for standard input")
    add_configuration(parser)
    output = parser.add_argument_group("output")
    output.add_argument(
        "--output-format",
        metavar="FORMAT",
        help="full, concise, grouped; json, jsonl, sarif, junit, rdjson, pylint; github, gitlab, azure [full]",
    )
    output.add_argument("-o", "--output-file", metavar="FILE", help="write the report to a file")
    output.add_argument(
        "--statistics", action="store_true", help="count the findings of each rule instead of listing them"
    )
    output.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="color the report [auto]")
    output.add_argument("-q", "--quiet", action="store_true", help="print only findings")
    output.add_argument("-v", "--verbose", action="store_true", help="print every step of every trail")
    output.add_argument(
        "--min-severity", metavar="SEVERITY", help="hide findings below this severity: info, warning or error [warning]"
    )
    output.add_argument("--show-info", action="store_true", help="show `info` findings too, like --min-severity info")
    output.add_argument(
        "--show-limits", action="store_true", help="list the limits of the analysis, and the classes that reached one"
    )
    output.add_argument(
        "--fail-on", metavar="SEVERITY", help="lowest severity that makes the exit code 1, or never [warning]"
    )
    output.add_argument("--exit-zero", action="store_true", help="exit with 0 even if there are findings")
    accepted = parser.add_argument_group("baseline")
    accepted.add_argument(
        "--baseline",
        metavar="FILE",
        help="report only findings that are not in this file of accepted findings; '' for none",
    )
    accepted.add_argument(
        "--update-baseline",
        action="store_true",
        help="accept the current findings: add them to the baseline, and remove entries that are no longer found",
    )
    fixes = parser.add_argument_group("fixes")
    fixes.add_argument("--fix", action=flag_type, help="apply safe fixes, and report the findings that remain")
    fixes.add_argument("--unsafe-fixes", action=flag_type, help="include fixes that may change behavior")
    fixes.add_argument("--fix-only", action=flag_type, help="apply fixes, but do not report the findings that remain")
    fixes.add_argument(
        "--verify", action="store_true", help="keep only fixes that torch.export confirms (this runs your models)"
    )
    fixes.add_argument("--show-fixes", action=flag_type, help="list what was fixed in each file")
    fixes.add_argument("--diff", action="store_true", help="print what --fix would change, and write nothing")
    for flag, text in (
        ("--fixable", "rules whose fixes may be applied [ALL]"),
        ("--unfixable", "rules whose fixes may not be applied"),
        ("--extend-fixable", "rules whose fixes may be applied in addition to --fixable"),
    ):
        fixes.add_argument(flag, action="extend", type=codes, metavar="RULES", help=text)
    fixes.add_argument("--exit-non-zero-on-fix", action="store_true", help="exit with 1 if anything was fixed")
    actions = parser.add_argument_group("instead of a report")
    actions.add_argument(
        "--add-ignore",
        metavar="REASON",
        nargs="?",
        help="add a suppression comment, with REASON if given, to every line that has findings",
    )
    actions.add_argument("--show-files", action="store_true", help="print the files that would be linted")
    actions.add_argument("--show-settings", action="store_true", help="print the settings of the first file")
    work = parser.add_argument_group("work")
    work.add_argument(
        "-w",
        "--watch",
        action="store_true",
        help="lint again when a file changes, until Ctrl-C (needs exportlint[watch])",
    )
    work.add_argument("-j", "--jobs", type=int, metavar="N", help="number of processes [one per CPU]")
    work.add_argument("--no-cache", action="store_true", help="neither read nor write the cache")
    _add_cache_directory(work)


def _add_cache_directory(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--cache-dir", metavar="DIR", help="the directory of the cache [.exportlint_cache beside the configuration]"
    )


def _fill_clean(parser: argparse.ArgumentParser) -> None:
    _add_cache_directory(parser)
    add_configuration(parser)


def _fill_rule(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rule", nargs="?", metavar="RULE", help="a rule's code or name")
    parser.add_argument("--all", action="store_true", help="all rules")
    parser.add_argument("--output-format", choices=("text", "json"), default="text", help="format of the output [text]")


def _fill_explain(parser: argparse.ArgumentParser) -> None:
    parser.usage = "exportlint explain [options] [LOG | -- COMMAND ...]"
    parser.epilog = """\
exit codes:
  0    every error in the log is explained
  1    the log has no error, or one that exportlint does not know
  2    wrong usage, bad configuration or an internal failure
  130  interrupted by Ctrl-C
With a command, the exit code is the command's.
"""
    parser.add_argument(
        "log",
        nargs="?",
        metavar="LOG",
        help="a file with what torch printed, `-` for standard input, or after `--` a command to run",
    )
    parser.add_argument(
        "--root",
        action="append",
        metavar="DIR",
        help="directory in which to find the files that the log names; repeatable [the working directory]",
    )
    parser.add_argument(
        "--output-format",
        dest="report_format",
        choices=("text", "json", "markdown"),
        default="text",
        help="format of the report [text]",
    )
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="color the report [auto]")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every step of every trail")
    add_configuration(parser)


def _fill_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("key", nargs="?", metavar="KEY", help="a setting; without it, all are listed")
    parser.add_argument("--output-format", choices=("text", "json"), default="text", help="format of the output [text]")


def _fill_init(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--pre-commit", action="store_true", help="also add the hook to .pre-commit-config.yaml, unless it is there"
    )


def _fill_server(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _SERVER_CODES
    parser.add_argument("--stdio", action="store_true", help="speak over standard input and output (the default)")
    parser.add_argument("--tcp", metavar="HOST:PORT", help="listen on this loopback address instead, for debugging")
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        help="with --tcp: file with the token that clients must send [EXPORTLINT_SERVER_TOKEN]",
    )
    parser.add_argument("--no-cache", action="store_true", help="neither read nor write the cache")
    parser.add_argument(
        "--log-file",
        metavar="FILE",
        help="write the log to this file, which must be new or an earlier exportlint log [standard error]",
    )


def _fill_version(_parser: argparse.ArgumentParser) -> None:
    pass


_COMMANDS = {
    "check": ("Lint files and directories. This is the default command.", _fill_check),
    "verify": (
        "Run torch.export on the project's models, and confirm or refute the findings.",
        verify_flags.fill,
    ),
    "fix-plan": (
        "Find the fixes that make a model export with equal results, by running torch.export.",
        fix_plan_flags.fill,
    ),
    "explain": ("Explain a torch.export error: the line, the rule and what to write instead.", _fill_explain),
    "rule": ("Explain one rule or all rules.", _fill_rule),
    "init": ("Write a first configuration, unless there is one.", _fill_init),
    "config": ("Explain a setting or list all settings.", _fill_config),
    "server": ("Start the language server, for editors.", _fill_server),
    "clean": ("Remove cached results, and stop waiting workers.", _fill_clean),
    "version": ("Print the version.", _fill_version),
}
