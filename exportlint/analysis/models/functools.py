"""`functools`, and the decorators of other libraries that make descriptors."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import PYTHON, UNKNOWN, Descriptor, External, Function, Partial, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.demands import elements
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.library_functions import function, functions

functions(
    """
    functools.cached_property cached_property.cached_property django.utils.functional.cached_property
    werkzeug.utils.cached_property transformers.utils.cached_property transformers.utils.generic.cached_property
    """,
    decorated="cached_property",
)
functions("abc.abstractproperty", decorated="property")
functions("functools.singledispatch", decorated="dispatcher")
functions("functools.cmp_to_key", strict="refuses", traced_from=(2, 15))
functions("numba.* triton.*", decorated="kernel")


@function("functools.partial")
def _partial(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return Partial(arguments.get(0) or UNKNOWN, arguments.positional[1:], tuple(arguments.keywords.items()))


@function("functools.partialmethod")
def _partial_method(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return Descriptor("partial", _partial(frame, name, arguments, node))


@function("functools.reduce")
def _reduce(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    item = elements(frame, arguments.get(1) or UNKNOWN, node)
    return frame.call(arguments.get(0) or UNKNOWN, Arguments((item, item)), node)


@function("functools.wraps")
def _wraps(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    first = arguments.get(0)
    return first if isinstance(first, Function) else PYTHON


@function("functools.cache")
@function("functools.lru_cache", strict="refuses")
def _cached(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`lru_cache(f)`, or `lru_cache(maxsize=…)`, which is called with `f`."""
    first = arguments.get(0, "user_function")
    return Partial(first, wrapper=name) if isinstance(first, (Function, Partial)) else Partial(External(name))
