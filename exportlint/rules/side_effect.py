"""EXP605 side-effect: what happens besides the computation happens at export only."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.facts import Call, HostRead
from exportlint.analysis.library_functions import LibraryFunction, find
from exportlint.claims import ERROR, INFO, WARNING, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.control_flow.threads import without_thread
from exportlint.fixes.eager_only.reports import asks_exporting, eager_only, reports
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.registry import rule

SAYS = Claim(non_strict=always(INFO), strict=always(INFO))
OTHERS = Claim(non_strict=always(INFO), strict=always(ERROR))
THREAD = Claim(non_strict={(2, 4): ERROR, (2, 6): WARNING, (2, 13): ERROR}, strict=always(ERROR))


@rule("EXP605", "side-effect", Call, HostRead)
def side_effect(fact: Call | HostRead, context: Context) -> Iterator[Report]:
    """`print(x)`, `logger.info(...)`, `warnings.warn(...)`, `open(path, "w")`, `gc.collect()`."""
    if isinstance(fact, HostRead):
        yield from _in_thread(fact, context)
        return
    claim = _claim(find(fact.name))
    severity = context.severity(claim) if claim is not None else None
    if severity is None or (fact.guarded and severity is ERROR):
        return
    shown = fact.name.removeprefix("builtins.").replace("logging.Logger.", "logger.")
    yield Report(
        severity,
        f"`{shown}()` cannot be traced in strict mode"
        if severity is ERROR
        else f"`{shown}()` runs only while exporting; the exported program does not call it",
        f"do it outside the model, or under `if not {asks_exporting(context.version)}():`",
        fix=lambda code: _fix(code, fact, context),
        has_trail=False,  # what is printed does not matter
    )


def _claim(function: LibraryFunction) -> Claim | None:
    if function.effect == "act":
        return OTHERS
    # what strict mode refuses is reported as such
    return SAYS if function.effect == "report" and function.strict != "refuses" else None


def _in_thread(fact: HostRead, context: Context) -> Iterator[Report]:
    severity = context.severity(THREAD)
    if severity is None or fact.guarded or not find(fact.api).threaded:
        return
    message = (
        f"`{fact.api.rpartition('.')[2]}` computes with tensors in another thread, which torch.export does not trace"
    )
    yield Report(severity, message, "compute in the thread that calls the model", fix=without_thread)


def _fix(code: Code, fact: Call, context: Context) -> Fix:
    """What is said to those who export is lost, and what else the call does."""
    call = code.node(ast.Call)
    if find(fact.name).effect == "report":
        statements = reports(code, call)
    else:
        statement = code.tree.statement(call)
        if not isinstance(statement, ast.Expr):
            raise DeclinedError("its result is used")
        statements = [statement]
    return code.fix("Skip it during export", eager_only(code, statements, context.version), safe=False)
