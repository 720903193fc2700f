"""Expressions that can be evaluated once more, earlier or in vain: they change nothing and draw no random numbers.

`is_pure` and `require_pure` ask this of an expression, `is_harmless` of statements; `computes_only` also allows
prints and logs.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import BoundMethod, Const, External, Scalar, Shape, Size, TorchModule
from exportlint.analysis.library_functions import find
from exportlint.analysis.torch import table
from exportlint.analysis.torch.layers import find_layer
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.evaluated_once import is_repeatable, runs_once
from exportlint.fixes.proofs.observed_values import builtin, is_python, operation

_PLAIN = (Shape, Size, Scalar, Const)
"""Values that no method changes."""
_COMPUTING = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Pass, ast.Expr)
_BLOCKS = (ast.If, ast.For)
_NEVER = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


def require_pure(code: Code, node: ast.expr) -> None:
    """Raises DeclinedError if evaluating an expression may have effects."""
    if not is_pure(code, node):
        raise DeclinedError("the guarded code may have side effects")


def require_first(code: Code, statement: ast.stmt, node: ast.expr) -> None:
    """Raises DeclinedError if an expression cannot be evaluated in front of the statement in which it is."""
    require_pure(code, node)
    if code.statements.is_elif(statement) or not runs_once(code.tree, node):
        raise DeclinedError("the expression is evaluated more than once, or maybe not at all")


def is_harmless(code: Code, statements: Sequence[ast.stmt]) -> bool:
    """Whether statements do nothing but compute variables: they can run where they did not."""
    for statement in statements:
        try:
            behind = code.after([statement])
        except DeclinedError:
            return False
        # what a loop or a block binds is known behind it
        inside = behind if isinstance(statement, _BLOCKS) else code
        for node in ast.walk(statement):
            if isinstance(node, ast.stmt) and not isinstance(node, (*_COMPUTING, *_BLOCKS)):
                return False
            if isinstance(node, (*_NEVER, ast.Lambda)) or (
                isinstance(node, ast.Call) and not _is_harmless(inside, node)
            ):
                return False
            if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
                return False
            if isinstance(node, ast.AugAssign) and not is_python(code, node.target):
                return False
        if not only_looks_up(code, statement):
            return False
        code = behind
    return True


def is_pure(code: Code, node: ast.expr) -> bool:
    """Whether evaluating an expression has no effect, with the variables as they are at the finding."""
    calls_nothing = not any(
        isinstance(part, _NEVER) or (isinstance(part, ast.Call) and not _is_harmless(code, part))
        for part in ast.walk(node)
    )
    return calls_nothing and only_looks_up(code, node)


def only_looks_up(code: Code, *nodes: ast.expr | ast.stmt) -> bool:
    """Whether no code of the project that evaluating nodes runs, such as a property or `__add__`, has effects."""
    body = [node if isinstance(node, ast.stmt) else ast.copy_location(ast.Expr(node), node) for node in nodes]
    return all(snapshot.only_looks_up(body) for snapshot in code.observed.snapshots)


def may_repeat(code: Code, node: ast.expr) -> bool:
    """Whether an expression can be evaluated twice: it looks something up, and runs no property that does more."""
    return is_repeatable(node) and only_looks_up(code, node)


def api_of(code: Code, node: ast.Call) -> table.Api | None:
    """What torch says of the function or tensor method that a call surely reaches."""
    called = code.value(node.func)
    if isinstance(called, External):
        return table.lookup(called.name)
    name = operation(code, node)
    return table.tensor_member(name) if name is not None else None


def computes_only(code: Code, nodes: Sequence[ast.expr | ast.stmt]) -> bool:
    """Whether code surely changes nothing that the program has: what it calls are reports, operators, conversions."""
    parts = [part for node in nodes for part in ast.walk(node)]
    calls_nothing = not any(
        isinstance(part, _NEVER) or (isinstance(part, ast.Call) and not (_says(code, part) or _is_harmless(code, part)))
        for part in parts
    )
    return bool(code.observed.snapshots) and code.observed.complete and calls_nothing and only_looks_up(code, *nodes)


def _says(code: Code, node: ast.Call) -> bool:
    called = code.value(node.func)
    return isinstance(called, External) and find(called.name).effect == "report"


def _is_harmless(code: Code, node: ast.Call) -> bool:
    called = code.value(node.func)
    if all(isinstance(f, BoundMethod) and isinstance(f.receiver, _PLAIN) for f in options(called)):
        return True
    if isinstance(called, TorchModule):
        return is_stateless(called)
    if isinstance(called, External) and (builtin(code, node) is not None or find(called.name).pure):
        return find(called.name).pure
    api = api_of(code, node)
    return api is not None and is_harmless_api(api, node)


def is_stateless(module: TorchModule) -> bool:
    """Whether a call of a module of torch neither writes nor draws, in whatever mode: `nn.ReLU(True)` writes."""
    if module.items is not None and module.name.endswith(".Sequential"):
        called = [option for item in module.items for option in options(item)]
        return all(isinstance(one, TorchModule) and is_stateless(one) for one in called)
    layer = find_layer(module.name)
    return layer is not None and layer.effects == "never" and not _is_given_inplace(module)


def _is_given_inplace(module: TorchModule) -> bool:
    made, api = module.created_at, table.lookup(module.name)
    if not isinstance(made, ast.Call) or api is None:
        return False
    places = [o.parameters.index("inplace") for o in api.overloads if "inplace" in o.parameters]
    given = [*(made.args[place] for place in places if place < len(made.args))]
    given += [keyword.value for keyword in made.keywords if keyword.arg in {None, "inplace"}]
    return any(not isinstance(value, ast.Constant) or value.value is not False for value in given)


def is_harmless_api(api: table.Api, call: ast.Call) -> bool:
    """Whether a call of a function or method of torch neither writes nor draws."""
    # an `inplace` is passed by position as well
    places = [o.parameters.index("inplace") for o in api.overloads if "inplace" in o.parameters]
    return (
        api.kind in {"function", "method"}
        and not api.random
        and not (set(api.mutates) - {"out"})
        and not any(keyword.arg in {None, "out", "inplace"} for keyword in call.keywords)
        and not any(len(call.args) > place for place in places)
    )
