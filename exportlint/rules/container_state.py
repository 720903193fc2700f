"""EXP312 container-state: a list or dict in which one call leaves something for the next."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.facts.state import StateChange
from exportlint.claims import ERROR, INFO, WARNING, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.eager_only.reports import asks_exporting, eager_only
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError, InapplicableError
from exportlint.fixes.state.constructor import Constructor
from exportlint.fixes.state.places import keep_items
from exportlint.fixes.state.rows import keep_rows
from exportlint.fixes.state.totals import keep_totals
from exportlint.fixes.state.windows import keep_window
from exportlint.registry import rule

USED = Claim(non_strict={(2, 4): ERROR, (2, 13): WARNING}, strict=always(WARNING))
USED_ELSEWHERE = Claim(non_strict=always(WARNING), strict=always(WARNING))
UNUSED = Claim(non_strict={(2, 4): ERROR, (2, 13): INFO}, strict=always(INFO))
UNUSED_ELSEWHERE = Claim(non_strict=always(INFO), strict=always(INFO))
COUNTER = Claim(non_strict=always(WARNING), strict={(2, 4): ERROR, (2, 13): WARNING})
UNUSED_CLASS = Claim(non_strict=always(INFO), strict={(2, 4): ERROR, (2, 13): INFO})
ITERATOR = Claim(non_strict=always(WARNING), strict=always(ERROR))


@rule("EXP312", "container-state", StateChange)
def container_state(fact: StateChange, context: Context) -> Iterator[Report]:
    """`self.history.append(x)`, `self.cache[key] = x`, `def forward(self, x, seen=[])`."""
    if not fact.contents or fact.holder == "global":
        return
    if fact.iterator:
        claim = ITERATOR if fact.iterator in {"iterator", "generator"} else COUNTER
    elif fact.holder == "module":
        claim = USED if fact.carried else UNUSED
    elif fact.holder == "class":
        claim = COUNTER if fact.carried else UNUSED_CLASS
    else:
        claim = USED_ELSEWHERE if fact.carried else UNUSED_ELSEWHERE
    severity = context.severity(claim, guarded=fact.guarded)
    if severity is None:
        return
    if severity is ERROR and fact.iterator:
        message = f"`{fact.name}` advances an iterator that is made outside of forward: strict mode cannot trace it"
        instead = "compute the number from a buffer"
    elif fact.carried:
        message = (
            f"state written to `{fact.name}` is lost: each run of the exported program sees the value it had at export"
        )
        instead = "keep it in a buffer (`register_buffer`), or pass it in and return it"
    else:
        message = f"`{fact.name}` is changed only while exporting; the exported program does not change it"
        instead = f"return what callers need, or skip the change with `if not {asks_exporting(context.version)}():`"
    yield Report(severity, message, instead, fix=lambda code: _fix(code, fact, context))


def _fix(code: Code, fact: StateChange, context: Context) -> Fix:
    """What export puts there is missing afterwards."""
    node = code.node(ast.expr)
    if fact.carried and fact.holder == "module":
        name = next(
            (n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute) and ast.unparse(n) == fact.name), ""
        )
        constructor = Constructor(code, node)
        try:
            drafts = keep_window(code, constructor, name)
        except InapplicableError:
            pass
        else:
            return code.fix("Keep the items in one buffer, if their sizes agree", *drafts, safe=False)
        if _is_empty_deque(constructor.assignment(name).value):
            raise DeclinedError("it grows until it is full, but a buffer has one size")
        if _is_empty_list(constructor.assignment(name).value):
            drafts = keep_totals(code, constructor, name)
            return code.fix("Keep what is read from the list in buffers", *drafts, safe=False)
        try:
            drafts = keep_items(code, constructor, name)
        except DeclinedError as reason:
            try:
                drafts = keep_rows(code, constructor, name)
            except InapplicableError:
                raise reason from None
            return code.fix("Keep the items as rows of buffers, if their sizes agree", *drafts, safe=False)
        return code.fix("Keep each item in a buffer, if the sizes agree", *drafts, safe=False)
    if fact.carried or fact.holder != "module":
        raise DeclinedError("the next call reads what this one stores")
    uses = [n for n in ast.walk(node) if isinstance(n, ast.Attribute) and ast.unparse(n) == fact.name]
    statement = code.tree.statement(node)
    if len(uses) != 1 or not isinstance(statement, (ast.Assign, ast.Expr)):
        raise DeclinedError("the statement does more than change it")
    Constructor(code, node).require_unread(uses[0].attr, uses)
    return code.fix("Skip it during export", eager_only(code, [statement], context.version), safe=False)


def _is_empty_deque(node: ast.expr) -> bool:
    is_deque = isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "deque"
    return is_deque and not node.args  # type: ignore[attr-defined]


def _is_empty_list(node: ast.expr) -> bool:
    return isinstance(node, ast.List) and not node.elts
