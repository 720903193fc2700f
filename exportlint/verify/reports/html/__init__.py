"""One page for a browser, without other files and network: the table of runs, and the code with what was found."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from html import escape
from pathlib import Path

from exportlint import __version__
from exportlint.report.context import printable
from exportlint.verify.reports import Outcome, counted, told
from exportlint.verify.reports.html.code import Code
from exportlint.verify.reports.html.parts import badge, shown, text
from exportlint.verify.reports.html.runs import table
from exportlint.verify.verdicts import Sources

_FILTERS = ("confirmed", "refuted", "not reached", "missed")


def render(outcome: Outcome, sources: Sources) -> str:
    """The page. Whatever comes from the project is escaped; no script but the page's own may run in it."""
    style, script = (_asset(name) for name in ("page.css", "page.js"))
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'"
    code = Code(told(outcome, sources), outcome, sources)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>exportlint verify: {escape(_title(outcome))}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#code">Skip to the code</a>
<header>
<h1>exportlint verify</h1>
<p>{_summary(outcome)}</p>
<p class="quiet">{escape(_versions(outcome))}</p>
</header>
<main>
<section aria-labelledby="runs">
<h2 id="runs">Targets</h2>
{table(outcome, code.link)}
{_unbuildable(outcome)}</section>
<section aria-labelledby="code">
<h2 id="code">Code</h2>
{_filters(outcome)}
<p class="quiet">Lines with a bar ran in eager, on the example.</p>
{code.sections()}
</section>
</main>
<script>{script}</script>
</body>
</html>
"""


def _asset(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _title(outcome: Outcome) -> str:
    verdicts = Counter(run.verdict for run in outcome.runs)
    return ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())


def _summary(outcome: Outcome) -> str:
    verdicts = Counter(run.verdict for run in outcome.runs)
    parts = [f"{badge(verdict)} {count}" for verdict, count in verdicts.items()]
    return f"{len(outcome.runs)} runs in {outcome.seconds:.1f} s: {', '.join(parts)}"


def _versions(outcome: Outcome) -> str:
    versions = {f"{name} {version}": None for run in outcome.runs for name, version in run.versions.items()}
    return ", ".join([f"exportlint {__version__}", *map(printable, versions)])


def _unbuildable(outcome: Outcome) -> str:
    if not outcome.unbuildable:
        return ""
    items = "".join(
        f"<li><code>{text(one.name)}</code> ({text(shown(one.place[0], outcome.root))}:{one.place[1]}): "
        f"{text(one.reason)}</li>\n"
        for one in outcome.unbuildable
    )
    title = f"<summary>{len(outcome.unbuildable)} more that cannot be verified</summary>"
    return f"<details>{title}<ul>{items}</ul></details>\n"


def _filters(outcome: Outcome) -> str:
    counts = counted(outcome)
    boxes = "".join(
        f'<label><input type="checkbox" checked data-verdict="{name}"> {badge(name)} {counts[name]}</label>\n'
        for name in _FILTERS
    )
    return f'<fieldset class="filters"><legend>Show findings that are</legend>\n{boxes}</fieldset>'
