"""Findings with the code they are about, why they hold, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from exportlint.findings import Finding, Fix, Step
from exportlint.report.concise import heading
from exportlint.report.context import Context, located, printable
from exportlint.report.fix import shown
from exportlint.report.frame import frame
from exportlint.report.trails import shortened
from exportlint.report.wrapping import wrapped


def render(findings: Sequence[Finding], context: Context) -> str:
    """The report."""
    return "".join(block(finding, context) + "\n\n" for finding in findings)


def block(finding: Finding, context: Context, notes: Iterable[tuple[str, str]] = ()) -> str:
    """The lines about one finding, without line end; `notes` are said below its code, each after its label."""
    text = context.lines(finding.filename, finding.cell)
    rows, width = frame(text, finding.span, finding.severity.value, context) if text else ([], 1)
    gutter = " " * (width + 1)
    bar = f"{gutter} {context.style('frame', '|')}"
    title = f"{heading(finding, context)} {context.style('bold', printable(finding.message))}"
    lines = [
        *wrapped(title, context.width, "    "),
        f"{gutter}{context.style('frame', '-->')} {context.shown(finding.filename)}:{located(finding)}",
    ]
    if rows:
        lines += [bar, *rows, bar]
    note = f"{gutter} {context.style('frame', '=')} "
    said = [f"{context.style('bold', label)}: {printable(about)}" for label, about in notes]
    trail = finding.trail if context.verbose else shortened(finding.trail)
    said += [_step(step, context) for step in trail]
    fix = finding.fix if finding.fix is not None and not finding.fix.obstacle else None
    if finding.help is not None and not _says(fix, finding.help):
        said.append(f"{context.style('bold', 'help')}: {printable(finding.help)}")
    for one in said:
        lines += wrapped(note + one, context.width, f"{gutter}     ")
    if fix is not None and text is not None:
        lines += shown(fix, finding, context)
    why = _unfixed(finding, context)
    if why:
        lines += wrapped(f"{context.style('bold', 'note')}: {printable(why)}", context.width, "      ")
    return "\n".join(lines)


def _unfixed(finding: Finding, context: Context) -> str:
    """Why a finding remains where others were fixed; empty if that needs no words."""
    if finding.fix is not None and finding.fix.obstacle:
        return f"fix not applied: {finding.fix.obstacle}"
    return f"no fix: {finding.declined}" if context.fixing and finding.fix is None and finding.declined else ""


def _says(fix: Fix | None, text: str) -> bool:
    return fix is not None and fix.message.casefold() == text.casefold()


def _step(step: Step, context: Context) -> str:
    place = context.style("dim", f"({context.shown(step.filename)}:{located(step)})")
    return f"{context.style('bold', 'trail')}: {printable(step.message)} {place}"
