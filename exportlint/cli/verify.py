"""`exportlint verify`: run torch.export on what can be built, and hold the findings against it."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path

from exportlint.cli.output import UsageError, wants_color, write, write_file
from exportlint.cli.overrides import configuration
from exportlint.cli.progress import ProgressBar
from exportlint.cli.verify_init import add_targets
from exportlint.cli.verify_plan import jobs, overridden, warmth
from exportlint.config import Settings
from exportlint.report import Context
from exportlint.verify.cache import Cache, default_directory
from exportlint.verify.interpreter import Interpreter, InterpreterError, find_interpreter
from exportlint.verify.linting import Linted
from exportlint.verify.protocol import jobs_of
from exportlint.verify.reports import TEXT_FORMATS, Outcome, html, render
from exportlint.verify.reports.text import Printer, listing, summary
from exportlint.verify.results import Run
from exportlint.verify.run import verify
from exportlint.verify.target import Target
from exportlint.verify.targets import find_targets
from exportlint.verify.task import next_target


def run(arguments: argparse.Namespace) -> int:
    """Verify what the arguments say, and report it."""
    cwd = Path.cwd()
    settings = configuration(arguments, cwd)
    found = find_targets(arguments.paths, settings, cwd, calls=arguments.calls)
    if arguments.init:
        write("".join(f"{line}\n" for line in add_targets(found.unbuildable, settings, cwd)))
        return 0
    targets = [overridden(target, arguments) for target in found.targets]
    linted = Linted(settings, fixes=arguments.report_format in {"json", "sarif"})
    to_file = Path(arguments.output_file) if arguments.output_file else None
    color = wants_color(arguments.color, sys.stdout) and (to_file is None or arguments.color == "always")
    context = Context(cwd, linted.source, color, verbose=arguments.verbose)
    if arguments.list:
        write(listing(targets, found.unbuildable, context, calls=found.calls))
        return 0
    if not targets:
        raise UsageError("there is nothing that can be verified; `exportlint verify --list` says why")
    start = time.monotonic()
    runs, targets, text = _run(arguments, targets, settings.for_directory(cwd), linted, context)
    judgement = linted.judge(runs, [target.place[0] for target in targets])
    outcome = Outcome(cwd, targets, runs, judgement, found.unbuildable, time.monotonic() - start)
    if arguments.report_format not in TEXT_FORMATS:
        text = render(outcome, arguments.report_format, linted.source)
    elif not arguments.quiet:
        text += summary(outcome)
    if to_file is None:
        write(text)
    else:
        write_file(text, to_file)
    if arguments.html:
        write_file(html.render(outcome, linted.source), Path(arguments.html))
    return int(not outcome.agrees)


def _run(
    arguments: argparse.Namespace, targets: Sequence[Target], settings: Settings, linted: Linted, context: Context
) -> tuple[list[Run], list[Target], str]:
    """Run everything. What there is to tell is written as it comes, or returned if it goes into a file as a whole.

    Given back are also the targets, with those that only came of a run.
    """
    try:
        interpreter = find_interpreter(arguments.python or settings.verify.python, settings.root, context.cwd)
    except InterpreterError as error:
        raise UsageError(str(error)) from None
    printer = None
    if arguments.report_format in TEXT_FORMATS:
        concise = arguments.report_format == "concise"
        printer = Printer(targets, context, concise=concise, show_output=arguments.show_output)
    cache = None if arguments.no_cache else Cache(default_directory(), interpreter)
    known = {target.name: target for target in targets}
    further: dict[str, Target] = {}
    bar = ProgressBar(sum(len(jobs_of(target)) for target in targets), quiet=arguments.quiet)
    running = _running(arguments, targets, interpreter, jobs(arguments, settings.verify.jobs), cache, bar)
    runs, later = [], []
    with bar, closing(running):
        for one in running:
            runs.append(one)
            if one.target not in known:
                known[one.target] = further[one.target]
                if printer is not None:
                    printer.add(known[one.target])
            following = next_target(known[one.target], one)
            if following is not None:
                further[following.name] = following
            judgement = linted.judge([one], [known[one.target].place[0]])
            text = "" if printer is None else printer.run(one, judgement)
            bar.done(one, "" if arguments.output_file else text)
            later.append(text if arguments.output_file else "")
    return runs, list(known.values()), "".join(later)


def _running(
    arguments: argparse.Namespace,
    targets: Sequence[Target],
    interpreter: Interpreter,
    at_once: int,
    cache: Cache | None,
    bar: ProgressBar,
) -> Generator[Run, None, None]:
    """What comes of all targets, here or where an executor runs them."""
    if arguments.executor is None:
        kept = warmth(arguments.keep_warm, interpreter)
        return verify(targets, interpreter.path, jobs=at_once, cache=cache, tell=bar.tell, warmth=kept)
    from exportlint.verify.executor import ExecutorError, load_executor, verify_with

    here = str(Path.cwd())
    sys.path.insert(0, here)  # where the project's own modules are looked for
    try:
        executor = load_executor(arguments.executor)
    except ExecutorError as error:
        raise UsageError(str(error)) from None
    finally:
        # From now on, a `html.py` of the project must not be taken for the one that a report needs.
        sys.path.remove(here)
        sys.path.append(here)
    return verify_with(executor, targets, interpreter.path, cache=cache, tell=bar.tell)
