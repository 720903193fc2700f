"""EXP305 module-move: a module is moved or cast while it is traced."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.facts import ModuleChange
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, always, before
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.parentheses import source
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.state.constructor import Constructor
from exportlint.registry import rule

CLAIM = Claim(non_strict={(2, 4): None, (2, 9): ERROR}, strict=before((2, 13)))
CAST = Claim(non_strict={(2, 4): WARNING, (2, 9): ERROR}, strict=always(ERROR))

DTYPES = ("half", "float", "double", "bfloat16")


@rule("EXP305", "module-move", ModuleChange)
def module_move(fact: ModuleChange, context: Context) -> Iterator[Report]:
    """`self.linear.to(x.device)(x)`, `self.head = self.head.float()`."""
    severity = context.severity(CAST if fact.casts else CLAIM)
    if severity is None or fact.guarded:
        return
    yield Report(
        severity,
        f"`.{fact.api}()` moves or casts a module during export",
        "move the module before export, or cast its input instead",
        fix=_fix,
    )


def _fix(code: Code) -> Fix:
    """Casts to a dtype that is known are for `__init__`; to where and what the input is, the caller has to move it."""
    call = code.node(ast.Call)
    if not isinstance(call.func, ast.Attribute) or isinstance(call.func.value, ast.Call):
        raise DeclinedError("the module is created where it is moved")
    module, statement = call.func.value, code.tree.statement(call)
    if (isinstance(statement, ast.Expr) and statement.value is call) or (
        isinstance(statement, ast.Assign) and [ast.unparse(t) for t in statement.targets] == [ast.unparse(module)]
    ):
        edits = [code.statements.replace([statement], [])]
    else:
        edits = [code.replace(call, module)]
    moved = source(code.concrete(call, {module: code.make("module")}))
    if not any(dtype in moved for dtype in DTYPES):
        return code.fix("Leave the move to the caller", *edits, safe=False)
    if not isinstance(module, ast.Attribute):
        raise DeclinedError("it is not an attribute")
    constructor = Constructor(code, module)
    for argument in (*call.args, *(k.value for k in call.keywords)):
        constructor.require_constant(argument)
    made = constructor.assignment(module.attr).value
    cast = code.concrete(call, {module: code.concrete(made)})
    return code.fix("Cast it in `__init__`", *edits, code.replace(made, cast), safe=False)
