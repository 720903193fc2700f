"""The documentation site builds without a warning, its links lead somewhere, and what it says of torch.export is so."""

from __future__ import annotations

import contextlib
import io
import json
import linecache
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from exportlint.config.options import OPTIONS
from exportlint.config.tables import with_inner
from exportlint.pages import Block, Marked
from exportlint.registry import all_rules
from tests.patience import PATIENCE

PROJECT = Path(__file__).parents[1]
sys.path.insert(0, str(PROJECT / "scripts"))

from docs_site.markdown import indented_by_four, outside_of_code  # noqa: E402

TUTORIAL = PROJECT / "docs" / "torch-export.md"

BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL)

LISTS = [
    ("Text:\n- one\n- two\n", "Text:\n\n- one\n- two\n"),
    (
        "1. one\n   more\n\n   ```py\n   x = 1\n     y\n   ```\n\n2. two\n",
        "1. one\n    more\n\n    ```py\n    x = 1\n      y\n    ```\n\n2. two\n",
    ),
    ("- a\n  - b\n    c\n- d\n\nEnd\n", "- a\n    - b\n        c\n- d\n\nEnd\n"),
    ("```\n- a\n  - b\n```\n", "```\n- a\n  - b\n```\n"),
]


@pytest.mark.parametrize(("github", "site"), LISTS)
def test_lists_of_github_become_lists_of_the_site(github: str, site: str) -> None:
    assert indented_by_four(github) == site


def test_code_is_left_alone() -> None:
    text = "[`a`](b) and `[a](b)`\n\n```py\n[a](b)\n```\n\n[a](b)\n"
    changed = outside_of_code(text, lambda part: part.replace("](b)", "](c)"))
    assert changed == "[`a`](c) and `[a](b)`\n\n```py\n[a](b)\n```\n\n[a](c)\n"


@pytest.mark.thorough
def test_the_tutorial_prints_what_it_shows() -> None:
    names: dict[str, object] = {"__name__": "tutorial"}
    for number, block in enumerate(BLOCK.finditer(TUTORIAL.read_text(encoding="utf-8"))):
        source, shown = block.groups()
        file = f"<block {number}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(source, file, "exec"), names)
        assert printed.getvalue() == (shown or ""), source


@pytest.mark.parametrize("mode", ["non-strict", "strict"])
def test_the_tutorial_has_the_findings_that_it_states(mode: str, tmp_path: Path) -> None:
    source = "\n\n".join(block[1] for block in BLOCK.finditer(TUTORIAL.read_text(encoding="utf-8")))
    file = tmp_path / "tutorial.py"
    file.write_text(source, encoding="utf-8")
    command = [sys.executable, "-m", "exportlint", str(file), "--mode", mode, "--output-format", "json", "--no-cache"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    found = json.loads(result.stdout)
    stated: list[Marked] = Block("", 0, "bad", "", source).marked("strict" if mode == "strict" else "non-strict")
    assert stated
    shown = {(finding["location"]["row"], finding["name"], finding["severity"]) for finding in found}
    assert {finding for finding in shown if finding[2] != "info"} == set(stated)


# --- the site


class _Page(HTMLParser):
    """The targets of a page and the places in it that can be linked."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name in {"href", "src"} and value and tag != "base":
                self.links.append(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built."""
    pytest.importorskip("material", reason="the extra `docs` is not installed")
    directory = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(directory)]
    result = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return directory


@pytest.mark.thorough
def test_every_link_within_the_site_leads_somewhere(site: Path) -> None:
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert len(pages) > len(all_rules()) + 20
    assert list(_broken(site, pages)) == []


def _broken(site: Path, pages: dict[Path, _Page]) -> Iterator[str]:
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or path.name == "404.html":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            is_anchor = not parts.fragment or target not in pages or unquote(parts.fragment) in pages[target].anchors
            if not target.is_relative_to(site) or not target.is_file() or not is_anchor:
                yield f"{path.relative_to(site)}: {link}"


@pytest.mark.thorough
def test_every_rule_and_setting_is_on_the_site(site: Path) -> None:
    index = _Page((site / "rules" / "index.html").read_text(encoding="utf-8"))
    expected = {f"{rule.page_name.removesuffix('.md')}/" for rule in all_rules()}
    assert expected <= {link.removeprefix("./") for link in index.links}
    settings = _Page((site / "settings" / "index.html").read_text(encoding="utf-8"))
    assert {key.replace(".", "") for key in with_inner(OPTIONS)} <= settings.anchors


@pytest.mark.thorough
def test_pages_of_rules_do_not_show_what_is_for_tests(site: Path) -> None:
    for path in (site / "rules").glob("EXP*/index.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"<!-- (run|fix|dynamic|settings|script)", text), path.parent.name
        assert "```" not in text, path.parent.name


@pytest.mark.thorough
def test_nothing_is_loaded_from_other_servers(site: Path) -> None:
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        loaded = re.findall(r"""<(?:script|img|iframe)[^>]+src=["']?(https?:[^"'\s>]+)""", text)
        loaded += re.findall(r"""<link[^>]+rel=["']?stylesheet[^>]+href=["']?(https?:[^"'\s>]+)""", text)
        assert loaded == [], path.relative_to(site)


# --- filters

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")

FILTERS: dict[str, Callable[[dict[str, str]], bool]] = {
    "": lambda row: True,
    "words=EXP101": lambda row: row["code"] == "EXP101",
    "words=size+loop": lambda row: "size" in row["text"] and "loop" in row["text"],
    "family=exp4-shapes": lambda row: row["code"].startswith("EXP4"),
    "severity=warning": lambda row: "warning" in row.get("non-strict", "") + row.get("strict", ""),
    "severity=error&mode=strict": lambda row: "error" in row.get("strict", ""),
    "mode=non-strict&fixable=on": lambda row: row["fixes"] != "—" and row.get("non-strict", "—") != "—",
    "words=no-such-rule": lambda row: False,
}
"""What the address of the index asks for, and whether it shows a row of the tables."""


def _rows() -> Iterator[dict[str, str]]:
    columns: list[str] = []
    for line in (PROJECT / "docs" / "rules.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells and cells[0] == "code":
            columns = cells
        elif cells and cells[0].startswith("["):
            row = dict(zip(columns, cells, strict=True))
            yield {**row, "code": row["code"][1:7], "text": re.sub(r"\(\.\./rules/.*?\)", "", line).lower()}


@pytest.mark.thorough
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.parametrize("query", FILTERS)
def test_the_index_shows_the_rules_that_are_asked_for(query: str, site: Path, tmp_path: Path) -> None:
    handler = partial(SimpleHTTPRequestHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}", "--dump-dom"]
        address = f"http://127.0.0.1:{server.server_port}/rules/?{query}"
        command = [str(CHROMIUM), *flags, "--virtual-time-budget=3000", address]
        shown = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False).stdout
        server.shutdown()
    expected = [row["code"] for row in _rows() if FILTERS[query](row)]
    assert f"{len(expected)} of {len(all_rules())} rules" in shown
    rows = re.findall(r"<tr( hidden=\"\")?>\s*<td data-label=\"code\"><a[^>]*>(\w+)</a>", shown)
    assert [code for hidden, code in rows if not hidden] == expected
