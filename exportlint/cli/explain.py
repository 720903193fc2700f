"""`exportlint explain`: from an error in a log to the line, the rule and what to write instead."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from exportlint.cli.output import UsageError, wants_color, width_of, write
from exportlint.cli.overrides import configuration
from exportlint.diagnosis import Explainer, NotTextError, explained, read_errors, read_lines
from exportlint.diagnosis.reports import render
from exportlint.report import Context

_MOST = 50
"""Errors that differ from each other and are explained."""


def run(arguments: argparse.Namespace) -> int:
    """Explain the errors of a log, of standard input, or of a command that is run here."""
    cwd = Path.cwd()
    settings = configuration(arguments, cwd)
    roots = [Path(root) for root in arguments.root or [cwd]]
    for root in roots:
        if not root.is_dir():
            raise UsageError(f"--root {root}: there is no such directory")
    explainer = Explainer(settings, roots)
    color = wants_color(arguments.color, sys.stdout)
    context = Context(cwd, explainer.sources, color, verbose=arguments.verbose, width=width_of(sys.stdout))
    if arguments.command is not None:
        if arguments.log is not None:
            raise UsageError("name a log or, after `--`, a command, not both")
        with tempfile.TemporaryFile() as output:
            code = _recorded(arguments.command, output)
            output.seek(0)
            if code == 0:
                write("The command succeeded.\n", sys.stderr)
                return 0
            _explain(output, "what the command printed", explainer, context, arguments.report_format)
            return code
    name = arguments.log
    if name is None or name == "-":
        if name is None and sys.stdin.isatty():
            raise UsageError("name a log, `-` for standard input, or a command after `--`")
        return _explain(sys.stdin.buffer, "standard input", explainer, context, arguments.report_format)
    try:
        with Path(name).open("rb") as log:
            return _explain(log, name, explainer, context, arguments.report_format)
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror or error}") from None


def _explain(stream: BinaryIO, name: str, explainer: Explainer, context: Context, output_format: str) -> int:
    """Report what is found. Returns 0 if all of it is known, else 1."""
    try:
        found = list(explained(read_errors(read_lines(stream)), explainer, _MOST))
    except NotTextError:
        raise UsageError(f"{name} is not text; pass the output of torch") from None
    if not found and output_format == "text":
        write(f"There is no error in {name}.\n")
    else:
        write(render(found, output_format, context))
    return int(not found or not all(one.is_known for one in found))


def _recorded(command: Sequence[str], output: BinaryIO) -> int:
    """Run a command, show what it prints on standard error, and keep it. Returns its exit code."""
    if not command:
        raise UsageError("there is no command after `--`")
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except OSError as error:
        raise UsageError(f"cannot run {command[0]}: {error.strerror or error}") from None
    assert process.stdout is not None
    with process:
        # What the command prints is not the report, which may be JSON.
        while chunk := os.read(process.stdout.fileno(), 1 << 16):
            output.write(chunk)
            write(chunk.decode("utf-8", "replace"), sys.stderr)
    return process.returncode if process.returncode >= 0 else 128 - process.returncode
