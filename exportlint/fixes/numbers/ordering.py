"""Python's `sorted`, `max` and `min` of tensor data as operators of torch.

`sorted(x)` becomes `torch.sort(x).values`, also of a list of 0-d tensors or of `x.tolist()`, and `max(a, b)` of read
numbers `torch.maximum(a, b)`, `clamp`, or `torch.where` of the keys; of more than two, one in the other.

Never safe: NaN is ordered otherwise, and a number becomes a tensor.
"""

from __future__ import annotations

import ast
from functools import partial, reduce
from typing import TYPE_CHECKING

from exportlint.analysis.facts import Branch
from exportlint.findings import Fix
from exportlint.fixes.control_flow.logic import Condition
from exportlint.fixes.control_flow.terms import choose, term
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import binary, call, expression, keyword, method
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.numbers.operands import Operand, is_scalar, operand
from exportlint.fixes.numbers.ordered_by_key import best, best_by_key, sorted_by_key
from exportlint.fixes.numbers.stacked import stacked
from exportlint.fixes.proofs.observed_values import operation, scalar, tensor
from exportlint.fixes.proofs.purity import require_pure
from exportlint.fixes.proofs.tensor_evidence import surely_tensor

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression


def sorted_fix(code: Code, _: Branch) -> Fix:
    """`sorted(x)` as `torch.sort(x).values`, without the `torch.stack` that may be around it. Raises DeclinedError."""
    made = _call(code)
    if any(each.arg == "key" for each in made.keywords):
        return sorted_by_key(code, made)
    around = code.tree.parents[made]
    if len(made.args) == 1 and not isinstance(around, ast.Starred):
        listed = _of_list(code, made, around)
        if listed is not None:
            return code.fix("Sort with `torch.sort`", code.replace(made, listed), safe=False)
    is_stacked = isinstance(around, ast.Call) and operation(code, around) == "stack" and around.args == [made]
    # the keys of a dict have an order, too, but nobody stacks them
    is_sortable = is_stacked or (len(made.args) == 1 and surely_tensor(code, made.args[0]))
    if len(made.args) != 1 or tensor(code, made.args[0]) is None or not is_sortable:
        raise DeclinedError("the sorted value is not a tensor")
    options = {keyword.arg: keyword.value for keyword in made.keywords}
    descending = options.pop("reverse", None)
    if options:
        raise DeclinedError("the order depends on other values")
    order = [] if descending is None else [keyword("descending", code.concrete(descending))]
    replaced = around if is_stacked and isinstance(around, ast.Call) and not around.keywords else made
    result = code.make("{sort}({*given}).values", sort=code.name("torch.sort", made), given=[made.args[0], *order])
    if replaced is made and not (isinstance(around, (ast.Subscript, ast.For, ast.comprehension))):
        result = method(result, "unbind")  # what is done with the list may want a list
    return code.fix("Sort with `torch.sort`", code.replace(replaced, result), safe=False)


def _of_list(code: Code, made: ast.Call, around: ast.AST) -> Expression | None:
    """`sorted([a, b])` of 0-d tensors, and `sorted(x.tolist())`; None if it is neither."""
    given = made.args[0]
    is_read = isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and given.func.attr == "tolist"
    if is_read and tensor(code, given.func.value) is not None:  # type: ignore[attr-defined]
        rows = code.concrete(given.func.value)  # type: ignore[attr-defined]
    elif isinstance(given, (ast.List, ast.Tuple)) and given.elts and all(is_scalar(code, item) for item in given.elts):
        rows = stacked(code, given)
    else:
        return None
    options = {keyword.arg: keyword.value for keyword in made.keywords}
    descending = options.pop("reverse", None)
    if options:
        raise DeclinedError("the order depends on other values")
    order = [] if descending is None else [keyword("descending", code.concrete(descending))]
    result = code.make("{sort}({*given}).values", sort=code.name("torch.sort", made), given=[rows, *order])
    if is_read:
        return method(result, "tolist")
    return result if isinstance(around, ast.Subscript) else method(result, "unbind")


def extreme_fix(code: Code, fact: Branch) -> Fix:
    """`max(a, b)` of numbers read from tensors, or by a key, as a choice between two tensors. Raises DeclinedError."""
    made = _call(code)
    largest = fact.construct == "max()"
    is_by_key = [each.arg for each in made.keywords] == ["key"]
    if is_by_key and len(made.args) == 1 and not isinstance(made.args[0], ast.Starred):
        return best_by_key(code, made, largest)
    if len(made.args) == 1 and not made.keywords and not isinstance(made.args[0], ast.Starred):
        return best(code, made, largest)
    if len(made.args) < 2 or any(isinstance(argument, ast.Starred) for argument in made.args):
        raise DeclinedError("there are not two values to choose from")
    if made.keywords:
        if len(made.args) != 2:
            raise DeclinedError("there are not two values to choose from")
        (key,) = made.keywords
        value = _by_key(code, made, key.value, ">" if largest else "<")
        return code.fix("Choose with `torch.where`", code.replace(made, value), safe=False)
    found = [(argument, operand(code, argument)) for argument in made.args]
    read = [one for _, one in found if one is not None]
    if not read:
        raise DeclinedError("neither is a tensor" if len(found) == 2 else "none is a tensor")
    value, message = _scalar(read[0]), "Use `clamp`"
    if len(read) > 1:
        name = code.name("torch.maximum" if largest else "torch.minimum", made)
        value, message = reduce(partial(call, name), map(_apart, read)), f"Use `{name}`"
    for number in (argument for argument, one in found if one is None):
        value = method(value, "clamp", keyword("min" if largest else "max", code.concrete(number)))
    named = [argument for argument, one in found if one is not None and isinstance(argument, (ast.Name, ast.Attribute))]
    if len(named) == len(read) and all(scalar(code, argument) is not None for argument in named):
        value = method(value, "item")  # numbers in variables became tensors with the dtypes of Python
    return code.fix(message, code.replace(made, value), safe=False)


def _call(code: Code) -> ast.Call:
    """The call that the finding is, or an argument of. Raises DeclinedError."""
    node = code.expression
    around = code.tree.parents[node]
    found = node if isinstance(node, ast.Call) and _is_builtin(node) else around
    if isinstance(found, ast.Call) and _is_builtin(found):
        return found
    raise DeclinedError("the call is not known")


def _is_builtin(node: ast.Call) -> bool:
    is_sort = isinstance(node.func, ast.Attribute) and node.func.attr == "sort"
    return is_sort or (isinstance(node.func, ast.Name) and node.func.id in {"max", "min", "sorted"})


def _scalar(read: Operand) -> Expression:
    return _apart(read) if read.scalar else method(_apart(read), "reshape", expression("()"))


def _apart(read: Operand) -> Expression:
    """What was read from a tensor, from which no gradient flows, as none does from a number."""
    learns = read.read and read.kind not in {"int", "bool"}
    return method(read.source, "detach") if learns else read.source


def _by_key(code: Code, call: ast.Call, key: ast.expr, symbol: str) -> Expression:
    """The first of two values by a function, unless the key of the second one is beyond its."""
    if not isinstance(key, ast.Lambda) or len(key.args.args) != 1:
        raise DeclinedError("the key is not a function written here")
    for argument in call.args:
        require_pure(code, argument)
    parameter = key.args.args[0].arg
    keys = []
    for argument in reversed(call.args):
        uses = [n for n in ast.walk(key.body) if isinstance(n, ast.Name) and n.id == parameter]
        keys.append(code.concrete(key.body, dict.fromkeys(uses, code.concrete(argument))))
    condition = Condition(binary(symbol, *keys), safe=False)
    one, other = (term(code, argument, {}) for argument in call.args)
    return choose(code, condition, other, one).source
