"""Calls that tell people something, and compute nothing that anybody takes."""

from __future__ import annotations

import ast

REPORTS = frozenset({
    "print", "write", "flush", "log", "debug", "info", "info_once", "warning", "warning_once", "warning_advice", "warn",
    "warn_once", "error", "critical", "exception",
})  # fmt: skip
"""Functions and methods that tell people something, where they stand as statements: `torch.log(x)` computes a value."""


def reports(node: ast.AST, parent: ast.AST | None) -> bool:
    """Whether a node is a call that prints, logs or warns; `parent` is the node around it."""
    if not isinstance(node, ast.Call) or not isinstance(parent, ast.Expr):
        return False
    callee = node.func
    return (callee.attr if isinstance(callee, ast.Attribute) else getattr(callee, "id", "")) in REPORTS
