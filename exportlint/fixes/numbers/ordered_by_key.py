"""The best of many values by a key that is tensor data, or all of them in its order, as rows of one tensor.

`max(xs, key=lambda x: x.norm())` becomes
`torch.stack(xs).index_select(0, torch.stack([x.norm() for x in xs]).argmax().reshape(1)).squeeze(0)`, and
`sorted(xs, key=f)` and `xs.sort(key=f)` `torch.stack(xs)[torch.stack([f(x) for x in xs]).argsort(stable=True)]`. Of
`range(n)`, the index is what `argmax` gives, and the order what `argsort` does; so is `xs.index(max(xs))`. `max(xs)` is
`torch.stack(xs).max()`.

Never safe: all values need one shape and dtype, NaN is ordered otherwise, and the result is a copy.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import Sequence, Tensor, Tuple, Unknown, Value
from exportlint.fixes.edit.blocks import analysed
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.drafts import Draft
from exportlint.fixes.edit.template import call, dotted, expression, keyword, method, of_generator, statement
from exportlint.fixes.errors import DeclinedError, InapplicableError
from exportlint.fixes.numbers.operands import operand
from exportlint.fixes.proofs.evaluated_once import runs_once
from exportlint.fixes.proofs.observed_values import builtin, operation, scalar, tensor
from exportlint.fixes.proofs.purity import is_pure, may_repeat

if TYPE_CHECKING:
    from exportlint.analysis.facts import Branch
    from exportlint.findings import Fix
    from exportlint.fixes.edit.template import Expression


def best_by_key(code: Code, made: ast.Call, largest: bool) -> Fix:
    """The item with the greatest or smallest key, the first of those that are equal. Raises DeclinedError."""
    (key,) = made.keywords
    items = _Items.of(code, made, made.args[0])
    best = method(_keys(code, made, items, key.value), "argmax" if largest else "argmin")
    if _is_counted(code, made.args[0]):
        return code.fix("Choose by `argmax`, which gives a tensor", code.replace(made, best), safe=False)
    rows = _rows(code, made, items)
    found = code.make("{rows}.index_select(0, {index}).squeeze(0)", rows=rows, index=method(best, "reshape", 1))
    edits = [*items.first, code.replace(made, found)]
    return code.fix("Choose from the stacked values, which need equal shapes", *edits, safe=False)


def best(code: Code, made: ast.Call, largest: bool) -> Fix:
    """The greatest or smallest item of a list of numbers that are tensor data. Raises DeclinedError."""
    items = _Items.of(code, made, made.args[0])
    value = method(_keys(code, made, items, None), "max" if largest else "min")
    return code.fix("Reduce the stacked values", *items.first, code.replace(made, value), safe=False)


def index_of_best(code: Code, _: Branch) -> Fix:
    """`xs.index(max(xs))` as a tensor. Raises DeclinedError."""
    found = code.node(ast.Call)
    match found:
        case ast.Call(
            func=ast.Attribute(value=items, attr="index"), args=[ast.Call(args=[given], keywords=[]) as made]
        ) if ast.dump(given) == ast.dump(items) and builtin(code, made) in {"max", "min"}:
            keys = _keys(code, made, _Items.repeated(code, items), None)
            index = method(keys, "argmax" if builtin(code, made) == "max" else "argmin")
            return code.fix("Choose by `argmax`, which gives a tensor", code.replace(found, index), safe=False)
    raise InapplicableError("it does not search for the greatest or smallest item")


def sorted_by_key(code: Code, made: ast.Call) -> Fix:
    """The items in the order of their keys; equal ones stay in theirs. Raises DeclinedError."""
    if isinstance(made.func, ast.Attribute):
        if not isinstance(made.func.value, ast.Name) or not isinstance(code.tree.parents[made], ast.Expr):
            raise DeclinedError("the sorted list is not a variable")
        items = _Items.repeated(code, made.func.value)
    else:
        items = _Items.of(code, made, made.args[0])
    given = {each.arg: each.value for each in made.keywords}
    key, descending = given.pop("key"), given.pop("reverse", None)
    if given:
        raise DeclinedError("its arguments are not known")
    order = [] if descending is None else [keyword("descending", code.concrete(descending))]
    sort = method(_keys(code, made, items, key), "argsort", *order, keyword("stable", True))
    if made.args and _is_counted(code, made.args[0]):
        order_of = sort if _only_chooses(code, made) else method(sort, "tolist")
        return code.fix("Sort by `argsort`, which gives a tensor", code.replace(made, order_of), safe=False)
    result = code.make("{rows}[{sort}]", rows=_rows(code, made, items), sort=sort)
    around = code.tree.parents[made]
    if isinstance(around, ast.Call) and operation(code, around) == "stack" and around.args == [made]:
        whole = made if around.keywords else around
        return code.fix("Sort the rows", *items.first, code.replace(whole, result), safe=False)
    result = call("list", result)
    message = "Sort the stacked values, which need equal shapes"
    if isinstance(made.func, ast.Attribute):
        lines = [statement("{items} = {result}", items=items.source, result=result)]
        return code.fix(message, code.statements.replace([code.tree.statement(made)], lines), safe=False)
    return code.fix(message, *items.first, code.replace(made, result), safe=False)


def _only_chooses(code: Code, made: ast.Call) -> bool:
    """Whether an order is used for nothing but to choose rows of tensors: as `order` in `x[order]`."""
    uses: list[ast.AST] = [made]
    match code.tree.parents[made]:
        case ast.Assign(targets=[ast.Name(id=name) as target], value=value) if value is made:
            scope = code.tree.function(made) or code.tree.root
            uses = [n for n in code.tree.contents(scope).named(name) if n is not target]
    around = [(use, code.tree.parents[use]) for use in uses]
    return all(
        isinstance(node, ast.Subscript) and node.slice is use and _may_hold_rows(code, node.value)
        for use, node in around
    )


def _may_hold_rows(code: Code, node: ast.expr) -> bool:
    return all(isinstance(option, (Tensor, Unknown)) for option in options(code.value(node)))


def _is_counted(code: Code, items: ast.expr) -> bool:
    """Whether the items are `range(n)`, so that each is its own index."""
    is_range = isinstance(items, ast.Call) and builtin(code, items) == "range"
    return is_range and len(items.args) == 1  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class _Items:
    """The values to choose from, as they stand in the code and as new code names them, and what has to run first."""

    value: Value
    node: Expression
    source: Expression
    first: tuple[Draft, ...] = ()

    @classmethod
    def of(cls, code: Code, made: ast.Call, node: ast.expr) -> _Items:
        """The items that a call takes, in a variable if they cannot be evaluated twice. Raises DeclinedError."""
        try:
            return cls.repeated(code, node)
        except DeclinedError:
            around = code.tree.statement(made)
            is_whole = isinstance(around, (ast.Assign, ast.Return)) and around.value is made
            if not (is_whole or is_pure(code, node)) or not runs_once(code.tree, made):
                raise
        name = dotted(code.fresh("items", made))
        listed = code.concrete(node)
        if isinstance(node, ast.GeneratorExp):
            listed = of_generator("list", listed)
        elif not isinstance(node, (ast.List, ast.ListComp, ast.Tuple)) and not isinstance(code.value(node), Tensor):
            listed = call("list", listed)
        lines = [statement("{name} = {items}", name=name, items=listed)]
        return cls(code.value(node), code.concrete(node), name, (code.statements.insert_before(around, lines),))

    @classmethod
    def repeated(cls, code: Code, node: ast.expr) -> _Items:
        """Items that can be evaluated twice. Raises DeclinedError."""
        value = code.value(node)
        is_iterator = isinstance(value, Sequence) and value.type not in {"list", "tuple"}
        if not _is_counted(code, node) and (is_iterator or not may_repeat(code, node)):
            raise DeclinedError("what it chooses from would be evaluated more than once")
        source = code.concrete(node)
        return cls(value, source, source)


def _rows(code: Code, made: ast.Call, items: _Items) -> Expression:
    if isinstance(items.value, Tensor):
        return items.source
    value = items.value
    held = value.items if isinstance(value, Tuple) else (value.item,) if isinstance(value, Sequence) else ()
    if not held or not all(isinstance(option, Tensor) for item in held for option in options(item)):
        raise DeclinedError("the values to choose from are not known to be tensors")
    if len({item.shape.rank for item in held if isinstance(item, Tensor)} - {None}) > 1:
        raise DeclinedError("the values to choose from differ in shape")
    return call(code.name("torch.stack", made), items.source)


def _keys(code: Code, made: ast.Call, items: _Items, key: ast.expr | None) -> Expression:
    """The keys of all items, or the items themselves, as one tensor. Raises DeclinedError."""
    parameter = _parameter(key)
    name = parameter or code.fresh("item", made)
    own = dotted(name) if key is None else call(code.concrete(key), name)
    (read,) = analysed([statement("{own}", own=own)])
    assert isinstance(read, ast.Expr)
    loop = statement("for {name} in {items}:\n    pass", name=name, items=items.node)
    each = code.after(analysed([loop]))
    if isinstance(key, ast.Lambda):
        found = operand(each, key.body)
        one, is_scalar = (None, False) if found is None else (found.source, found.scalar)
    elif key is None and scalar(each, read.value) is not None:
        one, is_scalar = call(code.name("torch.tensor", made), own), True
    else:
        held = tensor(each, read.value)
        one, is_scalar = (None, False) if held is None else (own, held.zero_dim)
    if one is None:
        raise DeclinedError("the keys are not known to be tensors" if key else "the items are not known to be tensors")
    one = one if is_scalar else method(one, "reshape", expression("()"))
    template = "{stack}([{one} for {name} in {items}])"
    return code.make(template, stack=code.name("torch.stack", made), one=one, name=name, items=items.source)


def _parameter(key: ast.expr | None) -> str | None:
    """The only parameter of a lambda. Raises DeclinedError if it has others, or if the key may be anything."""
    match key:
        case ast.Lambda(args=ast.arguments(posonlyargs=[], args=[ast.arg(arg=name)], kwonlyargs=[], defaults=[])):
            return name
        case None | ast.Name() | ast.Attribute():
            return None
    raise DeclinedError("the key is not a function written here")
