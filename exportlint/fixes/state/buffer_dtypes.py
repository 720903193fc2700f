"""A buffer to which calls bind tensors of another dtype, as one that has this dtype from the start.

`self.last = x.double()` becomes `self.last.copy_(x.double())`, and `self.register_buffer("last", torch.zeros(3))` gets
`dtype=torch.float64`.

Needs: one statement binds it, and the dtype of what it binds is known. Never safe: until the first call has bound it,
the buffer had the dtype that `__init__` gave it, and what is computed with it may have been narrower.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from exportlint.fixes.edit.arguments import with_argument
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.names import qualified
from exportlint.fixes.edit.template import method
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.observed_values import tensor
from exportlint.fixes.state.buffers import Kept
from exportlint.fixes.state.constructor import Constructor, receiver

if TYPE_CHECKING:
    from exportlint.findings import Fix
    from exportlint.fixes.edit.statements import Draft
    from exportlint.fixes.edit.template import Expression

FACTORIES = frozenset({"torch.zeros", "torch.ones", "torch.empty", "torch.full", "torch.tensor", "torch.eye"})
"""Functions that make a tensor of the dtype that they are told."""
OF_KIND = {"int": "int64", "bool": "bool"}
"""The dtype that a tensor of a kind has if nothing says otherwise."""


def wider_buffer_fix(code: Code, target: ast.Attribute) -> Fix:
    """Give a buffer the dtype of what calls bind it to. Raises DeclinedError if that is not known."""
    constructor = Constructor(code, target)
    uses = constructor.uses(target.attr)
    function = code.tree.function(target)
    if any(use is not target and not isinstance(use.ctx, ast.Load) for use in uses):
        raise DeclinedError("several statements bind the buffer, maybe to tensors of several dtypes")
    statement = code.tree.parents[target]
    if not isinstance(statement, ast.Assign):
        raise DeclinedError("the buffer is bound together with others")
    registered = _registered(constructor, target.attr, _dtype(code, statement.value))
    kept = Kept(code, [use for use in uses if code.tree.function(use) is function])
    message = "Let the buffer have this dtype from the start, and copy into it"
    return code.fix(message, registered, *kept.drafts(), safe=False)


def _dtype(code: Code, value: ast.expr) -> Expression:
    held = tensor(code, value)
    if held is None:
        raise DeclinedError("the buffer may be bound to something other than a tensor")
    name = held.dtype or OF_KIND.get(held.kind or "")
    if name is not None:
        return code.make("{dtype}", dtype=code.name(f"torch.{name}"))
    if held.kind != "float":
        raise DeclinedError("the dtype of the new value is not known")
    return code.make("{default}()", default=code.name("torch.get_default_dtype"))


def _registered(constructor: Constructor, name: str, dtype: Expression) -> Draft:
    """What registers the buffer, with another dtype. Raises DeclinedError if it is not one call of `__init__`."""
    code, init = constructor.code, constructor.init
    found = []
    for node in ast.walk(init) if init is not None else ():
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=owner), attr="register_buffer"),
                args=[ast.Constant(value=said), value, *_],
            ) if said == name and init is not None and owner == receiver(init):
                found.append(value)
    if len(found) != 1:
        raise DeclinedError("`__init__` does not register the buffer in one call")
    (first,) = found
    made = code.concrete(first)
    if isinstance(first, ast.Call) and qualified(first.func, code.tree.root, code.module.package) in FACTORIES:
        given = [keyword.value for keyword in first.keywords if keyword.arg in {None, "dtype"}]
        if not given:
            return code.replace(first, with_argument(made, dtype, "dtype"))
        if all(keyword.arg is not None for keyword in first.keywords):
            return code.replace(given[0], dtype)
    return code.replace(first, method(made, "to", dtype))
