"""The catalogue's pages as a program shows them that renders Markdown."""

from __future__ import annotations

import re

from exportlint.registry import CATALOGUE_URL, Rule, page

_DIRECTIVES = re.compile(r"^<!-- [\w -]+:(?: .*)? -->\n", re.MULTILINE)
_FENCES = re.compile(r"^```py\b.*$", re.MULTILINE)
_RELATIVE = re.compile(r"\]\((EXP\d{3}-[\w-]+\.md)\)")


def readable(rule: Rule) -> str:
    """The Markdown of a rule's page, without what only the tests read, and with links that lead there from anywhere.

    Raises:
        FileNotFoundError: the installation lacks the page.
    """
    text = _DIRECTIVES.sub("", page(rule))
    return _RELATIVE.sub(rf"]({CATALOGUE_URL}\1)", _FENCES.sub("```python", text)).rstrip() + "\n"
