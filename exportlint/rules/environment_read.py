"""EXP504 environment-read: what the process and the machine say of themselves, which the program gets once."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts.environment import BakedUse, Drawn
from exportlint.analysis.library_functions import find
from exportlint.claims import ERROR, INFO, WARNING, Claim, Context, Report, always
from exportlint.fixes.state.read_once import read_once
from exportlint.registry import rule

TRACED = Claim(non_strict=always(WARNING), strict={(2, 4): ERROR, (2, 6): WARNING})
USED = Claim(non_strict=always(WARNING), strict=always(ERROR))
ASKED = Claim(non_strict=always(INFO), strict=always(ERROR))

VARIABLES = ("os.getenv", "os.environ")


@rule("EXP504", "environment-read", Drawn, BakedUse)
def environment_read(fact: Drawn | BakedUse, context: Context) -> Iterator[Report]:
    """`os.environ["MODE"]`, `os.getenv("MODE")`, `os.path.exists(path)`, `os.getpid()`."""
    is_variable = fact.api.startswith(VARIABLES)
    is_use = isinstance(fact, BakedUse)
    if fact.source != "environment" or (is_variable and not is_use):
        return
    is_traced = find(fact.api).strict == "bakes"
    if is_traced and not is_use:
        return
    severity = context.severity(TRACED if is_variable or is_traced else USED if is_use else ASKED)
    if severity is WARNING:
        message = f"`{fact.api}` is read once, at export: its value is baked in as a constant"
    elif severity is ERROR:
        message = f"`{fact.api}` in code that strict mode traces: Dynamo does not support it"
    else:
        message = f"`{fact.api}` is read only while exporting, and strict mode rejects it"
    if severity is not None:
        instead = "read it in `__init__`, which clearly runs once"
        yield Report(severity, message, instead, fix=None if severity is INFO else read_once)
