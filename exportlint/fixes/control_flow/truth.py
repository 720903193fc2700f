"""The truth of tensor data as a tensor where Python asks for it, and which rewrite a condition on tensor data gets.

`found = bool(x.sum() > 0)` becomes `found = x.sum() > 0`, with choices by `torch.where` where a branch asks `found`.
Conditions of branches and loops try the rewrites for these, one after the other.

Never safe: who reads the variable gets a tensor instead of a bool.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from operator import itemgetter
from typing import TYPE_CHECKING

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import Const, Python, Scalar, Value
from exportlint.analysis.facts import Fact
from exportlint.findings import Fix
from exportlint.fixes.control_flow.branch_paths import names_in
from exportlint.fixes.control_flow.checks import checked
from exportlint.fixes.control_flow.chosen_functions import chosen_function_fix
from exportlint.fixes.control_flow.cond import cond_fix
from exportlint.fixes.control_flow.conditions import tensor_condition
from exportlint.fixes.control_flow.empty_selections import empty_selection_fix
from exportlint.fixes.control_flow.masked_loops import masked_fix
from exportlint.fixes.control_flow.predicated_returns import return_fix
from exportlint.fixes.control_flow.predicated_writes import write_fix
from exportlint.fixes.control_flow.terms import Term, choose, term
from exportlint.fixes.control_flow.where import branch_of, choice, where_fix
from exportlint.fixes.control_flow.while_loops import break_fix, while_fix
from exportlint.fixes.eager_only.said_only import said_only_fix
from exportlint.fixes.edit import template as templates
from exportlint.fixes.edit.attempts import first_of
from exportlint.fixes.edit.blocks import analysed
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError, InapplicableError
from exportlint.fixes.export_calls.calls import written
from exportlint.fixes.numbers.operands import is_scalar
from exportlint.fixes.proofs.observed_values import builtin, operation, scalar, tensor

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression

MESSAGE = "Keep the condition a tensor"


def branch_fix(code: Code, fact: Fact) -> Fix:
    """Rewrite the branch in whose condition the finding is, in the first way that does. Raises DeclinedError."""
    return first_of(
        code,
        fact,
        lambda code, _: checked(code),
        said_only_fix,
        empty_selection_fix,
        masked_fix,
        break_fix,
        where_fix,
        cond_fix,
        write_fix,
        return_fix,
        chosen_function_fix,
        unread_fix,
    )


def unread_fix(code: Code, _: Fact) -> Fix:
    """Keep the condition a tensor that a branch asks, where it was read: `bad = t.any().item()`, `if bad:`.

    Raises:
        DeclinedError: it is not a variable that is assigned once, from what is read of a tensor.
    """
    branch = branch_of(code)
    test = branch.subject if isinstance(branch, ast.Match) else branch.test
    read = (n for n in ast.walk(test) if isinstance(n, ast.Name) and getattr(scalar(code, n), "kind", "") == "bool")
    name = next(read, None)
    if name is None:
        raise InapplicableError("the condition does not test a variable that holds a bool")
    call = written(code, name)
    given = _read_by(code, call)
    held = None if given is None else tensor(code, given)
    if given is None or held is None:
        raise DeclinedError("it is not known which tensor the condition is read from")
    kept = code.concrete(given) if is_scalar(code, given) else code.make("{truth}.reshape(())", truth=given)
    here = code.after(analysed([templates.statement("{name} = {kept}", name=name.id, kept=kept)]))
    return code.fix(MESSAGE, code.replace(call, kept), *choice(here, branch).edits, safe=False)


def _read_by(code: Code, node: ast.expr) -> ast.expr | None:
    """`t` of `t.item()` and `bool(t)`."""
    if not isinstance(node, ast.Call):
        return None
    if operation(code, node) == "item" and isinstance(node.func, ast.Attribute):
        return node.func.value
    return node.args[0] if builtin(code, node) == "bool" and len(node.args) == 1 else None


def condition_fix(code: Code, fact: Fact) -> Fix:
    """Rewrite the statement whose condition the finding is in, or make that a tensor. Raises DeclinedError."""
    return first_of(code, fact, while_fix, branch_fix, truth_fix)


def truth_fix(code: Code, _: Fact) -> Fix:
    """Make a tensor of the truth that Python asks for; where it is asked in a branch, make that a choice.

    Raises:
        DeclinedError: the truth is needed for something else.
    """
    outer = _outermost(code)
    try:
        branch_of(code)
    except DeclinedError:
        pass
    else:
        raise DeclinedError("the branch cannot test a tensor")
    statement = code.tree.statement(outer)
    if isinstance(statement, (ast.While, ast.Assert)) and statement.test is outer:
        raise DeclinedError("the statement needs a Python bool")
    if any(_is_key(code, use) for use in (outer, *_reads(code, statement, outer))):
        raise DeclinedError("the truth is a key, an index or an item of a set")
    value = _value(code, outer)
    edits = [code.replace(outer, value)]
    if isinstance(statement, ast.Assign) and statement.value is outer and isinstance(statement.targets[0], ast.Name):
        name = statement.targets[0].id
        new = analysed([templates.statement("{name} = {value}", name=name, value=value)])
        for branch, behind in _branches_by(code, statement, name):
            edits += choice(code.after([*new, *behind]), branch).edits
    return code.fix(MESSAGE, *edits, safe=False)


def _outermost(code: Code) -> ast.expr:
    """The expression around the finding that is nothing but a condition made of it."""
    node: ast.expr = code.expression
    while True:
        around = code.tree.parents[node]
        negates = isinstance(around, ast.UnaryOp) and isinstance(around.op, (ast.Not, ast.Invert))
        chains = isinstance(around, ast.Compare) and len(around.ops) > 1
        if negates or chains or isinstance(around, ast.BoolOp) or _asks(code, around, node):
            assert isinstance(around, ast.expr)
            node = around
        else:
            return node


def _reads(code: Code, statement: ast.stmt, value: ast.expr) -> list[ast.expr]:
    """Where the variable is read that a statement assigns a value to."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) if statement.value is value:
            scope = code.tree.function(statement) or code.tree.root
            return [n for n in code.tree.contents(scope).named(name) if isinstance(n.ctx, ast.Load)]
    return []


def _is_key(code: Code, node: ast.expr) -> bool:
    """Whether Python looks something up by a value, which a tensor is not equal to: `table[c]`, `{c}`, `c in seen`."""
    around = code.tree.parents[node]
    match around:
        case ast.Subscript():
            return around.slice is node and tensor(code, around.value) is None
        case ast.Set():
            return True
        case ast.Dict():
            return node in around.keys
        case ast.Compare(ops=[ast.In() | ast.NotIn()]):
            return around.left is node
        case ast.Call(func=ast.Attribute(attr="get" | "setdefault" | "pop" | "add" | "index" | "count")):
            return around.args[:1] == [node]
    return False


def _asks(code: Code, call: ast.AST, node: ast.expr) -> bool:
    """Whether a call asks what a node holds for its truth."""
    return isinstance(call, ast.Call) and call.args == [node] and builtin(code, call) in {"bool", "any", "all"}


def _value(code: Code, node: ast.expr) -> Expression:
    """The value of a condition. Python's `and` and `or` give one of their operands, not only a truth."""
    if isinstance(node, ast.BoolOp) and not all(_is_bool(code, value) for value in node.values):
        return _chosen(code, node).source
    return tensor_condition(code, node).tensor


def _chosen(code: Code, node: ast.expr) -> Term:
    """The operand that `and` and `or` give: `c and a or b` is `a` where `c` holds, if `a` is not zero."""
    if not isinstance(node, ast.BoolOp):
        return term(code, node, {})
    *others, last = node.values
    found = _chosen(code, last)
    for other in reversed(others):
        condition, value = tensor_condition(code, other), _chosen(code, other)
        ways = (value, found) if isinstance(node.op, ast.Or) else (found, value)
        found = choose(code, condition, *ways)
    return found


def _is_bool(code: Code, node: ast.expr) -> bool:
    """Whether an operand may be a truth, and is no other number or object for certain."""
    held = tensor(code, node)
    return held.kind == "bool" if held is not None else not any(map(_is_other, options(code.value(node))))


def _is_other(value: Value) -> bool:
    if isinstance(value, Const):
        return not isinstance(value.value, bool)
    if isinstance(value, Scalar):
        return value.kind in {"int", "float"}
    return isinstance(value, Python) and value.type not in {"bool", None}


def _branches_by(code: Code, statement: ast.stmt, name: str) -> Iterator[tuple[ast.If | ast.IfExp, list[ast.stmt]]]:
    """The branches behind an assignment that ask a variable for its truth, and the statements before each."""
    tree = code.tree
    block, first = tree.block(statement), tree.index(statement)
    found: list[tuple[int, ast.If | ast.IfExp]] = []
    for node in tree.once(_branches, tree.parents[statement]).get(name, ()):
        other: ast.AST = node
        while tree.parents[other] is not tree.parents[statement]:
            other = tree.parents[other]
        if isinstance(other, ast.stmt) and tree.block(other) is block and tree.index(other) > first:
            found.append((tree.index(other), node))
    for index, node in sorted(found, key=itemgetter(0)):
        if isinstance(node, ast.If) and node is not block[index]:
            raise DeclinedError("a nested branch tests the variable")
        yield node, block[first + 1 : index]


def _branches(around: ast.AST) -> dict[str, list[ast.If | ast.IfExp]]:
    """The branches below a node, by the variables in their conditions."""
    found: dict[str, list[ast.If | ast.IfExp]] = {}
    for node in ast.walk(around):
        if isinstance(node, (ast.If, ast.IfExp)) and node is not around:
            for name in names_in(node.test):
                found.setdefault(name, []).append(node)
    return found
