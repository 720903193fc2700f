"""Hooks of MkDocs: pages from outside of docs/, and links as GitHub reads them, made into links of the site."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

PROJECT = Path(__file__).parents[2]
# MkDocs runs a hook as a file, which is in no package.
sys.path.insert(0, str(PROJECT / "scripts"))

from docs_site.pages import Site  # noqa: E402

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

_SITE = Site(PROJECT)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List the rules and editors below their index pages."""
    for section in config.nav or []:
        if "Rules" in section:
            section["Rules"] = ["rules.md", *_SITE.rules_by_family()]
        for item in section.get("Use", []):
            if "Editors" in item:
                item["Editors"] = ["editors/index.md", *_SITE.editors()]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what the site takes from outside of docs/."""
    from mkdocs.structure.files import File

    for uri, content in _SITE.generated().items():
        files.append(File.generated(config, uri, content=content))
    for uri, path in _SITE.copied().items():
        files.append(File.generated(config, uri, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Make the Markdown of GitHub that of the site."""
    return _SITE.rendered(page.file.src_uri, markdown)
