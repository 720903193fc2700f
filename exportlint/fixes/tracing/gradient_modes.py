"""Whether gradients are recorded, said in ways that torch.export keeps or strict mode traces.

`torch.inference_mode()` becomes `torch.no_grad()`; `y.requires_grad = flag` and `torch.zeros(3, requires_grad=True)` of
tensors that `forward` makes become `requires_grad_()`.

Safe: the whole function is in inference mode, and the file neither asks for it nor enables gradients; `requires_grad_`
of a tensor that surely is a leaf, or that stops recording. Otherwise autograd refuses what was made in inference mode,
and not what `no_grad` gives, and an assignment refuses tensors that are no leaves.
"""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import Tensor
from exportlint.analysis.facts import Call
from exportlint.analysis.facts.tracing import GradFlag
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.export_calls.calls import call_without

ASKING = frozenset({"enable_grad", "set_grad_enabled", "is_inference", "is_inference_mode_enabled"})
"""What tells inference mode from `torch.no_grad`."""


def no_grad(code: Code) -> Fix:
    """`torch.no_grad` in its place. Raises DeclinedError if an argument decides whether it is on."""
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
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return node in statement.decorator_list
    if not isinstance(statement, ast.With):
        return False
    return isinstance(code.tree.parents[statement], ast.FunctionDef) and not code.tree.following(statement)


def _tells_apart(code: Code) -> bool:
    """Whether the file asks for inference mode, or has gradients in it: they are computed under `no_grad`."""
    return code.tree.once(_asks, code.tree.root)


def _asks(root: ast.Module) -> bool:
    names = (n.attr if isinstance(n, ast.Attribute) else getattr(n, "id", None) for n in ast.walk(root))
    return not ASKING.isdisjoint(names)


def flagged(code: Code, fact: GradFlag | Call) -> Fix:
    """`requires_grad_()` of a tensor that forward makes. Raises DeclinedError if more is done in the statement."""
    if isinstance(fact, Call):
        call = code.node(ast.Call)
        option = next((k for k in call.keywords if k.arg == "requires_grad"), None)
        if option is None:
            raise DeclinedError("the option is not written in the call")
        made = call_without(code, call, option)
        new = code.make("{made}.requires_grad_({*flag})", made=made, flag=_flag(option.value))
        return code.fix("Use `requires_grad_()`", code.replace(call, new), safe=True)
    target = code.node(ast.Attribute)
    statement = code.tree.statement(target)
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        raise DeclinedError("it is assigned together with other names")
    flag = _flag(statement.value)
    line = code.statement("{tensor}.requires_grad_({*flag})", tensor=target.value, flag=flag)
    edit = code.statements.replace([statement], [line])
    is_off = isinstance(statement.value, ast.Constant) and statement.value.value is False
    if is_off or code.surely(lambda value: isinstance(value, Tensor) and value.detached, target.value):
        return code.fix("Use `requires_grad_()`", edit, safe=True)
    return code.fix("Use `requires_grad_()`, which also accepts tensors that are not leaves", edit, safe=False)


def _flag(node: ast.expr) -> list[ast.expr]:
    """The argument of `requires_grad_`, which is True where none is given. What is not a literal others can set."""
    return [] if isinstance(node, ast.Constant) and node.value is True else [node]
