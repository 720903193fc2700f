"""opt_einsum, and tensorly, whose `einsum` can be told to use it."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import UNKNOWN, External, Function, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.instances import note_call
from exportlint.analysis.library_functions import function, functions

functions("opt_einsum.contract opt_einsum.contract_expression opt_einsum.contract_path", strict="refuses")
functions("opt_einsum.contract.contract opt_einsum.contract.contract_expression", strict="refuses")
functions("opt_einsum.contract.contract_path", strict="refuses")

PLUGIN = "use_opt_einsum"


@function("tensorly.einsum tensorly.backend.einsum")
def _einsum(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`tl.einsum(…)` plans with opt_einsum once a file has called `use_opt_einsum()`."""
    if any(_switches(frame, statement) for statement in frame.module.tree.body):
        note_call(frame, "opt_einsum.contract_expression", arguments, node)
    return UNKNOWN


def _switches(frame: Frame, statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    called = statement.value.func
    name = called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""
    return name == PLUGIN and any(_is_plugin(option) for option in options(frame.peek(called)))


def _is_plugin(value: Value) -> bool:
    if isinstance(value, Function):
        return value.module.name == "tensorly.plugins"
    return value == External(f"tensorly.plugins.{PLUGIN}")
