"""Functions and modules out of what torch wraps around them.

`@torch.jit.script` goes, and `self.f = torch.compile(f)` becomes `self.f = f`.

Never safe: the function runs as Python does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from exportlint.analysis.domain.values import Function, Partial
from exportlint.fixes.edit.arguments import without_decorator
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.observed_values import is_named
from exportlint.syntax.definitions import FunctionNode


def unwrap(code: Code, call: ast.Call, wrapper: str) -> Draft:
    """Takes a wrapper off what is called: the decorator, or the call in the assignment that made it.

    Raises:
        DeclinedError: the file does not show where it is wrapped, or shows more than one place.
    """
    found = [*_decorators(code, call, wrapper), *_assigned(code, call.func, wrapper)]
    if len(found) != 1:
        raise DeclinedError("the wrapping call is not written there")
    return found[0]


def _decorators(code: Code, call: ast.Call, wrapper: str) -> Iterator[Draft]:
    callee = code.value(call.func)
    function = callee.function if isinstance(callee, Partial) else callee
    if isinstance(function, Function) and isinstance(function.node, FunctionNode) and function.module is code.module:
        for index, decorator in enumerate(function.node.decorator_list):
            if is_named(code.value(decorator.func if isinstance(decorator, ast.Call) else decorator), wrapper):
                yield code.statements.changed(function.node, partial(without_decorator, index=index))


def _assigned(code: Code, name: ast.expr, wrapper: str) -> Iterator[Draft]:
    """The calls of the wrapper whose result is assigned to a name, where it can be seen from the finding."""
    scopes = [code.tree.enclosing_class(name)] if isinstance(name, ast.Attribute) else [code.tree.root]
    for scope in scopes:
        for node in code.tree.contents(scope).of(ast.Assign) if scope is not None else ():
            if ast.unparse(node.targets[0]) == ast.unparse(name):
                made = node.value
                if isinstance(made, ast.Call) and made.args and is_named(code.value(made.func), wrapper):
                    yield code.replace(made, made.args[0])
