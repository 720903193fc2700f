"""One file from source to findings: analysis, rules, and what makes several facts one finding."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from exportlint.analysis.analyze import analyze
from exportlint.analysis.facts import Fact
from exportlint.analysis.interpreter.engine import Options
from exportlint.analysis.outline import Module
from exportlint.analysis.project import Project
from exportlint.analysis.trail import Site, Trail, site_of
from exportlint.claims import LINE, Context, Report
from exportlint.config import Settings
from exportlint.edits import places
from exportlint.findings import Applicability, Finding, Fix, Severity, Span, Step
from exportlint.fixes.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.registry import Rule, all_rules
from exportlint.source import SourceFile

MAX_SNIPPET = 60


@dataclass(frozen=True, slots=True)
class Crash:
    """What failed, in words, and why."""

    what: str
    cause: Exception


class PartialError(Exception):
    """Something failed that says nothing against `findings`, those that could be made."""

    def __init__(self, findings: list[Finding], crash: Crash) -> None:
        super().__init__(crash.what)
        self.findings = findings
        self.crash = crash


def check_file(source: SourceFile, project: Project, settings: Settings) -> list[Finding]:
    """The findings of a file and of the helpers that its modules reach in other files.

    Neither `select` nor suppressions are applied. Raises SyntaxProblem; PartialError, where a rule or a fix
    fails, with the findings that there are all the same; SupersededError, where the project raises it.
    """
    project.trim()
    module = project.add(source)
    rules = _rules_by_fact()
    crashes: list[Crash] = []
    reports = [
        reported
        for fact in analyze(module, project, options(settings))
        for rule in rules.get(type(fact), ())
        for reported in _reports(rule, fact, project, settings, crashes)
    ]
    origins = {id(finding): (fact, report) for finding, fact, report in reports}
    found: list[Finding] = []
    # Fixes cost more than findings, of which most are not kept.
    for finding in distinct(finding for finding, _, _ in reports):
        project.proceed()
        fact, report = origins[id(finding)]
        found.append(replace(finding, fix=_fix(fact, report, project, settings, crashes)))
    if crashes:
        raise PartialError(found, crashes[0])
    return found


def options(settings: Settings) -> Options:
    """What of the settings the analysis depends on."""
    return Options(
        mode=settings.mode,
        training=settings.train,
        dynamic_dims=frozenset(settings.dynamic_dims),
        module_bases=settings.module_bases,
        entry_points=settings.entry_points,
    )


@functools.cache
def _rules_by_fact() -> dict[type, tuple[Rule, ...]]:
    kinds = {kind for rule in all_rules() for kind in rule.facts}
    return {kind: tuple(rule for rule in all_rules() if kind in rule.facts) for kind in kinds}


def _reports(
    rule: Rule, fact: Fact, project: Project, settings: Settings, crashes: list[Crash]
) -> Iterator[tuple[Finding, Fact, Report]]:
    """What a rule says of a fact. If it fails, that is a crash, and what other rules say is not lost."""
    try:
        for report in rule.check(fact, Context(fact.mode or settings.mode, settings.torch_version)):
            yield _finding(rule, fact, report, project, settings), fact, report
    except Exception as error:
        crashes.append(Crash(f"{rule.code} {rule.name} failed", error))


def _finding(rule: Rule, fact: Fact, report: Report, project: Project, settings: Settings) -> Finding:
    site = report.site or fact.site
    line = project.source(fact.site.filename).row_name(fact.site.row)
    return Finding(
        code=rule.code,
        name=rule.name,
        severity=report.severity,
        message=report.message.replace(LINE, line),
        filename=project.display_name(site.filename),
        span=span_of(project.source(site.filename), site),
        symbol=fact.symbol,
        mode=settings.mode,
        trail=tuple(_steps(fact.trail, project)),
        help=report.help or None,
    )


def _fix(fact: Fact, report: Report, project: Project, settings: Settings, crashes: list[Crash]) -> Fix | None:
    if report.fix is None:
        return None
    site = report.site or fact.site
    code = Code(project.module(site.filename), site, fact.moments, settings.torch_version, settings.line_length)
    try:
        fix = report.fix(code)
    except DeclinedError:
        return None
    except Exception as error:
        crashes.append(Crash("a fix failed", error))
        return None
    if fix is None or not _admits(code.module.source, fix):
        return None
    if report.severity is Severity.INFO and fix.applicability is Applicability.UNSAFE:
        return replace(fix, applicability=Applicability.DISPLAY_ONLY)  # nothing breaks, so nothing is worth a risk
    return fix


def _admits(source: SourceFile, fix: Fix) -> bool:
    return source.admits(places(fix.edits, source.lines))


def span_of(source: SourceFile, site: Site) -> Span:
    """A site in rows and columns of the text."""
    lines = source.lines
    return Span(lines.from_ast(site.row, site.column), lines.from_ast(site.end_row, site.end_column))


def _steps(trail: Trail | None, project: Project) -> Iterator[Step]:
    previous = None
    for step in trail.steps() if trail is not None else ():
        source = step.module.source
        node = step.node
        site = site_of(step.module, node)
        text = step.message.replace("{}", snippet(step.module, node)) if "{}" in step.message else step.message
        found = Step(project.display_name(site.filename), span_of(source, site), text)
        if found != previous:
            yield found
        previous = found


def snippet(module: Module, node: ast.AST) -> str:
    """The source of a node on one line, shortened."""
    row, end_row = node.lineno, node.end_lineno  # type: ignore[attr-defined]
    text = module.source.lines.line(row).encode()
    part = text[node.col_offset : node.end_col_offset if row == end_row else None]  # type: ignore[attr-defined]
    shown = " ".join(part.decode(errors="replace").split())
    if row != end_row or len(shown) > MAX_SNIPPET:
        shown = shown[: MAX_SNIPPET - 1].rstrip() + "…"
    return shown


def distinct(findings: Iterable[Finding]) -> list[Finding]:
    """One finding for one root cause.

    An error about tensor data says all there is to say about what stands inside it and what led to it: the `.item()`
    in a condition, the `and` in an `if`.
    """
    ordered = sorted(findings, key=lambda f: f.sort_key)
    grave = [f for f in ordered if f.severity is not Severity.INFO]
    covered: dict[str, list[Span]] = {}
    for finding in grave:
        covered.setdefault(finding.filename, []).append(finding.span)
        for step in finding.trail:
            covered.setdefault(step.filename, []).append(step.span)
    kept: list[Finding] = []
    errors: set[tuple[str, Span]] = set()
    for finding in ordered:
        if finding.severity is Severity.INFO:
            if any(_within(finding.span, span) for span in covered.get(finding.filename, ())):
                continue
        elif finding.code.startswith("EXP1") and any(_encloses(other, finding) for other in grave):
            continue
        if finding.severity is Severity.ERROR:
            if (finding.filename, finding.span) in errors:
                continue
            errors.add((finding.filename, finding.span))
        kept.append(finding)
    return kept


def _within(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _encloses(outer: Finding, inner: Finding) -> bool:
    return (
        outer.filename == inner.filename
        and outer.span != inner.span
        and outer.code.startswith("EXP1")
        and _within(inner.span, outer.span)
    )
