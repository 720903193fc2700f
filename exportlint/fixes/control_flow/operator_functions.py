"""The functions that a call of `torch.cond`, `while_loop`, `scan` or `map` names, and changes to what they do.

`return x` becomes `return x.clone()`, `x.add_(1)` works on a clone, a list of operands or results becomes a tuple, and
`n = t.item()` becomes `n = t`.

Never safe: who holds the operand or the result sees another tensor than before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import Function
from exportlint.analysis.facts.control_flow import BodyAlias, BodyCapture, BodyMismatch, BodyWrite, OperandMismatch
from exportlint.analysis.torch.table import tensor_member
from exportlint.findings import Fix
from exportlint.fixes.control_flow.bodies import copied, given_back, runs_of
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.parentheses import with_parentheses
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.template import as_tuple, same
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.live_variables import returns
from exportlint.fixes.proofs.observed_values import item_of

POSITIONS = {"`true_fn`": 1, "`false_fn`": 2, "`cond_fn`": 0, "`body_fn`": 1, "`combine_fn`": 0, "`f`": 0}
BRANCHES = ("`true_fn`", "`false_fn`")


def clone_fix(code: Code, fact: BodyAlias) -> Fix:
    """Return copies of what is not the function's own. Raises DeclinedError if that cannot be told apart."""
    roles = BRANCHES if fact.role in BRANCHES else (fact.role,)
    edits = [edit for role in roles for edit in _copies(code, *_function(code, role))]
    if not edits:
        raise DeclinedError("it is not known which result the function did not create")
    return code.fix("Return a copy", *edits, safe=False)


def _copies(code: Code, call: ast.Call, node: ast.FunctionDef | ast.Lambda) -> Iterator[Draft]:
    ways = _ways(node)
    runs = runs_of(code, ways, first=list(_bindings(call, node)))
    for statement in returns(ways):
        if statement.value is not None:
            found = [(run, value) for run in runs for at, value in run.returned if at is statement]
            before, after = code.concrete(statement.value), given_back(code, statement.value, found)
            if before.lpar and not after.lpar:
                after = with_parentheses(after)
            if not same(before, after):
                yield code.replace(statement.value, after)


def _ways(node: ast.FunctionDef | ast.Lambda) -> Sequence[ast.stmt]:
    return node.body if isinstance(node.body, list) else [ast.copy_location(ast.Return(node.body), node.body)]


def _function(code: Code, role: str) -> tuple[ast.Call, ast.FunctionDef | ast.Lambda]:
    """The call of the operator, and the function that it runs in a role, if that is in this file."""
    call = code.node(ast.Call)
    position = POSITIONS.get(role)
    keyword = next((k.value for k in call.keywords if f"`{k.arg}`" == role), None)
    if keyword is None and (position is None or position >= len(call.args)):
        raise DeclinedError("the function is not among the arguments")
    argument = keyword or call.args[position or 0]
    value = code.value(argument)
    found = {option.node for option in options(value) if isinstance(option, Function) and option.module is code.module}
    node = found.pop() if len(found) == 1 else None
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):
        return call, node
    raise DeclinedError("the function is not in this file")


def _bindings(call: ast.Call, node: ast.FunctionDef | ast.Lambda) -> Iterator[ast.stmt]:
    """Assignments of the operands to the parameters of a function."""
    operands = call.args[-1]
    if isinstance(operands, (ast.Tuple, ast.List)):
        for parameter, operand in zip(node.args.args, operands.elts, strict=False):
            target = ast.copy_location(ast.Name(parameter.arg, ast.Store()), operand)
            yield ast.copy_location(ast.Assign([target], operand), operand)


def copy_fix(code: Code, fact: BodyWrite) -> Fix:
    """Write to a copy of an operand. Raises DeclinedError if it is none of the function's parameters."""
    if not fact.is_tensor:
        raise DeclinedError("it changes Python state")
    _, node = _function(code, fact.role)
    names = {argument.arg for argument in node.args.args}
    writes = [(name, write) for name, write in _writes(node) if name.id in names]
    if not writes:
        raise DeclinedError("the changed value is not a parameter")
    message = "Leave the operand unchanged, so that the caller sees no write"
    if isinstance(node, ast.Lambda):
        edits = [_out_of_place(code, name) for name, _ in writes]
        if len({name.id for name, _ in writes}) < len(writes) or any(
            isinstance(part, ast.Name) and part.id == name.id and part is not name
            for name, _ in writes
            for part in ast.walk(node.body)
        ):
            raise DeclinedError("the operand is used again")
        return code.fix(message, *edits, safe=False)
    lines = [copied(name) for name in dict.fromkeys(name.id for name, _ in writes)]
    has_docstring = ast.get_docstring(node) is not None and len(node.body) > 1
    return code.fix(message, code.statements.insert_before(node.body[has_docstring], lines), safe=False)


def _out_of_place(code: Code, name: ast.Name) -> Draft:
    """`x.add(1)` for `x.add_(1)`, or `x.clone()` for `x` where there is no such method."""
    called = code.tree.parents[name]
    if isinstance(called, ast.Attribute) and tensor_member(called.attr.removesuffix("_")) is not None:
        return code.replace(called, code.make("{name}.{method}", name=name, method=called.attr.removesuffix("_")))
    return code.replace(name, code.make("{name}.clone()", name=name))


def _writes(node: ast.FunctionDef | ast.Lambda) -> Iterator[tuple[ast.Name, ast.AST]]:
    """The variables that a function writes to in place, each with what does so."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr.endswith("_"):
            if isinstance(part.func.value, ast.Name):
                yield part.func.value, part
        elif isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
            yield part.target, part
        elif isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store) and isinstance(part.value, ast.Name):
            yield part.value, part


def operands_fix(code: Code, fact: OperandMismatch) -> Fix:
    """Pass a tuple of operands. Raises DeclinedError if something else is wrong with them."""
    call = code.node(ast.Call)
    if fact.what != "container" or fact.operand is None or len(call.args) < 3 or call.keywords:
        raise DeclinedError("it is not clear what to pass instead")
    (operand,) = call.args[-1:]
    return code.fix("Pass a tuple", code.replace(operand, code.make("({operand},)", operand=operand)), safe=False)


def tuple_fix(code: Code, fact: BodyMismatch) -> Fix:
    """Return a tuple where another function does, and not a list. Raises DeclinedError."""
    if fact.what != "structure":
        raise DeclinedError("it is not clear which of the results is right")
    edits = []
    for role in BRANCHES:
        _, node = _function(code, role)
        for value in (statement.value for statement in returns(_ways(node))):
            if isinstance(value, ast.List) and value.elts:
                edits.append(code.replace(value, as_tuple(code.concrete(value))))
            elif not isinstance(value, ast.Tuple):
                raise DeclinedError("the functions do not return lists or tuples")
    if not edits:
        raise DeclinedError("the functions return different numbers of tensors")
    return code.fix("Return tuples", *edits, safe=False)


def captured_fix(code: Code, fact: BodyCapture) -> Fix:
    """Keep the tensor instead of reading its number: `n = x.sum().item()`. Raises DeclinedError."""
    function = code.tree.function(code.expression)
    found = [
        statement
        for statement in code.tree.contents(function or code.tree.root).of(ast.Assign)
        if any(isinstance(target, ast.Name) and target.id == fact.name for target in statement.targets)
    ]
    read = item_of(found[0].value) if len(found) == 1 else None
    if read is not None:
        edit = code.replace(found[0].value, read)
        return code.fix("Use the tensor itself; its dtype then affects the result", edit, safe=False)
    raise DeclinedError("the number is not read in a separate assignment")
