"""EXP907 fake-kernel-mismatch: a fake kernel that returns something other than the operator."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.facts.custom_ops import FakeResult
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.registry import rule

REFUSED = Claim(non_strict=always(ERROR), strict=always(ERROR))
SILENT = Claim(non_strict=always(WARNING), strict=always(WARNING))


@rule("EXP907", "fake-kernel-mismatch", FakeResult)
def fake_kernel_mismatch(fact: FakeResult, context: Context) -> Iterator[Report]:
    """A fake kernel that returns nothing, a number, another number of tensors, or its argument."""
    severity = context.severity(REFUSED if fact.what == "type" else SILENT)
    if severity is not None and not fact.guarded:
        yield Report(
            severity,
            f"the fake kernel of `{fact.name}` {fact.problem}, unlike the operator itself",
            "return a new empty tensor, `torch.empty_like(…)`, for each tensor that the operator returns",
            fix=lambda code: _fix(code, fact),
        )


def _fix(code: Code, fact: FakeResult) -> Fix:
    """Not safe, as who made the kernel may have meant another shape."""
    fake = code.tree.at(fact.fake, ast.FunctionDef) if fact.fake.filename == code.module.filename else None
    if fake is None:
        raise DeclinedError("the fake kernel is not in this file")
    returned = [node.value for node in ast.walk(fake) if isinstance(node, ast.Return)]
    if fact.what == "none" and not returned and isinstance(last := fake.body[-1], ast.Expr):
        edit = code.statements.replace([last], [code.statement("return {value}", value=last.value)])
        return code.fix("Return the tensor that the fake kernel creates", edit, safe=False)
    names = {argument.arg for argument in fake.args.args}
    if fact.what != "alias" or not all(isinstance(node, ast.Name) and node.id in names for node in returned):
        raise DeclinedError("which tensor the operator creates is not written there")
    edits = [
        code.replace(node, code.make("{empty_like}({x})", empty_like=code.name("torch.empty_like", node), x=node))
        for node in returned
        if node is not None
    ]
    return code.fix("Return a new tensor", *edits, safe=False)
