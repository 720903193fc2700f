"""EXP906 missing-fake-kernel: a custom operator that export cannot call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.facts.custom_ops import UnfakedCall
from exportlint.analysis.outline import dotted
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.code import DISPLAY_ONLY, Code
from exportlint.fixes.errors import DeclinedError
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))


@rule("EXP906", "missing-fake-kernel", UnfakedCall)
def missing_fake_kernel(fact: UnfakedCall, context: Context) -> Iterator[Report]:
    """A call of an operator under `torch.library.custom_op` without `register_fake`."""
    severity = context.severity(CLAIM)
    if severity is not None and not fact.guarded:
        yield Report(
            severity,
            f"the custom operator `{fact.name}` has no fake kernel: torch.export cannot tell what it returns",
            "register one with `torch.library.register_fake`, which makes an empty tensor like the result",
            fix=lambda code: _fix(code, fact),
        )


def _fix(code: Code, fact: UnfakedCall) -> Fix:
    """A proposal: that the result is like the first tensor is a guess."""
    kernel, decorator = _kernel(code, fact.name)
    names = [argument.arg for argument in (*kernel.args.posonlyargs, *kernel.args.args)]
    first = next((a.arg for a in kernel.args.args if a.annotation is None or _is_tensor(a.annotation)), None)
    if first is None or kernel.args.kwonlyargs or kernel.args.vararg or kernel.args.kwarg:
        raise DeclinedError("the operator takes no tensor, or arguments by name")
    made = f"{code.name('torch.empty_like', kernel)}({first})"
    if kernel.returns is not None and not _is_tensor(kernel.returns):
        returned = kernel.returns.slice if isinstance(kernel.returns, ast.Subscript) else None
        if not isinstance(returned, ast.Tuple) or not all(map(_is_tensor, returned.elts)):
            raise DeclinedError("the operator returns something else than tensors")
        made = ", ".join([made] * len(returned.elts))
    register = f"{kernel.name}.register_fake"
    if not decorator.endswith("custom_op"):
        register = f'{code.name("torch.library.register_fake", kernel)}("{fact.name}")'
    lines = ["", "", f"@{register}", f"def _({', '.join(names)}):", f"{code.unit}return {made}"]
    return code.fix("Register a fake kernel", code.statements.insert_after(kernel, lines), safe=DISPLAY_ONLY)


def _kernel(code: Code, name: str) -> tuple[ast.FunctionDef, str]:
    """The function at the top of the file that an operator runs, and by which decorator."""
    for node in code.tree.root.body:
        for decorator in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
            if isinstance(decorator, ast.Call) and decorator.args and isinstance(node, ast.FunctionDef):
                named = decorator.args[0]
                if isinstance(named, ast.Constant) and named.value == name:
                    return node, dotted(decorator.func) or ""
    raise DeclinedError("the operator is defined elsewhere")


def _is_tensor(node: ast.expr) -> bool:
    return (dotted(node) or "").rpartition(".")[2] == "Tensor"
