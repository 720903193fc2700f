"""Python's `sorted`, `max` and `min` of tensor data as operators of torch."""

from __future__ import annotations

import ast

from exportlint.analysis.facts import Branch
from exportlint.findings import Fix
from exportlint.fixes.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.logic import Condition
from exportlint.fixes.numbers import Operand, operand
from exportlint.fixes.observed_values import operation, tensor
from exportlint.fixes.precedence import Precedence
from exportlint.fixes.purity import require_pure
from exportlint.fixes.source_text import Piece, joined, method
from exportlint.fixes.tensor_evidence import surely_tensor
from exportlint.fixes.terms import choose, term


def sorted_fix(code: Code, _: Branch) -> Fix:
    """`sorted(x)` as `torch.sort(x).values`, without the `torch.stack` that may be around it. Raises DeclinedError."""
    call = _call(code)
    around = code.tree.parents[call]
    is_stacked = isinstance(around, ast.Call) and operation(code, around) == "stack" and around.args == [call]
    # the keys of a dict have an order, too, but nobody stacks them
    is_sortable = is_stacked or (len(call.args) == 1 and surely_tensor(code, call.args[0]))
    if len(call.args) != 1 or tensor(code, call.args[0]) is None or not is_sortable:
        raise DeclinedError("it is no tensor that is sorted")
    options = {keyword.arg: keyword.value for keyword in call.keywords}
    descending = options.pop("reverse", None)
    if options:
        raise DeclinedError("the order is that of something else")
    arguments = code.text(call.args[0]) + (f", descending={code.text(descending)}" if descending is not None else "")
    replaced = around if is_stacked and isinstance(around, ast.Call) and not around.keywords else call
    text = f"{code.name('torch.sort', call)}({arguments}).values"
    if replaced is call and not (isinstance(around, (ast.Subscript, ast.For, ast.comprehension))):
        text += ".unbind()"  # what is done with the list may want a list
    return code.fix("Sort with `torch.sort`", code.replace(replaced, text), safe=False)


def extreme_fix(code: Code, fact: Branch) -> Fix:
    """`max(a, b)` of numbers read from tensors, or by a key, as a choice between two tensors. Raises DeclinedError."""
    call = _call(code)
    if len(call.args) != 2 or any(isinstance(argument, ast.Starred) for argument in call.args):
        raise DeclinedError("there are not two values to choose from")
    largest = fact.construct == "max()"
    if call.keywords:
        (keyword,) = call.keywords
        value = _by_key(code, call, keyword.value, ">" if largest else "<")
        return code.fix("Choose with `torch.where`", code.replace(call, value.text), safe=False)
    one, other = (operand(code, argument) for argument in call.args)
    if one is not None and other is not None:
        name = code.name("torch.maximum" if largest else "torch.minimum", call)
        text = f"{name}({one.source.text}, {other.source.text})"
        return code.fix(f"Use `{name}`", code.replace(call, text), safe=False)
    read, number = (one, call.args[1]) if one is not None else (other, call.args[0])
    if read is None:
        raise DeclinedError("neither is a tensor")
    text = method(_scalar(read), "clamp", f"{'min' if largest else 'max'}={code.text(number)}").text
    return code.fix("Use `clamp`", code.replace(call, text), safe=False)


def _call(code: Code) -> ast.Call:
    """The call that the finding is, or an argument of. Raises DeclinedError."""
    node = code.expression
    around = code.tree.parents[node]
    found = node if isinstance(node, ast.Call) and _is_builtin(node) else around
    if isinstance(found, ast.Call) and _is_builtin(found):
        return found
    raise DeclinedError("the call is not known")


def _is_builtin(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id in {"max", "min", "sorted"}


def _scalar(read: Operand) -> Piece:
    return read.source if read.scalar else method(read.source, "reshape", "()")


def _by_key(code: Code, call: ast.Call, key: ast.expr, symbol: str) -> Piece:
    """The first of two values by a function, unless the key of the second one is beyond its."""
    if not isinstance(key, ast.Lambda) or len(key.args.args) != 1:
        raise DeclinedError("the key is no function that stands here")
    for argument in call.args:
        require_pure(code, argument)
    parameter = key.args.args[0].arg
    keys = []
    for argument in reversed(call.args):
        inside = code.renamed({parameter: code.operand(argument, Precedence.ATOM)})
        keys.append(Piece(inside.operand(key.body, Precedence.BIT_OR), Precedence.BIT_OR))
    condition = Condition(joined(symbol, Precedence.COMPARISON, *keys), safe=False)
    one, other = (term(code, argument, {}) for argument in call.args)
    return choose(code, condition, other, one).source
