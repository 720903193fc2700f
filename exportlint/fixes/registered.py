"""Attributes that calls leave behind, kept in buffers: what assigned them changes the buffer in place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.values import Const, Python
from exportlint.fixes.code import Code
from exportlint.fixes.constructor import Assignment, Constructor, buffer
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.sharing import is_consumed
from exportlint.fixes.statements import Draft

SAVING = (ast.Mult, ast.Div, ast.Pow, ast.MatMult, ast.FloorDiv, ast.Mod)
"""Operators that need what they computed with for their gradients."""


def registered_tensor(code: Code, target: ast.Attribute) -> list[Draft]:
    """A tensor attribute as a buffer, and everywhere in the class what becomes of its uses. Raises DeclinedError."""
    constructor = Constructor(code, target)
    constructor.require_private(target.attr)
    first = constructor.assignment(target.attr)
    if not isinstance(first.value, ast.Call):
        raise DeclinedError("its first value may be no tensor")
    later = [use for use in constructor.uses(target.attr) if use is not first.target]
    return [registration(code, first), *(draft for use in later for draft in tensor_use(code, use))]


def registration(code: Code, first: Assignment, value: str | None = None) -> Draft:
    """The buffer that `__init__` registers in place of an attribute; with another value, if one is given."""
    owner = code.text(first.target.value)
    text = buffer(code, owner, first.target.attr, value or code.operand(first.value))
    return code.statements.replace([first.statement], [text])


def tensor_use(code: Code, use: ast.Attribute) -> Iterator[Draft]:
    """What becomes of a use of an attribute that is a buffer: what is bound to it is copied, what goes on is a copy.

    Raises:
        DeclinedError: it is bound along with others, or left out.
    """
    statement = code.tree.parents[use]
    if isinstance(use.ctx, ast.Load):
        if not is_renewed(code, use) and needs_clone(code, use):
            yield code.replace(use, f"{code.text(use)}.clone()")
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        yield code.replace(statement, f"{code.text(use)}.copy_({_with_clones(code, statement.value, use)})")
    elif not isinstance(statement, ast.AugAssign):
        raise DeclinedError(f"`{use.attr}` is assigned along with others")


def is_renewed(code: Code, use: ast.Attribute) -> bool:
    """Whether a use is part of what the attribute itself is bound to."""
    statement = code.tree.statement(use)
    return isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == ast.unparse(use)


def needs_clone(code: Code, use: ast.Attribute) -> bool:
    """Whether somebody holds on to the tensor that is read, or autograd may, while the call still changes it."""
    around = code.tree.parents[use]
    if not is_consumed(code, use):
        return not is_renewed(code, use) or isinstance(around, (ast.Call, ast.keyword))
    if isinstance(around, ast.BinOp):
        other = around.left if around.right is use else around.right
        saves = isinstance(around.op, SAVING) and not isinstance(code.value(other), (Const, Python))
    else:
        saves = isinstance(around, (ast.Call, ast.keyword, ast.List, ast.Tuple))
    return saves and _is_changed_later(code, use)


def _is_changed_later(code: Code, use: ast.Attribute) -> bool:
    function = code.tree.function(use)
    return function is not None and any(
        isinstance(node, ast.Attribute)
        and not isinstance(node.ctx, ast.Load)
        and ast.unparse(node) == ast.unparse(use)
        and (is_renewed(code, use) or (node.lineno, node.col_offset) > (use.lineno, use.col_offset))
        for node in ast.walk(function)
    )


def _with_clones(code: Code, value: ast.expr, target: ast.Attribute) -> str:
    """What is bound to an attribute, with a copy of it where it is read itself."""
    read = [node for node in ast.walk(value) if isinstance(node, ast.Attribute)]
    found = [node for node in read if ast.unparse(node) == ast.unparse(target) and needs_clone(code, node)]
    return code.operand(value, instead={node: f"{code.text(node)}.clone()" for node in found})
