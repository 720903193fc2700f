"""Indices that the condition around them keeps in range: without it, eager raises an IndexError.

`guarded_indices` finds them, `require_unguarded` declines code with such an index, `require_elements` one that takes
an element of nothing.
"""

from __future__ import annotations

import ast
from collections import abc

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import Const, Scalar, Sequence, Size, Tensor, TorchModule, Tuple, Unknown, Value
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.tree import indices
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.observed_values import builtin, operands, operation, tensor
from exportlint.syntax.definitions import FunctionNode

_INDEXING = frozenset({
    "gather", "index_select", "take", "take_along_dim", "embedding", "one_hot", "narrow", "select", "scatter",
    "scatter_add", "index_add", "index_copy", "index_fill", "bincount", "repeat_interleave", "topk", "kthvalue",
})  # fmt: skip
"""Operations that refuse indices, or counts, that are out of range."""
_COUNTING = frozenset({"one_hot", "narrow", "select", "bincount", "repeat_interleave", "topk", "kthvalue"})
"""Those of them whose operands are not only indices of a tensor."""
_INDEXED = (Tensor, Sequence, Tuple, Unknown)
"""What may refuse an index: an argument may be a tensor, or a sequence of tensors."""
RESHAPES = frozenset({"[]", "unsqueeze", "squeeze", "view", "reshape", "flatten", "long", "masked_fill"})
"""What keeps elements, by the names of methods."""
EXTREMES = frozenset({
    "max", "min", "amax", "amin", "aminmax", "argmax", "argmin", "median", "nanmedian", "mode", "quantile", "topk",
    "nanquantile", "kthvalue", "item",
})  # fmt: skip
"""What picks an element, and so refuses to pick one of none."""


def require_unguarded(code: Code, node: ast.AST) -> None:
    """Raises DeclinedError if code may be refused where the condition of the finding does not hold.

    It is if it takes an element of a selection that may be empty, or if the condition is about what it takes as index.
    """
    if guarded_indices(code, node):
        raise DeclinedError("the condition may keep an index in range")


def guarded_indices(code: Code, node: ast.AST) -> list[ast.expr]:
    """The indices in code that the condition of the finding may keep in range: of any number, 0 is in range.

    Raises:
        DeclinedError: the condition may also keep a count in range, or have an element of a selection there.
    """
    guards: set[str] | None = None
    found: list[ast.expr] = []
    for part in ast.walk(node):
        require_elements(code, part)
        for index in _indices(code, part):
            held = _unshaped(index)  # its elements are those of this variable
            if isinstance(held, ast.Name) and (_is_asked_otherwise(code, held.id) or _is_chosen(code, held.id)):
                continue
            guards = _asked(code) if guards is None else guards
            if isinstance(held, ast.Name) and held.id not in guards and _is_found(code, held.id):
                continue
            if guards & _behind(code, [code.renames.get(n.id, n.id) for n in _names(index)]):
                if isinstance(part, ast.Call) and operation(code, part) in _COUNTING:
                    raise DeclinedError("the condition may keep a count in range")
                found.append(index)
    return found


def _is_asked_otherwise(code: Code, name: str) -> bool:
    """Whether the condition keeps no number in range: it asks `i.any()` or `i.numel()`, or takes an element by `i`."""
    test = code.expression
    for around in (test, *code.tree.ancestors(test)):
        match around:
            case ast.If(test=asked) | ast.IfExp(test=asked):
                read = [part for part in _names(asked) if part.id == name]
                return bool(read) and all(_asks_truth(code, part) or _is_place(code, part) for part in read)
            case ast.stmt():
                return False
    return False


def _is_chosen(code: Code, name: str) -> bool:
    """Whether an index is the place that `argmax` found in the pass before, and no order of numbers is asked for.

    A pass that takes it as index is one that goes on, with whatever place is found.
    """
    test = code.tree.statement(code.expression)
    if not isinstance(test, ast.If) or not isinstance(code.tree.parents[test], (ast.For, ast.While)):
        return False
    compared = [n for n in ast.walk(code.tree.parents[test]) if isinstance(n, ast.Compare)]
    if not all(isinstance(op, (ast.Eq, ast.NotEq)) for one in compared for op in one.ops):
        return False
    found = [given for given in _given(code.tree.parents[test], name) if not _is_itself(given[1], name)]
    return bool(found) and all(_is_place_of(target, value, name) for target, value in found)


def _is_found(code: Code, name: str) -> bool:
    """Whether an index holds the places where something is true, which are in range whatever is true there."""
    scope = code.tree.function(code.expression) or code.tree.root
    stores = [n for n in code.tree.contents(scope).named(name) if isinstance(n.ctx, ast.Store)]
    found = _given(scope, name)
    return len(found) == len(stores) > 0 and all(_is_selection(value) for _, value in found)


def _is_selection(value: ast.expr) -> bool:
    value = _unshaped(value)
    is_where = _function(value) == "where" and len(value.args) == 1  # type: ignore[attr-defined]
    return is_where or _function(value) in {"nonzero", "argwhere"}


def _given(scope: ast.AST, name: str) -> list[tuple[ast.expr, ast.expr]]:
    """What a variable is assigned in some code, and along with what."""
    return [
        (target, one.value)
        for one in ast.walk(scope)
        if isinstance(one, ast.Assign)
        for target in one.targets
        if any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(target))
    ]


def _unshaped(value: ast.expr) -> ast.expr:
    """What a value is made of by functions that keep elements."""
    while isinstance(value, (ast.Subscript, ast.Call)) and _function(value) in RESHAPES:
        value = value.func.value if isinstance(value, ast.Call) else value.value  # type: ignore[attr-defined]
    return value


def _is_itself(value: ast.expr, name: str) -> bool:
    made = _unshaped(value)
    return isinstance(made, ast.Name) and made.id == name


def _is_place_of(target: ast.expr, value: ast.expr, name: str) -> bool:
    value = _unshaped(value)
    match target:
        case ast.Name():
            return _function(value) in {"argmax", "argmin"}
        case ast.Tuple(elts=[_, ast.Name(id=second)]) if second == name:
            return _function(value) in {"max", "min", "topk", "sort"}
    return False


def _function(node: ast.expr) -> str:
    """The name of the function or method that a call is of, and `[]` for an item."""
    match node:
        case ast.Subscript():
            return "[]"
        case ast.Call(func=ast.Attribute(attr=name)):
            return name
    return ""


def _asks_truth(code: Code, node: ast.Name) -> bool:
    around = code.tree.parents[node]
    return isinstance(around, ast.Attribute) and around.attr in {"any", "all", "numel", "nelement", "shape", "size"}


def _is_place(code: Code, node: ast.Name) -> bool:
    around = code.tree.parents[node]
    item: ast.AST = node
    if isinstance(around, ast.Tuple):
        item, around = around, code.tree.parents[around]
    return isinstance(around, ast.Subscript) and around.slice is item


def require_elements(code: Code, node: ast.AST) -> None:
    """Raises DeclinedError if a node itself takes an element of a selection that may be empty."""
    is_refused = isinstance(node, ast.Subscript) and _is_of_selection(code, node)
    if is_refused or (isinstance(node, ast.Call) and _wants_elements(code, node)):
        raise DeclinedError("an empty selection has no such element")


def _wants_elements(code: Code, call: ast.Call) -> bool:
    """Whether a call refuses a tensor that may be empty."""
    if operation(code, call) not in EXTREMES and builtin(code, call) not in {"max", "min", "next"}:
        return False
    first = operands(code, call)[:1] if operation(code, call) in EXTREMES else call.args[:1]
    held = [tensor(code, part) for part in first]
    return any(each is not None and each.dynamic for each in held)


def _is_of_selection(code: Code, subscript: ast.Subscript) -> bool:
    """Whether it takes an element of a dimension that may be empty: `x[mask][0]`."""
    held = code.value(subscript.value)
    if not isinstance(held, Tensor) or not held.dynamic:
        return False
    return any(not isinstance(item, ast.Slice) and _is_integer(code, item) for item in indices(subscript))


def _indices(code: Code, node: ast.AST) -> list[ast.expr]:
    """What an expression takes elements by, if that is data."""
    if isinstance(node, ast.Subscript) and any(isinstance(one, _INDEXED) for one in options(code.value(node.value))):
        return [item for item in indices(node) if not isinstance(item, ast.Slice) and _is_index(code, item)]
    if isinstance(node, ast.Call):
        callee = code.value(node.func)
        if isinstance(callee, TorchModule):
            return [*node.args] if callee.name.rpartition(".")[2] in {"Embedding", "EmbeddingBag"} else []
        if operation(code, node) in _INDEXING:
            given = [*operands(code, node)[1:], *(keyword.value for keyword in node.keywords)]
            first = operands(code, node)[:1] if operation(code, node) in {"embedding", "one_hot", "bincount"} else []
            return [part for part in (*first, *given) if _is_integer(code, part)]
    return []


def _is_index(code: Code, node: ast.expr) -> bool:
    """Whether what a subscript holds may be a number, also one that is not known to be one: `int(i)`."""
    is_number = _is_conversion(code, node) or _is_integer(code, node) or _is_converted(code, node)
    return is_number or is_counted(code, node)


def _is_conversion(code: Code, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and builtin(code, node) == "int"


def _is_converted(code: Code, node: ast.expr) -> bool:
    """Whether a number is made of one that torch.export refuses to make of a tensor: it is data all the same."""
    if not isinstance(node, (ast.Name, ast.BinOp, ast.UnaryOp)):
        return False
    scope = code.tree.function(code.expression) or code.tree.root
    given = [value for name in _names(node) for _, value in _given(scope, name.id)]
    made = [part for value in given for part in ast.walk(value) if isinstance(part, ast.Call)]
    return any(_is_conversion(code, call) and tensor(code, part) is not None for call in made for part in call.args)


def _is_integer(code: Code, node: ast.expr) -> bool:
    return any(map(_may_count, options(code.value(node))))


def _may_count(value: Value) -> bool:
    if isinstance(value, Const):
        return type(value.value) is int
    return isinstance(value, (Scalar, Size)) or (isinstance(value, Tensor) and value.kind not in {"bool", "float"})


def _asked(code: Code) -> set[str]:
    """The variables that the condition of the finding is about, and those that they were computed from."""
    test = code.expression
    tests: list[ast.expr] = [test]
    for around in code.tree.ancestors(test):
        if isinstance(around, (ast.If, ast.IfExp, ast.While)):
            tests.append(around.test)
            break
        if isinstance(around, ast.expr):
            tests.append(around)
        elif not isinstance(around, ast.comprehension):
            break
    return _behind(code, [n.id for each in tests for n in _names(each)]) | _counted(code.tree.statement(test))


def is_counted(code: Code, node: ast.expr) -> bool:
    """Whether an index is how often the condition of the finding held in passes before."""
    return isinstance(node, ast.Name) and node.id in _counted(code.tree.statement(code.expression))


def _counted(statement: ast.stmt) -> set[str]:
    """The variables that a branch counts up: how often its condition holds keeps them in range."""
    if not isinstance(statement, ast.If):
        return set()
    counting = [part for one in statement.body for part in ast.walk(one) if isinstance(part, ast.AugAssign)]
    return {one.target.id for one in counting if isinstance(one.target, ast.Name)}


def asked_numbers(test: ast.AST) -> set[str]:
    """The variables that hold one number each if an expression is one number: `i` of `i > 0`, whose truth is asked."""
    match test:
        case ast.Name(id=name):
            return {name}
        case ast.Compare() | ast.BoolOp() | ast.UnaryOp() | ast.BinOp():
            return {name for part in ast.iter_child_nodes(test) for name in asked_numbers(part)}
        case ast.Call(func=ast.Attribute(value=read, attr="item")) | ast.Call(func=ast.Name(), args=[read]):
            return asked_numbers(read)
    return set()


def _names(node: ast.AST) -> list[ast.Name]:
    return [n for n in ast.walk(node) if isinstance(n, ast.Name)]


def _behind(code: Code, names: abc.Sequence[str]) -> set[str]:
    """Variables, and those that they were computed from."""
    function = code.tree.function(code.expression)
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _read_for(function, name)
    return found - {"self"}


def _read_for(function: FunctionNode | None, name: str) -> list[str]:
    return [
        read.id
        for statement in (ast.walk(function) if function is not None else ())
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None
        for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
        if any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(target))
        for read in ast.walk(statement.value)
        if isinstance(read, ast.Name)
    ]
