"""Python conditions on tensor data as tensors: 0-d bool tensors that say what the truth of an expression was.

`a and not b` becomes `a & ~b`, `0 < x.item() < 1` becomes `(0 < x) & (x < 1)`, `v in (1, 2)` becomes
`(v == 1) | (v == 2)`, `v in self.codes` becomes `torch.isin(v, torch.tensor(list(self.codes)))`, and
`any(r.sum() > 0 for r in x)` becomes `torch.stack([r.sum() > 0 for r in x]).any()`.

Safe: what Python did not ask in each case is total, nothing is evaluated twice that is not pure, and comparisons are of
numbers that the dtype holds (`numbers.operands`). Otherwise an operand may be refused where Python did not ask it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import Const, Dict, External, Python, Tuple, Value
from exportlint.analysis.domain.values import Sequence as Many
from exportlint.fixes.control_flow.logic import Condition, both, either, negated
from exportlint.fixes.control_flow.selection_counts import count_condition
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import COMPARISONS, binary, call, keyword, method
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.numbers import operands as numbers
from exportlint.fixes.numbers.operands import is_scalar
from exportlint.fixes.proofs.observed_values import builtin, is_python, operation, scalar, tensor
from exportlint.fixes.proofs.observed_values import operands as operation_operands
from exportlint.fixes.proofs.purity import is_pure, require_pure
from exportlint.fixes.proofs.total_conditions import evaluated, has_truth, is_total


def tensor_condition(code: Code, node: ast.expr) -> Condition:
    """The truth of an expression as a 0-d bool tensor.

    Raises:
        DeclinedError: Python has to decide, or no tensor is known to say the same.
    """
    if isinstance(node, ast.NamedExpr):
        raise DeclinedError("the condition assigns a variable")
    if isinstance(node, ast.BoolOp):
        return _combined(code, node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return negated(tensor_condition(code, node.operand))
    if isinstance(node, ast.Compare):
        return _comparison(code, node)
    if isinstance(node, ast.Call):
        found = _of_call(code, node)
        if found is not None:
            return found
    return _truth(code, node)


def condition_in_vain(code: Code, node: ast.expr, known: frozenset[str] = frozenset()) -> Condition:
    """The same of a condition that Python did not ask in each way to get there; `known` is what it `evaluated`.

    Raises:
        DeclinedError: the same, or it may have effects.
    """
    require_pure(code, node)
    condition = tensor_condition(code, node)
    return replace(condition, safe=condition.safe and has_truth(code, node, known))


def _combined(code: Code, node: ast.BoolOp) -> Condition:
    """`a and b`, `a or b`. What Python knows is asked first, so that it still guards what stands behind it."""
    conjunction = isinstance(node.op, ast.And)
    result: Condition | None = None
    last: list[ast.expr] = []
    for index in reversed(range(len(node.values))):
        operand = node.values[index]
        try:
            condition = tensor_condition(code, operand)
        except DeclinedError:
            if not is_python(code, operand):
                raise
            if result is not None:
                result = _guarded(code, operand, result, conjunction)
            elif index and all(is_pure(code, value) for value in node.values):
                last.append(operand)
            else:
                raise
            continue
        if index and not is_pure(code, operand):
            raise DeclinedError("an operand is evaluated only if the ones before it allow it")
        if index and not has_truth(code, operand, evaluated(node)):
            condition = replace(condition, safe=False)
        result = condition if result is None else (both if conjunction else either)(condition, result)
    assert result is not None
    for operand in last:  # a tensor in front of it is not asked any more
        result = replace(_guarded(code, operand, result, conjunction), safe=False)
    return result


def _guarded(code: Code, guard: ast.expr, condition: Condition, conjunction: bool) -> Condition:
    constant = call(code.name("torch.tensor"), not conjunction)
    one, other = (condition.tensor, constant) if conjunction else (constant, condition.tensor)
    return Condition(code.make("{one} if {guard} else {other}", one=one, guard=guard, other=other), condition.safe)


def _comparison(code: Code, node: ast.Compare) -> Condition:
    operands = [node.left, *node.comparators]
    if len(operands) > 2 and not all(is_pure(code, operand) for operand in operands[1:-1]):
        raise DeclinedError("an operand would be evaluated twice")
    steps = [_compare(code, left, op, right) for left, op, right in zip(operands, node.ops, operands[1:], strict=False)]
    result = steps[0]
    known = evaluated(node)
    for step, operand in zip(steps[1:], operands[2:], strict=True):
        surely = is_scalar(code, operand) and is_total(code, operand, known)
        result = both(result, replace(step, safe=step.safe and surely))
    return result


def _compare(code: Code, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Condition:
    if isinstance(op, (ast.In, ast.NotIn)):
        found = _contained(code, left, right)
        return negated(found) if isinstance(op, ast.NotIn) else found
    symbol = COMPARISONS.get(type(op))
    if symbol is None:
        raise DeclinedError("an identity test is not a tensor")
    counted = count_condition(code, left, op, right)
    if counted is not None:
        return Condition(*counted)
    one, other = numbers.operands(code, left, right)
    source = binary(symbol, one.source, other.source)
    return Condition(source, one.safe and other.safe, one.scalar and other.scalar)


def _contained(code: Code, item: ast.expr, container: ast.expr) -> Condition:
    if isinstance(container, (ast.Tuple, ast.List, ast.Set)):
        return _any_of(code, item, container.elts)
    held = tensor(code, container)
    if held is None and _are_numbers(code.value(container)):
        return _among(code, item, container)
    if held is None or held.assumed:  # a dict has keys
        raise DeclinedError("the elements are not known")
    one, other = numbers.operands(code, container, item)
    equal = binary("==", one.source, other.source)
    return Condition(method(equal, "any"), one.safe and other.safe and not held.assumed)


def _are_numbers(container: Value) -> bool:
    """Whether all that a container may hold, or the keys of a dictionary, are numbers that Python knows."""
    if isinstance(container, Dict):
        return container.rest is None and all(type(key) in (int, float) for key, _ in container.entries)
    held = container.items if isinstance(container, Tuple) else ()
    # what a set holds is not known, but it is asked for a number
    known = {"int", "float", None} if isinstance(container, Many) and container.type == "set" else {"int", "float"}
    held = (container.item,) if isinstance(container, Many) else held
    return bool(held) and all(
        type(one.value) in (int, float) if isinstance(one, Const) else isinstance(one, Python) and one.type in known
        for item in held
        for one in options(item)
    )


def _among(code: Code, item: ast.expr, container: ast.expr) -> Condition:
    """Whether a tensor is one of some numbers, however many there are."""
    found = numbers.operand(code, item)
    if found is None or not is_pure(code, item):
        raise DeclinedError("the elements are not known")
    is_number = scalar(code, item) is not None and not isinstance(item, ast.Call)
    where = [] if is_number else [keyword("device", code.make("{item}.device", item=found.source))]
    listed = code.make("list({container})", container=container)
    values = call(code.name("torch.tensor"), listed, *where)
    return Condition(call(code.name("torch.isin"), found.source, values), safe=False, scalar=found.scalar)


def _any_of(code: Code, item: ast.expr, elements: Sequence[ast.expr]) -> Condition:
    if not elements or not is_pure(code, item):
        raise DeclinedError("the item would be evaluated more than once")
    if isinstance(item, ast.Name) and any(isinstance(e, ast.Name) and e.id == item.id for e in elements):
        raise DeclinedError("the item itself is in the container, which Python finds by identity")
    steps = [_compare(code, item, ast.Eq(), element) for element in elements]
    result = steps[0]
    for step in steps[1:]:
        result = either(result, step)
    return result


def _truth(code: Code, node: ast.expr) -> Condition:
    value = scalar(code, node)
    if value is not None and value.api == "size":
        counted = count_condition(code, node, ast.NotEq(), ast.Constant(0))
        if counted is not None:
            return Condition(*counted)
    operand = numbers.operand(code, node)
    if operand is None:
        raise DeclinedError("the condition is not a tensor")
    if operand.kind == "bool":
        return Condition(operand.source, operand.safe, operand.scalar)
    return Condition(binary("!=", operand.source, 0), operand.safe, operand.scalar)


# --- calls


def _of_call(code: Code, node: ast.Call) -> Condition | None:
    """The truth of calls that read tensors: `bool(t)`, `torch.equal(a, b)`, `any(…)`."""
    function = builtin(code, node)
    if function == "bool" and len(node.args) == 1:
        return tensor_condition(code, node.args[0])
    if function in {"any", "all"} and len(node.args) == 1:
        return _quantified(code, function, node.args[0])
    predicate = math_predicate(code, node)
    if predicate is not None and len(node.args) == 1:
        operand = numbers.operand(code, node.args[0])
        return Condition(call(code.name(predicate, node), operand.source), scalar=operand.scalar) if operand else None
    name, arguments = operation(code, node), operation_operands(code, node)
    if name == "item" and len(arguments) == 1:
        return _truth(code, arguments[0])
    if name == "is_nonzero" and len(arguments) == 1:
        return _truth(code, arguments[0])
    if name == "equal" and len(arguments) == 2:
        left, right = numbers.operands(code, *arguments)
        # tensors of different shapes are not equal, but `==` broadcasts or refuses them
        return Condition(method(binary("==", left.source, right.source), "all"), safe=False)
    if name == "allclose":
        given = map(code.argument, (*arguments, *node.keywords))
        return Condition(method(call(code.name("torch.isclose", node), *given), "all"))
    return None


def math_predicate(code: Code, node: ast.Call) -> str | None:
    """The operator of torch that asks what a function of `math` asks of a number."""
    function = code.value(node.func)
    name = function.name if isinstance(function, External) else ""
    return name.replace("math", "torch") if name in {"math.isnan", "math.isinf", "math.isfinite"} else None


def _quantified(code: Code, name: str, argument: ast.expr) -> Condition | None:
    if isinstance(argument, (ast.Tuple, ast.List)) and argument.elts:
        return _combined(code, ast.BoolOp(ast.Or() if name == "any" else ast.And(), argument.elts))
    if isinstance(argument, (ast.GeneratorExp, ast.ListComp)):
        return _of_each(code, name, argument)
    operand = numbers.operand(code, argument)
    if operand is None:
        return None
    # Python refuses a matrix, whose rows have no truth
    return Condition(method(operand.source, name), safe=False)


def _of_each(code: Code, name: str, items: ast.GeneratorExp | ast.ListComp) -> Condition:
    """Whether a condition holds for any item, or for all: stacked, each of them is asked."""
    loop = items.generators[0]
    if len(items.generators) > 1 or loop.ifs or loop.is_async:
        raise DeclinedError("the items are chosen by more than one loop")
    inside = code.after([ast.copy_location(ast.For(loop.target, loop.iter, [ast.Pass()], []), items)])
    if not is_pure(inside, items.elt):
        raise DeclinedError("Python stops at the first item that decides")
    condition = tensor_condition(inside, items.elt)
    each = code.make("[{truth} for {item} in {items}]", truth=condition.tensor, item=loop.target, items=loop.iter)
    return Condition(method(call(code.name("torch.stack"), each), name), safe=False)
