"""Which pages the site has, from which file of the repository each comes, and what their links become."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from docs_site.markdown import indented_by_four, outside_of_code
from exportlint.config.option import Option
from exportlint.config.options import OPTIONS
from exportlint.config.tables import with_inner
from exportlint.pages import DIRECTIVES
from exportlint.registry import FAMILIES, HOME, all_rules, applicabilities
from exportlint.registry import page as rule_page

_INDEX = "index.md"
_NOT_IN_INDEX = frozenset({"Rules", "Tests"})
"""The sections of README.md for which the site has pages."""

_COPIES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security-policy.md",
    "editors/README.md": "editors/index.md",
}
_SETTINGS = """\
# Settings

In `pyproject.toml` under `[tool.exportlint]`, or at the top of an `exportlint.toml`. For each linted file the closest
one counts. `exportlint config KEY` prints the same on the command line.
"""
_LINK = re.compile(r"(\]\()(<?)([^)\s>]+)(>?\))")
_DIRECTIVE = re.compile(rf"^<!-- (?P<key>{'|'.join(sorted(DIRECTIVES))}):(?: (?P<value>.*?))? -->\n", re.MULTILINE)
_BLOCK = re.compile(rf"(?P<lines>(?:{_DIRECTIVE.pattern[1:].replace('?P<key>', '').replace('?P<value>', '')})*)"
                    r"^```py(?:thon)?(?: (?P<kind>\w+)(?: (?P<label>[^\n]+))?)?$", re.MULTILINE)  # fmt: skip
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


class Site:
    """The pages of the site, by their path in it."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self._sources = {f"{path.stem}.md": f"docs/{path.name}" for path in (project / "docs").glob("*.md")}
        self._sources[_INDEX] = "README.md"
        self._sources |= {uri: source for source, uri in _COPIES.items()}
        self._sources |= {f"rules/{path.name}": f"rules/{path.name}" for path in (project / "rules").glob("*.md")}
        for path in (project / "editors").glob("*/README.md"):
            self._sources[f"editors/{path.parent.name}.md"] = f"editors/{path.parent.name}/README.md"
        self._uris = {source: uri for uri, source in self._sources.items()}
        self._uris |= {
            f"editors/vscode/images/{path.name}": f"editors/vscode/images/{path.name}" for path in self._images()
        }
        self._uris |= {f"docs/{path.name}": path.name for path in (project / "docs").glob("*.svg")}

    # --- what there is

    def generated(self) -> dict[str, str]:
        """The Markdown of the pages that are not in docs/, by their path."""
        pages = {"settings.md": _settings()}
        for uri, source in self._sources.items():
            if uri == _INDEX:
                pages[uri] = self._index()
            elif not source.startswith("docs/"):
                pages[uri] = (self._project / source).read_text(encoding="utf-8")
        return pages

    def copied(self) -> dict[str, Path]:
        """The images that are not in docs/, by their path."""
        return {f"editors/vscode/images/{path.name}": path for path in self._images()}

    def rules_by_family(self) -> list[dict[str, list[dict[str, str]]]]:
        """The rules as a part of the navigation."""
        return [
            {f"{key} {family.name}": [
                {f"{rule.code} {rule.name}": f"rules/{rule.page_name}"} for rule in all_rules() if rule.family == key
            ]}
            for key, family in FAMILIES.items()
        ]  # fmt: skip

    def editors(self) -> list[str]:
        """The pages of editors."""
        return sorted(uri for uri in self._sources if uri.startswith("editors/") and uri != "editors/index.md")

    def _images(self) -> list[Path]:
        return sorted((self._project / "editors" / "vscode" / "images").glob("*.png"))

    def _index(self) -> str:
        first, *parts = _HEADING.split((self._project / "README.md").read_text(encoding="utf-8"))
        sections = zip(parts[::2], parts[1::2], strict=True)
        return first + "".join(f"## {name}{text}" for name, text in sections if name not in _NOT_IN_INDEX)

    # --- what becomes of a page

    def rendered(self, uri: str, text: str) -> str:
        """The Markdown of a page as MkDocs reads it."""
        if uri.startswith("rules/"):
            text = _rule(text)
        source = self._sources.get(uri)
        if source is not None:
            text = outside_of_code(text, lambda part: _LINK.sub(lambda link: self._link(link, uri, source), part))
        return indented_by_four(text)

    def _link(self, link: re.Match[str], uri: str, source: str) -> str:
        before, opening, target, after = link.groups()
        path, mark, fragment = target.partition("#")
        if ":" in path or not path:
            return link[0]
        found = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if found == "README.md" and fragment.title() in _NOT_IN_INDEX:
            return f"{before}{HOME}#{fragment})"
        if found == "rules":
            found = "docs/rules.md"
        if found in self._uris:
            return f"{before}{opening}{_relative(self._uris[found], uri)}{mark}{fragment}{after}"
        place = self._project / found
        if not place.exists():
            return link[0]  # MkDocs reports it
        kind = "tree" if place.is_dir() else "blob"
        return f"{before}{HOME}/{kind}/main/{found}{mark}{fragment})"


def _relative(target: str, uri: str) -> str:
    return posixpath.relpath(target, posixpath.dirname(uri) or ".")


def _rule(text: str) -> str:
    """A page of the catalogue, with what its blocks are instead of the lines that say how tests run them."""
    match = re.match(r"# .+ \((\w+)\)\n", text)
    assert match is not None
    rule = next(rule for rule in all_rules() if rule.code == match[1])
    family = FAMILIES[rule.family].name
    fixes = ", ".join(applicabilities(rule_page(rule))) or "none"
    facts = f"\nFamily: `{family}` · Fixes: {fixes} · [All rules](../rules.md)\n{{ .facts }}\n"
    return text[: match.end()] + facts + _BLOCK.sub(_block, text[match.end() :])


def _block(block: re.Match[str]) -> str:
    values = {found["key"]: found["value"] or "" for found in _DIRECTIVE.finditer(block["lines"])}
    titles = {"bad": "Reported", "fixed": "Instead", "ok": "Not reported", None: ""}
    title = titles[block["kind"]]
    if block["kind"] == "fixed" and values.get("fix"):
        title = f"Instead: exportlint's fix ({values['fix']})"
    if settings := values.get("settings"):
        title += f" with `{settings}`"
    return f'```python title="{title.replace(chr(34), "&quot;")}"' if title else "```python"


def _settings() -> str:
    """A page of all settings, from the table that parses them."""
    parts = [_SETTINGS]
    parts += [_setting(key, option) for key, option in with_inner(OPTIONS).items()]
    return "\n".join(parts)


def _setting(key: str, option: Option) -> str:
    level = "###" if "." in key else "##"
    default = f"Default: `{option.default}`  \n" if option.default else ""
    return f"{level} `{key}`\n\n{option.doc}\n\n{default}Type: {option.kind.name}\n\n```toml\n{option.example}\n```\n"
