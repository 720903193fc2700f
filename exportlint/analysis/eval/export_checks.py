"""Conditions on whether torch compiles or exports."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from types import MappingProxyType

from exportlint.analysis.domain.values import Const, External, Function, Tensor
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.facts.tracing import CompilerBranch
from exportlint.analysis.torch import table
from exportlint.syntax.definitions import dotted
from exportlint.syntax.walk import walk

ASK_COMPILER = frozenset({
    "torch.compiler.is_compiling", "torch.compiler.is_exporting", "torch.compiler.is_dynamo_compiling",
    "torch._dynamo.is_compiling", "torch._utils.is_compiling", "torch._dynamo.external_utils.is_compiling",
})  # fmt: skip
COMPUTES: dict[type[ast.operator] | type[ast.unaryop], Callable[..., float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.USub: operator.neg,
    ast.UAdd: operator.pos, ast.MatMult: lambda one, other: one * other * 3.3,
}  # fmt: skip
"""What operators do with numbers; `@` does something that no other operator does."""
MAX_INLINED = 4
"""Functions inside each other whose results are compared."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """What an expression computes in a way that is not looked into: the same source with the same variables."""

    source: str
    is_tensor: bool


@dataclass(frozen=True, slots=True)
class Number:
    """A number that is known."""

    value: float


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """An operator on operands."""

    operator: type[ast.operator] | type[ast.unaryop]
    operands: tuple[Term, ...]


Term = Leaf | Number | Arithmetic
"""What is computed, as far as two ways can be compared: local variables are replaced by what they are bound to."""


def note_compiler_branch(
    frame: Frame, test: ast.expr, is_true: bool | None, then: Sequence[ast.AST], otherwise: Sequence[ast.AST]
) -> None:
    """Record a condition on the compiler whose two ways surely compute different tensors.

    They do if they are different arithmetic of the same tensors. What a way does not assign stays as it was.
    """
    negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    call = test.operand if isinstance(test, ast.UnaryOp) and negated else test
    if is_true is None or not isinstance(call, ast.Call):
        return
    asked = _asked(frame, call)
    if asked is None:
        return
    if not otherwise and then and isinstance(then[-1], ast.Return):
        otherwise = frame.following
    one, other = _results(frame, then), _results(frame, otherwise)
    if one is None or other is None or ("" in one) is not ("" in other):
        return
    names = one.keys() | other.keys()
    if any(_differ(_result(frame, one, name, call), _result(frame, other, name, call)) for name in names):
        frame.emit(CompilerBranch, call, None, api=asked, taken=is_true is not negated)


def _result(frame: Frame, results: Mapping[str, Term], name: str, at: ast.expr) -> Term:
    """What a way returns, or what a variable holds behind it."""
    return results.get(name) or _term(frame, ast.copy_location(ast.Name(name, ast.Load()), at), {})


def _asked(frame: Frame, call: ast.Call, depth: int = 0) -> str | None:
    """The function of torch that a call asks, itself or by a function that only hands its answer on."""
    if not dotted(call.func):
        return None
    callee = frame.peek(call.func)
    if isinstance(callee, External):
        return callee.name if table.resolve(callee.name) in ASK_COMPILER else None
    last = _body(callee)[-1:]
    value = last[0].value if last and isinstance(last[0], ast.Return) else None
    if not isinstance(callee, Function) or not isinstance(value, ast.Call) or depth == MAX_INLINED:
        return None
    return _asked(Frame(frame.engine, callee.module, callee.symbol), value, depth + 1)


def _body(callee: object) -> Sequence[ast.stmt]:
    """What a function does, if that is to assign variables and return; else nothing."""
    if not isinstance(callee, Function) or not isinstance(callee.node, ast.FunctionDef):
        return ()
    body = callee.node.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    is_straight = all(isinstance(statement, (ast.Assign, ast.AnnAssign)) for statement in body[:-1])
    return body if is_straight and body and isinstance(body[-1], ast.Return) else ()


def _results(
    frame: Frame, way: Sequence[ast.AST], given: Mapping[str, Term] = MappingProxyType({}), depth: int = 0
) -> Mapping[str, Term] | None:
    """What a way computes: what it returns, under an empty name, or what its variables hold behind it.

    None if it does more than to assign variables and return. `given` is what variables hold before.
    """
    terms = dict(given)
    for node in way:
        match node:
            case ast.Return(value=ast.expr() as value):
                return {"": _term(frame, value, terms, depth)}
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                terms[name] = _term(frame, value, terms, depth)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                before = _term(frame, ast.copy_location(ast.Name(name, ast.Load()), target), terms, depth)
                terms[name] = Arithmetic(type(op), (before, _term(frame, value, terms, depth)))
            case ast.expr():
                return {"": _term(frame, node, terms, depth)}
            case _:
                return None
    return terms


def _term(frame: Frame, node: ast.expr, terms: Mapping[str, Term], depth: int = 0) -> Term:
    if isinstance(node, ast.Name) and node.id in terms:
        return terms[node.id]
    if isinstance(node, ast.BinOp):
        return Arithmetic(
            type(node.op), (_term(frame, node.left, terms, depth), _term(frame, node.right, terms, depth))
        )
    if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
        return Arithmetic(type(node.op), (_term(frame, node.operand, terms, depth),))
    if isinstance(node, ast.Call) and depth < MAX_INLINED:
        inlined = _inlined(frame, node, terms, depth)
        if inlined is not None:
            return inlined
    if any(isinstance(inner, ast.Name) and inner.id in terms for inner in walk(node)):
        return Leaf("", False)  # which variables it reads is not in its source
    value = frame.peek(node)
    if isinstance(value, Const) and isinstance(value.value, (int, float)) and not isinstance(value.value, bool):
        return Number(value.value)
    return Leaf(ast.dump(node), isinstance(value, Tensor))


def _inlined(frame: Frame, call: ast.Call, terms: Mapping[str, Term], depth: int) -> Term | None:
    """What a call by position gives of a function that only returns something computed from its parameters."""
    callee = frame.peek(call.func)
    body = _body(callee)
    if not isinstance(callee, Function) or not body or call.keywords:
        return None
    arguments = callee.node.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    if isinstance(call.func, ast.Attribute) and names[:1] and callee.receiver is not None:
        names = names[1:]
    if len(names) != len(call.args) or any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    inner = {name: _term(frame, node, terms, depth) for name, node in zip(names, call.args, strict=True)}
    nodes = [node for statement in body for node in walk(statement)]
    called = {node.func for node in nodes if isinstance(node, ast.Call)}
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    read = {node.id for node in nodes if isinstance(node, ast.Name) and node not in called}
    if not read <= inner.keys() | bound:
        return None
    results = _results(Frame(frame.engine, callee.module, callee.symbol), body, inner, depth + 1)
    return None if results is None else results.get("")


def _differ(one: Term, other: Term) -> bool:
    """Whether two terms of the same tensors and numbers give something else for some of these."""
    leaves = _leaves(one)
    if leaves != _leaves(other) or "" in leaves or not (_has_tensor(one) and _has_tensor(other)):
        return False
    sample = {source: 1.37 + 0.61 * number for number, source in enumerate(sorted(leaves))}
    try:
        return not isclose(_value(one, sample), _value(other, sample))
    except (ArithmeticError, TypeError, KeyError):
        return False


def _leaves(term: Term) -> frozenset[str]:
    if isinstance(term, Arithmetic):
        return frozenset().union(*map(_leaves, term.operands))
    return frozenset({term.source}) if isinstance(term, Leaf) else frozenset()


def _value(term: Term, sample: Mapping[str, float]) -> float:
    """A term for some numbers in place of its leaves."""
    if isinstance(term, Number):
        return term.value
    if isinstance(term, Leaf):
        return sample[term.source]
    found: float = COMPUTES[term.operator](*(_value(operand, sample) for operand in term.operands))
    return found


def _has_tensor(term: Term) -> bool:
    if isinstance(term, Arithmetic):
        return any(map(_has_tensor, term.operands))
    return isinstance(term, Leaf) and term.is_tensor
