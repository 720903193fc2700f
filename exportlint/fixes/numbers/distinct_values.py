"""What is asked of the set of the numbers in a tensor, asked of its distinct elements.

`len(set(t.tolist()))` becomes `t.unique().numel()`, and `torch.tensor(sorted(set(t.tolist())))` `t.unique()`.

Never safe: a number that the program counts stands where Python's was, and a list without order gets ascending order.
"""

from __future__ import annotations

import ast

from exportlint.analysis.facts import Fact
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import InapplicableError
from exportlint.fixes.proofs.observed_values import builtin, operation, set_of_elements, tensor


def distinct_values_fix(code: Code, _: Fact) -> Fix:
    """Use `unique` instead of a set. Raises InapplicableError if the set is used in other ways."""
    asked = code.expression
    inside = asked.args if isinstance(asked, ast.Call) else []
    made = next(
        (n for n in (asked, *inside, *code.tree.ancestors(asked)) if set_of_elements(code, n) is not None), None
    )
    held = set_of_elements(code, made) if made is not None else None
    if not isinstance(made, ast.Call) or held is None or tensor(code, held) is None:
        raise InapplicableError("it is not a set of the elements of a tensor")
    around: ast.AST = code.tree.parents[made]
    if isinstance(around, ast.Call) and builtin(code, around) == "len":
        new = code.make("{held}.unique().numel()", held=held)
        return code.fix("Count the distinct elements of the tensor", code.replace(around, new), safe=False)
    if isinstance(around, ast.Call) and builtin(code, around) in {"sorted", "list"} and not around.keywords:
        around = code.tree.parents[around]
    is_tensor = isinstance(around, ast.Call) and operation(code, around) in {"tensor", "as_tensor"}
    if not isinstance(around, ast.Call) or not is_tensor or len(around.args) != 1 or around.keywords:
        raise InapplicableError("the set is used as a whole")
    return code.fix(
        "Take the distinct elements, in ascending order",
        code.replace(around, code.make("{held}.unique()", held=held)),
        safe=False,
    )
