"""Calls that never return: every path through them ends in one `raise`."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import ClassValue, External, Object
from exportlint.analysis.eval.effects import Raise
from exportlint.analysis.eval.frame import Frame
from exportlint.syntax.definitions import FunctionNode
from exportlint.syntax.walk import walk

ASKS_TYPE = frozenset({"isinstance", "issubclass", "hasattr", "getattr", "callable", "type", "is_tensor"})
"""What asks for the class of an argument, which may be one that the analysis does not know."""


def note_raise(frame: Frame, node: ast.Raise | ast.Assert, exception: ast.expr | None) -> None:
    """Record that a path ends here. Where an `except` may catch the exception, it ends nobody knows where."""
    name = "AssertionError" if isinstance(node, ast.Assert) else _name(frame, exception)
    is_stub = _is_root(frame) and (name == "NotImplementedError" or _is_all(frame, node))
    found = Raise(frame.site(node), frame.symbol, name, is_stub)
    frame.raises[found.site] = found
    if frame.may_go_on:
        frame.raises[None] = found


def note_divergence(frame: Frame, raised: Raise | None, node: ast.AST) -> None:
    """Record that the call at a node ends in a `raise`, for the statement that makes it."""
    if raised is not None and not frame.peeking and not frame.may_go_on and not frame.engine.constructing:
        frame.raises[raised.site] = raised
        frame.diverged_at = node


def certain_raise(frame: Frame, node: FunctionNode) -> Raise | None:
    """The one `raise` that all paths of a call end in, which has run, if none hinges on the class of an argument."""
    if frame.exits or frame.yields or len(frame.raises) != 1 or frame.engine.limits_reached:
        return None
    names = (_called(child) for child in walk(node) if isinstance(child, (ast.Call, ast.Yield, ast.YieldFrom)))
    return None if any(name is None or name in ASKS_TYPE for name in names) else next(iter(frame.raises.values()))


def _called(node: ast.AST) -> str | None:
    """The last name of what is called; None for `yield`, which makes a generator, whose body is run later."""
    if not isinstance(node, ast.Call):
        return None
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def _name(frame: Frame, exception: ast.expr | None) -> str:
    if exception is None:
        return "exception"
    kind = frame.peek(exception.func if isinstance(exception, ast.Call) else exception)
    if isinstance(kind, ClassValue):
        return kind.definition.node.name
    return kind.name.rpartition(".")[2] if isinstance(kind, External) else "exception"


def _is_root(frame: Frame) -> bool:
    """Whether a method of the module that is exported is run, which a subclass may override."""
    return isinstance(frame.receiver, Object) and frame.receiver.instance is frame.engine.root


def _is_all(frame: Frame, node: ast.Raise | ast.Assert) -> bool:
    """Whether a `raise` is all that a method does, as "subclasses should implement this" is."""
    body = getattr(frame.engine.active[-1], "body", None) if frame.engine.active else None
    statements = body if isinstance(body, list) else []
    if statements and isinstance(statements[0], ast.Expr) and isinstance(statements[0].value, ast.Constant):
        statements = statements[1:]
    return bool(statements) and statements[0] is node
