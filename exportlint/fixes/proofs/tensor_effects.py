"""What a call of a method writes to: tensors that are attributes of the object it belongs to.

`written_by` lists them, and declines a call that does more.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.syntax.definitions import Class, FunctionNode, dotted

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression

MAX_DEPTH = 4
_CHANGES = frozenset({
    "append", "extend", "insert", "pop", "remove", "clear", "update", "add", "discard", "setdefault", "popitem",
    "register_buffer", "register_parameter", "add_module", "set", "write", "load_state_dict",
})  # fmt: skip
"""Methods that change what is not a tensor."""
_VIEWS = frozenset(
    {"view", "detach", "reshape", "squeeze", "unsqueeze", "t", "transpose", "permute", "select", "narrow"}
)


def written_by(code: Code, function: FunctionNode | None, made: ast.Call) -> tuple[Expression, list[str]]:
    """The object whose method is called, and the names of its attributes that the method writes to in place.

    Raises:
        DeclinedError: it is not a method of the class that stands here, or it does more than that.
    """
    cls = next((c for c in code.module.classes if function is not None and function in c.node.body), None)
    if cls is None or not isinstance(made.func, ast.Attribute) or not isinstance(made.func.value, ast.Name):
        raise DeclinedError("it calls a function that is not a method of the class")
    assert function is not None
    if not function.args.args or made.func.value.id != function.args.args[0].arg:
        raise DeclinedError("it calls a function that is not a method of the class")
    found: dict[str, None] = {}
    _Writes(cls, found).of(made.func.attr, MAX_DEPTH)
    if not found:
        raise DeclinedError("the effects of the method are not known")
    return code.concrete(made.func.value), list(found)


class _Writes:
    def __init__(self, cls: Class, found: dict[str, None]) -> None:
        self.cls = cls
        self.found = found

    def of(self, name: str, depth: int) -> None:
        """Note what a method writes to. Raises DeclinedError."""
        method = self.cls.methods.get(name)
        if method is None or not depth or not method.args.args or method.decorator_list:
            raise DeclinedError("the effects of the method are not known")
        owner = method.args.args[0].arg
        known: dict[str, ast.expr] = {}
        for node in ast.walk(method):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                known.setdefault(node.targets[0].id, node.value)
        parameters = {each.arg for each in ast.walk(method.args) if isinstance(each, ast.arg)} - {owner}
        for node in ast.walk(method):
            if isinstance(node, (ast.Global, ast.Nonlocal, ast.Delete, ast.Yield, ast.Await, ast.Raise)):
                raise DeclinedError("the method does more than write to tensors")
            for place in _places(node):
                self._note(place, owner, known, parameters)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                self._call(node.func, owner, depth)
            elif isinstance(node, ast.Call) and dotted(node.func) in {"setattr", "delattr", "print", "exec"}:
                raise DeclinedError("the method does more than write to tensors")

    def _call(self, called: ast.Attribute, owner: str, depth: int) -> None:
        if called.attr in _CHANGES:
            raise DeclinedError("the method changes a value that is not a tensor")
        if isinstance(called.value, ast.Name) and called.value.id == owner and called.attr in self.cls.methods:
            self.of(called.attr, depth - 1)

    def _note(self, place: ast.expr, owner: str, known: dict[str, ast.expr], parameters: set[str]) -> None:
        """Note the attribute in whose storage a place lies; a tensor that the method makes is its alone."""
        for _ in range(MAX_DEPTH * 2):
            base = _base(place)
            name = dotted(base)
            if isinstance(base, ast.Name) and base.id in known:
                place = known[base.id]
                if _base(place) is place and not isinstance(place, (ast.Name, ast.Attribute)):
                    return  # what is computed is new
                continue
            if name is None:
                return
            first, _, attribute = name.partition(".")
            if first == owner and attribute and "." not in attribute:
                self.found[attribute] = None
                return
            break
        else:
            raise DeclinedError("the target of the method's write is not known")
        if first in parameters or first == owner or "." in name:
            raise DeclinedError("the method writes to a tensor that it did not create")


def _places(node: ast.AST) -> list[ast.expr]:
    """The expressions that a node writes to in place. Raises DeclinedError if it assigns attributes."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name = node.func.attr
        return [node.func.value] if name.endswith("_") and not name.endswith("__") else []
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        targets = [node.target]
    found: list[ast.expr] = []
    for target in targets:
        for part in ast.walk(target):
            if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
                raise DeclinedError("the method assigns attributes")
            if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store):
                found.append(part.value)
        if isinstance(node, ast.AugAssign) and isinstance(target, ast.Name):
            found.append(target)
    return found


def _base(node: ast.expr) -> ast.expr:
    """The tensor whose storage a view lies in."""
    while True:
        if isinstance(node, ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr in {"data", "T", "mT"}):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS:
            node = node.func.value
        else:
            return node
