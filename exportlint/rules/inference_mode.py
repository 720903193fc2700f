"""EXP617 inference-mode: `torch.inference_mode()` in forward."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.values import FALSE
from exportlint.analysis.facts import Call
from exportlint.claims import WARNING, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(WARNING), strict=always(WARNING))
ASKING = frozenset({"enable_grad", "set_grad_enabled", "is_inference", "is_inference_mode_enabled"})
"""What tells inference mode from `torch.no_grad`."""


@rule("EXP617", "inference-mode", Call)
def inference_mode(fact: Call, context: Context) -> Iterator[Report]:
    """`with torch.inference_mode():`, `@torch.inference_mode()`."""
    severity = context.severity(CLAIM)
    off = FALSE in (*fact.positional[:1], fact.keyword("mode"))
    if severity is not None and fact.name == "torch.inference_mode" and not off:
        yield Report(
            severity,
            "`inference_mode` is not exported: what the model computes without gradients has them in the program",
            "use `torch.no_grad()`, which is exported",
            fix=_fix,
        )


def _fix(code: Code) -> Fix:
    node = code.expression
    name = code.name("torch.no_grad", node)
    if not isinstance(node, ast.Call):
        edit = code.replace(node, code.make("{name}", name=name))
        return code.fix("Use `torch.no_grad`", edit, safe=not _tells_apart(code))
    given = (*node.args, *(keyword.value for keyword in node.keywords))
    if not all(isinstance(value, ast.Constant) and value.value is True for value in given):
        raise DeclinedError("the argument decides whether it is on")
    return code.fix(
        "Use `torch.no_grad()`",
        code.replace(node, code.make("{name}()", name=name)),
        safe=_is_all(code, node) and not _tells_apart(code),
    )


def _is_all(code: Code, node: ast.Call) -> bool:
    """Whether nothing in the function uses what it has computed outside of it: autograd may refuse that."""
    statement = code.tree.statement(node)
    if not isinstance(statement, ast.With):
        return True  # a decorator
    return isinstance(code.tree.parents[statement], ast.FunctionDef) and not code.tree.following(statement)


def _tells_apart(code: Code) -> bool:
    """Whether the file asks for inference mode, or has gradients in it: they are computed under `no_grad`."""
    return code.tree.once(_asks, code.tree.root)


def _asks(root: ast.Module) -> bool:
    names = (n.attr if isinstance(n, ast.Attribute) else getattr(n, "id", None) for n in ast.walk(root))
    return not ASKING.isdisjoint(names)
