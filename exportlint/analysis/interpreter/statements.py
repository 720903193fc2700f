"""Execution of simple statements, and assignment to every kind of target."""

from __future__ import annotations

import ast
from dataclasses import replace

from exportlint.analysis.facts import ContainerMutation, DataWrite, Mutation, Raise
from exportlint.analysis.interpreter.demands import consume, data_of, demand_truth, unpack
from exportlint.analysis.interpreter.frame import Environment, Frame, executes
from exportlint.analysis.interpreter.narrowing import narrowed
from exportlint.analysis.interpreter.operators import operate
from exportlint.analysis.interpreter.scopes import decorated, look_up, named_value
from exportlint.analysis.interpreter.subscripts import store
from exportlint.analysis.joins import join, options, trail_of, with_trail
from exportlint.analysis.outline import Class, imported
from exportlint.analysis.values import (
    NONE,
    ClassValue,
    Const,
    Dict,
    Function,
    Object,
    Scalar,
    Sequence,
    Tensor,
    Tuple,
    Value,
)


def assign(frame: Frame, target: ast.expr, value: Value, statement: ast.AST) -> None:
    """Bind what `target` names to a value."""
    if isinstance(target, ast.Name):
        _assign_name(frame, target, value, statement)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _assign_items(frame, target, value, statement)
    elif isinstance(target, ast.Starred):
        assign(frame, target.value, Sequence(value), statement)
    elif isinstance(target, ast.Attribute):
        _assign_attribute(frame, target, value)
    elif isinstance(target, ast.Subscript):
        container = frame.evaluate(target.value)
        store(frame, target, container, value)
        _note_container_mutation(frame, target.value, container, "[…] =", target)
        if isinstance(container, (Dict, Tuple, Sequence)) and isinstance(target.value, ast.Name):
            frame.env[target.value.id] = stored(container, frame.evaluate(target.slice), value)


def _assign_name(frame: Frame, target: ast.Name, value: Value, statement: ast.AST) -> None:
    if any(isinstance(o, (Tensor, Scalar)) for o in options(value)):
        source = getattr(statement, "value", None) or getattr(statement, "iter", None) or statement
        message = f"`{target.id}` is an element of `{{}}`" if hasattr(statement, "iter") else f"`{target.id}` is `{{}}`"
        value = with_trail(value, frame.trail(source, message, trail_of(value)))
    if target.id in frame.nonlocals:
        cell = frame.parent
        while cell is not None:
            if target.id in cell.variables:
                cell.variables[target.id] = value
                return
            cell = cell.parent
    forget(frame.env, target.id)
    frame.env[target.id] = value


def forget(env: Environment, name: str) -> None:
    """Drop what was known of the attributes of a variable that is bound anew."""
    prefix = name + "."
    for key in [k for k in env if k.startswith(prefix)]:
        del env[key]


def _assign_items(frame: Frame, target: ast.Tuple | ast.List, value: Value, statement: ast.AST) -> None:
    count = len(target.elts)
    star = next((i for i, e in enumerate(target.elts) if isinstance(e, ast.Starred)), None)
    if star is not None and isinstance(value, Tuple) and len(value.items) >= count - 1:
        after = len(value.items) - (count - 1 - star)
        items = value.items[:star], Tuple(value.items[star:after], mutable=True), value.items[after:]
        for element, item in zip(target.elts, (*items[0], items[1], *items[2]), strict=True):
            assign(frame, element.value if isinstance(element, ast.Starred) else element, item, statement)
        return
    for element, item in zip(target.elts, unpack(frame, value, count, statement), strict=True):
        assign(frame, element, item, statement)


def _assign_attribute(frame: Frame, target: ast.Attribute, value: Value) -> None:
    receiver = frame.evaluate(target.value)
    if isinstance(receiver, Object):
        attributes = receiver.instance.attributes
        # a constructor assigns for good; during the traced call it is one more thing the attribute can be
        known = attributes.get(target.attr)
        attributes[target.attr] = value if frame.engine.silent or known is None else join((known, value))
    if isinstance(receiver, Tensor) and target.attr == "data":
        frame.emit(DataWrite, target, receiver, target=receiver, assigned=value)
    if isinstance(target.value, ast.Name):
        frame.env[f"{target.value.id}.{target.attr}"] = value


def stored(container: Value, key: Value, value: Value) -> Value:
    """A container after `container[key] = value`."""
    if isinstance(container, Dict):
        if isinstance(key, Const):
            return container.updated(key.value, value)
        return Dict(container.entries, value if container.rest is None else join((container.rest, value)))
    if isinstance(container, Tuple) and container.items:
        if (
            isinstance(key, Const)
            and isinstance(key.value, int)
            and -len(container.items) <= key.value < len(container.items)
        ):
            items = list(container.items)
            items[key.value] = value
            return Tuple(tuple(items), container.mutable)
        return Sequence(join((*container.items, value)))
    if isinstance(container, Sequence):
        return Sequence(join((container.item, value)), container.type)
    return container


def _note_container_mutation(frame: Frame, node: ast.expr, container: Value, api: str, site: ast.AST) -> None:
    if not isinstance(node, ast.Name) or not isinstance(container, (Dict, Sequence, Tuple)):
        return
    if frame.is_root and f"{node.id}.<input>" in frame.env:
        frame.emit(ContainerMutation, site, None, api=api, name=node.id)


@executes(ast.Expr)
def _expression(frame: Frame, node: ast.Expr) -> bool:
    frame.evaluate(node.value)
    return True


@executes(ast.Assign)
def _assignment(frame: Frame, node: ast.Assign) -> bool:
    value = frame.evaluate(node.value)
    for target in node.targets:
        assign(frame, target, value, node)
    return True


@executes(ast.AnnAssign)
def _annotated_assignment(frame: Frame, node: ast.AnnAssign) -> bool:
    if node.value is not None:
        assign(frame, node.target, frame.evaluate(node.value), node)
    return True


@executes(ast.AugAssign)
def _augmented_assignment(frame: Frame, node: ast.AugAssign) -> bool:
    old = frame.evaluate(node.target)
    operand = frame.evaluate(node.value)
    symbol = SYMBOLS.get(type(node.op), "") + "="
    if isinstance(old, Tensor) and not old.assumed:
        consume(frame, old, node.target, symbol, mutates=True)
        frame.emit(Mutation, node, old, api=symbol, target=old)
        data = data_of(operand)
        if isinstance(data, Tensor):
            consume(frame, data, node.value, symbol)
        value: Value = replace(old, data=None, known=False)
    else:
        value = operate(frame, node, node.op, old, operand)
    assign(frame, node.target, value, node)
    return True


SYMBOLS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip


@executes(ast.Return)
def _return_statement(frame: Frame, node: ast.Return) -> bool:
    value = frame.evaluate(node.value) if node.value is not None else NONE
    frame.returns.append(value)
    return False


@executes(ast.Raise)
def _raise_statement(frame: Frame, node: ast.Raise) -> bool:
    exception = ""
    if node.exc is not None:
        frame.evaluate(node.exc)
        named = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        exception = ast.unparse(named)
    frame.emit(Raise, node, None, exception=exception, conditional=frame.conditions > 0)
    return False


@executes(ast.Assert)
def _assert_statement(frame: Frame, node: ast.Assert) -> bool:
    is_true = _demand_assertion(frame, node)
    env = narrowed(frame, frame.env, node.test, True)
    if is_true is False or env is None:
        return False
    frame.env = env
    return True


def _demand_assertion(frame: Frame, node: ast.Assert) -> bool | None:
    test, negated = node.test, False
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, negated = test.operand, not negated
    message = "none" if node.msg is None else "constant" if isinstance(node.msg, ast.Constant) else "computed"
    reads = any(isinstance(child, ast.Attribute) and child.attr in {"item", "tolist"} for child in ast.walk(test))
    value = frame.evaluate(test)
    is_true = demand_truth(frame, value, node.test, "assert", message=message, negated=negated, reads=reads)
    return is_true if is_true is None else is_true is not negated


@executes(ast.FunctionDef)
def _function_definition(frame: Frame, node: ast.FunctionDef) -> bool:
    frame.cell.variables = frame.env
    symbol = f"{frame.symbol}.<locals>.{node.name}" if frame.symbol else node.name
    frame.env[node.name] = decorated(frame, Function(frame.module, node, symbol, frame.owner, None, frame.cell))
    return True


@executes(ast.ClassDef)
def _class_definition(frame: Frame, node: ast.ClassDef) -> bool:
    frame.env[node.name] = ClassValue(Class(frame.module, node, f"{frame.symbol}.<locals>.{node.name}"))
    return True


def import_statement(frame: Frame, node: ast.Import | ast.ImportFrom) -> bool:
    """An import inside a function."""
    for name, target in imported(node, frame.module.package):
        frame.env[name] = named_value(frame, target, frame.module)
    return True


executes(ast.Import)(import_statement)
executes(ast.ImportFrom)(import_statement)


@executes(ast.Delete)
def _delete(frame: Frame, node: ast.Delete) -> bool:
    for target in node.targets:
        if isinstance(target, ast.Name):
            frame.env.pop(target.id, None)
            forget(frame.env, target.id)
    return True


@executes(ast.Global)
def _global_statement(frame: Frame, node: ast.Global) -> bool:
    frame.globals.update(node.names)
    return True


@executes(ast.Nonlocal)
def _nonlocal_statement(frame: Frame, node: ast.Nonlocal) -> bool:
    frame.nonlocals.update(node.names)
    return True


__all__ = ["assign", "forget", "look_up", "stored"]
