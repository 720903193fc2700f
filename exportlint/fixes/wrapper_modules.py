"""Modules that call a function, for torch.export, which takes nothing else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from exportlint.analysis.domain.script_values import Model, Receiver
from exportlint.analysis.domain.values import Function
from exportlint.findings import Fix
from exportlint.fixes.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.names import bound_names, fresh
from exportlint.fixes.statements import Draft
from exportlint.fixes.tree import Scope
from exportlint.syntax.definitions import FunctionNode


def wrapped(code: Code, node: ast.expr, function: Function) -> Fix:
    """Defines a module whose forward calls what an expression is, and gives an instance of it instead.

    Raises:
        DeclinedError: its parameters cannot be written down elsewhere, or it is not known what it belongs to.
    """
    is_bound = function.receiver is not None or function.owner is not None
    if is_bound and not (isinstance(node, ast.Attribute) and isinstance(function.receiver, (Model, Receiver))):
        raise DeclinedError("the object of the method is not to be seen")
    name = fresh(_camel_case(function), code.tree.used_names(code.tree.root) | set(code.module.bindings))
    unit = code.unit
    if isinstance(node, ast.Attribute) and is_bound:
        owner = "module" if _is_module(function) else "owner"
        attributes, called = _held(function, owner, node.attr)
        body = [f"def __init__(self, {owner}):", f"{unit}super().__init__()"]
        body += [f"{unit}self.{attribute} = {value}" for attribute, value in attributes.items()]
        body.append("")
        made = f"{name}({code.operand(node.value)})"
    else:
        called = code.text(node.body) if isinstance(node, ast.Lambda) else code.text(node)
        body, made = [], f"{name}()"
    declared, given = _parameters(code, function, skip=1 if is_bound else 0)
    if not isinstance(node, ast.Lambda):
        called = f"{called}({', '.join(given)})"
    elif "\n" in called:
        called = f"({called})"
    body += [f"def forward({', '.join(['self', *declared])}):", f"{unit}return {called}"]
    head = f"class {name}({code.name('torch.nn', node)}.Module):"
    lines = [head, *(f"{unit}{line}" if line else "" for line in body)]
    insertion = _insertion(code, node, function, lines, is_bound=is_bound)
    return code.fix("Wrap it in a module", insertion, code.replace(node, made), safe=False)


def _insertion(code: Code, node: ast.expr, function: Function, lines: list[str], *, is_bound: bool) -> Draft:
    """The definition goes behind what it calls where that is at the top of the file, else in front of the call."""
    top = code.tree.root.body
    defined = function.owner.node if function.owner is not None else function.node
    if any(defined is statement for statement in top) and isinstance(defined, ast.stmt):
        return code.statements.insert_after(defined, ["", "", *lines])
    statement = code.tree.statement(node)
    if is_bound or not (isinstance(node, ast.Lambda) or _uses_locals(code, node)):
        around = {statement, *code.tree.ancestors(node)}
        statement = next(s for s in top if s in around)
    return code.statements.insert_before(statement, [*lines, "", *([""] if statement in top else [])])


def _is_module(function: Function) -> bool:
    receiver = function.receiver
    return isinstance(receiver, Model) or (isinstance(receiver, Receiver) and receiver.is_module)


def _held(function: Function, owner: str, method: str) -> tuple[dict[str, str], str]:
    """The attributes of the wrapper and what it calls: of an object that is no module it takes the modules."""
    if owner == "module":
        return {"module": "module"}, f"self.module.{method}"
    attributes = {name: f"owner.{name}" for name in sorted(_called(function))}
    own = fresh("function", set(attributes))
    return {**attributes, own: f"owner.{method}"}, f"self.{own}"


def _called(function: Function) -> set[str]:
    """The attributes of the object that a method calls, or of which it calls a method: its modules, as a rule."""
    assert function.owner is not None
    methods = function.owner.methods
    found: set[str] = set()
    seen = {function.node}
    waiting = [function.node]
    while waiting:
        for attribute in _roots(waiting.pop()):
            inner = methods.get(attribute)
            if inner is None:
                found.add(attribute)
            elif inner not in seen:
                seen.add(inner)
                waiting.append(inner)
    return {name for name in found if not name.startswith("_")} - {"forward", "training"}


def _roots(node: ast.AST) -> Iterator[str]:
    for call in ast.walk(node):
        target = call.func if isinstance(call, ast.Call) else None
        while isinstance(target, ast.Attribute):
            if isinstance(target.value, ast.Name) and target.value.id == "self":
                yield target.attr
            target = target.value


def _parameters(code: Code, function: Function, *, skip: int) -> tuple[list[str], list[str]]:
    """How the parameters are declared, without annotations, and how they are handed on."""
    arguments = function.node.args
    every = [*arguments.posonlyargs, *arguments.args][skip:]
    defaults = dict(zip(reversed(every), reversed(arguments.defaults), strict=False))
    declared = [_declared(code, function, parameter, defaults.get(parameter)) for parameter in every]
    given = [parameter.arg for parameter in every]
    if arguments.vararg is not None:
        declared.append(f"*{arguments.vararg.arg}")
        given.append(f"*{arguments.vararg.arg}")
    elif arguments.kwonlyargs:
        declared.append("*")
    for parameter, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        declared.append(_declared(code, function, parameter, default))
        given.append(f"{parameter.arg}={parameter.arg}")
    if arguments.kwarg is not None:
        declared.append(f"**{arguments.kwarg.arg}")
        given.append(f"**{arguments.kwarg.arg}")
    return declared, given


def _declared(code: Code, function: Function, parameter: ast.arg, default: ast.expr | None) -> str:
    if default is None:
        return parameter.arg
    if not isinstance(default, ast.Constant):
        raise DeclinedError("a default is worked out where the function is defined")
    return f"{parameter.arg}={code.text(default) if function.module is code.module else ast.unparse(default)}"


def _uses_locals(code: Code, node: ast.expr) -> bool:
    """Whether an expression uses variables of the functions around it."""
    scopes = [scope for scope in code.tree.ancestors(node) if isinstance(scope, Scope)]
    local = {name for scope in scopes for name in bound_names(scope)}
    return any(isinstance(n, ast.Name) and n.id in local for n in ast.walk(node))


def _camel_case(function: Function) -> str:
    name = function.node.name if isinstance(function.node, FunctionNode) else "wrapper"
    words = re.findall(r"[^_]+", name)
    owner = function.owner.node.name if function.owner is not None else ""
    return owner + "".join(word[:1].upper() + word[1:] for word in words)
