"""Lists of numbers that are read from a tensor, of which code only takes single items, as the tensor.

`counts = n.tolist()` becomes `counts = n` where all else that is done with it is `counts[i]`, with an `i` that Python
knows.

Never safe: the items are tensors then, so that a condition on one is a condition on data, and what they are is decided
by the dtype of the tensor.
"""

from __future__ import annotations

import ast

from exportlint.analysis.facts import Fact
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import InapplicableError
from exportlint.fixes.proofs.observed_values import tensor


def kept_tensor_fix(code: Code, _: Fact) -> Fix:
    """Leave out the `tolist()` of the finding.

    Raises:
        InapplicableError: the list is used as a whole.
    """
    node = code.expression
    call = next((n for n in (node, *code.tree.ancestors(node)) if isinstance(n, ast.Call)), None)
    statement = code.tree.statement(node)
    match statement, call:
        case ast.Assign(targets=[ast.Name(id=name)], value=value), ast.Call(
            func=ast.Attribute(value=held, attr="tolist")
        ):
            if value is not call:
                raise InapplicableError("the list is not assigned to a variable")
        case _:
            raise InapplicableError("the list is not assigned to a variable")
    function = code.tree.function(statement)
    uses = [n for n in ast.walk(function or code.tree.root) if isinstance(n, ast.Name) and n.id == name]
    if tensor(code, held) is None or not all(_is_item(code, use) for use in uses if use is not statement.targets[0]):
        raise InapplicableError("the list is used as a whole")
    code.claim(name, statement)
    return code.fix("Keep the tensor: only single items of the list are used", code.replace(value, held), safe=False)


def _is_item(code: Code, use: ast.Name) -> bool:
    around = code.tree.parents[use]
    if not isinstance(around, ast.Subscript) or around.value is not use or not isinstance(around.ctx, ast.Load):
        return False
    return not isinstance(around.slice, (ast.Slice, ast.Tuple))
