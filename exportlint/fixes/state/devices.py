"""Tensors that stay, or are made, where others are, in place of devices that the code names.

`torch.ones(3, device="cuda")` becomes `device=x.device`, and `x.cuda()` becomes `x`.

Never safe: the code runs where the caller has put its inputs.
"""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import Const, Origin, Tensor
from exportlint.analysis.facts import Creation, DeviceMove
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.tree import parameters
from exportlint.fixes.errors import DeclinedError

TRANSFERS = frozenset({"device", "non_blocking", "copy", "memory_format"})


def follow_device(code: Code, fact: DeviceMove | Creation) -> Fix:
    """Without the device that a call names. Raises DeclinedError if no tensor is at hand to say another."""
    call = code.node(ast.Call)
    if isinstance(fact, Creation):
        argument = next((k for k in call.keywords if k.arg == "device"), None)
        if argument is None:
            raise DeclinedError("it is created in another way")
        owner = _owner(code, call)
        device = code.make("{owner}.device", owner=owner)
        return code.fix(f"Create it on `{owner}.device`", code.replace(argument.value, device), safe=False)
    if not isinstance(call.func, ast.Attribute):
        raise DeclinedError("it is moved in another way")
    tensor = call.func.value
    if not _is_given(fact.operand):
        owner = _owner(code, call)
        moved = code.make("{tensor}.to({owner}.device)", tensor=tensor, owner=owner)
        return code.fix(f"Move it to `{owner}.device`", code.replace(call, moved), safe=False)
    rest = _other_arguments(code, call) if call.func.attr == "to" else []
    left = code.make("{tensor}.to({*rest})", tensor=tensor, rest=rest) if rest else code.concrete(tensor)
    statement = code.tree.statement(call)
    if (
        not rest
        and isinstance(statement, ast.Assign)
        and [ast.unparse(t) for t in statement.targets] == [ast.unparse(tensor)]
    ):
        edit = code.statements.replace([statement], [])
    else:
        edit = code.replace(call, left)
    return code.fix("Leave it where it is: the caller moves it", edit, safe=False)


def _is_given(tensor: Tensor) -> bool:
    """Whether a tensor comes with the inputs or the module, whose devices are the caller's matter."""
    return tensor.depends_on_input or tensor.origin in {Origin.INPUT, Origin.PARAMETER, Origin.BUFFER}


def _other_arguments(code: Code, call: ast.Call) -> list[ast.expr | ast.keyword]:
    """What `.to()` is given besides a device, such as a dtype."""
    given = [a for a in call.args if not isinstance(code.value(a), Const)]
    keywords = [k for k in call.keywords if k.arg not in TRANSFERS]
    return [*given, *keywords]


def _owner(code: Code, node: ast.AST) -> str:
    """A tensor whose device is the one to take: the first argument that is one. Raises DeclinedError."""
    function = code.tree.function(node)
    arguments = parameters(function) if function is not None else []
    found = [a.arg for a in arguments if isinstance(code.value(ast.Name(a.arg, ast.Load())), Tensor)]
    sure = [name for name in found if code.surely(_is_sure, ast.Name(name, ast.Load()))]
    if not sure and not found:
        raise DeclinedError("no tensor is available to take the device from")
    return (sure or found)[0]


def _is_sure(value: object) -> bool:
    return isinstance(value, Tensor) and not value.assumed and not value.optional
