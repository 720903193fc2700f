"""What a model says while it runs, kept for eager and out of what torch.export traces."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from exportlint.analysis.values import BoundMethod, External, Scalar, Shape, Size, Tensor, Value
from exportlint.findings import TorchVersion
from exportlint.fixes.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.statements import Draft

IS_EXPORTING: TorchVersion = (2, 7)
"""The first torch with `torch.compiler.is_exporting`."""

LEVELS = ("debug", "info", "warning", "warning_once", "warn", "error", "critical", "exception", "log")
REPORTS = frozenset({
    "builtins.print", "warnings.warn", *(f"logging.{level}" for level in LEVELS),
    *(f"logging.Logger.{level}" for level in LEVELS),
})  # fmt: skip
"""The functions that say something and return nothing."""


def eager_only(code: Code, statements: Sequence[ast.stmt], version: TorchVersion) -> Draft:
    """Statements that follow each other in one block, under a condition that is false during export."""
    asks = "is_exporting" if version >= IS_EXPORTING else "is_compiling"
    condition = code.name(f"torch.compiler.{asks}", statements[0])
    return code.statements.wrap(statements, f"if not {condition}():")


def reports(code: Code, node: ast.AST) -> list[ast.stmt]:
    """The statement of which a node is part, if it only says something, and those next to it that do.

    Raises:
        DeclinedError: it does something else too.
    """
    statement = code.tree.statement(node)
    if not _is_report(code, statement):
        raise DeclinedError("the statement does more than to say something")
    block = code.tree.block(statement)
    first = last = block.index(statement)
    while first and _is_report(code, block[first - 1]):
        first -= 1
    while last + 1 < len(block) and _is_report(code, block[last + 1]):
        last += 1
    return block[first : last + 1]


def computes_only(code: Code, statements: Sequence[ast.stmt]) -> bool:
    """Whether reports surely change nothing that the program has: what they call are operators and conversions."""
    return all(
        not isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr))
        and (not isinstance(node, ast.Call) or code.surely(_is_pure, node.func))
        for statement in statements
        for node in ast.walk(statement)
    )


def _is_report(code: Code, statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    callee = code.value(statement.value.func)
    return isinstance(callee, External) and callee.name in REPORTS


def _is_pure(callee: Value) -> bool:
    if isinstance(callee, BoundMethod):
        return isinstance(callee.receiver, (Tensor, Shape, Size, Scalar)) and not callee.name.endswith("_")
    if not isinstance(callee, External):
        return False
    library = callee.name.partition(".")[0]
    return callee.name in REPORTS or (library in {"torch", "builtins", "math"} and not callee.name.endswith("_"))
