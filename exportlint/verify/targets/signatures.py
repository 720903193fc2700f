"""The parameters of functions, as they are written."""

from __future__ import annotations

import ast

from exportlint.syntax.definitions import FunctionNode


def required(function: FunctionNode, *, bound: bool = False) -> list[str]:
    """The parameters of a function that have no default, without the first one if that is `bound`."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    open_ones = positional[: len(positional) - len(arguments.defaults)]
    is_static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in function.decorator_list)
    named = [arg for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default is None]
    return [arg.arg for arg in (*open_ones[bound and not is_static :], *named)]


def parameters(function: FunctionNode) -> list[ast.arg]:
    """The parameters of a function that have a name, in order."""
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
