"""EXP906 missing-fake-kernel: a custom operator that export cannot call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.facts.custom_ops import UnfakedCall
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.edit.code import DISPLAY_ONLY, Code
from exportlint.fixes.edit.template import bare_tuple
from exportlint.fixes.errors import DeclinedError
from exportlint.registry import rule
from exportlint.syntax.definitions import dotted

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))


@rule("EXP906", "missing-fake-kernel", UnfakedCall)
def missing_fake_kernel(fact: UnfakedCall, context: Context) -> Iterator[Report]:
    """A call of an operator under `torch.library.custom_op` without `register_fake`."""
    severity = context.severity(CLAIM)
    if severity is not None and not fact.guarded:
        yield Report(
            severity,
            f"the custom operator `{fact.name}` has no fake kernel, so torch.export does not know what it returns",
            "register one with `torch.library.register_fake` that returns an empty tensor like the result",
            fix=lambda code: _fix(code, fact),
        )


def _fix(code: Code, fact: UnfakedCall) -> Fix:
    """A proposal: that the result is like the first tensor is a guess."""
    kernel = _kernel(code, fact.name)
    names = [argument.arg for argument in (*kernel.args.posonlyargs, *kernel.args.args)]
    first = next((a.arg for a in kernel.args.args if a.annotation is None or _is_tensor(a.annotation)), None)
    if first is None or kernel.args.kwonlyargs or kernel.args.vararg or kernel.args.kwarg:
        raise DeclinedError("the operator takes no tensor, or arguments by name")
    count = 1
    made = code.make("{empty_like}({first})", empty_like=code.name("torch.empty_like", kernel), first=first)
    if kernel.returns is not None and not _is_tensor(kernel.returns):
        returned = kernel.returns.slice if isinstance(kernel.returns, ast.Subscript) else None
        if not isinstance(returned, ast.Tuple) or not all(map(_is_tensor, returned.elts)):
            raise DeclinedError("the operator does not return tensors only")
        count = len(returned.elts)
    fake = code.statement(
        "@{kernel}.register_fake\ndef _({*names}):\n    return {made}",
        kernel=kernel.name,
        names=names,
        made=made if count == 1 else bare_tuple([made] * count),
    )
    insertion = code.statements.insert_after(kernel, [fake], blank_lines=2)
    return code.fix("Register a fake kernel", insertion, safe=DISPLAY_ONLY)


def _kernel(code: Code, name: str) -> ast.FunctionDef:
    """The function at the top of the file that is the operator."""
    functions = (node for node in code.tree.root.body if isinstance(node, ast.FunctionDef))
    for function in functions:
        for call in (decorator for decorator in function.decorator_list if isinstance(decorator, ast.Call)):
            named = call.args[0] if call.args else None
            is_op = (dotted(call.func) or "").rpartition(".")[2] == "custom_op"
            if is_op and isinstance(named, ast.Constant) and named.value == name:
                return function
    raise DeclinedError("the operator is not defined by a function in this file")


def _is_tensor(node: ast.expr) -> bool:
    return (dotted(node) or "").rpartition(".")[2] == "Tensor"
