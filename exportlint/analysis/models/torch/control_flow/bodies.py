"""Functions that an operator runs: what they do to what is not theirs, and what they return."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.operand_forms import Form
from exportlint.analysis.domain.values import (
    UNKNOWN,
    Const,
    Dict,
    Function,
    Origin,
    Python,
    Scalar,
    Sequence,
    Size,
    Tensor,
    Tuple,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.recursion import MAX_UNROLLED
from exportlint.analysis.eval.tensor_results import result
from exportlint.analysis.facts import Fact, Mutation
from exportlint.analysis.facts.control_flow import (
    BodyAlias,
    BodyCapture,
    BodyWrite,
    Operator,
    OuterRead,
    OuterWrite,
)


@dataclass(frozen=True, slots=True)
class Site:
    """The call of an operator. `compared` are the tensors and numbers that have to be alike, pair by pair."""

    frame: Frame
    operator: Operator
    node: ast.AST
    compared: tuple[tuple[Value, Value], ...] = ()

    def comparing(self, one: Value, other: Value) -> Site:
        """The same for what two functions give, or what a function is given and gives."""
        pairs = list(leaves(one)), list(leaves(other))
        return replace(self, compared=tuple(zip(*pairs, strict=True)) if len(pairs[0]) == len(pairs[1]) else ())


def run(site: Site, role: str, function: Value, operands: tuple[Value, ...]) -> Value:
    """What a function returns; what it does that the operator does not allow becomes a fact of the operator's call.

    Of a function that is being run too often it is not known. Each run is a region of its own, so none stands for a
    recursive one, and two branches that recur would double the runs at each level.
    """
    frame, engine = site.frame, site.frame.engine
    if isinstance(function, Function) and engine.active.count(function.node) >= MAX_UNROLLED:
        return UNKNOWN
    # TorchDynamo traces it in either mode
    with engine.collecting(frame.heap, reports_facts=False) as effects, engine.in_region("strict") as region:
        value = frame.call(function, Arguments(operands), site.node)
    kept = {key: fact for key, fact in effects.all_facts().items() if not _claim(site, role, fact, region)}
    engine.effects.keep(effects, kept)
    _note_aliases(site, role, function, value, region)
    return value


def _claim(site: Site, role: str, fact: Fact, region: int) -> bool:
    """Whether a fact about a function is one about the operator, as which it is recorded instead."""
    emit = partial(site.frame.emit, operator=site.operator, role=role)
    if isinstance(fact, Mutation) and fact.target.region != region:
        emit(BodyWrite, site.node, fact.target, api=fact.api, what=owner(fact.target), is_tensor=True)
    elif isinstance(fact, OuterWrite):
        emit(BodyWrite, site.node, api=fact.api, what=f"`{fact.name}`", is_tensor=False)
    elif isinstance(fact, OuterRead):
        emit(BodyCapture, site.node, fact.operand, name=fact.name, operand=fact.operand)
    else:
        return False
    return True


OWNERS = {
    Origin.INPUT: "an input",
    Origin.PARAMETER: "a parameter",
    Origin.BUFFER: "a buffer",
    Origin.ATTRIBUTE: "a tensor of the module",
    Origin.GLOBAL: "a global tensor",
    Origin.FRESH: "a tensor from the enclosing scope",
}


def owner(tensor: Tensor) -> str:
    """Whose tensor it is."""
    return OWNERS[tensor.origin] if tensor.form is None else "an operand"


def _note_aliases(site: Site, role: str, function: Value, value: Value, region: int) -> None:
    emit = partial(site.frame.emit, operator=site.operator, role=role)
    for leaf in leaves(value):
        found = options(leaf)
        tensor = next((o for o in found if isinstance(o, Tensor)), None)
        if tensor is not None and all(isinstance(o, Tensor) and o.region != region for o in found):
            emit(BodyAlias, site.node, tensor, what=owner(tensor))
            return
    twice = returned_twice(function)
    if twice is not None and any(isinstance(leaf, Tensor) for leaf in leaves(value)):
        emit(BodyAlias, site.node, None, what=f"`{twice}`", is_own=True)


def returned_twice(function: Value) -> str | None:
    """The variable that stands twice in the tuple that a function returns."""
    for names in returned_names(function):
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            return twice
    return None


def returned_names(function: Value) -> Iterator[list[str]]:
    """The variables that a function returns, or the tuples that it returns hold, statement by statement."""
    if not isinstance(function, Function):
        return
    node = function.node
    statements = [] if isinstance(node, ast.Lambda) else node.body
    returned = [statement.value for statement in statements if isinstance(statement, ast.Return)]
    for expression in [node.body] if isinstance(node, ast.Lambda) else returned:
        if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Lambda):
            expression = expression.func.body
        elements = [expression]
        if isinstance(expression, (ast.Tuple, ast.List)):
            elements = list(expression.elts)
        elif isinstance(expression, ast.Dict):
            elements = list(expression.values)
        yield [element.id for element in map(_viewed, elements) if isinstance(element, ast.Name)]


def _viewed(node: ast.expr | None) -> ast.expr | None:
    """`z`, where an expression is `z.view(-1)`, `z.T`, or another view of it."""
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in VIEW_METHODS:
            node = node.func.value
        elif isinstance(node, ast.Attribute) and node.attr in {"T", "mT", "H", "mH", "data", "real"}:
            node = node.value
        else:
            return node


VIEW_METHODS = frozenset({
    "view", "transpose", "permute", "t", "squeeze", "unsqueeze", "expand", "view_as", "swapaxes", "movedim", "detach",
    "narrow", "select", "diagonal", "unfold",
})  # fmt: skip
"""Methods that surely give a view, whatever the strides of the tensor are."""


def leaves(value: Value) -> Iterator[Value]:
    """What a value holds that is not a container of known content."""
    if isinstance(value, Tuple):
        for item in value.items:
            yield from leaves(item)
    elif isinstance(value, Dict) and value.rest is None:
        for _, item in value.entries:
            yield from leaves(item)
    else:
        yield value


def as_operand(value: Value, index: list[int]) -> Value:
    """An operand as a function gets it. `index` counts the tensors among the operands."""
    if isinstance(value, Tuple):
        return replace(value, items=tuple(as_operand(item, index) for item in value.items))
    if isinstance(value, Dict):
        return Dict(tuple((key, as_operand(item, index)) for key, item in value.entries), value.rest)
    if isinstance(value, Tensor):
        index[0] += 1
        return replace(value, form=Form(index[0]), known=False, assumed=False, optional=False, data=None)
    return value


def operands_of(value: Value) -> Value:
    """The operands as functions get them."""
    return as_operand(value, [-1])


def made(site: Site, value: Value) -> Value:
    """What an operator gives where its function returned `value`: new tensors, and numbers that tracing does not know.

    What is not known is taken for a tensor, as that is what operators return.
    """
    frame, node = site.frame, site.node
    if isinstance(value, Tuple):
        return Tuple(tuple(made(site, item) for item in value.items), value.mutable)
    if isinstance(value, Dict):
        return Dict(tuple((key, made(site, item)) for key, item in value.entries), value.rest)
    if isinstance(value, Sequence):
        return value
    if isinstance(value, (Scalar, Size)) or (isinstance(value, (Const, Python)) and is_int(value)):
        trail = frame.trail(node, f"`{{}}` is a number that `{site.operator}` returns")
        return Scalar("int", trail=trail)
    kinds = {o.kind if isinstance(o, Tensor) else None for o in options(value)}
    return result(frame, node, site.operator, (value,), kinds.pop() if len(kinds) == 1 else None)


def is_int(value: Value) -> bool:
    """Whether it is a Python int that is not a bool."""
    if isinstance(value, Const):
        return isinstance(value.value, int) and not isinstance(value.value, bool)
    return value == Python("int")
