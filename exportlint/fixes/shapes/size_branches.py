"""Conditions on sizes that a number can stand for: a bound, a slice that may take everything, padding by nothing.

`n if n < 8 else 8` becomes `torch.sym_min(n, 8)`, `if n > 8: x = x[:8]` becomes `x = x[:torch.sym_min(n, 8)]`, and
`if p > 0: x = F.pad(x, (0, p))` loses its condition.

Safe: the numbers are surely whole, a bound is natural, and nothing tells a slice from the whole. Otherwise a float that
other code sets has another type, and padding by 0 makes a copy.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from exportlint.analysis.domain.dim import Expression
from exportlint.analysis.domain.values import External, Size
from exportlint.analysis.facts import Fact
from exportlint.findings import Fix
from exportlint.fixes.edit.blocks import analysed
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import call
from exportlint.fixes.edit.tree import indices, takes_all
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.identity import is_told
from exportlint.fixes.proofs.purity import only_looks_up
from exportlint.fixes.proofs.size_values import is_natural
from exportlint.fixes.proofs.stated_numbers import is_whole_number
from exportlint.fixes.proofs.tensor_evidence import surely_tensor

if TYPE_CHECKING:
    import libcst as cst

LARGER: tuple[type[ast.cmpop], ...] = (ast.Gt, ast.GtE)
SMALLER: tuple[type[ast.cmpop], ...] = (ast.Lt, ast.LtE)


def without_condition(code: Code, _: Fact) -> Fix:
    """The same without asking for the truth of a condition on sizes. Raises DeclinedError."""
    test = code.expression
    parent = code.tree.parents[test]
    while isinstance(parent, ast.BoolOp):
        test, parent = parent, code.tree.parents[parent]
    if isinstance(parent, ast.IfExp) and parent.test is test:
        return _ternary(code, parent)
    if isinstance(parent, ast.If) and parent.test is test and not parent.orelse and _is_plain(code, parent):
        return _bounded(code, parent) or _sliced(code, parent) or _padded(code, parent)
    raise DeclinedError("the condition does not choose a number")


def _is_plain(code: Code, statement: ast.If) -> bool:
    """Whether an `if` is no `elif`, so that its body can stand on its own."""
    return not code.statements.is_elif(statement)


def _ternary(code: Code, choice: ast.IfExp) -> Fix:
    """`n if n < 8 else 8`, `8 - n if n < 8 else 0`."""
    sides = _compared(choice.test)
    if sides is None:
        raise DeclinedError("the condition does not compare two numbers by order")
    smaller, larger = sides
    arms = [_key(choice.body), _key(choice.orelse)]
    if arms in ([_key(smaller), _key(larger)], [_key(larger), _key(smaller)]):
        function = "sym_min" if arms[0] == _key(smaller) else "sym_max"
        operands = [code.concrete(choice.body), code.concrete(choice.orelse)]
    else:
        function, operands = "sym_max", [_difference(code, choice, smaller, larger), code.make("0")]
    limit = call(code.name(f"torch.{function}"), *operands)
    is_same = _are_whole(code, smaller, larger)
    message = code.while_taken(f"Use `torch.{function}`", safe=is_same)
    return code.fix(message, code.replace(choice, limit), safe=is_same)


def _difference(code: Code, choice: ast.IfExp, smaller: ast.expr, larger: ast.expr) -> cst.BaseExpression:
    """`8 - n` of `8 - n if n < 8 else 0`, which is not less than 0 where the condition holds."""
    arm = choice.body
    if (
        isinstance(arm, ast.BinOp)
        and isinstance(arm.op, ast.Sub)
        and [_key(arm.left), _key(arm.right)] == [_key(larger), _key(smaller)]
        and isinstance(choice.orelse, ast.Constant)
        and choice.orelse.value == 0
    ):
        return code.concrete(arm)
    raise DeclinedError("the arms are not the sides of the comparison")


def _bounded(code: Code, statement: ast.If) -> Fix | None:
    """`if n > 8: n = 8`."""
    match statement:
        case ast.If(body=[ast.Assign(targets=[ast.Name() as name], value=bound)]):
            sides = [_key(side) for side in _compared(statement.test) or ()]
            if _key(bound) not in sides or _key(name) not in sides or _key(name) == _key(bound):
                return None
            function = "sym_min" if _key(bound) == sides[0] else "sym_max"
            limit = call(code.name(f"torch.{function}"), name.id, code.concrete(bound))
            line = code.statement("{name} = {limit}", name=name, limit=limit)
            edit = code.statements.replace([statement], [line])
            is_same = _are_whole(code, name, bound)
            return code.fix(code.while_taken(f"Use `torch.{function}`", safe=is_same), edit, safe=is_same)
    return None


def _sliced(code: Code, statement: ast.If) -> Fix | None:
    """`if n > 8: x = x[:8]`: a slice takes what there is."""
    match statement:
        case ast.If(
            body=[ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript(value=ast.Name(id=whole)) as part)],
        ) if name == whole:
            sides = _compared(statement.test)
        case _:
            return None
    if sides is None:
        return None
    bound, size = sides
    cut = [item for item in indices(part) if not takes_all(item)]
    if len(cut) != 1 or not isinstance(cut[0], ast.Slice) or cut[0].upper is None or cut[0].lower or cut[0].step:
        return None
    upper, dim = cut[0].upper, indices(part).index(cut[0])
    if not _is_size_of(code, size, part.value, dim):
        return None
    cut_part = code.concrete(part)
    if _key(upper) == _key(bound):
        limit = call(code.name("torch.sym_min"), code.concrete(size), code.concrete(upper))
        cut_part = code.concrete(part, {upper: limit})
    elif not (isinstance(upper, ast.Call) and [*map(_key, upper.args)] == [_key(size), _key(bound)]):
        return None
    is_same = surely_tensor(code, part.value) and is_natural(code, bound) and _are_whole(code, bound)
    is_same = is_same and not is_told(code, statement)
    message = code.while_taken("Slice without a condition", safe=is_same)
    line = code.statement("{name} = {part}", name=name, part=cut_part)
    return code.fix(message, code.statements.replace([statement], [line]), safe=is_same)


def _is_size_of(code: Code, size: ast.expr, tensor: ast.expr, dim: int) -> bool:
    """Whether an expression is the size of a dimension of a tensor."""
    templates = ("{tensor}.shape[{dim}]", "{tensor}.size({dim})")
    length, asked = (
        statement.value
        for statement in analysed([code.statement(template, tensor=tensor, dim=dim) for template in templates])
        if isinstance(statement, ast.Expr)
    )
    if _key(size) in {_key(length), _key(asked)}:
        return True
    found, expected = code.value(size), code.value(length)
    return isinstance(found, Size) and isinstance(found.dim, Expression) and found == expected


def _padded(code: Code, statement: ast.If) -> Fix:
    """`if pad > 0: x = F.pad(x, (0, pad))`, `if n % 2: x = F.pad(x, (0, 1))`."""
    match statement.body:
        case [ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(args=[ast.Name(id=whole), pads, *_]) as padding)]:
            callee = code.value(padding.func)
        case _:
            raise DeclinedError("the condition does not decide about padding")
    amounts = pads.elts if isinstance(pads, (ast.Tuple, ast.List)) else []
    tested = list(_tested(statement.test))
    is_padding = name == whole and callee == External("torch.nn.functional.pad") and bool(amounts) and bool(tested)
    are_tested = all(_is_zero(a) or _key(a) in map(_key, tested) for a in amounts)
    are_parity = _is_parity(tested) and all(_is_zero(a) or _is_one(a) for a in amounts)
    if not is_padding or not (are_tested or are_parity):
        raise DeclinedError("it pads by a number that it does not test")
    padded = code.concrete(padding, {amount: code.concrete(tested[0]) for amount in amounts if _is_one(amount)})
    line = code.statement("{name} = {padded}", name=name, padded=padded)
    edit = code.statements.replace([statement], [line])
    return code.fix("Pad without a condition: padding by 0 copies the tensor", edit, safe=False)


def _tested(test: ast.expr) -> Iterator[ast.expr]:
    """What is asked to be more than 0 in a condition: `p`, `p > 0`, `p != 0 or q`; nothing if it asks anything else."""
    match test:
        case ast.BoolOp(op=ast.Or(), values=values):
            found = [list(_tested(value)) for value in values]
            yield from (item for items in found for item in items) if all(found) else ()
        case ast.Compare(left=left, ops=[ast.Gt() | ast.NotEq()], comparators=[ast.Constant(value=0)]):
            yield left
        case ast.Compare(left=ast.BinOp(op=ast.Mod(), right=ast.Constant(value=2)) as left, ops=[ast.Eq()]):
            yield from [left] if _is_one(test.comparators[0]) else []
        case ast.Name() | ast.BinOp():
            yield test


def _is_parity(tested: list[ast.expr]) -> bool:
    match tested:
        case [ast.BinOp(op=ast.Mod(), right=ast.Constant(value=2))]:
            return True
    return False


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1


def _compared(test: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """The sides of `a < b`, the one that is to be smaller first."""
    match test:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            if isinstance(op, SMALLER):
                return left, right
            if isinstance(op, LARGER):
                return right, left
    return None


def _are_whole(code: Code, *nodes: ast.expr) -> bool:
    """Whether numbers are integers, of which torch makes no floats, and the same however often they are asked for."""
    return all(is_whole_number(code, node) for node in nodes) and only_looks_up(code, *nodes)


def _key(node: ast.expr) -> str:
    """Equal for expressions that are written alike."""
    return ast.dump(node).replace("Store()", "Load()")
