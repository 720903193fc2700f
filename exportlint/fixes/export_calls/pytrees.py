"""Classes that torch.export can take apart once they are registered.

Behind a dataclass stands `torch.export.register_dataclass(Result)`, also for the dataclasses of its fields; behind
another class that keeps what its constructor is given `torch.utils._pytree.register_pytree_node(Result, ...)` with two
functions.

Needs: a class at the top of the file whose objects are no more than their fields. Never safe: what maps over trees of
tensors looks into its objects then.
"""

from __future__ import annotations

import ast

from exportlint.analysis.domain.trails import Site, site_of
from exportlint.analysis.domain.values import ClassValue, External
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import is_docstring
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.observed_values import is_named
from exportlint.syntax.definitions import Class

BASES = frozenset({"builtins.object", "typing.Generic", "abc.ABC"})
BUILDS = frozenset({"__init__", "__new__", "__post_init__"})
"""Methods that run once more when the program makes an object of its fields."""
SPECIAL = frozenset({"__new__", "__setattr__", "__getattr__", "__getattribute__"})
"""Methods that decide what the attributes of an object are."""


def register(code: Code, definition: Site) -> Fix:
    """Registers a class of the file. Not safe: what maps over trees of tensors then looks into its objects.

    Raises:
        DeclinedError: an object of it is more than what its constructor is given.
    """
    cls = next((cls for cls in code.module.classes if site_of(code.module, cls.node) == definition), None)
    if cls is None or "." in cls.qualname:
        raise DeclinedError("the class is not at the top level of this file")
    if not _is_made_of_fields(code, cls):
        return _with_functions(code, cls.node)
    function = code.name("torch.export.register_dataclass", cls.node)
    calls = [
        code.statement("{f}({cls})", f=function, cls=each.node.name)
        for each in (*_inside(code, cls, {cls.node.name}), cls)
    ]
    insertion = code.statements.insert_after(cls.node, calls, blank_lines=2)
    return code.fix(f"Register `{cls.node.name}`", insertion, safe=False)


def _inside(code: Code, cls: Class, seen: set[str]) -> list[Class]:
    """The dataclasses of the file in the annotations of a dataclass that are not registered yet, inner ones first."""
    found: list[Class] = []
    for statement in cls.node.body:
        for part in ast.walk(statement.annotation) if isinstance(statement, ast.AnnAssign) else ():
            held = code.module.bindings.get(part.id) if isinstance(part, ast.Name) else None
            if not isinstance(held, Class) or held.node.name in seen or _is_registered(code, held.node.name):
                continue
            seen.add(held.node.name)
            if _is_made_of_fields(code, held):
                found += [*_inside(code, held, seen), held]
    return found


def _is_registered(code: Code, name: str) -> bool:
    """Whether the file passes a class to a function that registers it."""
    calls = [n for n in ast.walk(code.tree.root) if isinstance(n, ast.Call)]
    return any(
        ast.unparse(call.func).rpartition(".")[2].startswith("register_")
        and any(isinstance(argument, ast.Name) and argument.id == name for argument in call.args[:1])
        for call in calls
    )


def _with_functions(code: Code, node: ast.ClassDef) -> Fix:
    """Registers a class whose `__init__` keeps what it is given, or a dict that adds nothing, by two functions."""
    if [ast.unparse(base) for base in node.bases] == ["dict"] and all(
        isinstance(s, ast.Pass) or is_docstring(s) for s in node.body
    ):
        apart, together = "lambda items: ([*items.values()], [*items])", "lambda parts, keys: {cls}(zip(keys, parts))"
        flatten, unflatten = code.make(apart), code.make(together, cls=node.name)
    else:
        fields = _fields(node)
        if fields is None or node.bases or node.keywords or node.decorator_list:
            raise DeclinedError("an object of the class may hold more than its constructor arguments")
        parts = [code.make("{value}.{field}", value="value", field=field) for field in fields]
        flatten = code.make("lambda value: ([{*parts}], None)", parts=parts)
        unflatten = code.make("lambda parts, _: {cls}(*parts)", cls=node.name)
    call = code.statement(
        "{f}({cls}, {flatten}, {unflatten}, serialized_type_name={name})",
        f=code.name("torch.utils._pytree.register_pytree_node", node),
        cls=node.name,
        flatten=flatten,
        unflatten=unflatten,
        name=code.string(node.name),
    )
    return code.fix(f"Register `{node.name}`", code.statements.insert_after(node, [call], blank_lines=2), safe=False)


def _fields(node: ast.ClassDef) -> list[str] | None:
    """The attributes that `__init__` gives its arguments to, if it does nothing else and no other method sets any."""
    methods = [s for s in node.body if isinstance(s, ast.FunctionDef)]
    init = next((method for method in methods if method.name == "__init__"), None)
    if init is None or any(method.name in SPECIAL for method in methods):
        return None
    own, *names = [argument.arg for argument in init.args.args] or [""]
    given = init.args
    if given.posonlyargs or given.vararg or given.kwonlyargs or given.kwarg:
        return None
    kept = {}
    for statement in init.body:
        match statement:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=owner), attr=field)], value=ast.Name(id=name)) if (
                owner == own
            ):
                kept[name] = field
            case _ if not is_docstring(statement):
                return None
    others = (n for method in methods if method is not init for n in ast.walk(method))
    is_set = any(isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load) for n in others)
    return [kept[name] for name in names] if kept.keys() == {*names} and not is_set else None


def _is_made_of_fields(code: Code, cls: Class) -> bool:
    decorators = (d.func if isinstance(d, ast.Call) else d for d in cls.node.decorator_list)
    return (
        any(is_named(code.value(decorator), "dataclasses.dataclass") for decorator in decorators)
        and not BUILDS & cls.methods.keys()
        and not any(_is_no_field(code, statement) for statement in cls.node.body)
        and all(_is_base(code, base) for base in cls.node.bases)
    )


def _is_no_field(code: Code, statement: ast.stmt) -> bool:
    """Whether a line of a dataclass is about a value that the constructor does not take, or does not keep."""
    if not isinstance(statement, ast.AnnAssign):
        return False
    options = statement.value.keywords if isinstance(statement.value, ast.Call) else ()
    kind = statement.annotation.value if isinstance(statement.annotation, ast.Subscript) else statement.annotation
    return any(option.arg == "init" for option in options) or is_named(code.value(kind), "dataclasses.InitVar")


def _is_base(code: Code, base: ast.expr) -> bool:
    value = code.value(base.value if isinstance(base, ast.Subscript) else base)
    if isinstance(value, ClassValue):
        return _is_made_of_fields(code, value.definition)
    return isinstance(value, External) and value.name in BASES
