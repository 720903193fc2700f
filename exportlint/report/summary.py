"""What stands at the end of a report for people: how much was found, fixed, and can be fixed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from exportlint.findings import Applicability, Finding, Severity
from exportlint.report.context import Context, located, printable
from exportlint.syntax.unresolved_imports import UnreadFile, UnresolvedImport

MOST_NAMED = 3
"""So many imports that could not be resolved are named."""


def summary(
    findings: Sequence[Finding], fixed: int = 0, least: Severity = Severity.INFO, *, is_complete: bool = True
) -> str:
    """One line that says how many findings there are, besides those that were fixed; `least` is shown at least.

    `is_complete`: all code was followed to its end.
    """
    if fixed:
        return f"Found {_findings(len(findings) + fixed)} ({fixed} fixed, {len(findings)} remaining)."
    if not findings:
        return "All checks passed!" if is_complete else "Found nothing in the code that was analyzed."
    return f"Found {_findings(len(findings))} ({_by_severity(findings, least)})."


def hidden(findings: Sequence[Finding]) -> str:
    """How many findings are not grave enough to be shown, and how to see them, in one line, or nothing."""
    if not findings:
        return ""
    kinds = [kind for kind in Severity if any(f.severity is kind for f in findings)]
    flag = "--show-info" if kinds == [Severity.INFO] else f"--min-severity {kinds[-1].value}"
    counts = " and ".join(_count(sum(f.severity is kind for f in findings), kind.value) for kind in kinds)
    return f"{counts} hidden (`{flag}` shows {'it' if len(findings) == 1 else 'them'})."


def baselined(findings: Sequence[Finding]) -> str:
    """How many findings the baseline holds, in one line, or nothing."""
    return f"{_count(len(findings), 'finding')} accepted by the baseline." if findings else ""


def _by_severity(findings: Sequence[Finding], least: Severity) -> str:
    return ", ".join(
        _count(sum(f.severity is kind for f in findings), kind.value) for kind in Severity if kind.rank <= least.rank
    )


def fixable(findings: Iterable[Finding], context: Context, *, hint: bool) -> str:
    """How many findings can be fixed, in one line, or nothing. `hint`: also how many only with `--unsafe-fixes`."""
    findings = list(findings)
    now = sum(map(context.is_fixable, findings))
    later = unsafe_fixes(findings, context) if hint else 0
    more = f"{_count(later, 'unsafe fix')} available with `--fix --unsafe-fixes`"
    if not now:
        return f"{more}." if later else ""
    mark = f"[{context.style('fixable', '*')}]"
    return f"{mark} {now} fixable with `--fix`{f' ({more})' if later else ''}."


def unresolved(imports: Sequence[UnresolvedImport], context: Context) -> str:
    """Which imports of the project lead to no file, in one line, or nothing."""
    if not imports:
        return ""
    shown = [f"`{one.name}` ({context.shown(one.filename)}:{one.row})" for one in imports[:MOST_NAMED]]
    more = f" and {len(imports) - len(shown)} more" if len(imports) > len(shown) else ""
    what = f"{_count(len(imports), 'import')} of this project could not be resolved"
    return f"{what}: {', '.join(shown)}{more}; set `src` to the directories that imports start from."


def cut_short(findings: Sequence[Finding], *, hint: bool) -> str:
    """How much was not analyzed to its end, in one line, or nothing. `hint`: also how to see what."""
    if not findings:
        return ""
    what = _count(len({(f.filename, f.span) for f in findings}), "class")
    return f"The analysis of {what} was cut short{'; see `--show-limits`' if hint else ''}."


def unread(files: Sequence[UnreadFile], context: Context) -> str:
    """Which imported files cannot be read, in one line, or nothing."""
    if not files:
        return ""
    shown = [f"`{context.shown(one.filename)}` ({printable(one.reason)})" for one in files[:MOST_NAMED]]
    more = f" and {len(files) - len(shown)} more" if len(files) > len(shown) else ""
    return f"{_count(len(files), 'imported file')} could not be read: {', '.join(shown)}{more}."


def limits(findings: Sequence[Finding], context: Context) -> str:
    """The limits of an analysis, and where it ran into one, each line with its line end."""
    from exportlint.analysis.limits import bounds

    lines = ["Limits:"]
    lines += [f"  {name}: {bound.value:,} {bound.unit} per {bound.scope}" for name, bound in bounds().items()]
    lines.append("Cut short:" if findings else "No limit was reached.")
    lines += [f"  {context.shown(f.filename)}:{located(f)}: {printable(f.message)}" for f in findings]
    return "".join(f"{line}\n" for line in lines)


def unmatched(patterns: Sequence[str]) -> str:
    """Which patterns of the setting `exported` name no class, in one line, or nothing."""
    if not patterns:
        return ""
    shown = ", ".join(f"`{printable(pattern)}`" for pattern in patterns[:MOST_NAMED])
    more = f" and {len(patterns) - MOST_NAMED} more" if len(patterns) > MOST_NAMED else ""
    return f"No module was checked: `exported` matches none of them ({shown}{more})."


def fixes_only(fixed: int, findings: Iterable[Finding], context: Context, *, hint: bool, done: bool) -> str:
    """What was `done` to files, or would be, in one line, or nothing."""
    later = unsafe_fixes(findings, context) if hint else 0
    more = f"{_count(later, 'more fix' if fixed else 'fix')} available with `--unsafe-fixes`"
    if fixed:
        return f"{'Fixed' if done else 'Would fix'} {_findings(fixed)}{f' ({more})' if later else ''}."
    return f"{'Fixed nothing' if done else 'Would fix nothing'} ({more})." if later else ""


def unsafe_fixes(findings: Iterable[Finding], context: Context) -> int:
    """How many findings can be fixed by no other fixes than unsafe ones that are not applied."""
    return sum(
        f.fix is not None
        and f.fix.applicability is Applicability.UNSAFE
        and f.fix.applicability.rank > context.most.rank
        for f in findings
    )


def fixed_list(fixed: Mapping[str, Sequence[Finding]], context: Context) -> str:
    """What was fixed, by file and rule, each line with its line end."""
    total = sum(map(len, fixed.values()))
    if not total:
        return ""
    lines = [f"Fixed {_findings(total)}:"]
    for filename, findings in fixed.items():
        lines.append(f"- {context.style('bold', context.shown(filename))}:")
        counts = Counter((f.code, f.name) for f in findings)
        width = max(len(str(count)) for count in counts.values())
        lines += [
            f"    {count:>{width}} \N{MULTIPLICATION SIGN} {code} ({name})"
            for (code, name), count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        ]
    return "\n".join([*lines, "", ""])


def _findings(number: int) -> str:
    return _count(number, "finding")


def _count(number: int, noun: str) -> str:
    ending = "" if number == 1 else "es" if noun.endswith(("x", "ss")) else "s"
    return f"{number} {noun}{ending}"
