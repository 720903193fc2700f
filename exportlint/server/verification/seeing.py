"""What a client sees of the outcome of models in a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from exportlint.findings import Severity
from exportlint.server.verification.rows import moved
from exportlint.server.verification.seen import FindingKey, Remark, Ruled, Seen, key_of
from exportlint.server.verification.verified import Verified, real
from exportlint.source import LineIndex
from exportlint.verify.reports import advice
from exportlint.verify.results import Frame, Run, Verdict
from exportlint.verify.rulings import ONLY_DRAFTED, said_by
from exportlint.verify.verdicts import RULINGS, Judged, Surprise

_WORDS: Mapping[Verdict, str] = {"exports": "verified"}
_CAME: Mapping[Verdict, str] = {
    "exports": "export passes",
    "not compared": "export passes, but nothing could be compared",
    "fails": "export fails",
    "diverges": "the program diverges",
    "narrower": "the program is narrower",
    "times out": "export times out",
    "cannot be built": "cannot be verified",
}
_SEVERITIES: Mapping[Verdict, Severity] = {"fails": Severity.ERROR, "cannot be built": Severity.INFO}
"""Of what is told at the head of a model; all else is a warning."""


def see(file: str, text: str, known: Iterable[tuple[Verified, bool]]) -> Seen:
    """What to show in a file, by its real path, that holds `text`. `known` tells of each whether it still holds."""
    rulings: dict[FindingKey, Ruled] = {}
    remarks: list[Remark] = []
    titles: dict[int, list[str]] = {}
    for verified, holds in known:
        rows = moved(verified.texts[file], text) if file in verified.texts else {}
        if holds:
            _rule(rulings, (judged for judged in verified.judged if real(judged.finding.filename) == file))
        remarks += (remark for remark in _remarks(verified, file, rows, stale=not holds) if remark not in remarks)
        row = rows.get(verified.place[1])
        if verified.place[0] == file and row is not None:
            titles.setdefault(row, []).append(_title(verified, stale=not holds))
    return Seen(rulings, tuple(remarks), {row: f"export: {'; '.join(words)}" for row, words in titles.items()})


def summary(known: Sequence[Verified]) -> str:
    """The outcome of models, in one line: of one with the reason, of several how many came to what."""
    if len(known) == 1:
        reasons = [known[0].reason, *(run.reason for run in known[0].runs)]
        why = next(filter(None, reasons), "")
        return f"{known[0].name}: {_title(known[0], stale=False)}{why and f', {why}'}"
    counts = Counter(_title(verified, stale=False) for verified in known)
    return ", ".join(f"{count} {title}" for title, count in counts.items())


def by(run: Run) -> str:
    """Who says what a run says."""
    version = run.versions.get("torch", "").partition("+")[0]
    return f"torch.export{version and f' {version}'} ({run.mode}, {run.device})"


def _rule(rulings: dict[FindingKey, Ruled], judged: Iterable[Judged]) -> None:
    """Note what is said about findings; where several say something of one, the strongest word counts."""
    for one in judged:
        known = rulings.get(key_of(one.finding))
        # What is not near belongs to another class, which nobody had verified.
        if one.run is None or one.run.verdict == "cannot be built" or not one.near:
            continue
        if known is None or RULINGS.index(one.ruling) < RULINGS.index(known.ruling):
            rulings[key_of(one.finding)] = Ruled(one.ruling, by(one.run), one.why)


def _title(verified: Verified, *, stale: bool) -> str:
    """The outcome of a model in a word, or in one for each mode and device."""
    words = [(_WORDS.get(run.verdict, run.verdict), run) for run in verified.runs]
    if not words:
        said = "cannot be built"
    elif len({word for word, _ in words}) == 1:
        said = words[0][0]
    else:
        devices = len({run.device for run in verified.runs}) > 1
        said = ", ".join(f"{word} ({run.mode}{f', {run.device}' if devices else ''})" for word, run in words)
    return f"{said} (stale)" if stale else said


def _remarks(verified: Verified, file: str, rows: Mapping[int, int], *, stale: bool) -> Iterator[Remark]:
    """What is to be said in a file, in lines that are as they were."""
    head = rows.get(verified.place[1]) if verified.place[0] == file else None
    if verified.reason and head is not None:
        yield Remark(
            head,
            Severity.INFO,
            "cannot be built",
            f"cannot be verified: {verified.reason}",
            stale,
            needs_target=verified.needs_target,
        )
    for run in verified.runs:
        missed = [surprise for surprise in verified.missed if surprise.run is run]
        for surprise in missed:
            frame = surprise.frame
            row = rows.get(frame.row) if frame is not None and real(frame.file) == file else None
            if row is not None:
                fixes = () if stale else surprise.fixes
                known = _help(surprise, verified)
                yield Remark(row, _severity(surprise), run.verdict, _message(surprise), stale, fixes=fixes, help=known)
        if head is not None and run.verdict != "exports":
            yield from _at_head(verified, run, missed, file, head, rows, stale=stale)


def _at_head(
    verified: Verified,
    run: Run,
    missed: Sequence[Surprise],
    file: str,
    head: int,
    rows: Mapping[int, int],
    *,
    stale: bool,
) -> Iterator[Remark]:
    """What is to be said of a model as a whole: what export raised first of all, and what has no place here."""
    first = next((failure for failure in run.failures if not failure.further), None)
    if first is not None and run.verdict == "fails":
        message = f"{by(run)}: {_CAME[run.verdict]}: {said_by(first)}"
        place = _place(first.frames[-1] if first.frames else None, file, rows)
        yield Remark(head, _SEVERITIES[run.verdict], run.verdict, message, stale, place)
    for surprise in missed:
        if first is not None and not surprise.further and surprise.severity is Severity.ERROR:
            continue  # it is the first
        if surprise.frame is None or real(surprise.frame.file) != file:
            place = _place(surprise.frame, file, rows)
            known = _help(surprise, verified)
            yield Remark(head, _severity(surprise), run.verdict, _message(surprise), stale, place, help=known)
    is_told = any(
        judged.run is run and judged.ruling == "confirmed" and real(judged.finding.filename) == file
        for judged in verified.judged
    )
    if not missed and not is_told and (first is None or run.verdict != "fails"):
        severity = _SEVERITIES.get(run.verdict, Severity.WARNING)
        who = "" if run.verdict == "cannot be built" else f"{by(run)}: "
        message = f"{who}{_CAME[run.verdict]}{run.reason and f': {run.reason}'}"
        needs_target = verified.needs_target and run.verdict == "cannot be built"
        yield Remark(head, severity, run.verdict, message, stale, needs_target=needs_target)


def _place(frame: Frame | None, file: str, rows: Mapping[int, int]) -> tuple[str, int] | None:
    """Where the code that is blamed stands now, if it still does."""
    if frame is None:
        return None
    path = real(frame.file)
    row = rows.get(frame.row) if path == file else frame.row
    return None if row is None else (path, row)


def _severity(surprise: Surprise) -> Severity:
    """An error is what export itself raises."""
    return Severity.WARNING if surprise.further else surprise.severity


def _message(surprise: Surprise) -> str:
    how = f"{ONLY_DRAFTED}: " if surprise.further else ""
    raised = f"{surprise.what}: " if surprise.severity is Severity.ERROR else ""
    return f"{by(surprise.run)}: {how}{raised}{surprise.message}"


def _help(surprise: Surprise, verified: Verified) -> str:
    """What `exportlint explain` says of what was met; empty if it does not know it."""
    text = verified.texts.get(real(surprise.frame.file)) if surprise.frame is not None else None
    return advice(surprise, None if text is None else LineIndex(text)) or ""
