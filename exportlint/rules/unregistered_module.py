"""EXP310 unregistered-module: modules and parameters that the module which uses them has not registered."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.facts.state import Unregistered
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, before
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.state.constructor import Constructor
from exportlint.fixes.state.places import as_module
from exportlint.registry import rule

STRICT = {(2, 4): ERROR, (2, 15): WARNING}
CLAIM = Claim(non_strict={(2, 4): None, (2, 6): WARNING}, strict=STRICT)
FROZEN = Claim(non_strict={(2, 4): None}, strict=before((2, 15)))

WHERE = {
    "list": "in a plain list", "dict": "in a plain dict", "object": "in an object that is not a module",
    "class": "in a class attribute", "global": "in a variable of the file",
}  # fmt: skip

METHODS = {
    "ModuleList": {"append", "extend", "insert", "pop"},
    "ModuleDict": {"items", "keys", "values", "pop", "clear", "update"},
    "ParameterList": {"append", "extend"},
    "ParameterDict": {"items", "keys", "values", "pop", "popitem", "clear", "update", "get", "setdefault", "copy"},
}
"""The methods of lists and dicts that the containers of torch have."""


@rule("EXP310", "unregistered-module", Unregistered)
def unregistered_module(fact: Unregistered, context: Context) -> Iterator[Report]:
    """`self.layers = [nn.Linear(4, 4)]`, `self.weights = (nn.Parameter(w),)`."""
    severity = context.severity(CLAIM if fact.trained else FROZEN)
    if severity is None:
        return
    what = "modules" if fact.modules else "parameters"
    unseen = "their parameters" if fact.modules else "them"
    message = f"`{fact.name}` holds {what} {WHERE[fact.holder]}: torch.export does not see {unseen}"
    if fact.holder in {"list", "dict"}:
        kind = "List" if fact.holder == "list" else "Dict"
        instead = f"hold them in an `nn.{'Module' if fact.modules else 'Parameter'}{kind}`"
    else:
        instead = "assign them to attributes of the module in `__init__`"
    yield Report(severity, message, instead, fix=lambda code: _fix(code, fact))


def _fix(code: Code, fact: Unregistered) -> Fix:
    """State dicts get the parameters, under names of their own."""
    target = code.node(ast.Attribute)
    statement = code.tree.parents[target]
    if not isinstance(statement, ast.Assign) or statement.targets != [target]:
        raise DeclinedError("it is not an attribute with its own assignment")
    if fact.holder == "object":
        return code.fix("Make it a module", *as_module(code, statement.value), safe=False)
    if fact.holder not in {"list", "dict"}:
        raise DeclinedError("it is not held by a module")
    kind = f"{'Module' if fact.modules else 'Parameter'}{'List' if fact.holder == 'list' else 'Dict'}"
    _require_methods(code, target, kind)
    name = code.name(f"torch.nn.{kind}", target)
    held = statement.value
    empty = (isinstance(held, ast.List) and not held.elts) or (isinstance(held, ast.Dict) and not held.keys)
    holder = code.make("{name}({*held})", name=name, held=[] if empty else [held])
    return code.fix(f"Hold them in `{name}`", code.replace(held, holder), safe=False)


def _require_methods(code: Code, target: ast.Attribute, kind: str) -> None:
    """Raises DeclinedError if the class asks for what the container does not have."""
    constructor = Constructor(code, target)
    if any(use is not target and isinstance(use.ctx, ast.Store) for use in constructor.uses(target.attr)):
        raise DeclinedError("it is also assigned elsewhere")
    for use in constructor.uses(target.attr):
        around = code.tree.parents[use]
        if isinstance(around, ast.Attribute) and around.attr not in METHODS[kind]:
            raise DeclinedError(f"`nn.{kind}` has no `{around.attr}`")
        if kind.endswith("Dict") and isinstance(around, ast.Subscript) and not _is_key(around.slice):
            raise DeclinedError("its keys may not be strings")
    value = code.tree.parents[target].value  # type: ignore[attr-defined]
    keys = value.keys if isinstance(value, ast.Dict) else [value.key] if isinstance(value, ast.DictComp) else []
    if not all(key is not None and _is_key(key) for key in keys):
        raise DeclinedError("some of its keys may be something other than strings")


def _is_key(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and bool(node.value) and "." not in node.value
    return not isinstance(node, ast.Tuple)
