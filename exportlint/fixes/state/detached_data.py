"""`.data` as `.detach()`, which torch.export sees.

`y.data + 1` becomes `y.detach() + 1`, and `y.data += 1` becomes `y.detach().add_(1)`.

Safe: the tensor is only read and nobody holds on to it, or it is written before autograd can have saved it. Otherwise
autograd notices the write, since `.detach()` shares the count of writes, and may refuse to compute gradients.
"""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import Origin
from exportlint.analysis.facts import DataRead
from exportlint.analysis.torch.registry import AUGMENTED
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.tree import in_order
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.aliasing import is_consumed, may_be_saved
from exportlint.fixes.proofs.evaluated_once import runs_once
from exportlint.fixes.proofs.identity import matters
from exportlint.fixes.proofs.writes import writes

UNSAVED = frozenset(
    {"clone", "zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like"}
)


def as_detached(code: Code, fact: DataRead) -> Fix:
    """`.detach()` in its place: it shares the storage with the tensor, and autograd does not see what it is used for.

    Unlike `.data`, it shares the count of writes as well, by which autograd tells that a tensor is no longer what it
    was when it was saved.
    """
    data = code.node(ast.Attribute)
    detached = code.make("{tensor}.detach()", tensor=data.value)
    statement = code.tree.parents[data]
    if not isinstance(statement, ast.AugAssign):
        edit = code.replace(data, detached)
    elif type(statement.op) in AUGMENTED:
        written = code.statement(
            "{tensor}.{method}({value})", tensor=detached, method=AUGMENTED[type(statement.op)], value=statement.value
        )
        edit = code.replace(statement, written)
    else:
        raise DeclinedError("no in-place method does the same")
    if not fact.mutates and not _is_written_later(code, data):
        assigned = [t for t in getattr(code.tree.statement(data), "targets", ()) if isinstance(t, ast.Attribute)]
        hidden = any(target.attr == "data" for target in assigned)  # then export passes, and ignores the assignment
        # what is written later, autograd refuses to have saved
        apart = not matters(code, data) or (is_consumed(code, data) and not may_be_saved(code, data))
        return code.fix("Use `.detach()`", edit, safe=not fact.operand.assumed and not hidden and apart)
    return code.fix("Write to the tensor that `.detach()` returns", edit, safe=_is_unsaved(code, fact, data))


def _is_written_later(code: Code, data: ast.Attribute) -> bool:
    parent = code.tree.parents[data]
    function = code.tree.function(data)
    if isinstance(parent, ast.Assign) and function is not None:
        return any(True for target in parent.targets for _ in writes(function, target))
    return isinstance(parent, ast.NamedExpr)


def _is_unsaved(code: Code, fact: DataRead, data: ast.Attribute) -> bool:
    """Whether autograd has surely not saved a tensor before it is written to: so it cannot mind."""
    function = code.tree.function(data)
    if fact.operand.origin is not Origin.FRESH or function is None or not isinstance(data.value, ast.Name):
        return False
    if fact.operand.kind in {"int", "bool"}:
        return True
    names = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == data.value.id]
    binding, *others = in_order(names)
    made = code.tree.parents[binding]
    return (
        others[:1] == [data.value]
        and isinstance(made, ast.Assign)
        and made.targets == [binding]
        and runs_once(code.tree, data)
        and code.tree.parents[made] is code.tree.parents[code.tree.statement(data)]
        and _is_forgotten(made.value)
    )


def _is_forgotten(value: ast.expr) -> bool:
    """Whether autograd needs the result of an operator for no gradient."""
    if isinstance(value, ast.BinOp):
        return isinstance(value.op, (ast.Add, ast.Sub, ast.Mult))
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in UNSAVED
