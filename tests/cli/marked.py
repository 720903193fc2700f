"""Fixes that comments in the code ask for, in place of those of rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from exportlint.findings import Applicability, Edit, Finding, Fix, Position, Severity, Span


def marked(source: Any, *_: Any) -> Iterator[Finding]:
    """Instead of the rules: a line that ends in `# -> y` has a safe fix that makes it `y`, one in `# ~> y` another."""
    for row, line in enumerate(source.text.splitlines(), 1):
        if found := re.fullmatch(r"( *)(\S.*\S)  # ([-~])> (.*)", line):
            span = Span(Position(row, len(found[1]) + 1), Position(row, len(line) + 1))
            applicability = Applicability.SAFE if found[3] == "-" else Applicability.UNSAFE
            fix = Fix(applicability, f"Write `{found[4]}`", (Edit(span, found[4]),))
            yield Finding("EXP101", "tensor-branch", Severity.ERROR, "marked", source.filename, span, fix=fix)
