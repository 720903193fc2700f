"""`exportlint fix-plan`: which fixes bring a model to export, in as many rounds as it takes."""

from __future__ import annotations

import argparse
import functools
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from exportlint.cli.fix_plan_report import Told, as_json, as_text, differences
from exportlint.cli.output import UsageError, wants_color, write, write_bytes, write_file
from exportlint.cli.overrides import configuration
from exportlint.cli.verify_plan import checked, overridden, warmth
from exportlint.config import Configuration
from exportlint.config.quantities import COUNT
from exportlint.findings import Applicability
from exportlint.fixer import write_all
from exportlint.report import Context
from exportlint.report.context import printable
from exportlint.source import SourceError, is_excluded
from exportlint.verify.bench import Bench
from exportlint.verify.interpreter import InterpreterError, find_interpreter
from exportlint.verify.plans import Plan, plan_fixes
from exportlint.verify.process import StartError
from exportlint.verify.slot import Slot
from exportlint.verify.target import Target
from exportlint.verify.targets import find_targets
from exportlint.workspace import Task

_ROUNDS = 20
"""So many rounds are enough for anything that comes to an end."""


def run(arguments: argparse.Namespace) -> int:
    """Plan what the arguments say, and report it."""
    if arguments.partial and not arguments.write:
        raise UsageError("--partial has no effect without --write: add --write")
    cwd = Path.cwd()
    settings = configuration(arguments, cwd)
    targets = [overridden(target, arguments) for target in _targets(arguments.path, settings, cwd)]
    start = time.monotonic()
    plan = _planned(arguments, targets, settings, cwd)
    told = Told(arguments.path, targets, plan, time.monotonic() - start, _written(arguments, plan))
    to_file = Path(arguments.output_file) if arguments.output_file else None
    color = wants_color(arguments.color, sys.stdout) and (to_file is None or arguments.color == "always")
    context = Context(cwd, lambda _: None, color)
    is_text = arguments.report_format == "text"
    text = as_text(told, context) if is_text else as_json(told)
    changes = differences(told, context) if is_text else b""
    if to_file is None:
        write(text)
        write_bytes(changes)
    else:
        write_file(text + changes.decode(errors="backslashreplace"), to_file)
    return int(not plan.exports)


def _targets(path: str, settings: Configuration, cwd: Path) -> Sequence[Target]:
    """The targets of the one model that is named.

    Raises:
        UsageError: there is none, or there are several.
    """
    found = find_targets([path], settings, cwd)
    models = dict.fromkeys(str(target.model) for target in found.targets)
    if len(models) > 1:
        names = [target.model.name for target in found.targets]
        example = f"{path}::{names[0]}" if path.endswith(".py") else next(iter(models))
        raise UsageError(
            f"`{path}` has {len(models)} models, but a plan is for a single model: write `{example}`, for instance"
        )
    if not models:
        why = next((f"{one.name}: {one.reason}" for one in found.unbuildable), "there is no model")
        raise UsageError(f"`{path}` cannot be verified: {why}")
    return found.targets


def _planned(arguments: argparse.Namespace, targets: Sequence[Target], settings: Configuration, cwd: Path) -> Plan:
    here = settings.for_directory(cwd)
    rounds = _ROUNDS
    if arguments.rounds is not None:
        rounds = checked("--rounds", arguments.rounds, lambda text: COUNT.check(int(text)))
    most = Applicability.UNSAFE if arguments.unsafe else Applicability.SAFE
    try:
        interpreter = find_interpreter(arguments.python or here.verify.python, here.root, cwd)
        kept = warmth(arguments.keep_warm, interpreter)
        with TemporaryDirectory(prefix="exportlint-") as folder, closing(Slot(interpreter.path, warmth=kept)) as slot:
            bench = Bench(slot, Path(folder), _teller(arguments))
            return plan_fixes(targets, bench, _tasks(targets, settings), most, rounds, minimal=arguments.minimal)
    except (InterpreterError, StartError) as error:
        raise UsageError(str(error)) from None


def _tasks(targets: Sequence[Target], settings: Configuration) -> Callable[[Path], Task | None]:
    """How the files of a project are linted. None for those that fixes must not touch."""
    own = {target.model.file for target in targets}
    roots = tuple(os.path.join(os.path.realpath(target.root), "") for target in targets)  # noqa: PTH118 - it ends so

    @functools.cache
    def task(path: Path) -> Task | None:
        holds = settings.for_file(path)
        if path not in own:
            # A stranger may have made a link that leads out of the project.
            is_inside = os.path.realpath(path).startswith(roots)
            if not is_inside or path.suffix != ".py" or is_excluded(path, holds.discovery):
                return None
        return Task(path, holds)

    return task


def _teller(arguments: argparse.Namespace) -> Callable[[str], None]:
    shows = sys.stderr.isatty() and not arguments.quiet

    def tell(text: str) -> None:
        if shows:
            write(f"{printable(text)}\n", sys.stderr)

    return tell


def _written(arguments: argparse.Namespace, plan: Plan) -> bool:
    """Whether the files have been written.

    Raises:
        UsageError: one of them cannot be, so none is.
    """
    if not arguments.write or not plan.fixed or not (plan.exports or arguments.partial):
        return False
    try:
        write_all(plan.fixed)
    except SourceError as error:
        raise UsageError(f"nothing is written: {error}") from None
    return True
