"""How often expressions are evaluated, and whether more often does no harm, by their form.

`runs_once` asks about the place of an expression, `is_repeatable` about what it does.
"""

from __future__ import annotations

import ast

from exportlint.fixes.edit.tree import Tree

_SOMETIMES = (
    ast.IfExp, ast.BoolOp, ast.Lambda, ast.comprehension, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp
)  # fmt: skip


def runs_once(tree: Tree, node: ast.expr) -> bool:
    """Whether an expression is evaluated exactly once whenever its statement runs, and while that runs."""
    for around in tree.ancestors(node):
        if isinstance(around, ast.stmt):
            return not isinstance(around, ast.While)
        if isinstance(around, _SOMETIMES):
            return False
    return False


def is_repeatable(node: ast.expr) -> bool:
    """Whether an expression looks something up by its form: `x`, `self.size`, `x.shape[0]`."""
    if isinstance(node, (ast.Attribute, ast.UnaryOp)):
        return is_repeatable(node.value if isinstance(node, ast.Attribute) else node.operand)
    if isinstance(node, ast.Subscript):
        return is_repeatable(node.value) and is_repeatable(node.slice)
    return isinstance(node, (ast.Name, ast.Constant))
