"""`one_hot` of as many classes as tensor data say, as a comparison with all classes.

`F.one_hot(y)` becomes `(y.unsqueeze(-1) == torch.arange(y.max().item() + 1, device=y.device)).to(torch.int64)`, and
`F.one_hot(y, n)` of a number `n` that is read from a tensor the same with `torch.arange(n)`.

Never safe: a class that is negative or too large matches none, where `one_hot` refuses it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from exportlint.analysis.facts import Fact
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import dotted
from exportlint.fixes.errors import DeclinedError, InapplicableError
from exportlint.fixes.export_calls.calls import argument
from exportlint.fixes.numbers.read_numbers import integer
from exportlint.fixes.proofs.observed_values import builtin, operation, tensor
from exportlint.fixes.proofs.purity import require_first

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression


def one_hot_fix(code: Code, _: Fact) -> Fix:
    """Compare with the classes, in the call of `one_hot` in which the finding is.

    Raises:
        DeclinedError: it is in none, or what is encoded cannot be evaluated twice.
    """
    node = code.node(ast.expr)
    call = next((n for n in (node, *code.tree.ancestors(node)) if operation(code, n) == "one_hot"), None)  # type: ignore[arg-type]
    if not isinstance(call, ast.Call):
        raise InapplicableError("it is not in a call of `one_hot`")
    given, count = argument(call, 0, "input"), argument(call, 1, "num_classes")
    given = given or argument(call, 0, "tensor")
    if given is None or any(k.arg not in {"input", "tensor", "num_classes"} for k in call.keywords):
        raise DeclinedError("not all arguments are known")
    edits = []
    indices = code.concrete(given)
    if not isinstance(given, ast.Name):
        statement = code.tree.statement(call)
        require_first(code, statement, given)
        indices = dotted(code.fresh("indices", call))
        first = code.statement("{indices} = {value}", indices=indices, value=given)
        edits.append(code.statements.insert_before(statement, [first]))
    limit = code.make("{indices}.max().item() + 1", indices=indices) if count is None else _limit(code, count)
    encoded = code.make(
        "({indices}.unsqueeze(-1) == {arange}({limit}, device={indices}.device)).to({int64})",
        indices=indices,
        limit=limit,
        arange=code.name("torch.arange"),
        int64=code.name("torch.int64"),
    )
    if count is None:
        message = "Compare with the classes up to the largest one; a negative class matches none"
    else:
        message = "Compare with the classes; one that is out of range matches none"
    return code.fix(message, *edits, code.replace(call, encoded), safe=False)


def _limit(code: Code, count: ast.expr) -> Expression:
    """The number of classes, with `.item()` where Python converts a tensor."""
    read: dict[ast.expr, Expression] = {}
    for part in ast.walk(count):
        if builtin(code, part) == "int" and isinstance(part, ast.Call) and len(part.args) == 1:  # type: ignore[arg-type]
            held = tensor(code, part.args[0])
            if held is not None:
                read[part] = integer(code, part.args[0], held)[0]
    if not read and tensor(code, count) is not None:
        return code.make("{count}.item()", count=count)
    return code.concrete(count, read)
