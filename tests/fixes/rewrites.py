"""Cases of rewrites as documents: a fence `py before`, and what comes of it when it is fixed.

That is one fence or more of `py after safe`, `py after unsafe` or `py after display-only` (the fixes of all rules up to
that applicability are applied), or the single fence `py same`: no rule offers a fix of any kind. A line
`<!-- settings: mode = "strict" -->` above the fence `py before` gives a setting in TOML, and `<!-- run: (x,); (y,) -->`
tuples of arguments: what becomes of the class `Model` is exported with the first and gives what that gives in eager,
or, where that refuses them all, what it gives itself. A case is called after the heading that it stands under.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from exportlint.config import Layer
from exportlint.config.settings import combine
from exportlint.config.toml import check, parse
from exportlint.findings import Applicability
from exportlint.linter import Task

_PART = re.compile(
    r"^#+ (?P<heading>.+)$|^<!-- settings: (?P<settings>.*) -->$|^<!-- run: (?P<run>.*) -->$|"
    r"^```(?P<info>.*)\n(?P<body>(?:.*\n)*?)```$",
    re.MULTILINE,
)


@dataclass
class Rewrite:
    """One case. `after` is what comes of the source for each applicability; nothing if no fix is offered."""

    name: str
    settings: str
    before: str
    after: dict[Applicability, str] | None = None
    run: str = ""

    def task(self, directory: Path) -> Task:
        """The source as a file to lint."""
        layer = Layer(directory, {"torch-version": (2, 13)} | check(parse(self.settings), None))
        return Task(directory / "case.py", combine([layer], directory), data=self.before.encode())


def rewrites(document: Path) -> list[Rewrite]:
    """The cases of a document. Raises ValueError where a fence means nothing."""
    found: list[Rewrite] = []
    heading = settings = run = ""
    for part in _PART.finditer(document.read_text(encoding="utf-8")):
        if part["heading"]:
            heading = part["heading"]
        elif part["settings"]:
            settings += f"{part['settings']}\n"
        elif part["run"]:
            run = part["run"]
        else:
            last = found[-1] if found else None
            match part["info"].split():
                case ["py", "before"] if last is None or last.after is not None:
                    number = sum(case.name.startswith(f"{document.stem}: {heading}") for case in found) + 1
                    name = f"{document.stem}: {heading}{f' ({number})' if number > 1 else ''}"
                    found.append(Rewrite(name, settings, part["body"], run=run))
                    settings = run = ""
                case ["py", "after", applicability] if last and (last.after or last.after is None):
                    last.after = {**(last.after or {}), Applicability(applicability): part["body"]}
                case ["py", "same"] if last and last.after is None:
                    last.after = {}
                case _:
                    raise ValueError(f"{document.name}: under `{heading}`, ```{part['info']} means nothing")
    if found and found[-1].after is None:
        raise ValueError(f"{document.name}: nothing says what comes of `{found[-1].name}`")
    return found
