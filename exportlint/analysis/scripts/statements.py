"""What the statements of a script do to its variables."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial
from typing import Any

from exportlint.analysis.domain.script_values import Imported, Model, Receiver
from exportlint.analysis.domain.values import UNKNOWN, ClassValue, Function, Tuple, Value
from exportlint.analysis.scripts.expressions import evaluate, truth
from exportlint.analysis.scripts.scope import Environment, Scope
from exportlint.syntax.definitions import TRIES, dotted, imported

RAISES = ("raises", "assertRaises", "assertRaisesRegex", "raisesRegex", "assertWarns", "assertRaisesOnExport")
"""Context managers whose body is meant to fail."""


def execute(scope: Scope, body: Sequence[ast.stmt]) -> bool:
    """Run statements in order. False if what follows them is never reached."""
    return all(_execute(scope, statement) for statement in body)


def _execute(scope: Scope, node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr):
        evaluate(scope, node.value)
    elif isinstance(node, ast.Assign):
        value = evaluate(scope, node.value)
        for target in node.targets:
            assign(scope, target, value)
    elif isinstance(node, ast.AnnAssign):
        if node.value is not None:
            assign(scope, node.target, evaluate(scope, node.value))
    elif isinstance(node, ast.AugAssign):
        evaluate(scope, node.value)
        assign(scope, node.target, UNKNOWN)
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for name, qualified in imported(node, scope.module.package):
            scope.env[name] = Imported(qualified)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        _define(scope, node)
    elif isinstance(node, ast.Return):
        scope.returns.append(evaluate(scope, node.value) if node.value is not None else UNKNOWN)
        return False
    elif isinstance(node, ast.Raise | ast.Break | ast.Continue):
        return False
    elif isinstance(node, ast.If):
        decided = truth(scope, node.test)
        if decided is not None:
            return execute(scope, node.body if decided else node.orelse)
        return scope.join([scope.branch(partial(execute, scope, way)) for way in (node.body, node.orelse)])
    elif isinstance(node, ast.For | ast.AsyncFor | ast.While):
        return _loop(scope, node)
    elif isinstance(node, ast.With | ast.AsyncWith):
        return _with(scope, node)
    elif isinstance(node, TRIES):
        return _try(scope, node)
    else:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                evaluate(scope, child)
            elif isinstance(child, ast.match_case):
                matched = scope.branch(partial(execute, scope, child.body))
                scope.join([matched, (True, dict(scope.env), scope.training)])
    return True


def assign(scope: Scope, target: ast.expr, value: Value) -> None:
    """Bind what is left of a `=`."""
    if isinstance(target, ast.Name):
        scope.env[target.id] = value
    elif isinstance(target, ast.Tuple | ast.List):
        items = value.items if isinstance(value, Tuple) and len(value.items) == len(target.elts) else None
        for index, element in enumerate(target.elts):
            assign(scope, element, items[index] if items is not None else UNKNOWN)
    elif isinstance(target, ast.Starred):
        assign(scope, target.value, UNKNOWN)
    elif isinstance(target, ast.Attribute):
        owner = evaluate(scope, target.value)
        if isinstance(owner, Model | Receiver):
            scope.env[owner, target.attr] = value
    elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        scope.env[target.value.id] = UNKNOWN  # a container whose contents are no longer known


def _define(scope: Scope, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
    for decorator in node.decorator_list:
        evaluate(scope, decorator)
    prefix = f"{scope.symbol}.<locals>." if scope.symbol else ""
    if not isinstance(node, ast.ClassDef):
        function = Function(scope.module, node, f"{prefix}{node.name}")
        scope.env[node.name] = UNKNOWN if node.decorator_list else function
        _put_off(scope, function)
        return
    definition = scope.run.class_of(scope.module, node)
    if definition is None:
        return
    scope.env[node.name] = ClassValue(definition)
    for method in definition.methods.values():
        function = Function(scope.module, method, f"{definition.qualname}.{method.name}", definition)
        _put_off(scope, function)


def _put_off(scope: Scope, function: Function) -> None:
    scope.run.enclosing_scopes[function.node] = (scope.env, *scope.parents)
    scope.pending_functions.append(function)


def _loop(scope: Scope, node: ast.For | ast.AsyncFor | ast.While) -> bool:
    evaluate(scope, node.iter if isinstance(node, ast.For | ast.AsyncFor) else node.test)
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            scope.env[inner.id] = UNKNOWN
    ran = scope.branch(lambda: execute(scope, node.body))
    scope.join([(True, *ran[1:]), (True, dict(scope.env), scope.training)])
    return execute(scope, node.orelse)


def _with(scope: Scope, node: ast.With | ast.AsyncWith) -> bool:
    fails = False
    for item in node.items:
        value = evaluate(scope, item.context_expr)
        if item.optional_vars is not None:
            assign(scope, item.optional_vars, UNKNOWN if not isinstance(value, Tuple) else value)
        called = item.context_expr.func if isinstance(item.context_expr, ast.Call) else item.context_expr
        fails |= (dotted(called) or "").rpartition(".")[2] in RAISES
    scope.guards += fails
    try:
        return execute(scope, node.body) or fails
    finally:
        scope.guards -= fails


def _try(scope: Scope, node: Any) -> bool:
    ran = scope.branch(lambda: execute(scope, node.body) and execute(scope, node.orelse))
    before: Environment = {key: UNKNOWN if ran[1].get(key) != value else value for key, value in scope.env.items()}
    modes = {model: mode if ran[2].get(model) == mode else None for model, mode in ran[2].items()}
    ways = [ran]
    for handler in node.handlers:
        scope.env.update(before)
        scope.training.update(modes)
        ways.append(scope.branch(partial(execute, scope, handler.body)))
    reached = scope.join(ways)
    return execute(scope, node.finalbody) and reached
