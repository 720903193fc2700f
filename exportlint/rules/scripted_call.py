"""EXP614 scripted-call: what `torch.jit.script` made is called."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from exportlint.analysis.facts import Branch
from exportlint.analysis.facts.tracing import WrappedCall
from exportlint.claims import ERROR, Claim, Context, Report, always, fix_of
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.export_calls.wrappers import unwrap
from exportlint.registry import rule

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
        message, instead = "torch.export cannot trace a call to a scripted module", "use the module itself"
    else:
        message = f"the scripted function `{fact.name}` needs tensor data, which is not known during export"
        instead = "remove `torch.jit.script`, and choose with `torch.where` or `torch.cond` in the function"
    yield Report(severity, message, instead, fix=lambda code: _fix(code, fact, context))


def _fix(code: Code, fact: WrappedCall, context: Context) -> Fix:
    """What the function asks of tensor data is an error of its own without the wrapper: that is rewritten as well."""
    removal = unwrap(code, code.node(ast.Call), fact.wrapper)
    found = code.fix(f"Leave out `{fact.wrapper}`", removal, safe=False)
    inner = fix_of(fact.inside, code, context).edits if fact.inside is not None else ()
    return replace(found, edits=tuple(sorted((*found.edits, *inner))))
