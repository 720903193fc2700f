"""Containers indexed by tensor data as tensors indexed by tensors.

`[a, b][i.item()]` becomes `torch.stack([a, b]).index_select(0, i.reshape(1)).squeeze(0)`, of a number `k` that was read
elsewhere `torch.stack([a, b])[k]`, modules are all called first, and `y[i] = v` becomes `y.index_fill_` or
`y.index_copy_`. Dictionaries become two tensors, keys and values: `table[k]` is the value where the keys equal `k`.

Never safe: negative indices are refused, all modules run, the items need one shape, and a key that is not there raises
`RuntimeError`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import (
    ARRAY,
    COMPUTED_ARRAY,
    BoundMethod,
    Const,
    Dict,
    External,
    Function,
    Python,
    Tensor,
    TorchModule,
    Tuple,
    Value,
)
from exportlint.analysis.domain.values import Sequence as Many
from exportlint.analysis.facts import Conversion
from exportlint.findings import Fix
from exportlint.fixes.control_flow.bodies import is_tensor
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import SYMBOLS, binary, call, keyword, method
from exportlint.fixes.edit.tree import indices, takes_all
from exportlint.fixes.errors import DeclinedError, InapplicableError
from exportlint.fixes.numbers.operands import operand
from exportlint.fixes.proofs.called_variables import calls_of
from exportlint.fixes.proofs.liveness import assigned
from exportlint.fixes.proofs.observed_values import builtin, is_named, is_python, item_of, operation, scalar, tensor
from exportlint.fixes.proofs.purity import is_pure, may_repeat, require_first

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression


def selection_fix(code: Code, fact: Conversion) -> Fix:
    """Choose with `index_select` instead of a Python index, or write with `index_fill_`.

    Raises:
        DeclinedError: what there is to choose from cannot be stacked.
    """
    index = code.node(ast.expr)
    subscript = code.tree.parents[index]
    if fact.target == "slice bound" and isinstance(fact.operand, Tensor):
        return _of_bounds(code, index)
    if isinstance(subscript, ast.Slice):
        return _of_slice(code, code.tree.parents[subscript])
    if isinstance(subscript, ast.Tuple):
        subscript = code.tree.parents[subscript]
    if isinstance(subscript, ast.Call) and fact.target == "dict key":
        return _of_get(code, subscript, index)
    if not isinstance(subscript, ast.Subscript):
        raise InapplicableError("it is not an index")
    if fact.target == "index of an assignment":
        return _write(code, subscript)
    if not isinstance(subscript.ctx, ast.Load) or subscript.slice is not index:
        raise DeclinedError("it is not an item read from a container")
    call = code.tree.parents[subscript]
    if isinstance(call, ast.ListComp) and not isinstance(code.value(subscript.value), Dict):
        made, ids = _all_of(code, call, index)
        return code.fix(
            "Index a tensor of all items", code.replace(made, _rows(code, made, subscript, ids)), safe=False
        )
    place = _index(code, index)
    if code.surely(_is_called, subscript.value):
        if isinstance(call, ast.Assign) and call.value is subscript and isinstance(call.targets[0], ast.Name):
            return _of_assigned(code, call, subscript, place)
        if not isinstance(call, ast.Call) or call.func is not subscript:
            raise DeclinedError("the chosen module is not called there")
        return _of_modules(code, call, subscript, place)
    looked_up = _looked_up(code, subscript)
    if looked_up is not None:
        return _of_keys(code, subscript, looked_up, place)
    return _of_values(code, subscript, place)


def _looked_up(code: Code, subscript: ast.Subscript) -> ast.Subscript | None:
    """What an item, or the variable that holds it, is the key of, if that is all it is used for."""
    use: ast.AST = subscript
    statement = code.tree.parents[subscript]
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            scope = code.tree.function(statement) or code.tree.root
            reads = [n for n in code.tree.contents(scope).named(name) if n not in statement.targets]
            names = {n.id for n in ast.walk(subscript) if isinstance(n, ast.Name)}
            if len(reads) != 1 or names & assigned(code.tree.following(statement)):
                return None
            use = reads[0]
    around = code.tree.parents[use]
    is_key = isinstance(around, ast.Subscript) and around.slice is use and isinstance(around.ctx, ast.Load)
    if not is_key or any(isinstance(each, (ast.For, ast.While)) for each in code.tree.ancestors(use)):
        return None
    return around  # type: ignore[return-value]


def _of_keys(code: Code, subscript: ast.Subscript, looked_up: ast.Subscript, place: _Index) -> Fix:
    """`table[names[i]]`, or a call of it: what all of the keys give, of which one is chosen."""
    keys, statement = subscript.value, code.tree.parents[subscript]
    if not may_repeat(code, keys) or not is_pure(code, subscript.slice):
        raise DeclinedError("the keys would be evaluated at another time")
    key = code.fresh("key", looked_up)
    listed, named = code.concrete(keys), code.value(keys)
    if isinstance(named, Dict):
        if named.rest is not None or [number for number, _ in named.entries] != list(range(len(named.entries))):
            raise DeclinedError("the keys do not count from 0")
        listed = code.make("{keys}.values()", keys=keys)
    one, around = code.make("{table}[{key}]", table=looked_up.value, key=key), code.tree.parents[looked_up]
    table = code.value(looked_up.value)
    held = [value for _, value in table.entries] if isinstance(table, Dict) and table.rest is None else []
    whole: ast.expr = looked_up
    if isinstance(around, ast.Call) and around.func is looked_up:
        if not all(is_pure(code, argument) for argument in (*around.args, *(k.value for k in around.keywords))):
            raise DeclinedError("an argument would be evaluated more than once")
        whole, one = around, code.concrete(around, {looked_up: one})
    elif not held or not all(map(is_tensor, held)):
        raise DeclinedError("the choices are neither modules nor tensors")
    given = code.make("[{one} for {key} in {keys}]", one=one, key=key, keys=listed)
    left_out = [code.statements.left_out(statement)] if isinstance(statement, ast.Assign) else []
    stacked = code.make("{stack}({given})", stack=code.name("torch.stack", whole), given=given)
    message = "Look up all keys and choose a result; the index must not be negative"
    return code.fix(message, *left_out, code.replace(whole, place.row(code, stacked)), safe=False)


def _of_bounds(code: Code, index: ast.expr) -> Fix:
    """`y[i, n:] = v`: the bounds of slices as numbers."""
    around = code.tree.parents[index]
    parts = [around] if isinstance(around, ast.Slice) else index.elts if isinstance(index, ast.Tuple) else [index]
    bounds = [bound for part in parts if isinstance(part, ast.Slice) for bound in (part.lower, part.upper) if bound]
    if isinstance(around, ast.Slice):
        bounds = [index]
    found = [bound for bound in bounds if not is_python(code, bound) and scalar(code, bound) is None]
    if not found:
        raise DeclinedError("it is not known which bound is a tensor")
    edits = [code.replace(bound, method(code.concrete(bound), "item")) for bound in found]
    return code.fix("Read the bound with `.item()`", *edits, safe=False)


def _of_slice(code: Code, subscript: ast.AST) -> Fix:
    """`torch.stack([a, b, c][:n])`: the stacked tensor takes a slice that depends on data."""
    call = code.tree.parents[subscript]
    if not isinstance(subscript, ast.Subscript) or not isinstance(call, ast.Call) or call.args != [subscript]:
        raise DeclinedError("the slice is not stacked")
    if call.keywords or not code.surely(lambda v: is_named(v, "torch.stack"), call.func):
        raise DeclinedError("the slice is not stacked")
    stacked = code.concrete(subscript, {subscript.value: code.make("{f}({x})", f=call.func, x=subscript.value)})
    return code.fix("Stack, and slice the tensor", code.replace(call, stacked), safe=False)


@dataclass(frozen=True, slots=True)
class _Index:
    """An index as code: a tensor of one element, which may surely be one row, or a number that was read from one."""

    source: Expression
    is_number: bool = False
    is_row: bool = False

    def row(self, code: Code, rows: Expression) -> Expression:
        """The row of a tensor that it says."""
        if self.is_number:
            return code.make("{rows}[{index}]", rows=rows, index=self.source)
        template = "{rows}.index_select(0, {index}).squeeze(0)"
        index = self.source if self.is_row else code.make("{index}.reshape(1)", index=self.source)
        return code.make(template, rows=rows, index=index)


def _index(code: Code, node: ast.expr, *, converts: bool = False) -> _Index:
    """The tensor of one element from which an index is read, or the number if that was read elsewhere.

    `converts`: Python makes an integer of it, which may be of another kind.
    """
    read = item_of(node)
    if read is not None:
        node = read
    elif isinstance(node, ast.Call) and len(node.args) == 1 and code.surely(_is_to_integer, node.func):
        return _index(code, node.args[0], converts=True)
    if isinstance(node, ast.Name):
        code.claim(node.id, node)
    if code.surely(is_tensor, node):
        held = tensor(code, node)
        kind = held.kind if held is not None else None
        given = code.concrete(node)
        if kind == "bool" or (converts and kind != "int"):
            given = method(given, "to", code.name("torch.int64", node))
        return _Index(given)
    if scalar(code, node) is None:
        raise DeclinedError("the index is not written next to the tensor it is read from")
    return _Index(code.concrete(node), is_number=True)


def _is_to_integer(value: Value) -> bool:
    return is_named(value, "builtins.int", "operator.index")


def _is_modules(value: Value) -> bool:
    """Whether a value is a list of modules."""
    return all(isinstance(option, TorchModule) and not option.keys for option in options(value))


def _is_called(value: Value) -> bool:
    """Whether a value is a list of modules, or of functions."""
    return _is_modules(value) or (
        isinstance(value, Tuple)
        and bool(value.items)
        and all(
            isinstance(option, (TorchModule, Function, External, BoundMethod))
            for item in value.items
            for option in options(item)
        )
    )


def chosen_by(code: Code, node: ast.expr, items: ast.expr, index: Expression) -> tuple[ast.expr, Expression]:
    """What gives the item of a container that a tensor of shape `(1,)` says, and what it replaces.

    `node` gives the item now: itself, or, where the items are modules, its call is replaced.

    Raises:
        DeclinedError: what there is to choose from cannot be stacked.
    """
    place, around = _Index(index, is_row=True), code.tree.parents[node]
    stack = code.name("torch.stack")
    if code.surely(_is_called, items):
        if not isinstance(around, ast.Call) or around.func is not node:
            raise DeclinedError("the chosen module is not called there")
        results = _results(code, around, node, items)
        return around, place.row(code, code.make("{stack}({results})", stack=stack, results=results))
    held = _items(code.value(items))
    if held and all(map(is_tensor, held)):
        return node, place.row(code, code.make("{stack}({items})", stack=stack, items=items))
    if held and all(map(_is_number, held)):
        table = code.make("{tensor}({items})", tensor=code.name("torch.tensor"), items=items)
        return node, place.row(code, table)
    raise DeclinedError("the choices are neither modules nor tensors nor numbers")


def _of_modules(code: Code, call: ast.Call, subscript: ast.Subscript, place: _Index) -> Fix:
    results = _results(code, call, subscript, subscript.value)
    return _selected(code, call, results, place, "Call all modules and choose a result; the index must not be negative")


def _of_assigned(code: Code, made: ast.Assign, subscript: ast.Subscript, place: _Index) -> Fix:
    """`layer = self.layers[i]`: each call of the variable, with which nothing else is done."""
    (target,) = made.targets
    assert isinstance(target, ast.Name)
    if not is_pure(code, subscript.slice):
        raise DeclinedError("the index would be evaluated more than once")
    names = {n.id for n in ast.walk(subscript) if isinstance(n, ast.Name)}
    block, first = code.tree.block(made), code.tree.index(made)
    edits = [code.statements.left_out(made)]
    for index, use in calls_of(code, made, target.id):
        if names & assigned(block[first + 1 : index]):
            raise DeclinedError("the index means something else where the module is called")
        results = _results(code.after(block[first:index]), use, use.func, subscript.value)
        stacked = code.make("{stack}({results})", stack=code.name("torch.stack"), results=results)
        edits.append(code.replace(use, place.row(code, stacked)))
    return code.fix("Call all modules and choose a result; the index must not be negative", *edits, safe=False)


def _results(code: Code, call: ast.Call, chosen: ast.expr, modules: ast.expr) -> Expression:
    """What each of some modules gives for the arguments of a call of one of them. Raises DeclinedError."""
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not all(is_pure(code, argument) for argument in arguments):
        raise DeclinedError("an argument would be evaluated more than once")
    name = code.fresh("layer", call)
    called = code.concrete(call, {chosen: code.make("{name}", name=name)})
    return code.make("[{called} for {name} in {modules}]", called=called, name=name, modules=modules)


def _of_values(code: Code, subscript: ast.Subscript, place: _Index) -> Fix:
    items, value = subscript.value, code.value(subscript.value)
    made, held = code.concrete(items), _items(value)
    if value in {ARRAY, COMPUTED_ARRAY}:
        rows = code.make("{from_numpy}({items})", from_numpy=code.name("torch.from_numpy"), items=items)
        return code.fix("Index a tensor of the array", code.replace(subscript, place.row(code, rows)), safe=False)
    if isinstance(value, Dict):
        keys = [key for key, _ in value.entries]
        if value.rest is not None or not value.entries:
            raise DeclinedError("not all keys are known")
        if keys != list(range(len(keys))):
            return _of_dict(code, subscript, items, subscript.slice)
        held = [entry for _, entry in value.entries]
        if isinstance(items, ast.Dict):
            made = code.make("[{*values}]", values=items.values)
        else:
            made = code.make("list({items}.values())", items=items)
    message = "Choose with `index_select`, which does not accept a negative index"
    if place.is_number:
        message = "Choose from one tensor, which needs items of equal shapes"
    if held and all(map(is_tensor, held)):
        return _selected(code, subscript, made, place, message)
    if held and all(map(_is_number, held)):
        where = [] if place.is_number else [keyword("device", code.make("{place}.device", place=place.source))]
        table = call(code.name("torch.tensor"), made, *where)
        return code.fix(message, code.replace(subscript, place.row(code, table)), safe=False)
    raise DeclinedError("the choices are neither tensors nor numbers")


def _of_get(code: Code, node: ast.Call, index: ast.expr) -> Fix:
    """`table.get(k, default)`."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr != "get" or node.args[0] is not index:
        raise DeclinedError("it is not an item read from a container")
    if len(node.args) != 2 or node.keywords:
        raise DeclinedError("without a default, a missing key gives None")
    return _of_dict(code, node, node.func.value, index, node.args[1])


def _of_dict(code: Code, replaced: ast.expr, table: ast.expr, key: ast.expr, default: ast.expr | None = None) -> Fix:
    """The value of a key, by a comparison with all keys."""
    value = code.value(table)
    if not isinstance(value, Dict) or value.rest is not None or not value.entries:
        raise DeclinedError("not all keys are known")
    if not all(type(each) in (int, float) for each, _ in value.entries):
        raise DeclinedError("the keys are not numbers")
    statement = code.tree.statement(replaced)
    around = code.tree.parents[replaced]
    wanted, many, whole = _asked(code, key), False, replaced
    if isinstance(around, ast.ListComp):
        whole, wanted = _all_of(code, around, key)
        many = True
    for part in (whole,) if many else (key, table):
        require_first(code, statement, part)
    made = code.name("torch.tensor", statement)
    keys = code.make("{made}(list({table}))", made=made, table=table)
    held = [entry for _, entry in value.entries]
    hits = code.fresh("hits", statement)
    compared = code.make("{keys} == {wanted}", keys=keys, wanted=wanted)
    if many:
        compared = code.make("{wanted}.unsqueeze(-1) == {keys}", keys=keys, wanted=wanted)
    lines = [code.statement("{hits} = {compared}", hits=hits, compared=compared)]
    found = code.make("{hits}.any(-1)" if many else "{hits}.any()", hits=hits)
    where = code.name("torch.where", statement)
    if all(map(_is_number, held)):
        values = code.make("{made}(list({table}.values()))", made=made, table=table)
        total = "{where}({hits}, {values}, 0).sum(-1)" if many else "{where}({hits}, {values}, 0).sum()"
        result = code.make(total, where=where, hits=hits, values=values)
    elif all(map(is_tensor, held)) and not many:
        stack = code.name("torch.stack", statement)
        result = code.make(
            "{stack}(list({table}.values()))[{hits}.int().argmax()]", stack=stack, table=table, hits=hits
        )
    else:
        raise DeclinedError("the choices are neither tensors nor numbers")
    if default is not None:
        result = code.make("{where}({found}, {row}, {default})", where=where, found=found, row=result, default=default)
    else:
        check, message = code.name("torch._assert_async", statement), code.string("there is no such key")
        everywhere = code.make("{found}.all()", found=found) if many else found
        lines.append(code.statement("{check}({found}, {message})", check=check, found=everywhere, message=message))
    edits = [code.statements.insert_before(statement, lines), code.replace(whole, result)]
    return code.fix("Compare with all keys, and choose from a tensor of the values", *edits, safe=False)


def _asked(code: Code, key: ast.expr) -> Expression:
    """The key as something that is compared with a tensor."""
    found = operand(code, key)
    if found is None:
        raise DeclinedError("it is not known which tensor the key is read from")
    return found.source


def _all_of(code: Code, items: ast.ListComp, key: ast.expr) -> tuple[ast.expr, Expression]:
    """`torch.tensor([table[i] for i in ids.tolist()])`, and the tensor of all keys."""
    made, loop = code.tree.parents[items], items.generators[0]
    is_made = isinstance(made, ast.Call) and made.args == [items] and operation(code, made) in {"tensor", "as_tensor"}
    if not is_made or made.keywords or len(items.generators) > 1 or loop.ifs:  # type: ignore[attr-defined]
        raise DeclinedError("the values are not collected in one tensor")
    key = item_of(key) or (key.args[0] if isinstance(key, ast.Call) and builtin(code, key) == "int" else key)
    if not isinstance(key, ast.Name) or not isinstance(loop.target, ast.Name) or key.id != loop.target.id:
        raise DeclinedError("the key is not an element of one tensor")
    over = loop.iter
    if isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute) and over.func.attr == "tolist":
        over = over.func.value
    if tensor(code, over) is None:
        raise DeclinedError("the key is not an element of one tensor")
    assert isinstance(made, ast.expr)
    return made, code.concrete(over)


def _rows(code: Code, made: ast.expr, subscript: ast.Subscript, ids: Expression) -> Expression:
    """`torch.tensor(table)[ids]` in place of `torch.tensor([table[i] for i in ids.tolist()])`."""
    assert isinstance(made, ast.Call)
    return code.make("{tensor}({table})[{ids}]", tensor=made.func, table=subscript.value, ids=ids)


def _items(value: Value) -> Sequence[Value]:
    if isinstance(value, Tuple):
        return value.items
    return [value.item] if isinstance(value, Many) else []


def _is_number(value: Value) -> bool:
    if isinstance(value, Const):
        return type(value.value) in (int, float)
    return isinstance(value, Python) and value.type in {"int", "float"}


def _selected(code: Code, replaced: ast.expr, items: Expression, place: _Index, message: str) -> Fix:
    stacked = code.make("{stack}({items})", stack=code.name("torch.stack"), items=items)
    return code.fix(message, code.replace(replaced, place.row(code, stacked)), safe=False)


def _add(code: Code, statement: ast.AugAssign, subscript: ast.Subscript) -> Fix:
    """`y[i] += v`, in the first dimension."""
    symbol = SYMBOLS.get(type(statement.op))
    if isinstance(subscript.slice, ast.Tuple):
        return _of_several(code, subscript, statement.value)
    if symbol is None:
        raise DeclinedError("the operator has no form that writes to rows")
    if not is_pure(code, subscript.value):
        raise DeclinedError("the target would be evaluated twice")
    index = code.make("{place}.reshape(1)", place=_place(code, subscript.slice))
    row = code.make("{receiver}.index_select(0, {index})", receiver=subscript.value, index=index)
    new = binary(symbol, row, code.concrete(statement.value))
    line = code.statement("{y}.index_copy_(0, {index}, {new})", y=subscript.value, index=index, new=new)
    message = "Write with `index_copy_`, which does not accept a negative index"
    return code.fix(message, code.statements.replace([statement], [line]), safe=False)


def _of_several(code: Code, subscript: ast.Subscript, value: ast.expr) -> Fix:
    """`y[i, j] = v`: each number that is read from a tensor as a tensor of one element, to which `v` is broadcast."""
    items = indices(subscript)
    read = [item for item in items if scalar(code, item) is not None or _is_element(code.value(item))]
    last = max(map(items.index, read), default=-1)
    held = code.value(value)
    is_one = _is_number(held) or _is_element(held)
    if not read or (any(map(_takes_many, items[:last])) and not is_one):
        raise DeclinedError("the rest of the index is not one item for each dimension")
    edits = [code.replace(item, code.make("{place}.reshape(1)", place=_place(code, item))) for item in read]
    return code.fix("Index with tensors of one element, which `index_put_` takes", *edits, safe=False)


def _is_element(value: Value) -> bool:
    return isinstance(value, Tensor) and value.zero_dim


def _takes_many(item: ast.expr) -> bool:
    """Whether an item of an index takes a slice, or all dimensions that are left."""
    return isinstance(item, ast.Slice) or (isinstance(item, ast.Constant) and item.value in (..., None))


def _place(code: Code, node: ast.expr) -> Expression:
    """The tensor of one element that an index is, or is made of."""
    index = _index(code, node)
    return call(code.name("torch.tensor"), index.source) if index.is_number else index.source


def _write(code: Code, subscript: ast.Subscript) -> Fix:
    """`y[i] = v`, `y[:, i] = v`."""
    statement = code.tree.parents[subscript]
    if isinstance(statement, ast.AugAssign) and statement.target is subscript:
        return _add(code, statement, subscript)
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        raise DeclinedError("it is more than an assignment to one item")
    *before, index = indices(subscript)
    is_last = len(before) == 1 and isinstance(before[0], ast.Constant) and before[0].value is ...
    if not is_last and not all(map(takes_all, before)):
        return _of_several(code, subscript, statement.value)
    value = code.value(statement.value)
    is_scalar = _is_number(value) or _is_element(value)
    if is_scalar:
        template = "{receiver}.index_fill_({dim}, {index}.reshape(1), {value})"
    elif isinstance(value, Tensor) and not before:
        template = "{receiver}.index_copy_({dim}, {index}.reshape(1), {value}.unsqueeze(0))"
    else:
        raise DeclinedError("the shape of the value is not known")
    place = _place(code, index)
    dim = code.make("-1") if is_last else len(before)
    line = code.statement(template, receiver=subscript.value, dim=dim, index=place, value=statement.value)
    message = (
        "Write with `index_fill_`, which does not accept a negative index"
        if is_scalar
        else ("Write with `index_copy_`, which does not broadcast or accept a negative index")
    )
    return code.fix(message, code.statements.replace([statement], [line]), safe=False)
