"""The messages of errors as constant strings, which are all that a check in a program can say.

`message_of` takes the text of an expression, `message_of_raise` that of a raised exception; what is computed becomes
`...`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from exportlint.fixes.edit.code import Code

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression

_FIELD = re.compile(r"\{[^{}]*\}")
_CONVERSION = re.compile(r"%[-#0 +]*\d*(?:\.\d+)?[a-zA-Z]")


def message_of(code: Code, node: ast.expr | None, before: Sequence[ast.stmt] = ()) -> Expression | None:
    """A message as a constant string; what is computed in it becomes `...`.

    None if there is none. `before` are the statements that may assign it to a variable.
    """
    if isinstance(node, ast.Name):
        values = [s.value for s in before if isinstance(s, ast.Assign) and _is_name(s.targets[0], node.id)]
        return message_of(code, values[-1]) if values else None
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return code.concrete(node)
    text = _constant_text(node)
    return code.string(text, like=node) if text is not None else None


def message_of_raise(code: Code, statement: ast.Raise, before: Sequence[ast.stmt]) -> Expression | None:
    """The message of the exception that a statement raises: its first argument that is text."""
    error = statement.exc
    arguments: Sequence[ast.expr] = error.args if isinstance(error, ast.Call) else ()
    found = (message_of(code, argument, before) for argument in arguments)
    return next((message for message in found if message is not None), None)


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _constant_text(node: ast.expr | None) -> str | None:
    if isinstance(node, ast.JoinedStr):
        return "".join(str(p.value) if isinstance(p, ast.Constant) else "..." for p in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return _filled(node.left, _CONVERSION)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return _filled(node.func.value, _FIELD)
    return None


def _filled(template: ast.expr, field: re.Pattern[str]) -> str | None:
    if isinstance(template, ast.Constant) and isinstance(template.value, str):
        return field.sub("...", template.value)
    return None
