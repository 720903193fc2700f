"""Searches for the fixes by which a model comes to export, round by round, with torch.export as the judge.

A round looks at what keeps the model from exporting, tries fixes, and keeps those with which the model does what it did
and export gets further. Safe fixes go first, all together. Then come unsafe ones: those at what torch blames one by
one, then the others as a group, of which the ones are kept that are needed, and at last the checks that torch proposes.
Files change in the worker's memory only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from exportlint.findings import Applicability, Mode
from exportlint.fixer import EditError, Fixed
from exportlint.verify.bench import Bench, Objection, Original
from exportlint.verify.plans.candidates import Candidate, Finder, Key, Look
from exportlint.verify.plans.plan import Attempt, Blocker, End, Plan, Round
from exportlint.verify.plans.progress import Progress, first_failure, progress
from exportlint.verify.results import Run
from exportlint.verify.rulings import said_by
from exportlint.verify.subsets import largest, smallest
from exportlint.verify.target import Target
from exportlint.workspace import Task

_Texts = Mapping[Path, bytes]


def plan_fixes(
    targets: Sequence[Target],
    bench: Bench,
    task_of: Callable[[Path], Task | None],
    most: Applicability,
    rounds: int,
    *,
    minimal: bool = False,
) -> Plan:
    """Find out which fixes up to `most` bring targets to export, in so many rounds at most. Nothing is written.

    `task_of` gives how a file is linted, or None if it is not to be changed. `minimal` takes back those of the fixes
    that turn out not to be needed, at one more run for each.

    Raises:
        StartError: there is no worker to be had.
    """
    originals = bench.originals(targets)
    search = _Search(bench, originals, Finder(task_of, most), task_of)
    return search.run(rounds, minimal=minimal)


@dataclass(frozen=True, slots=True)
class _State:
    """Files that hold other texts, and what the targets came to with these.

    `caveat` is what the model does otherwise although its results are equal, in one clause.
    """

    texts: _Texts
    runs: tuple[Run, ...]
    caveat: str = ""

    @property
    def exports(self) -> bool:
        return all(run.verdict == "exports" for run in self.runs)


@dataclass
class _Search:
    """What is known so far."""

    bench: Bench
    originals: Sequence[Original]
    finder: Finder
    task_of: Callable[[Path], Task | None]
    count: int = 0
    rounds: list[Round] = field(default_factory=list)
    steps: list[tuple[Candidate, ...]] = field(default_factory=list)
    """The fixes that were kept in each round, to do it again without some."""

    def __post_init__(self) -> None:
        self._needs_gradients = any(original.task.target.gradients for original in self.originals)
        self._known: dict[frozenset[tuple[Path, bytes]], tuple[Run, ...]] = {}
        self._undone: dict[Key, str] = {}
        self._doubtful: set[Key] = set()
        """Safe fixes that were applied with others, which did not go well, or before."""
        self._detours: list[_Detour] = []
        """The steps since export last got further that only led to another failure."""

    def run(self, rounds: int, *, minimal: bool) -> Plan:
        """Go on until the targets export, or nothing helps."""
        state = _State({}, tuple(original.run for original in self.originals))
        self.count += len(self.originals)
        if state.exports:
            return self._plan(state, "exports")
        if not all(original.runs for original in self.originals):
            return self._plan(state, "cannot be run")
        seen = {_fingerprint(state.texts)}
        while len(self.rounds) < rounds:
            after = self._round(state)
            if after is not None and _fingerprint(after.texts) not in seen:
                seen.add(_fingerprint(after.texts))
                state = after
            elif self._detours:
                state = self._back()
            else:
                return self._plan(state, "no fix helps")
            if state.exports:
                return self._plan(self._without_needless(state) if minimal else state, "exports")
        while self._detours:
            state = self._back()
        return self._plan(state, "out of rounds")

    def _back(self) -> _State:
        """The state before a step that only led to another failure, where nothing helps. It is not taken again."""
        detour = self._detours.pop()
        self._undone |= dict.fromkeys(detour.keys, detour.why)

        def said(attempt: Attempt) -> Attempt:
            return replace(attempt, verdict="no help", why=detour.why) if attempt.verdict == "kept" else attempt

        for number in range(detour.round, len(self.rounds)):
            one = self.rounds[number]
            self.rounds[number] = replace(one, attempts=tuple(map(said, one.attempts)))
        self._doubtful -= {one.key for step in self.steps[detour.step :] for one in step}
        del self.steps[detour.step :]
        return detour.state

    def _round(self, state: _State) -> _State | None:
        """The state after one more step, or None if nothing helps."""
        look = self.finder.look(state.runs, state.texts)
        waiting = [one for one in look.candidates if one.key not in self._undone]
        of_rules = [one for one in waiting if not one.is_assumption]
        attempts: list[Attempt] = []
        after = (
            self._safe(state, of_rules, attempts)
            or self._one_by_one(state, [one for one in of_rules if one.nearness < _FAR], attempts)
            or self._as_group(state, of_rules, attempts)
            or self._one_by_one(state, [one for one in waiting if one.is_assumption], attempts)
        )
        if after is not None or attempts:
            self.rounds.append(Round(tuple(attempts), state.runs if after is None else after.runs))
        return after

    def _safe(self, state: _State, candidates: Sequence[Candidate], attempts: list[Attempt]) -> _State | None:
        """All safe fixes at once, kept if nothing becomes worse: a safe fix has no caveat."""
        new = [one for one in candidates if one.is_safe and one.key not in self._doubtful]
        self._doubtful |= {one.key for one in new}
        safe = self.finder.together(new, state.texts)
        tried = self._tried(state, safe) if safe else None
        if not isinstance(tried, _Tried) or tried.progress is Progress.BACK or tried.is_caveat_new:
            return None
        return self._keep(state, tried, safe, attempts)

    def _one_by_one(self, state: _State, near: Sequence[Candidate], attempts: list[Attempt]) -> _State | None:
        """The first fix at what torch blames that gets further, or else that comes to another failure there.

        One that has a caveat is kept only if no other one does it.
        """
        best: tuple[Candidate, _Tried] | None = None
        for one in near:
            tried = self._tried(state, [one])
            if isinstance(tried, Objection):
                attempts.append(self._undo(one, tried.why))
            elif tried.progress < Progress.ELSEWHERE:
                attempts.append(Attempt(one.finding, "no help", _no_help(tried)))
            elif best is None or tried.worth > best[1].worth:
                best = one, tried
                if tried.worth == _BEST:
                    break
        return None if best is None else self._keep(state, best[1], [best[0]], attempts)

    def _as_group(self, state: _State, candidates: Sequence[Candidate], attempts: list[Attempt]) -> _State | None:
        """Of all fixes those that get further together."""
        items = self.finder.together([one for one in candidates if one.key not in self._undone], state.texts)
        if not items or (len(items) == 1 and items[0].nearness < _FAR):
            return None

        def test(some: Sequence[Candidate]) -> Objection | None:
            tried = self._tried(state, some)
            if isinstance(tried, Objection):
                return tried
            return None if tried.progress is Progress.FURTHER else Objection(_no_help(tried))

        def is_hopeless(some: Sequence[Candidate], _: Objection) -> bool:
            tried = self._tried(state, some)
            return isinstance(tried, _Tried) and tried.progress is Progress.SAME

        chosen, against = largest(items, test, lambda objection: objection.in_eager, is_hopeless)
        needed = smallest(chosen, lambda some: test(some) is None)
        attempts[:] = [attempt for attempt in attempts if all(attempt.finding is not one.finding for one in needed)]
        told = {attempt.finding for attempt in attempts}
        for one, objection in against.items():
            if objection.in_eager:
                attempts.append(self._undo(one, objection.why))
            elif one.finding not in told and one not in needed:
                attempts.append(Attempt(one.finding, "no help", objection.why))
        if not needed:
            return None
        tried = self._tried(state, needed)
        assert isinstance(tried, _Tried)
        return self._keep(state, tried, needed, attempts)

    def _keep(self, state: _State, tried: _Tried, fixes: Sequence[Candidate], attempts: list[Attempt]) -> _State:
        if tried.progress is Progress.FURTHER:
            self._detours.clear()
        elif not all(one.is_safe for one in fixes):
            keys = frozenset(one.key for one in fixes)
            why = f"{_no_help(tried)}; no fix solves that"
            self._detours.append(_Detour(state, len(self.rounds), len(self.steps), keys, why))
        why = tried.state.caveat if tried.is_caveat_new else ""
        attempts += (Attempt(one.finding, "kept", why) for one in fixes)
        self.steps.append(tuple(fixes))
        return tried.state

    def _undo(self, one: Candidate, why: str) -> Attempt:
        self._undone[one.key] = why
        return Attempt(one.finding, "undone", why)

    def _tried(self, state: _State, fixes: Sequence[Candidate]) -> _Tried | Objection:
        """The state that fixes lead to, or the objection that the model does not do any more what the original does."""
        try:
            texts = self.finder.applied(fixes, state.texts)
        except EditError as error:
            return Objection(str(error), in_eager=True)
        runs = self._runs(texts)
        caveat = ""
        for run in runs:
            original = next((c for c in run.comparisons if c.kind == "original"), None)
            if original is None:
                return Objection(f"the model cannot be run any more: {run.reason}", in_eager=True)
            if original.agreement == "skipped":
                return Objection(f"cannot tell whether the results change: {original.detail}", in_eager=True)
            if original.agreement == "loosely" and not self._is_strict_about(original.detail):
                caveat = caveat or _caveat(original.detail)
            elif original.agreement != "agrees":
                return Objection(f"results change: {original.detail or original.agreement}", in_eager=True)
        return _Tried(
            _State(texts, runs, caveat),
            progress(
                state.runs,
                runs,
                (lambda path: self.finder.text(path, state.texts), lambda path: self.finder.text(path, texts)),
            ),
            caveat != "" and not state.caveat,
        )

    def _is_strict_about(self, difference: str) -> bool:
        return self._needs_gradients and difference.startswith(_GRADIENTS)

    def _runs(self, texts: _Texts) -> tuple[Run, ...]:
        key = frozenset(texts.items())
        if key not in self._known:
            self.count += len(self.originals)
            self._known[key] = tuple(self.bench.run_with(original, texts) for original in self.originals)
        return self._known[key]

    def _without_needless(self, state: _State) -> _State:
        """The state without those fixes that the targets export without, the last ones tried first."""
        kept = [one for step in self.steps for one in step]
        needless: list[Candidate] = []
        for one in reversed(kept):
            if len(kept) == len(needless) + 1:
                break
            again = self._replayed([*needless, one])
            if again is not None and again.exports:
                needless.append(one)
                state = again
        gone = {id(one.finding) for one in needless}

        def said(attempt: Attempt) -> Attempt:
            return replace(attempt, verdict="not needed") if id(attempt.finding) in gone else attempt

        self.rounds = [replace(one, attempts=tuple(map(said, one.attempts))) for one in self.rounds]
        return state

    def _replayed(self, without: Sequence[Candidate]) -> _State | None:
        """The state with all fixes that are kept but some; None if the others cannot be found any more."""
        left_out = {id(one) for one in without}
        state = _State({}, tuple(original.run for original in self.originals))
        for step in self.steps:
            wanted = [one.key for one in step if id(one) not in left_out]
            if not wanted:
                continue
            there = {one.key: one for one in self.finder.look(state.runs, state.texts).candidates}
            if any(key not in there for key in wanted):
                return None
            tried = self._tried(state, [there[key] for key in wanted])
            if isinstance(tried, Objection):
                return None
            state = tried.state
        return state

    def _plan(self, state: _State, end: End) -> Plan:
        kept = [attempt.finding for one in self.rounds for attempt in one.attempts if attempt.verdict == "kept"]
        fixed = []
        for path, data in sorted(state.texts.items()):
            task = self.task_of(path)
            before = self.finder.text(path, {})  # as it was read first: what others write meanwhile must not be lost
            if task is not None and data != before:
                own = tuple(finding for finding in kept if finding.filename == task.filename)
                fixed.append(Fixed(task, before, data, own))
        look = Look((), ()) if end in ("exports", "cannot be run") else self.finder.look(state.runs, state.texts)
        blockers = tuple(self._blocker(run, look, state.texts) for run in state.runs if run.verdict != "exports")
        before_runs = tuple(original.run for original in self.originals)
        other = self._in_other_mode(state) if blockers and end != "cannot be run" else ()
        return Plan(
            before_runs, state.runs, tuple(self.rounds), tuple(fixed), end, blockers, self.count, other, state.caveat
        )

    def _in_other_mode(self, state: _State) -> tuple[Run, ...]:
        """What the targets come to in the other mode, if they were run in one only."""
        modes = {original.task.mode for original in self.originals}
        if len(modes) > 1:
            return ()
        other: Mode = "strict" if modes == {"non-strict"} else "non-strict"
        self.count += len(self.originals)
        asked = [replace(original, task=replace(original.task, mode=other)) for original in self.originals]
        return tuple(self.bench.run_with(original, state.texts) for original in asked)

    def _blocker(self, run: Run, look: Look, texts: _Texts) -> Blocker:
        """What a run fails at, and why nothing is done about it."""
        failure = first_failure(run)
        if run.verdict in ("cannot be built", "times out"):
            return Blocker(run, run.reason, None, None, "")
        frame = failure.frames[-1] if failure is not None and failure.frames else None
        what = run.reason if failure is None else said_by(failure)
        if frame is not None and self.task_of(Path(frame.file)) is None:
            return Blocker(run, what, frame, None, "the file is not one of the project's that fixes may change")
        found = self.finder.blamed(run, look, texts)
        tried = {one.finding: one.key for one in look.candidates if not one.is_assumption}
        with_fix = next((finding for finding in found if finding in tried), None)
        if with_fix is not None:
            undone = self._undone.get(tried[with_fix])
            why = f"its fix is not kept: {undone}" if undone else "its fix does not help"
            return Blocker(run, what, frame, with_fix, why)
        if not found:
            return Blocker(run, what, frame, None, "no finding explains this")
        why = "there is no fix for it" if found[0].fix is None else f"its fix is {found[0].fix.applicability.value}"
        return Blocker(run, what, frame, found[0], why)


@dataclass(frozen=True, slots=True)
class _Tried:
    """The state that fixes lead to, and how far that is from where they were tried.

    `is_caveat_new`: results are equal, and something else is not as it was there.
    """

    state: _State
    progress: Progress
    is_caveat_new: bool

    @property
    def worth(self) -> tuple[Progress, bool]:
        """By what it is better than another."""
        return self.progress, not self.is_caveat_new


@dataclass(frozen=True, slots=True)
class _Detour:
    """A step that led to another failure: the state before, how many rounds and steps there were, its fixes, and why.

    Of several steps, the ones after it are taken back with it.
    """

    state: _State
    round: int
    step: int
    keys: frozenset[Key]
    why: str


_GRADIENTS = "gradients: "
"""What the comparison with the original says where only gradients differ: they are compared last."""

_BEST = Progress.FURTHER, True
_FAR = 2


def _caveat(difference: str) -> str:
    if difference.startswith(_GRADIENTS):
        return f"has other gradients: {difference.removeprefix(_GRADIENTS)}"
    return f"accepts inputs that the original rejects: {difference}"


def _no_help(tried: _Tried) -> str:
    bad = next((run for run in tried.state.runs if run.verdict != "exports"), None)
    if bad is None:
        return ""
    still = "still" if tried.progress is Progress.SAME else "then"
    failure = first_failure(bad)
    where = ""
    if failure is not None and failure.frames:
        frame = failure.frames[-1]
        where = f" at {Path(frame.file).name}:{frame.row}"
    return f"{still} {bad.verdict}{where}: {bad.reason}"


def _fingerprint(texts: _Texts) -> frozenset[tuple[Path, bytes]]:
    return frozenset(texts.items())
