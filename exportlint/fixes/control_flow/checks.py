"""Refusals that depend on tensor data, as checks that stay in the exported program.

`if c: raise E("m")` and `assert not c, "m"` become `torch._assert_async(~c, "m")`, and `torch._check` of numbers that
the code has names for. What Python knows stays Python's.

Never safe: it raises `RuntimeError`, on a GPU later than at that line, and a message with values loses them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import groupby
from typing import TYPE_CHECKING

from exportlint.findings import Fix
from exportlint.fixes.control_flow.conditions import tensor_condition
from exportlint.fixes.control_flow.logic import negated
from exportlint.fixes.control_flow.messages import message_of, message_of_raise
from exportlint.fixes.control_flow.selection_counts import count_condition
from exportlint.fixes.eager_only.reports import is_report
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import COMPARISONS, binary, call, statement
from exportlint.fixes.errors import DeclinedError, InapplicableError
from exportlint.fixes.proofs.handled_errors import require_unhandled
from exportlint.fixes.proofs.observed_values import is_python, scalar

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression, Statement

OPPOSITES = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


@dataclass(frozen=True, slots=True)
class Demand:
    """Something that must be true, or must not be, or the code raises."""

    node: ast.expr
    holds: bool = True

    def parts(self) -> Iterator[Demand]:
        """The demands that it is made of, in the order in which they are evaluated."""
        node = self.node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield from Demand(node.operand, not self.holds).parts()
        elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And) == self.holds:
            for value in node.values:
                yield from Demand(value, self.holds).parts()
        else:
            yield self

    def truth(self, code: Code, holds: bool) -> Expression:
        """A condition that is true if the demand is met, or if it is not."""
        return code.concrete(self.node) if self.holds == holds else code.make("not {condition}", condition=self.node)


def checked(code: Code) -> Fix:
    """A fix that puts checks in place of the `assert`, or of the `if` that only raises, whose condition is the finding.

    Raises:
        DeclinedError: the condition is that of something else, or it cannot be checked in a program.
    """
    asking = code.tree.statement(code.expression)
    if isinstance(asking, ast.Assert):
        require_unhandled(code, asking, "AssertionError")
        lines = _checks(code, Demand(asking.test), message_of(code, asking.msg), None)
        return code.fix(title("AssertionError"), code.statements.replace([asking], lines), safe=False)
    if not isinstance(asking, ast.If):
        raise InapplicableError("the condition decides more than whether to raise")
    refusing, rest, holds = asking.body, asking.orelse, False
    if rest and not _refuses(refusing):
        refusing, rest, holds = rest, asking.body, True
    refusal = refusing[-1]
    if not isinstance(refusal, ast.Raise):
        raise InapplicableError("the condition decides more than whether to raise")
    prepared = refusing[:-1]
    if not all(isinstance(s, ast.Assign) or is_report(code, s) for s in prepared):
        raise DeclinedError("other code runs before the `raise`")
    require_unhandled(code, asking, _raised(refusal))
    demand = Demand(asking.test, holds)
    lines = _checks(code, demand, message_of_raise(code, refusal, prepared), refusal)
    if rest:
        lines += code.statements.moved(rest, above=True)
    return code.fix(title(_raised(refusal)), code.statements.replace([asking], lines), safe=False)


def check_of_tensor(code: Code, check: ast.Call) -> Fix:
    """`torch._check(tensor, lambda: message)`, which eager refuses for every tensor, as a check of its truth.

    Raises:
        DeclinedError: it checks something besides, or its message is not known.
    """
    condition, *others = check.args
    if not isinstance(code.tree.parents[check], ast.Expr) or len(others) > 1 or check.keywords:
        raise DeclinedError("the check has arguments besides a condition and a message")
    message = others[0].body if others and isinstance(others[0], ast.Lambda) else None
    if others and message is None:
        raise DeclinedError("a function builds the message")
    truth = tensor_condition(code, condition).tensor
    return code.fix(
        "Check it in the exported program; the current check rejects every tensor in eager",
        code.replace(check, assertion(code, check, truth, message_of(code, message))),
        safe=False,
    )


def _raised(statement: ast.Raise) -> str:
    """The class of the exception that a statement raises, as it is written there; empty if it is not."""
    error = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
    return ast.unparse(error) if isinstance(error, (ast.Name, ast.Attribute)) else ""


def title(error: str) -> str:
    """What a fix says that puts a check in place of what raises an exception of some class."""
    instead = f" instead of `{error}`" if error not in {"", "RuntimeError"} else ""
    return f"Check it in the exported program, which raises `RuntimeError`{instead}"


def _refuses(statements: Sequence[ast.stmt]) -> bool:
    return isinstance(statements[-1], ast.Raise)


def _checks(code: Code, demand: Demand, message: Expression | None, refusal: ast.Raise | None) -> list[Statement]:
    """Statements that let pass what a demand lets pass.

    `refusal` is the statement that follows `if …:` where Python decides; without one, that is an `assert`.
    """
    lines: list[Statement] = []
    for python, parts in groupby(demand.parts(), lambda part: _is_python(code, part.node)):
        if not python:
            lines += (check for part in parts for check in _check(code, part, message))
        elif refusal:
            refused = reduce(partial(binary, "or"), (part.truth(code, False) for part in parts))
            raised = code.statements.moved([refusal])
            lines.append(code.statement("if {refused}:\n    {*raised}", refused=refused, raised=raised))
        else:
            met = reduce(partial(binary, "and"), (part.truth(code, True) for part in parts))
            template = "assert {met}" if message is None else "assert {met}, {message}"
            lines.append(code.statement(template, met=met, message=message))
    return lines


def _is_python(code: Code, node: ast.expr) -> bool:
    """Whether Python knows the truth of a condition. What the finding is about only seems so: `torch.equal(x, y)`."""
    around = (code.expression, *code.tree.ancestors(code.expression))
    return is_python(code, node) and not any(part is node for part in around)


def _check(code: Code, demand: Demand, message: Expression | None) -> list[Statement]:
    node = demand.node
    if _is_number(code, node):
        check = code.name("torch._check", node)
        return [statement("{check}", check=call(check, one)) for one in _number_conditions(code, demand)]
    condition = tensor_condition(code, node)
    truth = condition.tensor if demand.holds else negated(condition).tensor
    return [statement("{check}", check=assertion(code, node, truth, message))]


def assertion(code: Code, node: ast.AST, truth: Expression, message: Expression | None) -> Expression:
    """`torch._assert_async(truth, message)`."""
    return call(code.name("torch._assert_async", node), truth, *([] if message is None else [message]))


def _is_number(code: Code, node: ast.expr) -> bool:
    """Whether a condition is about numbers that no tensor at hand holds: the code has names for them, or sizes."""
    if scalar(code, node) is None:
        return False
    if isinstance(node, ast.Compare) and count_condition(code, node.left, node.ops[0], node.comparators[0]):
        return False
    numbers = [(part, scalar(code, part)) for part in ast.walk(node) if isinstance(part, ast.expr)]
    return any(n is not None and (n.api == "size" or isinstance(p, (ast.Name, ast.Attribute))) for p, n in numbers)


def _number_conditions(code: Code, demand: Demand) -> list[Expression]:
    """Comparisons of numbers, turned round if they must not hold. `not` would ask for their truth."""
    node = demand.node
    if not isinstance(node, ast.Compare):
        return [binary("!=" if demand.holds else "==", code.concrete(node), 0)]
    symbols = [COMPARISONS.get(type(op), "") for op in node.ops]
    if not all(symbols) or (len(symbols) > 1 and not demand.holds):
        raise DeclinedError("the comparison is not between numbers, or cannot be negated")
    operands = [code.concrete(side) for side in (node.left, *node.comparators)]
    signs = symbols if demand.holds else [OPPOSITES[symbol] for symbol in symbols]
    return [binary(sign, one, other) for one, sign, other in zip(operands, signs, operands[1:], strict=False)]
