"""Execution of simple statements, and assignment to every kind of target."""

from __future__ import annotations

import ast
from dataclasses import replace

from exportlint.analysis.domain.allocations import is_mutable
from exportlint.analysis.domain.lattice import tensors_in, trail_of, with_trail
from exportlint.analysis.domain.values import (
    NONE,
    BoundMethod,
    ClassValue,
    Const,
    Function,
    Tensor,
    TorchModule,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.assignment import assign, forget, is_followed, note_container_mutation
from exportlint.analysis.eval.baked_values import bake_in
from exportlint.analysis.eval.container_changes import changed_by, deleted
from exportlint.analysis.eval.declared_types import believed, declared_variable
from exportlint.analysis.eval.demands import data_of, demand_truth, is_constant, read_data
from exportlint.analysis.eval.divergence import note_raise
from exportlint.analysis.eval.frame import Frame, executes
from exportlint.analysis.eval.gradients import note_write, written
from exportlint.analysis.eval.heap_writes import change_contents, write_contents
from exportlint.analysis.eval.names import decorated, named_value
from exportlint.analysis.eval.narrowing import narrowed
from exportlint.analysis.eval.operators import operate
from exportlint.analysis.eval.sizes import note_fixed_rows
from exportlint.analysis.eval.state_access import note_tensor_write
from exportlint.analysis.eval.subscripts import slice_bounds
from exportlint.analysis.eval.tensor_results import is_computed_from_input
from exportlint.analysis.facts import Mutation
from exportlint.analysis.facts.tracing import ClassStatement
from exportlint.analysis.torch.registry import AUGMENTED, find
from exportlint.syntax.definitions import Class, imported
from exportlint.syntax.walk import walk


@executes(ast.Expr)
def _expression(frame: Frame, node: ast.Expr) -> bool:
    frame.evaluate(node.value)
    return True


@executes(ast.Assign)
def _assignment(frame: Frame, node: ast.Assign) -> bool:
    if any(map(_counts_items, node.targets)):
        frame.unpacked = node.value
    value = frame.evaluate(node.value)
    for target in node.targets:
        assign(frame, target, value, node)
    return True


def _counts_items(target: ast.expr) -> bool:
    return isinstance(target, (ast.Tuple, ast.List)) and not any(isinstance(e, ast.Starred) for e in target.elts)


@executes(ast.AnnAssign)
def _annotated_assignment(frame: Frame, node: ast.AnnAssign) -> bool:
    if isinstance(node.target, ast.Name):
        frame.annotations[node.target.id] = node.annotation
    if node.value is not None:
        value = frame.evaluate(node.value)
        if isinstance(node.target, ast.Attribute):
            name = node.target.attr
            value = believed(value, lambda: declared_variable(frame, node.annotation, name))
        assign(frame, node.target, value, node)
    return True


@executes(ast.AugAssign)
def _augmented_assignment(frame: Frame, node: ast.AugAssign) -> bool:
    old = frame.evaluate(node.target)
    operand = frame.evaluate(node.value)
    symbol = SYMBOLS.get(type(node.op), "") + "="
    if isinstance(old, Tensor) and not old.assumed:
        read_data(frame, old, node.target, symbol, mutates=True)
        bake_in(frame, operand, node, "operator")
        frame.emit(Mutation, node, old, api=symbol, target=old, operands=(operand,))
        runs_on_constants = find(AUGMENTED.get(type(node.op), symbol)).runs_on_constants
        if runs_on_constants:
            note_tensor_write(frame, node.target, node.target, old, (operand,))
        if not isinstance(node.op, ast.MatMult):
            note_fixed_rows(frame, (old, operand), node, symbol)
        data = data_of(operand)
        if isinstance(data, Tensor):
            read_data(frame, data, node.value, symbol)
        depends_on_input = is_computed_from_input(old) or any(is_computed_from_input(t) for t in tensors_in(operand))
        made = written(old, (operand,), frame)
        is_kept = runs_on_constants and is_constant(old) and (isinstance(operand, Const) or is_constant(operand))
        known = is_kept and old.known
        value: Value = replace(made, data=None, known=known, constant=is_kept, depends_on_input=depends_on_input)
        if not isinstance(node.target, ast.Subscript):
            note_write(frame, old, (operand,), None, node.target)
    else:
        value = frame.each(old, lambda option: _updated_in_place(frame, node, option, operand))
    assign(frame, node.target, value, node)
    return True


IN_PLACE: dict[type[ast.operator], str] = {
    ast.Add: "extend", ast.BitOr: "update", ast.BitXor: "symmetric_difference_update",
    ast.Sub: "difference_update", ast.BitAnd: "intersection_update",
}  # fmt: skip
"""Methods of lists, sets and dictionaries that do what an augmented assignment does."""


def _updated_in_place(frame: Frame, node: ast.AugAssign, old: Value, operand: Value) -> Value:
    """What an augmented assignment gives: it changes a list, set or dictionary, and makes none."""
    if isinstance(old, TorchModule) and isinstance(node.op, ast.Add):
        return frame.call(BoundMethod(old, "__iadd__"), Arguments((operand,)), node)
    if not is_mutable(old):
        return operate(frame, node, node.op, old, operand)
    method = IN_PLACE.get(type(node.op))
    if method is None or isinstance(operand, Tensor):  # the operator of the tensor decides
        return write_contents(frame, old, lambda option: operate(frame, node, node.op, option, operand))
    return write_contents(frame, old, lambda option: changed_by(frame, option, method, Arguments((operand,)), node))


SYMBOLS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip


@executes(ast.Return)
def _return_statement(frame: Frame, node: ast.Return) -> bool:
    value = NONE if node.value is None else result(frame, node.value)
    if frame.diverged_at is not None and frame.diverges(node):
        return False
    frame.returns.append((node, value))
    if frame.engine.watch is not None:
        frame.engine.watch.returns(node)
    frame.exits.append(frame.env)
    return False


def result(frame: Frame, node: ast.expr) -> Value:
    """What a function returns. The trail leads through the expression, of which nothing more has to be told."""
    value = frame.evaluate(node)
    if frame.is_root or isinstance(node, ast.Name) or not is_followed(value):
        return value
    return with_trail(value, frame.trail(node, "`{}` is returned", trail_of(value), changes=False))


@executes(ast.Raise)
def _raise_statement(frame: Frame, node: ast.Raise) -> bool:
    if node.exc is not None:
        _exception(frame, node.exc)
    note_raise(frame, node, node.exc)
    return False


def _exception(frame: Frame, node: ast.expr) -> None:
    """What is raised: nothing that it does, such as formatting a tensor, is found if the call ends here anyway."""
    ends = not frame.may_go_on
    frame.engine.silent += ends
    try:
        frame.evaluate(node)
    finally:
        frame.engine.silent -= ends


@executes(ast.Assert)
def _assert_statement(frame: Frame, node: ast.Assert) -> bool:
    if isinstance(node.test, ast.Constant) and not node.test.value:
        note_raise(frame, node, None)
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
    reads = any(isinstance(child, ast.Attribute) and child.attr in {"item", "tolist"} for child in walk(test))
    frame.raising += 1
    try:
        value = frame.evaluate(test)
    finally:
        frame.raising -= 1
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
    frame.emit(ClassStatement, node, None, name=node.name)
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
        elif isinstance(target, ast.Subscript):
            _delete_item(frame, target, node)
    return True


def _delete_item(frame: Frame, target: ast.Subscript, node: ast.Delete) -> None:
    """`del container[key]`."""
    container = frame.evaluate(target.value)
    note_container_mutation(frame, target.value, container, "del", node)
    index = frame.evaluate(target.slice)
    key = slice_bounds(frame, target.slice) if isinstance(target.slice, ast.Slice) else index
    change_contents(frame, target.value, container, lambda option: deleted(option, key), target, NONE, node)


@executes(ast.Nonlocal)
def _nonlocal_statement(frame: Frame, node: ast.Nonlocal) -> bool:
    frame.nonlocals.update(node.names)
    return True


@executes(ast.Global)
def _global_statement(frame: Frame, node: ast.Global) -> bool:
    frame.globals.update(node.names)
    return True
