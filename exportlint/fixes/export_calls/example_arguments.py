"""The example inputs of an export, in the tuple and the dict that torch.export takes, each a tensor of its own.

`export(model, x)` becomes `export(model, (x,))`, `export(model)` becomes `export(model, ())`, and
`export(model, (x, x))` becomes `export(model, (x, x.clone()))`.

Safe: torch.export refuses what is written, whatever the example inputs are, or takes several inputs for one. Nothing
else can differ.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from exportlint.analysis.domain.trails import Site
from exportlint.findings import Fix
from exportlint.fixes.edit.arguments import with_argument_behind
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.template import as_tuple
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.export_calls.calls import argument


def with_empty_args(code: Code) -> Fix:
    """An empty tuple of inputs, where all are passed as `kwargs`. Raises DeclinedError if that is not to be seen."""
    call = code.node(ast.Call)
    if len(call.args) != 1 or all(keyword.arg != "kwargs" for keyword in call.keywords):
        raise DeclinedError("the inputs are not written in the call")
    return code.fix(
        "Pass `()`", code.replace(call, with_argument_behind(code.concrete(call), 0, code.make("()"))), safe=True
    )


def in_tuple(code: Code, kind: str) -> Fix:
    """The inputs, which are of a kind such as "list", in a tuple. Raises DeclinedError for others."""
    node = code.expression
    if kind == "tensor":
        return code.fix("Pass a tuple", code.replace(node, code.make("({given},)", given=node)), safe=True)
    if kind == "dict":
        return code.fix("Pass the dict as `kwargs`", _as_kwargs(code, node), safe=True)
    if kind != "list":
        raise DeclinedError("the inputs are not known")
    if isinstance(node, ast.List):
        return code.fix("Pass a tuple", code.replace(node, as_tuple(code.concrete(node))), safe=True)
    return code.fix("Pass a tuple", code.replace(node, code.make("tuple({given})", given=node)), safe=True)


def with_clones(code: Code, places: Iterable[Site]) -> Fix:
    """A copy of the tensor wherever it stands for one more input: the signature of the program stays what it is."""
    names = [code.node(ast.Name, site=place) for place in places]
    edits = [code.replace(name, code.make("{tensor}.clone()", tensor=name)) for name in names]
    return code.fix("Pass a copy", *edits, safe=True)


def _as_kwargs(code: Code, node: ast.expr) -> Draft:
    parent = code.tree.parents[node]
    call = code.tree.parents[parent] if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call) or argument(call, 2, "kwargs") is not None:
        raise DeclinedError("there are `kwargs` already")
    index = [*call.args, *call.keywords].index(parent if isinstance(parent, ast.keyword) else node)
    emptied = code.concrete(call, {node: code.make("()")})
    return code.replace(call, with_argument_behind(emptied, index, code.concrete(node), "kwargs"))
