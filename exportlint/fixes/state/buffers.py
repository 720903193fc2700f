"""Attributes that calls leave behind, kept in buffers: what assigned them changes the buffer in place.

`self.last = x` becomes `self.last.copy_(x)` of a buffer that `__init__` registers; reads that others hold on to
become clones.

Needs: only the methods of the class use the attribute. Never safe: `copy_` keeps size and dtype, and the buffer moves
with the module.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.tree import place
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.aliasing import is_consumed, may_be_saved
from exportlint.fixes.state.constructor import Assignment, Constructor, buffer

if TYPE_CHECKING:
    from exportlint.fixes.edit.code import Given
    from exportlint.fixes.edit.template import Expression


def registered_tensor(code: Code, target: ast.Attribute) -> list[Draft]:
    """A tensor attribute as a buffer, and everywhere in the class what becomes of its uses. Raises DeclinedError."""
    constructor = Constructor(code, target)
    constructor.require_private(target.attr)
    first = constructor.assignment(target.attr)
    if not isinstance(first.value, ast.Call):
        raise DeclinedError("its first value may be no tensor")
    later = [use for use in constructor.uses(target.attr) if use is not first.target]
    return [registration(code, first), *(draft for use in later for draft in tensor_use(code, use))]


def registration(code: Code, first: Assignment, value: Given = None) -> Draft:
    """The buffer that `__init__` registers in place of an attribute; with another value, if one is given."""
    registered = buffer(code, first.target.value, first.target.attr, first.value if value is None else value)
    return code.statements.replace([first.statement], [registered])


def tensor_use(code: Code, use: ast.Attribute) -> Iterator[Draft]:
    """What becomes of a use of an attribute that is a buffer: what is bound to it is copied, what goes on is a copy.

    Raises:
        DeclinedError: it is bound along with others, or left out.
    """
    statement = code.tree.parents[use]
    if isinstance(use.ctx, ast.Load):
        if not is_renewed(code, use) and needs_clone(code, use):
            yield code.replace(use, code.make("{use}.clone()", use=use))
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        new = _with_clones(code, statement.value, use)
        yield code.replace(statement, code.statement("{use}.copy_({new})", use=use, new=new))
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
    return may_be_saved(code, use) and _is_changed_later(code, use)


def _is_changed_later(code: Code, use: ast.Attribute) -> bool:
    function = code.tree.function(use)
    return function is not None and any(
        isinstance(node, ast.Attribute)
        and not isinstance(node.ctx, ast.Load)
        and ast.unparse(node) == ast.unparse(use)
        and (is_renewed(code, use) or place(node) > place(use))
        for node in ast.walk(function)
    )


def _with_clones(code: Code, value: ast.expr, target: ast.Attribute) -> Expression:
    """What is bound to an attribute, with a copy of it where it is read itself."""
    read = [node for node in ast.walk(value) if isinstance(node, ast.Attribute)]
    found = [node for node in read if ast.unparse(node) == ast.unparse(target) and needs_clone(code, node)]
    return code.concrete(value, {node: code.make("{node}.clone()", node=node) for node in found})
