"""The table of runs on the page, and what there is to know of each."""

from __future__ import annotations

from collections.abc import Callable

from exportlint.verify.reports import Outcome
from exportlint.verify.reports.html.parts import badge, text
from exportlint.verify.reports.html.plot import plot
from exportlint.verify.results import Failure, Frame, Run

Link = Callable[[Frame], str]

_HEADINGS = ("Target", "Verdict", "Mode", "Device", "Time", "Reason")


def table(outcome: Outcome, link: Link) -> str:
    """A row for each run, with its details below."""
    head = "".join(f'<th scope="col">{heading}</th>' for heading in _HEADINGS)
    rows = "\n".join(_rows(run, outcome, link) for run in outcome.runs)
    return (
        '<div class="scroll" role="region" tabindex="0" aria-labelledby="runs">'
        f'<table class="runs"><thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>'
    )


def _rows(run: Run, outcome: Outcome, link: Link) -> str:
    place = outcome.place(run)
    at = f'<br><span class="quiet">{link(Frame(str(place[0]), place[1]))}</span>' if place else ""
    cells = (
        f'<th scope="row"><code>{text(run.target)}</code>{at}</th>',
        f"<td>{badge(run.verdict)}</td>",
        f"<td>{run.mode}</td>",
        f"<td>{text(run.device)}</td>",
        f'<td class="number">{run.seconds:.1f} s</td>',
        f"<td>{text(run.reason)}{_details(run, link)}</td>",
    )
    return f"<tr>{''.join(cells)}</tr>"


def _details(run: Run, link: Link) -> str:
    parts = []
    if run.inputs:
        items = "".join(f"<li><code>{text(one)}</code></li>" for one in run.inputs)
        parts.append(f"<h4>Example</h4><ul>{items}</ul>")
    parts += [_failure(failure, link) for failure in run.failures]
    if run.comparisons:
        parts.append(f"<h4>Program and model compared</h4>{plot(run.comparisons)}{_comparisons(run)}")
    if run.output:
        parts.append(f"<h4>Output</h4><pre>{text(run.output.rstrip())}</pre>")
    if not parts:
        return ""
    return f"<details><summary>Details</summary>{''.join(parts)}</details>"


def _failure(failure: Failure, link: Link) -> str:
    title = "Also, by draft_export" if failure.further else f"Failure in the stage {failure.stage}"
    frames = "".join(f"<li>{link(frame)} {text(frame.function)}</li>" for frame in reversed(failure.frames))
    hints = "".join(f"<li><code>{text(hint)}</code></li>" for hint in failure.hints)
    return (
        f"<h4>{title}</h4><pre>{text(failure.type)}: {text(failure.message.rstrip())}</pre>"
        + (f"<p>In:</p><ul>{frames}</ul>" if frames else "")
        + (f"<p>torch suggests:</p><ul>{hints}</ul>" if hints else "")
    )


def _comparisons(run: Run) -> str:
    rows = "".join(
        f'<tr><th scope="row">{text(c.kind)}</th><td>{text(c.label)}</td><td>{badge(c.agreement)}</td>'
        f'<td class="number">{"" if c.difference is None else f"{c.difference:.3g}"}</td><td>{text(c.detail)}</td></tr>'
        for c in run.comparisons
    )
    head = "".join(
        f'<th scope="col">{heading}</th>' for heading in ("Kind", "Which", "Agreement", "Largest difference", "Detail")
    )
    return f'<table class="comparisons"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
