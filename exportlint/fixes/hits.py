"""Loops over what `nonzero` found, such as the experts that have tokens, as loops over all there is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.facts import Conversion
from exportlint.analysis.joins import options
from exportlint.analysis.values import TorchModule, Value
from exportlint.findings import Fix
from exportlint.fixes.bodies import is_tensor
from exportlint.fixes.code import Code
from exportlint.fixes.empty_selections import WRITES
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.held import operands, operation
from exportlint.fixes.statements import Draft
from exportlint.fixes.variables import bound, needed, needed_after

MESSAGE = "Go over all, and let those that were not found write to no rows"


def all_fix(code: Code, _: Conversion) -> Fix:
    """Loop over the positions of a 1-d tensor, not only over those that are not zero.

    The index of a module shows that each row of `nonzero()` is one position. Raises DeclinedError.
    """
    loop = code.tree.parents[code.expression]
    if not isinstance(loop, ast.For) or loop.iter is not code.expression or loop.orelse:
        raise DeclinedError("it is no loop over what was found")
    if not isinstance(loop.target, ast.Name) or loop.target.id in needed_after(code.tree, loop):
        raise DeclinedError("the position is used behind the loop")
    if (set(bound(loop.body)) & set(needed(loop.body))) or not all(map(_only_writes, loop.body)):
        raise DeclinedError("the loop does more than write to rows")
    found, edits = _found(code, loop)
    inside = code.after([ast.copy_location(ast.For(loop.target, loop.iter, [ast.Pass()], []), loop)])
    chosen = False
    for use in _uses(loop, loop.target.id):
        subscript = code.tree.parents[use]
        if not isinstance(subscript, ast.Subscript) or subscript.slice is not use:
            raise DeclinedError("the position is used as something else than an index")
        if code.surely(_is_modules, subscript.value):
            chosen = True
            edits.append(code.replace(use, use.id))  # no other fix may take the position for a tensor
        elif inside.surely(is_tensor, subscript.value):
            edits.append(code.replace(use, f"{use.id} : {use.id} + 1"))
        else:
            raise DeclinedError("it is not known what is indexed")
    if not chosen:
        raise DeclinedError("there may be more than one dimension")
    edits.append(code.replace(loop.iter, f"range({found}.shape[0])"))
    return code.fix(MESSAGE, *edits, safe=False)


def _found(code: Code, loop: ast.For) -> tuple[str, list[Draft]]:
    """The variable that `nonzero()` is assigned to, which the loop alone uses, without the `nonzero()`."""
    function = code.tree.function(loop)
    if not isinstance(loop.iter, ast.Name) or function is None:
        raise DeclinedError("what was found has no name")
    name = loop.iter.id
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name]
    stored = [node for node in names if isinstance(node.ctx, ast.Store)]
    statement = code.tree.statement(stored[0]) if len(stored) == 1 and len(names) == 2 else None
    if not isinstance(statement, ast.Assign) or statement.targets != stored:
        raise DeclinedError("what was found is used for something else")
    call = statement.value
    if not isinstance(call, ast.Call) or operation(code, call) not in {"nonzero", "argwhere"} or call.keywords:
        raise DeclinedError("it is not said what was looked for")
    return name, [code.replace(call, code.operand(operands(code, call)[0]))]


def _uses(loop: ast.For, name: str) -> Iterator[ast.Name]:
    for statement in loop.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and node.id == name:
                yield node


def _only_writes(statement: ast.stmt) -> bool:
    """Whether a statement binds variables or writes to rows."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        called = statement.value.func
        return isinstance(called, ast.Attribute) and called.attr in WRITES
    return isinstance(statement, ast.Assign) and all(
        isinstance(target, (ast.Name, ast.Tuple)) for target in statement.targets
    )


def _is_modules(value: Value) -> bool:
    return all(isinstance(option, TorchModule) for option in options(value))
