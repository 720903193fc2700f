"""Names for findings that outlast edits: the same finding has the same fingerprint after its lines have moved.

A fingerprint is made of the rule, the function that the finding is in, and the code that it is about, without
whitespace. Findings that agree in all of that are numbered in each file, so that each has another one. It says nothing
about the file, which whoever compares fingerprints knows, nor about message and severity, which other versions of
exportlint and torch have others of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from hashlib import sha256

from exportlint.findings import Finding
from exportlint.source import SourceFile

LENGTH = 16
"""The number of its hexadecimal digits."""


def fingerprinted(findings: Iterable[Finding], sources: Callable[[str], SourceFile | None]) -> tuple[Finding, ...]:
    """The findings with their fingerprints, in the order of reports.

    They are all that there are in their files, with rows of the text of these. `sources` gives the file of a name, or
    None if it cannot be read.
    """
    made: Counter[tuple[str, str]] = Counter()
    found = []
    for finding in sorted(findings, key=lambda finding: finding.sort_key):
        about = _about(finding, sources)
        made[finding.filename, about] += 1
        found.append(replace(finding, fingerprint=_digest(f"{about}\0{made[finding.filename, about]}")))
    return tuple(found)


def _about(finding: Finding, sources: Callable[[str], SourceFile | None]) -> str:
    source = sources(finding.filename)
    code = "" if source is None else source.lines.slice(finding.span)
    return "\0".join((finding.code, finding.symbol, "".join(code.split())))


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:LENGTH]
