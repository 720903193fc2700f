"""Containers indexed by tensor data as tensors indexed by tensors.

`[a, b][i.item()]` becomes `torch.stack([a, b]).index_select(0, i.reshape(1)).squeeze(0)`, modules are all called
first, and `y[i] = v` becomes `y.index_fill_` or `y.index_copy_`.

Never safe: negative indices are refused, all modules run, and the items need one shape.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import Const, Dict, Python, Tensor, TorchModule, Tuple, Value
from exportlint.analysis.domain.values import Sequence as Many
from exportlint.analysis.facts import Conversion
from exportlint.findings import Fix
from exportlint.fixes.control_flow.bodies import is_tensor
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.tree import indices, takes_all
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.observed_values import is_named, item_of
from exportlint.fixes.proofs.purity import is_pure

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression


def selection_fix(code: Code, fact: Conversion) -> Fix:
    """Choose with `index_select` instead of a Python index, or write with `index_fill_`.

    Raises:
        DeclinedError: what there is to choose from cannot be stacked.
    """
    index = code.node(ast.expr)
    subscript = code.tree.parents[index]
    if isinstance(subscript, ast.Slice):
        return _of_slice(code, code.tree.parents[subscript])
    if isinstance(subscript, ast.Tuple):
        subscript = code.tree.parents[subscript]
    if not isinstance(subscript, ast.Subscript):
        raise DeclinedError("it is no index")
    if fact.target == "index of an assignment":
        return _write(code, subscript)
    if not isinstance(subscript.ctx, ast.Load) or subscript.slice is not index:
        raise DeclinedError("it is no item of a container that is read")
    place = _index(code, index)
    call = code.tree.parents[subscript]
    if code.surely(_is_modules, subscript.value):
        if not isinstance(call, ast.Call) or call.func is not subscript:
            raise DeclinedError("the module that is chosen is not called there")
        return _of_modules(code, call, subscript, place)
    return _of_values(code, subscript, place)


def _of_slice(code: Code, subscript: ast.AST) -> Fix:
    """`torch.stack([a, b, c][:n])`: the stacked tensor takes a slice that depends on data."""
    call = code.tree.parents[subscript]
    if not isinstance(subscript, ast.Subscript) or not isinstance(call, ast.Call) or call.args != [subscript]:
        raise DeclinedError("the slice is not stacked")
    if call.keywords or not code.surely(lambda v: is_named(v, "torch.stack"), call.func):
        raise DeclinedError("the slice is not stacked")
    stacked = code.concrete(subscript, {subscript.value: code.make("{f}({x})", f=call.func, x=subscript.value)})
    return code.fix("Stack, and slice the tensor", code.replace(call, stacked), safe=False)


def _index(code: Code, node: ast.expr) -> ast.expr:
    """The tensor of one element from which an index is read."""
    read = item_of(node)
    if read is not None:
        node = read
    elif isinstance(node, ast.Call) and len(node.args) == 1 and code.surely(_is_to_integer, node.func):
        return _index(code, node.args[0])
    if not code.surely(is_tensor, node):
        raise DeclinedError("the index does not stand next to the tensor from which it is read")
    return node


def _is_to_integer(value: Value) -> bool:
    return is_named(value, "builtins.int", "operator.index")


def _is_modules(value: Value) -> bool:
    """Whether a value is a list of modules."""
    return all(isinstance(option, TorchModule) and not option.keys for option in options(value))


def _of_modules(code: Code, call: ast.Call, subscript: ast.Subscript, place: ast.expr) -> Fix:
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not all(is_pure(code, argument) for argument in arguments):
        raise DeclinedError("an argument would be evaluated more than once")
    name = code.fresh("layer", call)
    called = code.concrete(call, {subscript: code.make("{name}", name=name)})
    results = code.make("[{called} for {name} in {modules}]", called=called, name=name, modules=subscript.value)
    return _selected(code, call, results, place, "Call all modules and choose a result, which must not be negative")


def _of_values(code: Code, subscript: ast.Subscript, place: ast.expr) -> Fix:
    items, value = subscript.value, code.value(subscript.value)
    made, held = code.concrete(items), _items(value)
    if isinstance(value, Dict):
        if [key for key, _ in value.entries] != list(range(len(value.entries))) or value.rest is not None:
            raise DeclinedError("the keys are not 0, 1, 2 …")
        held = [entry for _, entry in value.entries]
        if isinstance(items, ast.Dict):
            made = code.make("[{*values}]", values=items.values)
        else:
            made = code.make("list({items}.values())", items=items)
    message = "Choose with `index_select`, which takes no negative index"
    if held and all(map(is_tensor, held)):
        return _selected(code, subscript, made, place, message)
    if held and all(map(_is_number, held)):
        table = code.make("{tensor}({x}, device={place}.device)", tensor=code.name("torch.tensor"), x=made, place=place)
        return code.fix(message, code.replace(subscript, _chosen(code, table, place)), safe=False)
    raise DeclinedError("what there is to choose from is neither tensors nor numbers")


def _items(value: Value) -> Sequence[Value]:
    if isinstance(value, Tuple):
        return value.items
    return [value.item] if isinstance(value, Many) else []


def _is_number(value: Value) -> bool:
    if isinstance(value, Const):
        return type(value.value) in (int, float)
    return isinstance(value, Python) and value.type in {"int", "float"}


def _selected(code: Code, replaced: ast.expr, items: Expression, place: ast.expr, message: str) -> Fix:
    stacked = code.make("{stack}({items})", stack=code.name("torch.stack"), items=items)
    return code.fix(message, code.replace(replaced, _chosen(code, stacked, place)), safe=False)


def _chosen(code: Code, rows: Expression, place: ast.expr) -> Expression:
    """The row at a place."""
    return code.make("{rows}.index_select(0, {place}.reshape(1)).squeeze(0)", rows=rows, place=place)


def _write(code: Code, subscript: ast.Subscript) -> Fix:
    """`y[i] = v`, `y[:, i] = v`."""
    statement = code.tree.parents[subscript]
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        raise DeclinedError("it is more than an assignment to one item")
    *before, index = indices(subscript)
    if not all(map(takes_all, before)):
        raise DeclinedError("it is more than one index")
    value = code.value(statement.value)
    is_scalar = _is_number(value) or (isinstance(value, Tensor) and value.zero_dim)
    if is_scalar:
        template = "{receiver}.index_fill_({dim}, {index}.reshape(1), {value})"
    elif isinstance(value, Tensor) and not before:
        template = "{receiver}.index_copy_({dim}, {index}.reshape(1), {value}.unsqueeze(0))"
    else:
        raise DeclinedError("it is not known what shape the value has")
    place = _index(code, index)
    line = code.statement(template, receiver=subscript.value, dim=len(before), index=place, value=statement.value)
    message = (
        "Write with `index_fill_`, which takes no negative index"
        if is_scalar
        else ("Write with `index_copy_`, which takes no negative index, and does not broadcast")
    )
    return code.fix(message, code.statements.replace([statement], [line]), safe=False)
