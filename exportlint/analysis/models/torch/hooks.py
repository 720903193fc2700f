"""Hooks: functions that a constructor registers with a module, and that each call of the module runs.

`nn.Module.__call__` runs them before and after `forward`, and torch.export traces them (measured on 2.13, both modes).
Its `_call_impl` tells what they are given, and what becomes of their results.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from exportlint.analysis.domain.heap import Cell
from exportlint.analysis.domain.lattice import join, options
from exportlint.analysis.domain.values import FALSE, NONE, TRUE, UNKNOWN, Const, Dict, Object, TorchModule, Tuple, Value
from exportlint.analysis.eval.arguments import UNPACKED, Arguments
from exportlint.analysis.eval.assignment import assign
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.facts.tracing import HookedCall
from exportlint.syntax.walk import walk

HOOKS = "<hooks>"
"""The attribute under which an object of the project holds its hooks."""

BEFORE, AFTER = "register_forward_pre_hook", "register_forward_hook"

ON_GRADIENTS = frozenset({"register_full_backward_hook", "register_full_backward_pre_hook", "register_backward_hook"})


def register_hook(frame: Frame, module: Value, name: str, arguments: Arguments, node: ast.AST) -> None:
    """`module.register_forward_hook(hook)` in a constructor: every call of the module runs the hook."""
    hook = arguments.get(0, "hook")
    if name not in {BEFORE, AFTER, *ON_GRADIENTS} or hook is None or not frame.engine.constructing:
        return
    if name in ON_GRADIENTS and not _forgets_handle(frame, node):
        return
    registered = Tuple((Const(name), hook, arguments.keywords.get("with_kwargs", FALSE)))
    if isinstance(module, Object):
        held = frame.stored(module.instance, HOOKS)
        hooks = held.items if isinstance(held, Tuple) else ()
        now = Tuple((*hooks, registered))
        frame.store_cell(Cell(module.instance, HOOKS), now, module.instance.attributes.get(HOOKS))
    elif isinstance(module, TorchModule) and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        assign(frame, node.func.value, replace(module, hooks=(*module.hooks, registered)), node)


def _forgets_handle(frame: Frame, node: ast.AST) -> bool:
    """Whether nothing is done with what registering a hook returns: it may remove the hook."""
    body = walk(frame.engine.active[-1]) if frame.engine.active else ()
    return any(isinstance(statement, ast.Expr) and statement.value is node for statement in body)


def registered_hooks(frame: Frame, module: Value) -> tuple[Value, ...]:
    """What `register_hook` has recorded of a module; nothing where its hooks differ from way to way."""
    if isinstance(module, TorchModule):
        return module.hooks
    if not isinstance(module, Object) or module.instance.promised:
        return ()
    held = frame.stored(module.instance, HOOKS)
    return held.items if isinstance(held, Tuple) else ()


def note_hooked_call(frame: Frame, hooks: tuple[Value, ...], module: TorchModule, node: ast.AST) -> None:
    """Record a call of a module that surely has a hook on its gradients."""
    if not isinstance(node, ast.Call) or frame.peek(node.func) != module:
        return  # it may be another module, or one without hooks
    names = [hook.items[0].value for hook in hooks if isinstance(hook, Tuple) and isinstance(hook.items[0], Const)]
    found = next((name for name in names if isinstance(name, str) and name in ON_GRADIENTS), None)
    if found is not None:
        frame.emit(HookedCall, node, None, name=found)


def before_call(
    frame: Frame, hooks: tuple[Value, ...], module: Value, arguments: Arguments, node: ast.AST
) -> Arguments:
    """The arguments for `forward`, after the hooks that run before it."""
    for hook, takes_keywords in _named(hooks, BEFORE):
        given: tuple[Value, ...] = (module, Tuple(arguments.positional))
        if takes_keywords:
            given = (*given, Dict(tuple(arguments.keywords.items())))
        changed = _changed(frame.call(hook, Arguments(given), node))
        if changed is None:
            continue
        if isinstance(changed, Tuple) and not changed.mutable and not takes_keywords:
            arguments = Arguments(changed.items, arguments.keywords)
        else:
            arguments = Arguments(tuple([UNKNOWN for _ in arguments.positional]), {UNPACKED: UNKNOWN})
    return arguments


def after_call(
    frame: Frame, hooks: tuple[Value, ...], module: Value, arguments: Arguments, value: Value, node: ast.AST
) -> Value:
    """What a call gives after the hooks that run then: a hook that returns something replaces the result."""
    for hook, takes_keywords in _named(hooks, AFTER):
        given: tuple[Value, ...] = (module, Tuple(arguments.positional))
        if takes_keywords:
            given = (*given, Dict(tuple(arguments.keywords.items())))
        returned = frame.call(hook, Arguments((*given, value)), node)
        changed = _changed(returned)
        if changed is not None:
            value = changed if NONE not in options(returned) else join((changed, value))
    return value


def _named(hooks: tuple[Value, ...], name: str) -> Iterator[tuple[Value, bool]]:
    for registered in hooks:
        if isinstance(registered, Tuple) and registered.items[0] == Const(name):
            yield registered.items[1], registered.items[2] == TRUE


def _changed(returned: Value) -> Value | None:
    """What a hook returns in place of what it was given; None if it leaves that alone."""
    found = [option for option in options(returned) if option != NONE]
    return join(found) if found else None
