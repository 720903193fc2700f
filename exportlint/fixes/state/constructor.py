"""The class around a method and its `__init__`, for fixes that move state there.

`Constructor` finds what `__init__` assigns and who uses it, declines attributes that others may use, and adds
statements; `buffer` makes the registration.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.names import bound_names, fresh, qualified
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.tree import binding, bound, place
from exportlint.fixes.errors import DeclinedError
from exportlint.syntax.definitions import Class, dotted

if TYPE_CHECKING:
    from exportlint.fixes.edit.code import Given
    from exportlint.fixes.edit.template import Statement


WITHOUT_ARGUMENTS = "def __init__(self):\n    super().__init__()\n    {*body}"
WITH_ARGUMENTS = "def __init__(self, *args, **kwargs):\n    super().__init__(*args, **kwargs)\n    {*body}"


class Assignment(NamedTuple):
    """A statement that assigns an attribute, and what it assigns `beside` that: pairs of target and value."""

    statement: ast.stmt
    target: ast.Attribute
    value: ast.expr
    beside: tuple[tuple[ast.expr, ast.expr], ...] = ()


class Constructor:
    """The class around a node, as a fix changes it. Raises DeclinedError if there is none."""

    def __init__(self, code: Code, node: ast.AST) -> None:
        found = code.tree.enclosing_class(node)
        if found is None:
            raise DeclinedError("it is not inside a class")
        self.code = code
        self.node = found

    @cached_property
    def methods(self) -> list[ast.FunctionDef]:
        """The methods that the class itself defines."""
        return self.code.tree.once(_methods, self.node)

    @cached_property
    def init(self) -> ast.FunctionDef | None:
        """Its `__init__`."""
        return next((method for method in self.methods if method.name == "__init__"), None)

    def uses(self, name: str, *, of_class: bool = False) -> list[ast.Attribute]:
        """Where the class reads or writes `self.name`, in order; `of_class`: or that of the class itself."""
        found: list[tuple[ast.FunctionDef, ast.Attribute]] = []
        for node in self.code.tree.contents(self.node).attributes(name):
            method = self._method(node)
            if method is None:
                continue
            own = receiver(method)
            if _is_name(node.value, own) or (of_class and self._is_class(node.value, own)):
                found.append((method, node))
        return [node for _, node in sorted(found, key=lambda use: place(use[0]))]

    @cached_property
    def heirs(self) -> list[Constructor]:
        """The classes of the file that inherit from it, directly or not."""
        found, names = [], {self.node.name}
        classes = [each for each in self.code.tree.root.body if isinstance(each, ast.ClassDef)]
        while heirs := [each for each in classes if each not in found and {*map(dotted, each.bases)} & names]:
            found += heirs
            names |= {each.name for each in heirs}
        return [Constructor(self.code, each.body[0]) for each in found]

    def inherited_uses(self, name: str) -> list[ast.Attribute]:
        """Where it or one of its heirs reads or writes `self.name`."""
        return [use for each in (self, *self.heirs) for use in each.uses(name)]

    def _method(self, node: ast.AST) -> ast.FunctionDef | None:
        """The method of the class that a node in it belongs to."""
        while (around := self.code.tree.parents[node]) is not self.node:
            node = around
        return node if isinstance(node, ast.FunctionDef) else None

    def _is_class(self, node: ast.expr, own: str) -> bool:
        """`Net`, `type(self)`, `self.__class__`."""
        return ast.unparse(node) in {self.node.name, f"type({own})", f"{own}.__class__"}

    def assigns(self, name: str) -> bool:
        """Whether `__init__` assigns `self.name` anywhere."""
        inside = set(ast.walk(self.init)) if self.init is not None else set()
        return any(use in inside and not isinstance(use.ctx, ast.Load) for use in self.uses(name))

    def assignment(self, name: str, *, beside: bool = False) -> Assignment:
        """The one statement by which `__init__` gives `self.name` its first value, whichever way it goes.

        It assigns nothing else, unless `beside` allows that.

        Raises:
            DeclinedError: there is none such, or several.
        """
        uses = [use for use in self.uses(name) if not isinstance(use.ctx, ast.Load)]
        targets = [use for use in uses if self.init is not None and self._method(use) is self.init]
        assignments = self.code.tree.once(assignments_of, self.init) if self.init is not None else {}
        found = [assignment for assignment in assignments.get(name, ()) if assignment.target in targets]
        if len(found) != 1 or len(targets) != 1 or (found[0].beside and not beside):
            raise DeclinedError(f"`__init__` does not assign `{name}` exactly once")
        return found[0]

    def kind_of_parameter(self, node: ast.expr) -> type[int | float] | None:
        """`int` or `float` if an expression is a parameter of `__init__` that takes such numbers, as it states."""
        if not isinstance(node, ast.Name) or self.init is None or node.id in bound(self.init.body):
            return None
        given = self.init.args
        positional = [*given.posonlyargs, *given.args]
        defaults = dict(zip(reversed(positional), reversed(given.defaults), strict=False))
        defaults |= {arg: value for arg, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value}
        for parameter in (*positional, *given.kwonlyargs):
            if parameter.arg == node.id:
                if parameter.annotation is not None:
                    return {"int": int, "float": float}.get(ast.unparse(parameter.annotation))
                match defaults.get(parameter):
                    case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                        return type(value)
        return None

    def replaced(self, first: Assignment, new: Sequence[Statement]) -> Draft:
        """Other statements in place of what gives an attribute its first value. What it assigns beside that stays."""
        others = [
            self.code.statement("{target} = {value}", target=target, value=value) for target, value in first.beside
        ]
        return self.code.statements.replace([first.statement], [*others, *new])

    def free(self, name: str) -> str:
        """A name like `name` that no attribute has."""
        taken = self.code.tree.contents(self.node).attribute_names
        return fresh(name, taken | {method.name for method in self.methods})

    def require_private(
        self,
        name: str,
        *,
        of_class: bool = False,
        also: Sequence[ast.Attribute] = (),
        heirs: bool = False,
        asked: Sequence[ast.expr] = (),
    ) -> None:
        """Raises DeclinedError if other code than the methods of this class may use `self.name`.

        `of_class`: it is an attribute of the class. `also`: other places that are known to use it. `heirs`: the methods
        of those may use it as well. `asked`: expressions that are known to name it as a string.
        """
        root, own = self.code.tree.root, {*self.uses(name, of_class=of_class), *also}
        family = [self, *(self.heirs if heirs else ())]
        nodes = [each.node for each in family]
        names = {each.name for each in nodes}
        for base in (base for node in nodes for base in node.bases):
            if dotted(base) not in names and not self._leaves_alone(base, name):
                raise DeclinedError(f"a base class may use `{name}`")
        contents = self.code.tree.contents(root)
        others = self.code.tree.once(_own_of_others, self.code.tree.parents.get(self.node, root))
        uses = (node for node in contents.attributes(name) if node not in own and not self._is_called(node))
        if any(others.get(node, self.node) in nodes for node in uses):
            raise DeclinedError(f"`{name}` is used outside the class")
        if name in contents.strings and self._is_said(name, others, nodes, asked):
            raise DeclinedError(f"`{name}` is used through its name as a string")
        if not heirs and self.node.name in self.code.tree.once(_inherited, root):
            raise DeclinedError(f"another class inherits `{name}`")
        if not of_class and any(name in self.code.tree.once(_fields, node) for node in nodes):
            raise DeclinedError(f"`{name}` is also a class attribute")
        if any(each.assigns(name) for each in family[1:]):
            raise DeclinedError(f"another class gives `{name}` its first value")

    def require_unread(self, name: str, uses: Sequence[ast.Attribute]) -> None:
        """Raises DeclinedError if anything but `__init__` and some uses knows `self.name`."""
        self.require_private(name)
        init = set(ast.walk(self.init)) if self.init is not None else set()
        if any(use not in init and use not in uses for use in self.uses(name)):
            raise DeclinedError("other code reads it")

    def _leaves_alone(self, base: ast.expr, name: str) -> bool:
        """Whether a base class is one of torch, or a class of the file that does not know an attribute."""
        if (qualified(base, self.code.tree.root, self.code.module.package) or "").startswith("torch.nn."):
            return True
        found = self.code.module.bindings.get(base.id) if isinstance(base, ast.Name) else None
        if not isinstance(found, Class):
            return False
        contents = self.code.tree.contents(found.node)
        asked = {"getattr", "setattr", "hasattr", "vars", "__dict__"}
        return (
            not contents.attributes(name)
            and name not in contents.strings
            and not any(isinstance(n, ast.Name) and n.id in asked for n in ast.walk(found.node))
            and not contents.attributes("__dict__")
            and all(self._leaves_alone(each, name) for each in found.node.bases)
        )

    def _is_said(
        self,
        name: str,
        others: Mapping[ast.AST, ast.ClassDef],
        family: Sequence[ast.ClassDef],
        asked: Sequence[ast.expr],
    ) -> bool:
        """Whether the name of an attribute stands in a string, other than that of another class's own."""
        known = {part for each in asked for part in ast.walk(each)}
        texts = [n for n in self.code.tree.contents(self.code.tree.root).of(ast.Constant) if n.value == name]
        return any(others.get(text, self.node) in family for text in texts if text not in known)

    def _is_called(self, node: ast.Attribute) -> bool:
        """Whether an attribute is called, as the method `x.mean()` is: what holds state is not."""
        around = self.code.tree.parents[node]
        return isinstance(around, ast.Call) and around.func is node

    def require_constant(
        self, expression: ast.expr, before: ast.stmt | None = None, *, asked: frozenset[str] = frozenset()
    ) -> None:
        """Raises DeclinedError if an expression of a method may be something else at the end of `__init__`.

        Or in front of the statement `before` of it. It may use constants, torch, and attributes that only `__init__`
        assigns, and call the functions that are `asked`.
        """
        method = next((m for m in (expression, *self.code.tree.ancestors(expression)) if m in self.methods), None)
        if not isinstance(method, ast.FunctionDef) or (self.init and receiver(method) != receiver(self.init)):
            raise DeclinedError("`__init__` uses another name for its module")
        known = {id(node) for node in self._own_attributes(expression, receiver(method), before)}
        local = bound_names(method) | (bound_names(self.init) if self.init else set())
        for node in ast.walk(expression):
            if isinstance(node, ast.Name) and node.id in local and id(node) not in known:
                raise DeclinedError(f"`{node.id}` does not exist in `__init__`")
            if isinstance(node, ast.Call) and not self._is_torch(node.func, asked):
                raise DeclinedError("the called code may behave differently in `__init__`")
            if isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda)):
                raise DeclinedError("it does more than create a value")

    def _own_attributes(self, expression: ast.expr, name: str, before: ast.stmt | None) -> list[ast.Name]:
        """Where the module itself stands in an expression in front of attributes that are the same in `__init__`."""
        found = []
        for node in ast.walk(expression):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name:
                writes = [use for use in self.uses(node.attr) if not isinstance(use.ctx, ast.Load)]
                first = self.assignment(node.attr, beside=True)
                if len(writes) == 1 and (before is None or place(first.statement) < place(before)):
                    found.append(node.value)
        return found

    def _is_torch(self, function: ast.expr, asked: frozenset[str]) -> bool:
        """Whether a call is one of torch, or of a method of what torch made, or one that is `asked`."""
        while isinstance(function, ast.Attribute) and isinstance(function.value, ast.Call):
            function = function.value.func
        name = qualified(function, self.code.tree.root, self.code.module.package) or ""
        return (
            name.startswith("torch.")
            or name in asked
            or name in {"int", "float", "max", "min", "list", "tuple", "range"}
        )

    def append(self, lines: Sequence[Statement]) -> Draft:
        """More code at the end of `__init__`, which is written if there is none.

        Raises:
            DeclinedError: it leaves early, or does not call that of `nn.Module`.
        """
        if self.init is not None:
            if any(isinstance(node, ast.Return) for node in ast.walk(self.init)):
                raise DeclinedError("`__init__` returns early")
            return self.code.statements.insert_after(self.init.body[-1], lines)
        bases = [qualified(b, self.code.tree.root, self.code.module.package) for b in self.node.bases]
        if not self.methods or self.node.decorator_list:
            raise DeclinedError("the `__init__` of the class may be generated")
        template = WITHOUT_ARGUMENTS if bases == ["torch.nn.Module"] else WITH_ARGUMENTS
        init = self.code.statement(template, body=lines)
        return self.code.statements.insert_before(self.methods[0], [init], above_comments=True, blank_lines=1)


def class_that_assigns(code: Code, node: ast.AST, name: str) -> Constructor:
    """The class around a node, or the base of it in the file whose `__init__` assigns `self.name`."""
    around = found = Constructor(code, node)
    seen: set[ast.ClassDef] = set()
    while not found.assigns(name) and found.node not in seen:
        seen.add(found.node)
        held = (code.module.bindings.get(base.id) for base in found.node.bases if isinstance(base, ast.Name))
        bases = [each.node for each in held if isinstance(each, Class)]
        if len(bases) != 1:
            return around
        found = Constructor(code, bases[0].body[0])
    return found if found.assigns(name) else around


def receiver(method: ast.FunctionDef) -> str:
    """How a method calls its object."""
    arguments = [*method.args.posonlyargs, *method.args.args]
    return arguments[0].arg if arguments else ""


def buffer(code: Code, owner: Given, name: str, value: Given) -> Statement:
    """The statement that registers a buffer which state dicts do not have."""
    return code.statement(
        "{owner}.register_buffer({name}, {value}, persistent=False)", owner=owner, name=code.string(name), value=value
    )


def _own_of_others(around: ast.AST) -> dict[ast.AST, ast.ClassDef]:
    """The attributes of what the methods of classes call their object, and the strings given to its methods."""
    found: dict[ast.AST, ast.ClassDef] = {}
    for cls in (n for n in getattr(around, "body", ()) if isinstance(n, ast.ClassDef)):
        for method in (s for s in cls.body if isinstance(s, ast.FunctionDef)):
            own = receiver(method)
            if not own or any(binding(n) == own for n in ast.walk(method)):
                continue
            for node in ast.walk(method):
                if isinstance(node, ast.Attribute) and _is_name(node.value, own):
                    found[node] = cls
                elif isinstance(node, ast.Call) and own in {_called_on(node.func), _asked_for(node)}:
                    found.update((a, cls) for a in node.args if isinstance(a, ast.Constant))
    return found


def _called_on(function: ast.expr) -> str | None:
    """The variable whose method a call names."""
    match function:
        case ast.Attribute(value=ast.Name(id=name)):
            return name
    return None


def _asked_for(call: ast.Call) -> str | None:
    """The variable of whose attribute a call gives the name: `hasattr(self, "h")`."""
    match call:
        case ast.Call(func=ast.Name(id="hasattr" | "getattr" | "setattr"), args=[ast.Name(id=name), *_]):
            return name
    return None


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _assigned(statement: ast.stmt) -> list[Assignment]:
    """The attributes that a statement assigns: one, several to one constant, or several to as many values."""
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(values):
            pairs = list(zip(targets, values, strict=True))
        case ast.Assign(targets=targets, value=value) if len(targets) == 1 or isinstance(value, ast.Constant):
            pairs = [(target, value) for target in targets]
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            pairs = [(target, value)]
        case _:
            return []
    read = {ast.unparse(n) for _, value in pairs for n in ast.walk(value) if isinstance(n, (ast.Name, ast.Attribute))}
    if len(pairs) > 1 and (
        any(isinstance(part, ast.Starred) for pair in pairs for part in pair)
        or any(ast.unparse(target) in read for target, _ in pairs)
    ):
        return []
    return [
        Assignment(statement, target, value, tuple(pair for pair in pairs if pair[0] is not target))
        for target, value in pairs
        if isinstance(target, ast.Attribute)
    ]


def _methods(cls: ast.ClassDef) -> list[ast.FunctionDef]:
    return [statement for statement in cls.body if isinstance(statement, ast.FunctionDef)]


def assignments_of(method: ast.FunctionDef) -> dict[str, list[Assignment]]:
    """The statements of a method that assign one attribute, whichever way it goes, by its name."""
    found: dict[str, list[Assignment]] = {}
    for statement in method.body:
        for assigned in _assigned(statement):
            found.setdefault(assigned.target.attr, []).append(assigned)
    return found


def _inherited(root: ast.Module) -> frozenset[str]:
    """The names of the classes that classes of a file inherit from."""
    bases = (dotted(base) for node in ast.walk(root) if isinstance(node, ast.ClassDef) for base in node.bases)
    return frozenset(name for name in bases if name is not None)


def _fields(cls: ast.ClassDef) -> frozenset[str]:
    """The names in the assignments of a class."""
    fields = (statement for statement in cls.body if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)))
    return frozenset(n.id for statement in fields for n in ast.walk(statement) if isinstance(n, ast.Name))
