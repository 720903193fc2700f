"""EXP614 scripted-call: what `torch.jit.script` made is called."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.facts import Branch, Fact
from exportlint.analysis.facts.tracing import WrappedCall
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.code import UNSAFE, Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.wrappers import unwrap
from exportlint.registry import all_rules, rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))
NUMBER = Claim(non_strict=always(ERROR), strict=always(None))


@rule("EXP614", "scripted-call", WrappedCall)
def scripted_call(fact: WrappedCall, context: Context) -> Iterator[Report]:
    """`scripted(x)`, where `@torch.jit.script` stands on a function with `if bool(x.sum() > 0):`."""
    if fact.guarded or not fact.wrapper.startswith("torch.jit.script") or not (fact.inside or fact.is_module):
        return
    severity = context.severity(CLAIM if fact.is_module or isinstance(fact.inside, Branch) else NUMBER)
    if severity is None:
        return
    if fact.is_module:
        message, instead = "a scripted module is called: torch.export cannot trace it", "use the module itself"
    else:
        message = f"the scripted function `{fact.name}` asks for tensor data, which torch.export does not know"
        instead = "remove `torch.jit.script`, and choose with `torch.where` or `torch.cond` in the function"
    yield Report(severity, message, instead, fix=lambda code: _fix(code, fact, context))


def _fix(code: Code, fact: WrappedCall, context: Context) -> Fix:
    """What Python asks of tensor data in the function is an error once it is not scripted: that is rewritten too."""
    removed = code.fix(f"Leave out `{fact.wrapper}`", unwrap(code, code.node(ast.Call), fact.wrapper), safe=False)
    if fact.inside is None:
        return removed
    inner = _inner_fix(code, fact.inside, context)
    return Fix(UNSAFE, removed.message, tuple(sorted((*removed.edits, *inner.edits))))


def _inner_fix(code: Code, fact: Fact, context: Context) -> Fix:
    for asked in all_rules():
        for report in asked.check(fact, context) if type(fact) in asked.facts else ():
            site = report.site or fact.site
            if report.fix is not None and site.filename == code.site.filename:
                found: Fix | None = report.fix(Code(code.module, site, fact.moments))
                if found is not None:
                    return found
    raise DeclinedError("what the function asks of tensor data has no rewrite")
