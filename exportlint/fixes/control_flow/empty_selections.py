"""Special cases for selections of nothing, left out.

`if idx.numel() == 0: continue` goes, and `if mask.any(): out[mask] = v` becomes `out[mask] = v`.

Safe: what is skipped only writes numbers and selected rows to new tensors, where indices say, takes no rows as well as
some, and gradients flow from it to nothing else. Otherwise an operator may refuse an empty tensor, autograd or the
caller the write, and gradients are zeros where they were None.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import Const, Origin, Tensor, TorchModule, Unknown, Value
from exportlint.analysis.facts import Fact
from exportlint.analysis.torch.layers import find_layer
from exportlint.findings import Fix
from exportlint.fixes.control_flow.bodies import is_tensor
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.tree import indices
from exportlint.fixes.errors import DeclinedError, InapplicableError
from exportlint.fixes.proofs.guarded_indices import require_elements
from exportlint.fixes.proofs.live_variables import bound, needed, needed_after
from exportlint.fixes.proofs.observed_values import builtin
from exportlint.fixes.proofs.purity import is_pure

COUNTS = frozenset({"numel", "nelement", "size", "len"})
WRITES = frozenset(
    {"index_add_", "index_copy_", "index_put_", "index_fill_", "scatter_", "scatter_add_", "masked_fill_"}
)


def empty_selection_fix(code: Code, _: Fact) -> Fix:
    """Leave out `if idx.numel() == 0: continue`, if the rest of the pass only writes where `idx` says.

    Raises:
        DeclinedError: the rest does more than that.
    """
    statement = code.tree.statement(code.node(ast.expr))
    if not isinstance(statement, ast.If) or statement.orelse:
        raise InapplicableError("it is not an `if …: continue`")
    skips = isinstance(statement.body[-1], ast.Continue)
    if skips and (len(statement.body) > 1 or not isinstance(code.tree.parents[statement], (ast.For, ast.While))):
        raise DeclinedError("it does more than skip an iteration")
    selection = _emptiness(code, statement.test, empty=skips)
    if selection is None:
        raise InapplicableError("the condition does not test for an empty selection")
    rest: Sequence[ast.stmt] = code.tree.following(statement) if skips else statement.body
    last = rest[-1] if rest else statement
    kept = set(bound(rest)) & needed_after(code.tree, last)
    if skips:
        kept |= set(bound(rest)) & set(needed(code.tree.block(statement)))
    if kept or not rest or not all(_only_writes(one, selection) for one in rest):
        raise DeclinedError("the skipped code does more than write to the selection")
    edit = code.statements.replace([statement], [] if skips else code.statements.moved(rest))
    _require_no_element(code, rest)
    parts = [part for one in rest for part in ast.walk(one)]
    bases = [part.value for part in parts if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store)]
    if not all(isinstance(option, (Tensor, Unknown)) for base in bases for option in options(code.value(base))):
        raise DeclinedError("it writes to something that is not a tensor")
    # what autograd keeps, or the caller, may refuse to be written to
    safe = code.surely(lambda value: is_tensor(value) and _is_fresh(value), *bases)
    safe = safe and all(_takes_no_rows(code, part) for part in parts if isinstance(part, ast.Call))
    safe = safe and all(_fits_nothing(code, part, selection, bound(rest)) for part in parts)
    message = "Drop the special case for an empty selection"
    if not safe:
        message += ", which some operators reject"
    elif _has_gradients(code, parts, {ast.unparse(base) for base in bases}):
        message, safe = f"{message}; its gradients are then zeros instead of None", False
    return code.fix(message, edit, safe=safe)


def _has_gradients(code: Code, parts: Sequence[ast.AST], written: set[str]) -> bool:
    """Whether gradients may flow from what is written to more than the tensors that it is written to."""
    read = [n for n in parts if isinstance(n, (ast.Name, ast.Attribute)) and isinstance(n.ctx, ast.Load)]
    return any(map(_may_learn, (o for n in read if ast.unparse(n) not in written for o in options(code.value(n)))))


def _may_learn(value: Value) -> bool:
    if isinstance(value, TorchModule):
        layer = find_layer(value.name)
        return layer is None or layer.parameters != "never" or any(map(_may_learn, value.items or ()))
    return isinstance(value, Tensor) and value.kind not in {"int", "bool"}


def _require_no_element(code: Code, statements: Sequence[ast.stmt]) -> None:
    """Raises DeclinedError if statements take an element of a selection, which an empty one has not."""
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.expr):
                require_elements(code, node)
        code = code.after([statement])


def _emptiness(code: Code, test: ast.expr, *, empty: bool) -> str | None:
    """The variable of which a condition says that it selects nothing, or that it selects something."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _emptiness(code, test.operand, empty=not empty)
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.comparators[0], ast.Constant):
        operator, limit = type(test.ops[0]), test.comparators[0].value
        none = (ast.Eq, 0), (ast.Lt, 1), (ast.LtE, 0)
        some = (ast.Gt, 0), (ast.GtE, 1), (ast.NotEq, 0)
        return _counted(code, test.left) if (operator, limit) in (none if empty else some) else None
    return None if empty else _counted(code, test)


def _counted(code: Code, node: ast.expr) -> str | None:
    """The variable that selects nothing if a number or truth is zero: `idx.numel()`, `len(idx)`, `mask.any()`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        receiver, name = node.func.value, node.func.attr
        if name == "item" and not node.args:
            return _counted(code, receiver)
        counts = name in COUNTS or (name in {"any", "sum"} and code.surely(_is_mask, receiver))
        return receiver.id if counts and isinstance(receiver, ast.Name) else None
    if builtin(code, node) == "len" and isinstance(node, ast.Call) and len(node.args) == 1:
        return node.args[0].id if isinstance(node.args[0], ast.Name) else None
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        is_first = isinstance(node.slice, ast.Constant) and node.slice.value == 0
        return node.value.value.id if is_first and isinstance(node.value.value, ast.Name) else None
    return None


def _is_fresh(value: Value) -> bool:
    return isinstance(value, Tensor) and value.origin is Origin.FRESH


def _is_number(value: Value) -> bool:
    return isinstance(value, Tensor) and value.zero_dim


def _is_mask(value: Value) -> bool:
    return isinstance(value, Tensor) and value.kind == "bool"


def _only_writes(statement: ast.stmt, selection: str) -> bool:
    """Whether a statement binds variables, or writes to what `selection` selects."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        is_write = isinstance(call.func, ast.Attribute) and call.func.attr in WRITES
        return is_write and any(_is_name(argument, selection) for argument in call.args[:2])
    if not isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        return False
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return all(
        isinstance(target, ast.Name)
        or (isinstance(target, ast.Subscript) and any(_is_name(part, selection) for part in indices(target)))
        for target in targets
    )


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _fits_nothing(code: Code, node: ast.AST, selection: str, made: Collection[str]) -> bool:
    """Whether what is read fits an empty selection: a number, or the selected rows. `made` was made of such.

    A mask is refused if its shape is another, whatever it selects.
    """
    if not isinstance(node, (ast.Name, ast.Attribute)) or not isinstance(node.ctx, ast.Load):
        return True
    if isinstance(node, ast.Name) and node.id == selection:
        return not any(map(_is_mask, options(code.value(node))))
    around = code.tree.parents[node]
    if isinstance(around, ast.Subscript) and around.value is node:
        return any(_is_name(part, selection) for part in indices(around))
    if (isinstance(node, ast.Name) and node.id in made) or (isinstance(around, ast.Call) and around.func is node):
        return True
    held = options(code.value(node))
    return all(isinstance(value, (Const, TorchModule)) or (is_tensor(value) and _is_number(value)) for value in held)


def _takes_no_rows(code: Code, call: ast.Call) -> bool:
    if isinstance(call.func, ast.Attribute) and call.func.attr in WRITES:
        return True
    if isinstance(call.func, ast.Name) and all(isinstance(argument, ast.Constant) for argument in call.args):
        return is_pure(code, call)  # float("-inf")
    return code.surely(lambda value: all(map(_is_rowwise, options(value))), call.func)


def _is_rowwise(value: Value) -> bool:
    """Whether it is a module of torch that takes no rows as well as some, and draws no random numbers."""
    if not isinstance(value, TorchModule):
        return False
    if value.items is not None:
        return all(map(_is_rowwise, value.items))
    layer = find_layer(value.name)
    return layer is not None and layer.effects == "never" and (layer.shape == "same" or layer.name == "Linear")
