"""Write `docs/exportlint.1`, the manual page, from the parser of the command line.

python scripts/generate_man_page.py [OUTPUT]
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from exportlint import __version__
from exportlint.cli.parser import build
from exportlint.config.toml import FILE_NAMES
from exportlint.registry import HOME

OUTPUT = Path(__file__).parents[1] / "docs" / "exportlint.1"

ENVIRONMENT = {
    "EXPORTLINT_OUTPUT_FORMAT": "The form of the report. `--output-format` overrides it.",
    "EXPORTLINT_CACHE_DIR": "Where results are kept between runs. `--cache-dir` overrides it.",
    "EXPORTLINT_SERVER_TOKEN": "The token that a client of `exportlint server --tcp` has to send.",
    "NO_COLOR, FORCE_COLOR, CLICOLOR, CLICOLOR_FORCE, TERM": "Whether `--color auto` colours the report.",
    "VIRTUAL_ENV, CONDA_PREFIX": "The environment whose torch counts where no setting names a version.",
}
FILES = {
    ", ".join(FILE_NAMES[:2]): "Settings, at the top level.",
    FILE_NAMES[2]: "Settings, under `[tool.exportlint]`. Of each linted file, the closest configuration counts.",
    ".exportlint_cache": "Results of earlier runs, beside the configuration.",
}


def page() -> str:
    """The text of `docs/exportlint.1`."""
    return "".join(f"{line}\n" for line in _lines())


def _lines() -> Iterator[str]:
    parser, commands = build()
    yield '.\\" Written by scripts/generate_man_page.py from the parser of the command line.'
    yield f'.TH EXPORTLINT 1 "" "exportlint {__version__}" "User Commands"'
    summary, _, more = (parser.description or "").partition("\n")
    yield from (".SH NAME", f"exportlint \\- {_text(summary[:1].lower() + summary[1:].rstrip('.'))}")
    yield ".SH SYNOPSIS"
    for name in ("[check]", *[name for name in commands if name != "check"]):
        yield from (".br", f"\\fBexportlint\\fR {_text(name)} ...")
    yield from (".SH DESCRIPTION", _text(summary), _text(more))
    yield ".SH OPTIONS"
    yield from _options(parser)
    yield ".SH COMMANDS"
    for name, command in commands.items():
        yield f'.SS "exportlint {name}"'
        yield _text(command.description or "")
        yield from _options(command)
        if command.epilog != commands["check"].epilog:
            yield from _paragraphs(command.epilog or "")
    yield ".SH EXIT STATUS"
    yield from _exit_codes(commands["check"].epilog or "")
    for title, entries in (("ENVIRONMENT", ENVIRONMENT), ("FILES", FILES)):
        yield f".SH {title}"
        for name, text in entries.items():
            yield from (".TP", f"\\fB{_text(name)}\\fR", _text(text))
    yield from (".SH SEE ALSO", _text(HOME))


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    """What a command takes, group by group. `--help` is the same everywhere and stands at the top only."""
    for group in parser._action_groups:
        actions = [action for action in group._group_actions if _is_told(action, parser)]
        if actions and group.title not in ("options", "positional arguments"):
            yield from (
                ".PP",
                f"\\fI{_text(group.title or '')}\\fR" + (f": {_text(d)}" if (d := group.description) else ""),
            )
        for action in actions:
            yield from (".TP", _invocation(action), _text(action.help or ""))


def _is_told(action: argparse.Action, parser: argparse.ArgumentParser) -> bool:
    is_help = isinstance(action, argparse._HelpAction) and parser.prog != "exportlint"
    return not is_help and not isinstance(action, argparse._SubParsersAction) and action.help != argparse.SUPPRESS


def _invocation(action: argparse.Action) -> str:
    value = action.metavar or (f"{{{','.join(map(str, action.choices))}}}" if action.choices else action.dest.upper())
    if not action.option_strings:
        return f"\\fI{_text(str(value))}\\fR"
    flags = ", ".join(f"\\fB{_text(flag)}\\fR" for flag in action.option_strings)
    if action.nargs == 0:
        return flags
    shown = f"\\fI{_text(str(value))}\\fR"
    return f"{flags}[={shown}]" if action.nargs == "?" else f"{flags} {shown}"


def _exit_codes(epilog: str) -> Iterator[str]:
    for code, text in re.findall(r"^  (\d+) +(.*)$", epilog, re.MULTILINE):
        yield from (".TP", f"\\fB{code}\\fR", _text(text))


def _paragraphs(epilog: str) -> Iterator[str]:
    yield from (".PP", "Exit status:")
    yield from _exit_codes(epilog)
    rest = re.sub(r"^(exit codes:|  .*)$\n?", "", epilog, flags=re.MULTILINE).strip()
    if rest:
        yield from (".PP", _text(rest))


def _text(text: str) -> str:
    """Text as roff reads it, on one line, with what stands in backquotes in bold."""
    escaped = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("%%", "%")
    return re.sub(r"`([^`]*)`", r"\\fB\1\\fR", re.sub(r"^\.", r"\\&.", escaped))


if __name__ == "__main__":
    (Path(sys.argv[1]) if len(sys.argv) > 1 else OUTPUT).write_text(page(), encoding="utf-8")
