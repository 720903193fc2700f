"""State that gets its first value outside of `__init__`, which registers a buffer for it.

A method that `__init__` calls, such as `self.reset()`, assigns it: `self.h = torch.zeros(4)` becomes
`self.h.copy_(torch.zeros(4))` there, and the buffer is registered in front of the call. Or the first call of the module
does: `if not hasattr(self, "h"): self.h = torch.zeros(4)` moves to the end of `__init__`. What else is done with the
value, `places` rewrites.

Needs: `__init__` can work out the same value, and the method is called in `__init__` itself. Never safe: as for all
buffers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.fixes.errors import DeclinedError, InapplicableError
from exportlint.fixes.state.constructor import Constructor, assignments_of
from exportlint.fixes.state.hoist_to_init import is_missing
from exportlint.fixes.state.places import Place


def late_attribute(constructor: Constructor, name: str) -> Place:
    """An attribute that gets its first value outside of `__init__`.

    Raises:
        DeclinedError: `__init__` cannot give it that value, or other classes may use it.
    """
    try:
        return _reset_attribute(constructor, name)
    except InapplicableError:
        return _guarded_attribute(constructor, name)


def _guarded_attribute(constructor: Constructor, name: str) -> Place:
    """An attribute that the first call of the module makes: `if not hasattr(self, "h"): self.h = …`."""
    found = [
        statement
        for method in constructor.methods
        if method is not constructor.init
        for statement in method.body
        if isinstance(statement, ast.If) and is_missing(statement.test, name)
    ]
    match found:
        case [ast.If(body=[ast.Assign(targets=[ast.Attribute(attr=attr) as target], value=first)], orelse=[]) as guard]:
            if attr != name:
                raise InapplicableError("the first call does not make it")
        case _:
            raise InapplicableError("the first call does not make it")
    constructor.require_private(name, heirs=True, asked=[guard.test])
    constructor.require_constant(first)
    code = constructor.code
    inside = set(ast.walk(guard))
    uses = [use for use in constructor.inherited_uses(name) if use not in inside]
    return Place(
        name, target.value, first, uses, lambda new: [constructor.append(new), code.statements.replace([guard], [])]
    )


def _reset_attribute(constructor: Constructor, name: str) -> Place:
    """An attribute to which a method that `__init__` calls gives its first value."""
    found = list(_calls(constructor, name))
    if len(found) != 1:
        raise InapplicableError("`__init__` calls no method that assigns it")
    call, method = found[0]
    constructor.require_private(name, heirs=True)
    if any(each.name == method.name for heir in constructor.heirs for each in heir.methods):
        raise DeclinedError(f"another class has a method `{method.name}`")
    assigned = assignments_of(method).get(name, [])
    inside = set(ast.walk(method))
    stores = [use for use in constructor.uses(name) if not isinstance(use.ctx, ast.Load) and use in inside]
    if len(assigned) != 1 or len(stores) != 1:
        raise DeclinedError(f"`{method.name}` does not assign `{name}` exactly once")
    first = assigned[0].value
    constructor.require_constant(first, call)
    insert = constructor.code.statements.insert_before
    uses = constructor.inherited_uses(name)
    return Place(name, assigned[0].target.value, first, uses, lambda new: [insert(call, new)])


def _calls(constructor: Constructor, name: str) -> Iterator[tuple[ast.stmt, ast.FunctionDef]]:
    """The statements of `__init__` that call a method without arguments which assigns an attribute."""
    methods = {method.name: method for method in constructor.methods}
    for statement in constructor.init.body if constructor.init is not None else ():
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(), attr=called), args=[], keywords=[])):
                method = methods.get(called)
                if method is not None and name in assignments_of(method):
                    yield statement, method
