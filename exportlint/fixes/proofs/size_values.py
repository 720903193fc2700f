"""What a fix has to know of sizes: whether they are integers, and no less than 0.

`is_size`, `is_whole` and `is_float` ask for the kind of a number, `is_natural` for its sign.
"""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import Const, External, Python, Scalar, Shape, Size, Value
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.tree import binding
from exportlint.fixes.proofs.stated_numbers import stated


def is_size(value: Value) -> bool:
    """Whether a value is a size, or a number that was worked out from sizes."""
    return isinstance(value, Size) and value.kind != "str"


def is_whole(value: Value) -> bool:
    """Whether a value is a size that no division made a float."""
    return isinstance(value, Size) and value.kind == "int"


def is_number(value: Value) -> bool:
    """Whether a value is a number that the code states."""
    return isinstance(value, Const) and isinstance(value.value, (int, float)) and not isinstance(value.value, bool)


def is_float(value: Value) -> bool:
    """Whether a value is a float of Python."""
    if isinstance(value, (Size, Scalar)):
        return value.kind == "float"
    return value == Python("float") or (isinstance(value, Const) and isinstance(value.value, float))


def is_natural(code: Code, node: ast.expr) -> bool:
    """Whether a number is at least 0, whatever the sizes."""
    if isinstance(node, ast.BinOp):
        grows = isinstance(node.op, (ast.Add, ast.Mult, ast.FloorDiv, ast.Div, ast.Mod, ast.Pow))
        return grows and is_natural(code, node.left) and is_natural(code, node.right)
    if isinstance(node, ast.Subscript):
        return isinstance(code.value(node.value), Shape)
    if isinstance(node, ast.Call):
        is_count = isinstance(node.func, ast.Attribute) and node.func.attr in {"size", "numel", "dim"}
        return (is_count and is_size(code.value(node))) or code.value(node.func) == External("builtins.len")
    value = code.value(node)
    if isinstance(value, Size) and isinstance(node, ast.Name):
        bindings = _bindings(code, node)
        return bool(bindings) and all(_gives_natural(code, node.id, binding) for binding in bindings)
    number = stated(code, node)
    return number is not None and number >= 0


def _bindings(code: Code, name: ast.Name) -> list[ast.AST]:
    """The statements, or parts of them, that give a variable its values."""
    function = code.tree.function(name)
    stored = [node for node in ast.walk(function or code.tree.root) if binding(node) == name.id]
    return [code.tree.statement(node) for node in stored]


def _gives_natural(code: Code, name: str, statement: ast.AST) -> bool:
    if not isinstance(statement, ast.Assign):
        return False
    is_unpacked = not any(isinstance(target, ast.Name) and target.id == name for target in statement.targets)
    if is_unpacked:
        return isinstance(code.value(statement.value), Shape)
    is_itself = any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(statement.value))
    return not is_itself and is_natural(code, statement.value)
