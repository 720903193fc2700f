"""EXP613 check-message: strict mode must make a constant of the message of `torch._check`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.facts.tracing import CheckMessage
from exportlint.claims import ERROR, Claim, Context, Report, always, before
from exportlint.findings import Fix, TorchVersion
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.export_calls.calls import without_argument
from exportlint.registry import rule

FUNCTIONS: TorchVersion = (2, 13)
"""The first torch whose strict mode takes functions."""
CLAIM = Claim(non_strict=always(None), strict=always(ERROR))
TEXT = Claim(non_strict=always(None), strict={(2, 4): None, (2, 13): ERROR, (2, 15): None})
ELSEWHERE = Claim(non_strict=always(None), strict=before((2, 15)))
FUNCTION = Claim(non_strict=always(None), strict=before((2, 13)))
CLAIMS = {"no function": TEXT, "a function": FUNCTION, "a function defined elsewhere": ELSEWHERE}
OF_NUMBERS = "of numbers read"


@rule("EXP613", "check-message", CheckMessage)
def check_message(fact: CheckMessage, context: Context) -> Iterator[Report]:
    """`torch._check(x.shape[0] > 2, lambda: f"got {x.shape[0]}")`."""
    severity = context.severity(CLAIMS.get(fact.problem, CLAIM))
    if severity is None or fact.guarded:
        return
    if fact.problem == OF_NUMBERS and context.version >= FUNCTIONS:
        yield Report(
            severity,
            "strict mode accepts no message for a `torch._check` that compares numbers read from tensors",
            "drop the message",
            fix=_fix,
        )
        return
    problem = "a function" if fact.problem == OF_NUMBERS else fact.problem
    shown = f"uses `{fact.captured}`" if fact.captured else f"is {problem}"
    takes_text = context.version < FUNCTIONS
    accepted = "a string" if takes_text else "a function that uses constants alone"
    instead = "pass a string" if takes_text else "pass a `lambda` that returns a constant string"
    yield Report(
        severity,
        f"the message of `torch._check` {shown}: strict mode accepts only {accepted}",
        f"drop the message, or {instead}",
        fix=_fix,
    )


def _fix(code: Code) -> Fix:
    call = code.node(ast.Call)
    message = call.args[1] if len(call.args) == 2 else next((k for k in call.keywords if k.arg == "message"), None)
    if message is None:
        raise DeclinedError("the message is not written in the call")
    text = message.value if isinstance(message, ast.keyword) else message
    if isinstance(text, ast.Constant):
        return code.fix("Pass a function", code.replace(text, code.make("lambda: {text}", text=text)), safe=False)
    return code.fix("Drop the message", without_argument(code, call, message), safe=False)
