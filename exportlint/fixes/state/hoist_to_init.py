"""What calls make, though it is the same each time: made once, by `__init__`.

`if self.mask is None: self.mask = torch.ones(n)` moves to the end of `__init__`, as an attribute or a buffer.

Needs: `__init__` can work out the same value (constants, torch, attributes that only it assigns). Never safe: state
dicts, devices and what a subclass sets afterwards are others.
"""

from __future__ import annotations

import ast

from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.state.buffers import registration
from exportlint.fixes.state.constructor import Assignment, Constructor


def buffer_made_once(code: Code, made: ast.expr) -> list[Draft]:
    """The buffer that a call registers, or assigns where it was None, registered by `__init__`.

    Raises:
        DeclinedError: it is not the same each time, or not made in a way that can be left out.
    """
    constructor = Constructor(code, made)
    statement = code.tree.statement(made)
    if isinstance(made, ast.Call):
        given = [*made.args[1:2], *(k.value for k in made.keywords if k.arg == "tensor")]
        name, value = made.args[0] if made.args else None, given[0] if given else None
        if not isinstance(name, ast.Constant) or not isinstance(name.value, str) or value is None:
            raise DeclinedError("it is registered in another way")
        left_out = _left_out(constructor, statement, name.value)
        empty = _registered_none(constructor, name.value)
        if empty is None:
            constructor.require_constant(value)
            return [left_out, constructor.append(code.statements.moved([statement]))]
    else:
        assigned = _assigned(code, made)
        value = assigned.value
        left_out = _left_out(constructor, statement, assigned.target.attr)
        empty = _registered_none(constructor, assigned.target.attr)
        if empty is None:
            raise DeclinedError("`__init__` does not register it")
    constructor.require_constant(value, code.tree.statement(empty))
    return [left_out, code.replace(empty, value)]


def attribute_made_once(code: Code, target: ast.expr, *, is_buffer: bool) -> list[Draft]:
    """An attribute that `__init__` sets to None, or not at all, and a call to what is always the same.

    Raises:
        DeclinedError: as for `buffer_made_once`.
    """
    constructor = Constructor(code, target)
    assigned = _assigned(code, target)
    name, value = assigned.target.attr, assigned.value
    left_out = _left_out(constructor, assigned.statement, name)
    if any(use in ast.walk(constructor.init) for use in constructor.uses(name)) if constructor.init else False:
        first = constructor.assignment(name)
        if not isinstance(first.value, ast.Constant) or first.value.value is not None:
            raise DeclinedError("`__init__` assigns it a different value")
        constructor.require_constant(value, first.statement)
        if is_buffer:
            return [left_out, registration(code, first, value)]
        return [left_out, code.replace(first.value, value)]
    constructor.require_constant(value)
    if is_buffer:
        raise DeclinedError("`__init__` does not assign it")
    return [left_out, constructor.append(code.statements.moved([assigned.statement]))]


def value_made_once(code: Code, made: ast.expr, name: str) -> list[Draft]:
    """What an expression makes, as an attribute with a name like the one given. Raises DeclinedError."""
    constructor = Constructor(code, made)
    constructor.require_constant(made)
    function = code.tree.function(made)
    assert function is not None
    attribute = code.make("{owner}.{name}", owner=function.args.args[0].arg, name=constructor.free(name))
    return [
        constructor.append([code.statement("{attribute} = {value}", attribute=attribute, value=made)]),
        code.replace(made, attribute),
    ]


def _assigned(code: Code, target: ast.expr) -> Assignment:
    statement = code.tree.parents[target]
    if not isinstance(target, ast.Attribute) or not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        raise DeclinedError("it is assigned together with others")
    return Assignment(statement, target, statement.value)


def _left_out(constructor: Constructor, statement: ast.stmt, name: str) -> Draft:
    """Leaves out a statement that makes an attribute, and the question whether it is there."""
    code = constructor.code
    stores = [use for use in constructor.uses(name) if not isinstance(use.ctx, ast.Load)]
    inside = set(ast.walk(constructor.init)) if constructor.init is not None else set()
    if any(use not in inside and code.tree.statement(use) is not statement for use in stores):
        raise DeclinedError(f"`{name}` is also assigned elsewhere")
    around = code.tree.parents[statement]
    if around in constructor.methods:
        return code.statements.replace([statement], [])
    if not isinstance(around, ast.If) or around.body != [statement] or around.orelse:
        raise DeclinedError("the condition around it decides more")
    if code.tree.parents[around] not in constructor.methods or not is_missing(around.test, name):
        raise DeclinedError("it depends on a condition")
    return code.statements.replace([around], [])


def is_missing(test: ast.expr, name: str) -> bool:
    """`self.name is None`, `not hasattr(self, "name")`, `getattr(self, "name", None) is None`."""
    if isinstance(test, ast.Compare) and isinstance(test.left, ast.Attribute) and test.left.attr == name:
        other = test.comparators[0]
        return isinstance(test.ops[0], ast.Is) and isinstance(other, ast.Constant) and other.value is None
    match test:
        case ast.UnaryOp(
            op=ast.Not(), operand=ast.Call(func=ast.Name(id="hasattr"), args=[_, ast.Constant(value=asked)])
        ):
            return bool(asked == name)
        case ast.Compare(
            left=ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=asked), ast.Constant(value=None)]),
            ops=[ast.Is()],
            comparators=[ast.Constant(value=None)],
        ):
            return bool(asked == name)
    return False


def _registered_none(constructor: Constructor, name: str) -> ast.Constant | None:
    """The None in `self.register_buffer(name, None)` of `__init__`."""
    for statement in constructor.init.body if constructor.init is not None else ():
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        given = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "tensor")]
        named = call.args and isinstance(call.args[0], ast.Constant) and call.args[0].value == name
        if call.func.attr == "register_buffer" and named and given and isinstance(given[0], ast.Constant):
            return given[0] if given[0].value is None else None
    return None
