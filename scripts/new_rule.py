"""Start a rule: write `exportlint/rules/<name>.py` and `rules/EXPnnn-<name>.md`.

    python scripts/new_rule.py EXP516 host-random
    python scripts/new_rule.py EXP5 host-random      the first code of the family that is free

The rule reports nothing, and its page is empty where only its author knows what to write:
`python -m pytest tests/test_catalogue.py -k EXP516` tells what is missing. CONTRIBUTING.md shows a finished one.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from exportlint.registry import FAMILIES, all_rules

ROOT = Path(__file__).parents[1]

MODULE = '''\
"""{code} {name}."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts import Call
from exportlint.claims import Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(None), strict=always(None))


@rule("{code}", "{name}", Call)
def {identifier}(fact: Call, context: Context) -> Iterator[Report]:
    """Reports nothing as long as `CLAIM` says that nothing breaks."""
    severity = context.severity(CLAIM)
    if severity is None or fact.guarded:
        return
    yield Report(severity, f"`{{fact.name}}()` is called")
'''

MODEL = """\
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x: torch.Tensor):
        return x * 2
"""

PAGE = f"""\
# {{name}} ({{code}})

## What it does

## Why is this bad?

## Severity
| pattern | mode | 2.4 | 2.6 | 2.9 | 2.13 | 2.15 |
|---|---|---|---|---|---|---|
| {{words}} | non-strict | — | — | — | — | — |
| {{words}} | strict | — | — | — | — | — |

## Example
<!-- run: (torch.ones(2, 3),); (-torch.ones(2, 3),) -->
```py bad
{MODEL}```

## Use instead
```py fixed
{MODEL}```

## When it does not fire
<!-- run: (torch.ones(2, 3),); (-torch.ones(2, 3),) -->
```py ok
{MODEL}```

## References
- [torch.export](https://docs.pytorch.org/docs/stable/export.html)
"""


class Refused(Exception):  # noqa: N818 - it is no failure of the script
    """The rule cannot be started; one line says why."""


def code_for(text: str) -> str:
    """The code that `text` is, or the first free one of the family that it is."""
    taken = {rule.code: rule.name for rule in all_rules()}
    key = next((key for key, family in FAMILIES.items() if text == family.name), text)
    if key in taken:
        raise Refused(f"{key} is taken by {taken[key]}")
    if key[:4] == "EXP0":
        raise Refused("what the linter says of itself (EXP0) comes from no fact: write it by hand")
    if re.fullmatch(r"EXP[1-9][0-9]{2}", key):
        return key
    if key not in FAMILIES:
        families = ", ".join(f"{key} {family.name}" for key, family in FAMILIES.items() if key != "EXP0")
        raise Refused(f"`{text}` is neither a code such as EXP516 nor a family ({families})")
    free = (f"{key}{number:02}" for number in range(1, 100))
    code = next((code for code in free if code not in taken), None)
    if code is None:
        raise Refused(f"{key} has no free code")
    return code


def checked(name: str) -> str:
    """The name, if a rule can have it."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)+", name):
        raise Refused(f"`{name}` is not two or more words in lower case with hyphens between them, as `host-random` is")
    known = next((rule for rule in all_rules() if rule.name == name), None)
    if known is not None:
        raise Refused(f"{name} is the name of {known.code}")
    return name


def create(code: str, name: str) -> list[Path]:
    """Write the two files; they are given."""
    words = name.replace("-", " ")
    identifier = name.replace("-", "_")
    files = {
        ROOT / "exportlint" / "rules" / f"{identifier}.py": MODULE,
        ROOT / "rules" / f"{code}-{name}.md": PAGE,
    }
    for file in (*files, *(ROOT / "rules").glob(f"{code}-*.md")):
        if file.exists():
            raise Refused(f"{file.relative_to(ROOT)} is there already")
    for file, template in files.items():
        text = template.format(code=code, name=name, words=words, identifier=identifier)
        file.write_text(text, encoding="utf-8")
    return list(files)


def main(argv: list[str]) -> int:
    """Run the script; the exit code is given."""
    if len(argv) != 2 or argv[0].startswith("-"):
        print("usage: python scripts/new_rule.py CODE|FAMILY NAME", file=sys.stderr)
        return 2
    try:
        name = checked(argv[1])
        files = create(code_for(argv[0]), name)
    except Refused as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for file in files:
        print(f"wrote {file.relative_to(ROOT).as_posix()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
