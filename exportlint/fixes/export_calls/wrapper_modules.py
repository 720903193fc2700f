"""Modules that call a function, for torch.export, which takes nothing else.

`export(f, args)` becomes `export(F(), args)`, with a class `F` whose `forward` calls `f`. Never safe: the module holds
only what it takes from the owner of a method.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from exportlint.analysis.domain.trails import Site, site_of
from exportlint.analysis.facts.targets import Default, FunctionTarget
from exportlint.findings import Fix
from exportlint.fixes.edit.arguments import parameters
from exportlint.fixes.edit.blocks import apart
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.names import bound_names, fresh
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.template import dotted, expression, keyword, parsed, starred, statement
from exportlint.fixes.edit.tree import Scope
from exportlint.fixes.errors import DeclinedError

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression, Hole, Statement


INIT = "def __init__(self, {owner}):\n    super().__init__()\n    {*kept}"


def wrapped(code: Code, node: ast.expr, function: FunctionTarget) -> Fix:
    """Defines a module whose forward calls what an expression is, and gives an instance of it instead.

    Raises:
        DeclinedError: its parameters cannot be written down elsewhere, or it is not known what it belongs to.
    """
    is_bound = function.bound
    if is_bound and not (isinstance(node, ast.Attribute) and function.receiver is not None):
        raise DeclinedError("the object of the method is not written in the call")
    name = fresh(_camel_case(function), code.tree.used_names(code.tree.root) | set(code.module.bindings))
    body: list[Statement] = []
    made = code.make("{name}()", name=name)
    called: Expression = code.concrete(node.body if isinstance(node, ast.Lambda) else node)
    if isinstance(node, ast.Attribute) and is_bound:
        owner = "module" if function.receiver in {"model", "module"} else "owner"
        attributes, called = _held(function, owner, node.attr)
        made = code.make("{name}({owner})", name=name, owner=node.value)
        kept = [statement("self.{name} = {value}", name=own, value=value) for own, value in attributes.items()]
        body.append(statement(INIT, owner=owner, kept=kept))
    declared, given = _parameters(code, function, skip=1 if is_bound else 0)
    if not isinstance(node, ast.Lambda):
        called = code.make("{called}({*given})", called=called, given=given)
    forward = code.statement("def forward():\n    return {called}", called=called)
    forward = forward.with_changes(params=parameters([("positional", "self", None), *declared]))
    body.append(apart(forward) if body else forward)
    base = code.name("torch.nn.Module", node)
    definition = code.statement("class {name}({base}):\n    {*body}", name=name, base=base, body=body)
    insertion = _insertion(code, node, function, definition, is_bound=is_bound)
    return code.fix("Wrap it in a module", insertion, code.replace(node, made), safe=False)


def _insertion(code: Code, node: ast.expr, function: FunctionTarget, definition: Statement, *, is_bound: bool) -> Draft:
    """The definition goes behind what it calls where that is at the top of the file, else in front of the call."""
    top = code.tree.root.body
    place = function.owner.definition if function.owner is not None else function.definition
    defined = next((statement for statement in top if function.name and _is_at(code, statement, place)), None)
    if defined is not None:
        return code.statements.insert_after(defined, [definition], blank_lines=2)
    statement = code.tree.statement(node)
    if is_bound or not (isinstance(node, ast.Lambda) or _uses_locals(code, node)):
        around = {statement, *code.tree.ancestors(node)}
        statement = next(s for s in top if s in around)
    return code.statements.insert_before(statement, [definition], blank_lines=2 if statement in top else 1)


def _held(function: FunctionTarget, owner: str, method: str) -> tuple[dict[str, Expression], Expression]:
    """The attributes of the wrapper and what it calls: of an object that is not a module it takes the modules."""
    if owner == "module":
        return {"module": dotted("module")}, expression("self.module.{method}", method=method)
    attributes = {name: expression("owner.{name}", name=name) for name in sorted(function.calls)}
    own = fresh("function", set(attributes))
    return {**attributes, own: expression("owner.{method}", method=method)}, expression("self.{own}", own=own)


def _parameters(
    code: Code, function: FunctionTarget, *, skip: int
) -> tuple[list[tuple[str, str, Expression | None]], list[Hole]]:
    """How the parameters are declared, without annotations, and how they are handed on."""
    declared: list[tuple[str, str, Expression | None]] = []
    given: list[Hole] = []
    for parameter in function.parameters[skip:]:
        name, kind = parameter.name, parameter.kind
        declared.append((kind, name, _default(code, parameter.default)))
        stars = {"star": "*", "double-star": "**"}.get(kind, "")
        if kind == "keyword":
            given.append(keyword(name, name))
        else:
            given.append(starred(stars, dotted(name)) if stars else name)
    return declared, given


def _default(code: Code, default: Default | None) -> Expression | None:
    if default is None:
        return None
    if not default.constant:
        raise DeclinedError("a default is evaluated where the function is defined")
    is_here = default.place.filename == code.module.filename
    here = code.tree.at(default.place, ast.Constant) if is_here else None
    return parsed(default.text) if here is None else code.concrete(here)


def _is_at(code: Code, node: ast.stmt | ast.expr, place: Site) -> bool:
    return place.filename == code.module.filename and site_of(code.module, node) == place


def _uses_locals(code: Code, node: ast.expr) -> bool:
    """Whether an expression uses variables of the functions around it."""
    scopes = [scope for scope in code.tree.ancestors(node) if isinstance(scope, Scope)]
    local = {name for scope in scopes for name in bound_names(scope)}
    return any(isinstance(n, ast.Name) and n.id in local for n in ast.walk(node))


def _camel_case(function: FunctionTarget) -> str:
    words = re.findall(r"[^_]+", function.name or "wrapper")
    owner = function.owner.name.rpartition(".")[2] if function.owner is not None else ""
    return owner + "".join(word[:1].upper() + word[1:] for word in words)
