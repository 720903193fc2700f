"""Numbers that count from one to another without a tensor: `torch.arange(a, b).tolist()` becomes `list(range(a, b))`.

Never safe: bounds that are not integers are refused, and where the first number is the greater one, `range` gives none
and `torch.arange` raises.
"""

from __future__ import annotations

import ast

from exportlint.analysis.domain.trails import Route, Trail
from exportlint.analysis.domain.values import Const, Python, Scalar, Tensor, Value
from exportlint.analysis.facts import Conversion
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import InapplicableError
from exportlint.fixes.proofs.observed_values import operation


def range_numbers_fix(code: Code, fact: Conversion) -> Fix:
    """Make the numbers by `range` where the number comes out of `torch.arange`. Raises InapplicableError."""
    route = Route.of(fact.trail) if isinstance(fact.trail, Trail) else fact.trail
    for step in reversed(route.steps if route is not None else ()):
        if step.site.filename != code.module.filename:
            continue
        node = code.tree.at(step.site, ast.expr)
        for part in ast.walk(node) if node is not None else ():
            given = _arange(code, part)
            if given is not None:
                numbers = code.make("list(range({*given}))", given=given)
                assert isinstance(part, ast.expr)
                return code.fix("Count with `range`, without a tensor", code.replace(part, numbers), safe=False)
    raise InapplicableError("the number does not come from `torch.arange`")


def _arange(code: Code, node: ast.AST) -> list[ast.expr] | None:
    """The arguments of `torch.arange(…).tolist()`, if they are integers."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "tolist":
        return None
    made = node.func.value
    if not isinstance(made, ast.Call) or operation(code, made) != "arange" or not 1 <= len(made.args) <= 3:
        return None
    if any(keyword.arg not in {"device"} for keyword in made.keywords):
        return None
    return made.args if all(_is_integer(code.value(argument)) for argument in made.args) else None


def _is_integer(value: Value) -> bool:
    """Whether a value may be an integer that Python has: a rank is not known to be one."""
    if isinstance(value, Const):
        return type(value.value) is int
    return not isinstance(value, (Tensor, Scalar)) and not (isinstance(value, Python) and value.type == "float")
