"""EXP908 undeclared-mutation: a custom operator that writes to an argument and does not say so."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.facts.custom_ops import UndeclaredWrite
from exportlint.claims import INFO, WARNING, Claim, Context, Report
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.template import string
from exportlint.fixes.errors import DeclinedError
from exportlint.registry import rule

CLAIM = Claim(non_strict={(2, 4): WARNING, (2, 6): INFO}, strict={(2, 4): WARNING, (2, 6): INFO})


@rule("EXP908", "undeclared-mutation", UndeclaredWrite)
def undeclared_mutation(fact: UndeclaredWrite, context: Context) -> Iterator[Report]:
    """`x.add_(1)` in an operator with `mutates_args=()`."""
    severity = context.severity(CLAIM)
    if severity is not None:
        yield Report(
            severity,
            f"`{fact.api}` writes to an argument of `{fact.name}` that `mutates_args` does not list: "
            "a compiler may reorder or drop the write",
            "list the argument in `mutates_args`",
            fix=lambda code: _fix(code, fact),
        )


TEMPLATES: dict[type[ast.expr], str] = {ast.Tuple: "({*names},)", ast.List: "[{*names}]", ast.Set: "{{{*names}}}"}


def _fix(code: Code, fact: UndeclaredWrite) -> Fix:
    """Not safe: who calls the operator with a tensor that must not be written to gets an error."""
    kernel = code.tree.function(code.node(ast.AST))
    decorators = [d for d in kernel.decorator_list if isinstance(d, ast.Call)] if kernel is not None else []
    declared = [k.value for d in decorators for k in d.keywords if k.arg == "mutates_args"]
    if len(declared) != 1 or not isinstance(declared[0], (ast.Tuple, ast.List, ast.Set)) or not fact.argument:
        raise DeclinedError("the declaration of the operator is not written there")
    template = TEMPLATES[type(declared[0])]
    names = code.make(template, names=[*declared[0].elts, string(fact.argument)])
    edit = code.replace(declared[0], names)
    return code.fix(f"Declare the write to `{fact.argument}`", edit, safe=False)
