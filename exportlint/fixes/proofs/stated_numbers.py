"""What the code of a function itself proves of its numbers: their value, that they are integers, that they are floats.

What attributes, arguments, globals and variables of outer functions hold is known to the interpreter as this project
sets it. Other code can set them too (`model.ratio = 0.25`, a subclass, a caller), so none of it is proof here: only
literals, sizes of tensors, what Python makes of those, and annotations.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from exportlint.analysis.domain.values import Const, External, Shape, Size, Tensor, Value
from exportlint.analysis.library_functions import find
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.tree import binding, parameters
from exportlint.syntax.definitions import FunctionNode

_Test = Callable[[ast.expr], bool]
_ONE_OF = frozenset({"builtins.max", "builtins.min", "torch.sym_max", "torch.sym_min"})
_OF_WHOLE = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr,
             ast.BitXor)  # fmt: skip
_WITH_FLOAT = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.Div)
_SIZES = frozenset({"size", "numel", "nelement", "dim", "ndimension"})


def stated(code: Code, node: ast.expr) -> int | float | None:
    """The number that an expression is, whatever anybody sets; None if something else could make it another one."""
    value = code.value(node)
    if not isinstance(value, Const) or isinstance(value.value, bool) or not isinstance(value.value, (int, float)):
        return None
    if _Walk(code).is_stated(node):
        return value.value
    code.taken[ast.unparse(node)] = value.value
    return None


def is_whole_number(code: Code, node: ast.expr) -> bool:
    """Whether an expression surely is an `int`, or a symbol for one."""
    is_whole = _Walk(code).is_whole(node)
    value = code.value(node)
    if not is_whole and isinstance(value, Const) and type(value.value) is int:
        code.taken[ast.unparse(node)] = value.value
    return is_whole


def is_float_number(code: Code, node: ast.expr) -> bool:
    """Whether an expression surely is a `float`, or a symbol for one, if it is a number at all."""
    return _Walk(code).is_float(node)


class _Walk:
    """One question. A variable that is asked about while it is being asked about depends on its other values alone."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._asked: set[tuple[str, str]] = set()

    def is_stated(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant():
                return True
            case ast.UnaryOp(operand=operand):
                return self.is_stated(operand)
            case ast.BinOp(left=left, right=right):
                return self.is_stated(left) and self.is_stated(right)
            case ast.Name():
                return self._all_bindings(node, "stated", self.is_stated)
            case ast.Attribute(value=owner):  # `math.pi`
                return isinstance(self._code.value(owner), External)
        return False

    def is_whole(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant(value=value):
                return type(value) is int
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert(), operand=operand):
                return self.is_whole(operand)
            case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int(power))):
                return power >= 0 and self.is_whole(left)
            case ast.BinOp(left=left, op=op, right=right):
                return isinstance(op, _OF_WHOLE) and self.is_whole(left) and self.is_whole(right)
            case ast.IfExp(body=body, orelse=orelse):
                return self.is_whole(body) and self.is_whole(orelse)
            case ast.BoolOp(values=values):
                return all(map(self.is_whole, values))
            case ast.NamedExpr(value=value):
                return self.is_whole(value)
            case ast.Name():
                return self._all_bindings(node, "whole", self.is_whole) or self._is_annotated(node, "int")
            case ast.Attribute(value=owner, attr="ndim"):
                return isinstance(self._code.value(owner), Tensor)
            case ast.Attribute():
                return self._is_annotated(node, "int")
            case ast.Subscript(value=owner, slice=index):
                return not isinstance(index, ast.Slice) and isinstance(self._code.value(owner), Shape)
            case ast.Call():
                return self._is_whole_call(node)
        return False

    def _is_whole_call(self, call: ast.Call) -> bool:
        if isinstance(call.func, ast.Attribute) and call.func.attr in _SIZES:
            # with a selection, `x.numel()` is a number that was read from data
            return isinstance(self._code.value(call.func.value), Tensor) and isinstance(self._code.value(call), Size)
        name = self._called(call)
        if name in _ONE_OF:
            return len(call.args) > 1 and not call.keywords and all(map(self.is_whole, call.args))
        if name in {"builtins.abs", "builtins.round"}:
            return len(call.args) == 1 and self.is_whole(call.args[0])
        return find(name).gives == "int"

    def is_float(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant(value=value):
                return isinstance(value, float)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                return self.is_float(operand)
            case ast.BinOp(left=left, op=ast.Div(), right=right) if self.is_whole(left) and self.is_whole(right):
                return True
            case ast.BinOp(left=left, op=op, right=right):
                return isinstance(op, _WITH_FLOAT) and (self.is_float(left) or self.is_float(right))
            case ast.IfExp(body=body, orelse=orelse):
                return self.is_float(body) and self.is_float(orelse)
            case ast.Name():
                return self._all_bindings(node, "float", self.is_float)
            case ast.Attribute(value=owner):  # `math.pi`
                held = self._code.value(node)
                is_library = isinstance(self._code.value(owner), External)
                return is_library and isinstance(held, Const) and isinstance(held.value, float)
            case ast.Call():
                return find(self._called(node)).gives == "float"
        return False

    def _called(self, call: ast.Call) -> str:
        callee: Value = self._code.value(call.func)
        return callee.name if isinstance(callee, External) else ""

    def _all_bindings(self, name: ast.Name, question: str, test: _Test) -> bool:
        """Whether a test holds for all that the function around a variable gives to it."""
        if (name.id, question) in self._asked:
            return True
        function = _owner(self._code, name)
        if function is None or _is_outer(function, name.id):
            return False
        self._asked.add((name.id, question))
        given = list(_given(self._code, function, name.id, whole=question == "whole"))
        return bool(given) and all(value is True or (isinstance(value, ast.expr) and test(value)) for value in given)

    def _is_annotated(self, node: ast.Name | ast.Attribute, expected: str) -> bool:
        code = self._code
        if isinstance(node, ast.Name):
            function = _owner(code, node)
            if function is None or _stores(function, node.id):
                return False
            found = [a.annotation for a in parameters(function) if a.arg == node.id]
        else:
            around = code.tree.enclosing_class(_placed(code, node))
            is_own = isinstance(node.value, ast.Name) and node.value.id == "self"
            if around is None or not is_own:
                return False
            found = [
                n.annotation
                for n in ast.walk(around)
                if isinstance(n, ast.AnnAssign)
                and (
                    (isinstance(n.target, ast.Name) and n.target.id == node.attr and n in around.body)
                    or (isinstance(n.target, ast.Attribute) and ast.unparse(n.target) == f"self.{node.attr}")
                )
            ]
        return bool(found) and all(isinstance(a, ast.Name) and a.id == expected for a in found)


def _placed(code: Code, node: ast.AST) -> ast.AST:
    """A node of the file, for one that a fix has made: the one that the finding is about."""
    return node if node in code.tree.parents else code.node(ast.AST)


def _owner(code: Code, node: ast.AST) -> FunctionNode | None:
    return code.tree.function(_placed(code, node))


def _is_outer(function: FunctionNode, name: str) -> bool:
    """Whether a name is an argument, or a variable of something around a function."""
    given = [*parameters(function), function.args.vararg, function.args.kwarg]
    declared = (n for n in ast.walk(function) if isinstance(n, (ast.Global, ast.Nonlocal)))
    return any(a is not None and a.arg == name for a in given) or any(name in n.names for n in declared)


def _stores(function: FunctionNode, name: str) -> list[ast.AST]:
    return [node for node in ast.walk(function) if binding(node) == name]


def _given(code: Code, function: FunctionNode, name: str, *, whole: bool) -> Iterator[ast.expr | bool]:
    """What a variable is given: an expression, True for an integer of another kind, False for what nobody knows."""
    for store in _stores(function, name):
        parent = code.tree.parents[store]
        match parent:
            case _ if not isinstance(store, ast.Name):  # an import, a capture, a function
                yield False
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value) | ast.NamedExpr(value=value):
                yield value
            case ast.AugAssign(op=op, value=value):
                yield value if isinstance(op, _OF_WHOLE) else False
            case ast.Tuple() | ast.List():
                yield _unpacked(code, parent, store, whole=whole)
            case ast.For(iter=ast.Call(func=called)) if parent.target is store:
                yield whole and code.value(called) == External("builtins.range")
            case _:
                yield False


def _unpacked(code: Code, target: ast.Tuple | ast.List, store: ast.expr, *, whole: bool) -> ast.expr | bool:
    """What `a` is given in `a, b = …`."""
    statement = code.tree.parents[target]
    if not isinstance(statement, ast.Assign) or any(isinstance(item, ast.Starred) for item in target.elts):
        return False
    value = statement.value
    if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
        return value.elts[target.elts.index(store)]
    return whole and isinstance(code.value(value), Shape)
