"""Calls that tell people something, and compute nothing that anybody takes."""

from __future__ import annotations

import ast
from functools import cache

from exportlint.analysis.library_functions import records


@cache
def _report_names() -> frozenset[str]:
    """What functions and methods are called that tell people something: the object of a method is often not known."""
    return frozenset(record.name.rpartition(".")[2] for record in records() if record.effect == "report")


def reports(node: ast.AST, parent: ast.AST | None) -> bool:
    """Whether a node is a call that prints, logs or warns; `parent` is the node around it.

    Only statements are: `torch.log(x)` computes a value.
    """
    return isinstance(parent, ast.Expr) and is_report(node)


def is_report(node: ast.AST) -> bool:
    """Whether a node calls something that is named as what prints, logs or warns."""
    if not isinstance(node, ast.Call):
        return False
    callee = node.func
    return (callee.attr if isinstance(callee, ast.Attribute) else getattr(callee, "id", "")) in _report_names()
