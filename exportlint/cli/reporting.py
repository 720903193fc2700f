"""What `exportlint check` prints: the report, differences, what was fixed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from exportlint.cli.fixing import Outcome, Plan
from exportlint.cli.output import wants_color, warn, width_of, write, write_bytes, write_file
from exportlint.config import Settings
from exportlint.config.choice import ALWAYS
from exportlint.config.torch_version import shown_version
from exportlint.importers import Importers
from exportlint.linter import Task
from exportlint.report import (
    TEXT_FORMATS,
    Context,
    baselined,
    cut_short,
    fixable,
    fixed_list,
    fixes_only,
    hidden,
    in_cells,
    limits,
    render,
    statistics,
    summary,
    unmatched,
    unread,
    unresolved,
)
from exportlint.report.context import located, printable
from exportlint.source import SourceError, SourceFile
from exportlint.source.layout import project_of


def report(
    arguments: argparse.Namespace, plan: Plan, outcome: Outcome, settings: Settings, cwd: Path, given: bytes | None
) -> None:
    """Print what there is to tell. `given` is standard input, if that was linted: it goes out again, fixed."""
    out = sys.stderr if given is not None and plan.apply else sys.stdout
    to_file = Path(arguments.output_file) if arguments.output_file else None
    color = wants_color(arguments.color, out) and (to_file is None or arguments.color == "always")
    width = None if to_file else width_of(out)
    root = project_of(cwd, {}) or cwd
    context = Context(cwd, sources(outcome.tasks), color, plan.most, arguments.verbose, width, plan.apply, root)
    findings = tuple(in_cells(finding, context.sources) for finding in outcome.result.findings)
    ends = tuple(in_cells(finding, context.sources) for finding in outcome.result.cut_short)
    outcome = replace(outcome, result=replace(outcome.result, findings=findings, cut_short=ends))
    if plan.diff:
        _write_differences(outcome, replace(context, color=wants_color(arguments.color, sys.stdout)))
        out = sys.stderr
    elif plan.apply and given is not None:
        write_bytes(outcome.fixed[0].data if outcome.fixed else given)
    if plan.only:
        text = _fixes(plan, outcome, settings, context, arguments.quiet)
    else:
        text = _findings(arguments, plan, outcome, settings, context)
    if to_file is None:
        write(text, out)
    else:
        write_file(text, to_file)


def _findings(arguments: argparse.Namespace, plan: Plan, outcome: Outcome, settings: Settings, context: Context) -> str:
    findings = outcome.result.findings
    output_format = settings.output_format
    if arguments.statistics:
        text = statistics.render(findings, output_format, context)
    else:
        text = render(findings, output_format, context)
    result = outcome.result
    shown_limits = limits(result.cut_short, context) if arguments.show_limits else ""
    if output_format not in TEXT_FORMATS and shown_limits:
        write(shown_limits, sys.stderr)
    if arguments.quiet:
        return text + (shown_limits if output_format in TEXT_FORMATS else "")
    left_out = _left_out(outcome.beside)
    ends = [cut_short(result.cut_short, hint=not arguments.show_limits), unread(result.unread, context)]
    if output_format not in TEXT_FORMATS:
        for line in (*left_out, *ends, unmatched(outcome.result.unmatched), *outcome.notes):
            if line:
                warn(line)
        return text
    if settings.show_fixes and outcome.fixed:
        text += "\n" if text and not text.endswith("\n\n") else ""
        text += _list(outcome, context)
    least = settings.min_severity
    unseen = hidden(outcome.result.hidden)
    assumed = _assumed([task.settings for task in outcome.tasks])
    unchecked = unmatched(outcome.result.unmatched)
    said = summary(findings, outcome.count, least, is_complete=result.is_complete)
    found = "" if unchecked and not findings and not outcome.count else said
    accepted = baselined(outcome.result.baselined)
    lines = [found, *ends, unchecked, accepted, *outcome.notes, unseen, assumed]
    lines.append(fixable(findings, context, hint=plan.hint))
    lines += [unresolved(outcome.result.unresolved, context), *left_out]
    return text + "".join(f"{line}\n" for line in lines if line) + shown_limits


def _left_out(beside: Importers) -> list[str]:
    """What was not looked at of the files that import those that are linted."""
    found = []
    if beside.count < beside.of:
        found.append(
            f"Analyzed the closest {beside.count} of {beside.of} files that directly or indirectly import the linted "
            "ones; `--follow-importers always` analyzes all of them."
        )
    if beside.problem is not None:
        found.append(f"Files that import the linted ones were not analyzed: {beside.problem}")
    elif not beside.is_complete:
        found.append("The project is too large to be searched for all files that import the linted ones.")
    return found


def _assumed(settings: Sequence[Settings]) -> str:
    """Which version of torch is taken where nothing says which it is, in one line, or nothing."""
    versions = [one.torch_version for one in settings if one.torch_assumed]
    return (
        f"torch is not installed here: assuming {shown_version(versions[0])}; set `torch-version`." if versions else ""
    )


def _fixes(plan: Plan, outcome: Outcome, settings: Settings, context: Context, quiet: bool) -> str:
    """What is said where nothing is to be said of findings: only which files nobody looked at."""
    findings = outcome.result.findings
    for finding in findings:
        if finding.code in ALWAYS:
            kind = finding.name.replace("-", " ")  # the rule is not named, and its message does not repeat its name
            said = finding.message if finding.message.startswith(kind) else f"{kind}: {finding.message}"
            warn(f"{context.shown(finding.filename)}:{located(finding)}: {printable(said)}")
    if quiet:
        return ""
    text = _list(outcome, context) if settings.show_fixes else ""
    said = fixes_only(outcome.count, findings, context, hint=plan.hint, done=not plan.diff)
    return text + (f"{said}\n" if said else "")


def _list(outcome: Outcome, context: Context) -> str:
    return fixed_list({fixed.task.filename: fixed.findings for fixed in outcome.fixed}, context)


def _write_differences(outcome: Outcome, context: Context) -> None:
    if not outcome.fixed:
        return
    from exportlint.cli.differences import difference

    write_bytes(b"".join(difference(fixed, context) for fixed in outcome.fixed))


def sources(tasks: Sequence[Task]) -> Callable[[str], SourceFile | None]:
    """Gives the file that findings call by a name, or None if that is not a task's or cannot be read."""
    by_name = {task.filename: task for task in tasks}

    # Findings come file by file.
    @lru_cache(maxsize=1)
    def source(filename: str) -> SourceFile | None:
        task = by_name.get(filename)
        try:
            return None if task is None else task.read()
        except SourceError:
            return None

    return source
