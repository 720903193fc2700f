"""Checks one file: runs the analysis and the rules, and merges facts with one cause into one finding."""

from __future__ import annotations

import bisect
import functools
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import cast

from exportlint.analysis.analyze import Interpretation
from exportlint.analysis.described_functions import DescribedFunction, Returned
from exportlint.analysis.domain.trails import Route, RouteStep, Site, Trail
from exportlint.analysis.eval.call_graph import Caller as CalledFrom
from exportlint.analysis.eval.call_graph import home_of
from exportlint.analysis.eval.engine import Options
from exportlint.analysis.eval.probe import Observation, Probe
from exportlint.analysis.facts import Fact, Place
from exportlint.analysis.facts.order import route_order
from exportlint.analysis.incremental.kept_results import KeptResults
from exportlint.analysis.project import Project
from exportlint.analysis.results import Analysis
from exportlint.claims import LINE, Context, Report
from exportlint.config import Settings
from exportlint.config.function_options import FunctionSettings, check_functions
from exportlint.edits import places
from exportlint.entry_points import FUNCTIONS, EntryPoint, entry_points
from exportlint.findings import Applicability, Caller, Finding, Fix, Position, Severity, Span, Step
from exportlint.registry import PREFIX, Rule, rules_for
from exportlint.source import Notebook, SourceFile, gc_paused
from exportlint.units import ANALYSIS_LIMIT, EXHAUSTED

_Reported = tuple[Finding, Fact, Report]
_WRITES = "EXP3"
"""The prefix of the codes of rules about writes, which a finding further up their trail does not explain."""
MAX_SNIPPET = 60
MAX_FIX_SECONDS = 10
"""The most seconds of processor time for the fixes of a file."""


@dataclass(frozen=True, slots=True)
class Crash:
    """What failed (in words), and the exception."""

    what: str
    cause: Exception


class PartialError(Exception):
    """A rule or a fix failed. `findings` are the findings of the others, which are valid."""

    def __init__(self, findings: list[Finding], crash: Crash) -> None:
        super().__init__(crash.what)
        self.findings = findings
        self.crash = crash


Wants = Callable[[Iterable[Finding]], Iterable[Finding]]
"""Selects, from some findings, those whose fixes are wanted."""


def check_file(
    source: SourceFile,
    project: Project,
    settings: Settings,
    wants: Wants | None = None,
    results: KeptResults | None = None,
    leads_by: Set[str] | None = None,
) -> list[Finding]:
    """The findings of a file and of the helpers that its modules reach in other files.

    With `leads_by`, only modules that can reach what these names of the file stand for are analyzed.

    Only the fixes that somebody `wants` are worked out, by default those of all findings that are shown; other findings
    that have a rewrite are `fix_pending`. Neither `select` nor suppressions are applied. The `results` of
    classes in an earlier version of the file are taken over where they hold.

    Raises:
        SyntaxProblem: the file cannot be parsed.
        PartialError: a rule or a fix fails; the error has the other findings.
        SupersededError: the project raises it.
    """
    with gc_paused():  # nearly all objects created for a file live until its findings are complete
        return _check(source, project, settings, wants or functools.partial(_seen, settings), results, leads_by)


def _check(
    source: SourceFile,
    project: Project,
    settings: Settings,
    wants: Wants,
    results: KeptResults | None,
    leads_by: Set[str] | None,
) -> list[Finding]:
    project.trim(holds_all_modules=results is None)
    module = project.add(source)
    shown: dict[RouteStep, Step] = {}
    crashes: list[Crash] = []
    interpretation = Interpretation(module, project, options(settings), leads_by)
    analysis = interpretation.analysis(results)
    reports: list[_Reported] = []
    memory = None if isinstance(source, Notebook) else results
    for fact in analysis.facts:
        reported = None if memory is None else memory.reports.get(fact)
        if reported is None:
            failed = len(crashes)
            reported = tuple(
                reported
                for rule in rules_for(type(fact))
                for reported in _reports(rule, fact, project, settings, crashes, shown)
            )
            if memory is not None and len(crashes) == failed:
                memory.reports.set(fact, reported)
        reports += reported
    told = _one_verdict(reports)
    origins = {finding: (fact, report) for finding, fact, report in reversed(told)}
    kept = distinct((finding for finding, _, _ in told), _passed(reports, analysis, project, shown, memory))
    # A fix costs more than a finding: the classes that lead there run once more.
    rewritten = dict.fromkeys(finding for finding in kept if origins[finding][1].fix is not None)
    wanted = set(wants(rewritten))
    fixable = [origins[finding][0] for finding in kept if finding in wanted]
    variables = _Variables(interpretation, analysis, fixable, project.clock)
    end, late = project.clock() + MAX_FIX_SECONDS, None
    found: list[Finding] = []
    for finding in kept:
        project.proceed()
        fact, report = origins[finding]
        pending = finding in rewritten and finding not in wanted
        callers = tuple(_callers(fact, analysis, project))
        whole = _whole(finding, callers, memory, pending=pending)
        if finding in wanted and (project.is_past(end + variables.seconds) or variables.are_refused(fact)):
            late = late or finding
        elif finding in wanted:
            answer = _fix(fact, report, project, settings, variables, crashes)
            whole = replace(whole, declined=answer) if isinstance(answer, str) else replace(whole, fix=answer)
        found.append(whole)
    if results is not None:
        results.trim()
    if late is not None:
        found.append(_without_fixes(late))
    if crashes:
        raise PartialError(found, crashes[0])
    return found


def _whole(finding: Finding, callers: tuple[Caller, ...], memory: KeptResults | None, *, pending: bool) -> Finding:
    """A finding with what reaches it, and whether its fix is still to be worked out."""
    if not callers and not pending:
        return finding
    known = None if memory is None else memory.told.get(finding)
    if known is not None and known.callers == callers and known.fix_pending == pending:
        return known
    whole = replace(finding, callers=callers, fix_pending=pending)
    return whole if memory is None else memory.told.set(finding, whole)


def _seen(settings: Settings, findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.code in settings.rules and settings.offers_fix(finding)]


class _Variables:
    """The values of variables at the facts with fixes, computed when the first fix asks."""

    def __init__(
        self, interpretation: Interpretation, analysis: Analysis, facts: Iterable[Fact], clock: Callable[[], float]
    ) -> None:
        self._run = functools.partial(interpretation.probe, analysis)
        self._facts = list(facts)
        self._clock = clock
        self._probe: Probe | None = None
        self.seconds = 0.0

    def at(self, place: Place) -> Observation:
        """The values at a place."""
        if self._probe is None:
            start = self._clock()
            self._probe = self._run([part for fact in self._facts for part in (fact, *fact.inner)])
            self.seconds = self._clock() - start
        return self._probe.at(place)

    def are_refused(self, fact: Fact) -> bool:
        """Whether a fix asked for the values at a fact and they exceeded the limit."""
        return self._probe is not None and self._probe.at(fact.met_at).refused


def _without_fixes(finding: Finding) -> Finding:
    """What is said of a finding from which on no fixes are worked out."""
    return replace(
        finding,
        code=ANALYSIS_LIMIT,
        name="analysis-limit",
        severity=Severity.INFO,
        message="not all fixes for the rest of the file are computed: there are too many findings",
        trail=(),
        help="apply the offered fixes, then lint again",
    )


def options(settings: Settings) -> Options:
    """The options of the analysis, from the settings and from installed packages that describe functions.

    Raises:
        PluginError: the description in a package is invalid.
    """
    return Options(
        mode=settings.mode,
        training=settings.train,
        dynamic_dims=frozenset(settings.dynamic_dims),
        module_bases=settings.module_bases,
        entry_points=settings.entry_points,
        exported=settings.exported,
        returns_tensor=settings.returns_tensor,
        functions=tuple(map(_described, (*settings.functions, *packaged_functions()))),
    )


def _described(said: FunctionSettings) -> tuple[str, DescribedFunction]:
    return said.pattern, DescribedFunction(cast(Returned, said.returns), said.reads_data)


@functools.cache
def packaged_functions() -> tuple[FunctionSettings, ...]:
    """The descriptions of functions in installed packages, which are imported for this.

    Raises:
        PluginError: it cannot be used.
    """
    return tuple(said for entry in entry_points(FUNCTIONS) for said in _said_by(entry))


def _said_by(entry: EntryPoint) -> tuple[FunctionSettings, ...]:
    try:
        return check_functions(entry.load())
    except ValueError as error:
        raise entry.package.error(f"`{entry.value}`: {error}") from None


def _reports(
    rule: Rule, fact: Fact, project: Project, settings: Settings, crashes: list[Crash], shown: dict[RouteStep, Step]
) -> Iterator[_Reported]:
    """The reports of a rule on a fact. If the rule fails, that is added to `crashes`; other rules still report."""
    try:
        for report in rule.check(fact, Context(fact.mode or settings.mode, settings.torch_version)):
            yield _finding(rule, fact, report, project, settings, shown), fact, report
    except EXHAUSTED:
        raise
    except Exception as error:
        crashes.append(Crash(f"{rule} failed", error))


def _one_verdict(reports: Iterable[_Reported]) -> list[_Reported]:
    """Of what a rule says at one place of facts of one key, what it says of one of them: the gravest of all."""
    groups: dict[tuple[object, ...], list[_Reported]] = {}
    for reported in reports:
        finding, fact, _ = reported
        groups.setdefault((fact.key, finding.code, finding.filename, finding.span), []).append(reported)
    kept: list[_Reported] = []
    for group in groups.values():
        if len(group) == 1:
            kept.append(group[0])
            continue
        _, told, _ = min(group, key=_gravest)
        through = frozenset[str]().union(*(finding.through for finding, _, _ in group))
        kept += [(replace(finding, through=through), fact, report) for finding, fact, report in group if fact is told]
    return kept


def _gravest(reported: _Reported) -> tuple[object, ...]:
    """The sort key of reports at one place. Positions come last, so that moving code does not change the choice."""
    finding, fact, _ = reported
    length, places = route_order(fact.trail)
    return finding.severity.rank, fact.rank, length, finding.message, places


def _finding(
    rule: Rule, fact: Fact, report: Report, project: Project, settings: Settings, shown: dict[RouteStep, Step]
) -> Finding:
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
        trail=tuple(_steps(_route(fact), project, shown)) if report.has_trail else (),
        help=report.help or None,
        through=_through(_route(fact), project),
    )


def _callers(fact: Fact, analysis: Analysis, project: Project) -> Iterator[Caller]:
    for caller in analysis.callers(fact, home_of(project.module(fact.site.filename), fact.site.row)):
        source = project.source(caller.definition.filename)
        definition = span_of(source, caller.definition)
        # A class never spans files, so its calls are where it is.
        span = definition if caller.call is None else span_of(source, caller.call)
        yield Caller(project.display_name(caller.definition.filename), definition, span, _callee(caller, source))


def _callee(caller: CalledFrom, source: SourceFile) -> str:
    """The name to show for a called function: as in the code, for a method with its class."""
    if caller.is_method and caller.call is not None and "." not in caller.callee:
        shown = cut(source, caller.call)
        if shown.rpartition(".")[2] == caller.callee:
            return shown
    return caller.callee


def _fix(
    fact: Fact, report: Report, project: Project, settings: Settings, variables: _Variables, crashes: list[Crash]
) -> Fix | str | None:
    """The fix of a finding, or why there is none; None if its rule has none, or if that failed."""
    if report.fix is None:
        return None
    from exportlint.fixes.edit.code import Code
    from exportlint.fixes.errors import DeclinedError

    site = report.site or fact.site
    code = Code(
        project.module(site.filename),
        site,
        settings.torch_version,
        settings.line_length,
        place=fact.met_at,
        observe=variables.at,
    )
    try:
        fix = report.fix(code)
    except DeclinedError as error:
        return str(error)
    except ModuleNotFoundError as error:
        if error.name != "libcst":
            crashes.append(Crash("a fix failed", error))
            return None
        # An editor's extension that brings exportlint cannot bring native code for each Python.
        return "fixes need libcst, which is not installed: `python -m pip install libcst`"
    except EXHAUSTED:
        raise
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


def _route(fact: Fact) -> tuple[RouteStep, ...]:
    trail = Route.of(fact.trail) if isinstance(fact.trail, Trail) else fact.trail
    return () if trail is None else trail.steps


def _through(route: Iterable[RouteStep], project: Project) -> frozenset[str]:
    files = {name for step in route for name in (step.site.filename, step.entered) if name}
    return frozenset(map(project.display_name, files))


def _steps(route: Iterable[RouteStep], project: Project, shown: dict[RouteStep, Step]) -> Iterator[Step]:
    """The steps of a route, each made once for all findings: `shown` are those that were."""
    previous = None
    for step in route:
        found = shown.get(step)
        if found is None:
            found = shown[step] = _step(step, project)
        if found != previous:
            yield found
        previous = found


def _step(step: RouteStep, project: Project) -> Step:
    site = step.site
    source, name = project.source(site.filename), project.display_name(site.filename)
    text = step.message.replace("{}", cut(source, site)) if "{}" in step.message else step.message
    return Step(name, span_of(source, site), text, role=step.role, changes=step.changes)


def cut(source: SourceFile, site: Site) -> str:
    """The source of a site on one line, shortened."""
    text = source.lines.line(site.row).encode()
    part = text[site.column : site.end_column if site.row == site.end_row else None]
    shown = " ".join(part.decode(errors="replace").split())
    if site.row != site.end_row or len(shown) > MAX_SNIPPET:
        shown = shown[: MAX_SNIPPET - 1].rstrip() + "…"
    return shown


def _passed(
    reports: Iterable[_Reported],
    analysis: Analysis,
    project: Project,
    shown: dict[RouteStep, Step],
    memory: KeptResults | None,
) -> Iterator[tuple[str, Span]]:
    """The places that lead to what is graver than an info, in each exported class that meets it."""
    for finding, fact, report in reports:
        if finding.severity is not Severity.INFO and report.has_trail and _is_own(finding):
            for route in analysis.routes_to(fact):
                steps = None if memory is None else memory.steps.get(route)
                if steps is None:
                    steps = tuple(_steps(route.steps, project, shown))
                    if memory is not None:
                        memory.steps.set(route, steps)
                for step in steps:
                    yield step.filename, step.span


def distinct(findings: Iterable[Finding], passed: Iterable[tuple[str, Span]] = ()) -> list[Finding]:
    """One finding for one root cause.

    An error about tensor data says all there is to say about what stands inside it, such as the `and` in an `if`, and
    about what led to it, such as the `.item()` of a number that is compared, but for writes. `passed` are the places
    that lead to the findings, and to others that these stand for. What rules of other packages say stands for itself.
    """
    ordered = sorted(findings, key=lambda f: f.sort_key)
    grave = [f for f in ordered if f.severity is not Severity.INFO and _is_own(f)]
    covered = _Cover((f.filename, f.span) for f in grave)
    led = _Cover(passed)
    tests = [f for f in grave if f.code.startswith("EXP1")]
    judged = _Cover((f.filename, f.span) for f in tests)
    refused = _Cover((f.filename, f.span) for f in tests if f.severity is Severity.ERROR)
    kept: list[Finding] = []
    errors: dict[tuple[str, Span], int] = {}
    for finding in ordered:
        if not _is_own(finding):
            kept.append(finding)
            continue
        if finding.severity is Severity.INFO:
            if covered.holds(finding) or (not finding.code.startswith(_WRITES) and led.holds(finding)):
                continue
        elif finding.code.startswith("EXP1"):
            around = refused if finding.severity is Severity.ERROR else judged
            if around.holds(finding, strictly=True):
                continue
        if finding.severity is Severity.ERROR:
            place = (finding.filename, finding.span)
            if place in errors:
                same = kept[errors[place]]
                kept[errors[place]] = replace(same, through=same.through | finding.through)
                continue
            errors[place] = len(kept)
        kept.append(finding)
    return kept


def _is_own(finding: Finding) -> bool:
    """Whether it is about a rule of exportlint's own, which knows what the others say."""
    return finding.code.startswith(PREFIX)


class _Cover:
    """Spans of files, to ask whether one of them holds another span."""

    def __init__(self, places: Iterable[tuple[str, Span]]) -> None:
        found: dict[str, set[Span]] = {}
        for filename, span in places:
            found.setdefault(filename, set()).add(span)
        self._starts: dict[str, list[Position]] = {}
        self._ends: dict[str, list[Position]] = {}
        for filename, spans in found.items():
            ordered = sorted(spans, key=lambda span: span.start)
            self._starts[filename] = [span.start for span in ordered]
            self._ends[filename] = list(accumulate((span.end for span in ordered), max))

    def holds(self, finding: Finding, *, strictly: bool = False) -> bool:
        """Whether a span, or `strictly` a larger one, holds that of a finding."""
        starts, ends = self._starts.get(finding.filename, []), self._ends.get(finding.filename, [])
        start, end = finding.span.start, finding.span.end
        before, until = bisect.bisect_left(starts, start), bisect.bisect_right(starts, start)
        if strictly:
            return (before > 0 and ends[before - 1] >= end) or (until > 0 and ends[until - 1] > end)
        return until > 0 and ends[until - 1] >= end
