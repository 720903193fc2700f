"""Arrays that numpy made of tensors, as the tensors that torch makes of them.

`x.numpy()` becomes `x`, `torch.from_numpy(a)` what `a` was computed of. A part of `array_flow`, which says what can
differ.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from exportlint.analysis.domain.values import External
from exportlint.fixes.arrays.array_calls import constant, converted, created, dtype, function, method
from exportlint.fixes.edit import template as templates
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.parentheses import source as text_of
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.evaluated_once import is_repeatable
from exportlint.fixes.proofs.observed_values import tensor

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression, Hole

COPIES = frozenset({"numpy.array", "numpy.copy"})
VIEWS = frozenset({"numpy.asarray", "numpy.ascontiguousarray", "numpy.asanyarray"})
METADATA = frozenset({"shape", "ndim"})
"""Attributes that say of a tensor what they say of an array."""
READS = frozenset({"item", "tolist", "__setitem__"})
"""Methods that give what is not an array, by the same name as those of tensors."""
WRAPPERS = {
    "torch.from_numpy": "", "torch.as_tensor": "", "torch.asarray": "", "torch.tensor": "clone",
    "torch.Tensor": "float", "torch.FloatTensor": "float", "torch.LongTensor": "long",
}  # fmt: skip
"""What makes tensors of arrays, and the method that does of a tensor what it does besides."""


SEVERAL = {"unravel_index": "unravel_index", "nonzero": "where", "where": "where"}
"""Functions of numpy that give a tuple of arrays, as that of torch gives tensors."""
OF_NUMBERS = {
    "sqrt": "sqrt", "exp": "exp", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p", "sin": "sin",
    "cos": "cos", "tan": "tan", "tanh": "tanh", "arctan": "atan", "deg2rad": "radians", "rad2deg": "degrees",
}  # fmt: skip
"""Functions of numpy that numbers are given to, as `math` calls them."""


class Arrays:
    """Which expressions are arrays, with the variables that hold one, and how torch says them."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.names: set[str] = set()
        self.mixed = False

    def wrapped(self, node: ast.expr) -> Expression | None:
        """The tensor that is made of an array, by `torch.from_numpy` and the like; None if it is something else.

        Raises:
            DeclinedError: torch cannot say it, here and below.
        """
        if not isinstance(node, ast.Call) or len(node.args) != 1:
            return None
        name = self._external(node.func)
        source = self.array(node.args[0]) if name in WRAPPERS else None
        if source is None:
            return None
        conversion = WRAPPERS[name]
        if conversion and not (conversion == "clone" and self._is_new(node.args[0])):
            source = templates.method(source, conversion)
        options = [self._option(keyword) for keyword in node.keywords]
        return templates.method(source, "to", *options) if options else source

    def several(self, node: ast.expr) -> Expression | None:
        """What gives as many tensors as a function of numpy gives arrays; None if an expression is something else."""
        if not isinstance(node, ast.Call) or node.keywords:
            return None
        known = SEVERAL.get(self._external(node.func).removeprefix("numpy."))
        if known is None or not node.args or not self.is_tensor(node.args[0]) or len(node.args) > 2:
            return None
        if known == "where" and len(node.args) > 1:
            return None
        return templates.call(self.code.name(f"torch.{known}"), *map(self.plain, node.args))

    def array(self, node: ast.expr) -> Expression | None:
        """The tensor that says the same as an array; None if an expression is none."""
        match node:
            case ast.Name():
                return templates.dotted(node.id) if node.id in self.names else None
            case ast.Call():
                return None if self.several(node) is not None else self._call(node)
            case ast.BinOp():
                return self._operator(node, [node.left, node.right])
            case ast.UnaryOp():
                return self._operator(node, [node.operand])
            case ast.Compare():
                return self._operator(node, [node.left, *node.comparators])
            case ast.Subscript():
                return self._subscript(node)
            case ast.Attribute(attr="T"):
                source = self.array(node.value)
                return templates.expression("{array}.T", array=source) if source is not None else None
        return None

    def plain(self, node: ast.expr) -> Expression:
        """What is not an array; arrays inside it, and what numpy has names for, as torch says them."""
        if isinstance(node, (ast.Tuple, ast.List)):
            return self._with_parts(node, node.elts)
        found = self.array(node) or self.wrapped(node)
        if found is not None:
            return found
        known = constant(self.code, node)
        if known is not None:
            return templates.dotted(known)
        if isinstance(node, ast.BinOp):
            return self._with_parts(node, [node.left, node.right])
        if isinstance(node, ast.UnaryOp):
            return self._with_parts(node, [node.operand])
        if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
            of_number = OF_NUMBERS.get(self._external(node.func).removeprefix("numpy."))
            if of_number is not None:
                return templates.call(self.code.name(f"math.{of_number}"), self.plain(node.args[0]))
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and self._is_asked_for_shape(part):
                continue
            is_array = isinstance(part, ast.expr) and (self.array(part) or self._external(part).startswith("numpy"))
            if is_array:
                raise DeclinedError(f"{user(self.code, part)} uses the array, and has no known form on tensors")
        return self.code.concrete(node)

    def is_tensor(self, node: ast.expr) -> bool:
        """Whether an expression is a tensor, or an array that becomes one."""
        return self.array(node) is not None or tensor(self.code, node) is not None

    def _is_asked_for_shape(self, name: ast.Name) -> bool:
        around = self.code.tree.parents.get(name)
        return isinstance(around, ast.Attribute) and around.attr in METADATA

    def multiplied(self) -> None:
        """Raises DeclinedError if there are arrays of numbers: torch multiplies matrices of one dtype only."""
        if self.mixed:
            raise DeclinedError("the dtypes of the matrices may differ")

    def _mapped(self, node: ast.Call) -> Expression | None:
        """`np.vectorize(lambda v: v * 2)(array)`, whose arithmetic torch does for all elements at once."""
        match node:
            case ast.Call(
                func=ast.Call(
                    func=mapping, args=[ast.Lambda(args=ast.arguments(args=[only])) as function], keywords=[]
                ),
                args=[given],
                keywords=[],
            ) if self._external(mapping) == "numpy.vectorize":
                source = self.array(given)
            case _:
                return None
        elements = [n for n in ast.walk(function.body) if isinstance(n, ast.Name)]
        is_computed = all(
            isinstance(n, (ast.BinOp, ast.UnaryOp, ast.Name, ast.Constant, ast.operator, ast.unaryop, ast.expr_context))
            and not isinstance(n, ast.Not)
            for n in ast.walk(function.body)
        )
        if source is None or not is_computed or any(n.id != only.arg for n in elements):
            raise DeclinedError("a Python function computes each element")
        if len(elements) > 1 and not is_repeatable(ast.parse(text_of(source), mode="eval").body):
            raise DeclinedError("the array would be computed several times")
        return self.code.concrete(function.body, dict.fromkeys(elements, source))

    def _call(self, node: ast.Call) -> Expression | None:
        mapped = self._mapped(node)
        if mapped is not None:
            return mapped
        name = self._external(node.func)
        if name.startswith("numpy."):
            return self._numpy(node, name)
        if not isinstance(node.func, ast.Attribute):
            return None
        receiver = node.func.value
        source = self.array(receiver)
        if source is not None and node.func.attr in READS:
            return None
        if source is not None:
            return method(self, source, node.func.attr, node)
        if node.func.attr != "numpy" or node.args:
            return None
        source = self.wrapped(receiver) or self.code.concrete(receiver)
        return templates.method(templates.method(source, "detach"), "cpu") if node.keywords else source

    def _numpy(self, node: ast.Call, name: str) -> Expression | None:
        given = [part for argument in node.args for part in getattr(argument, "elts", [argument])]
        if not any(self.is_tensor(part) for part in given):
            return created(self, name.removeprefix("numpy."), node)
        if name not in COPIES | VIEWS:
            return function(self, name.removeprefix("numpy."), node)
        if not self.is_tensor(node.args[0]):
            raise DeclinedError("an array is built from a list")
        source = converted(self, self._either(node.args[0]), node)
        return templates.method(source, "clone") if name in COPIES and not self._is_new(node.args[0]) else source

    def _operator(self, node: ast.expr, operands: list[ast.expr]) -> Expression | None:
        if all(self.array(operand) is None for operand in operands):
            return None
        found = self._with_parts(node, operands)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            self.multiplied()
        return found

    def _subscript(self, node: ast.Subscript) -> Expression | None:
        source = self.array(node.value)
        several = self.several(node.value) if isinstance(node.slice, ast.Constant) else None
        if several is not None:
            return self.code.concrete(node, {node.value: several})
        if source is None:
            return None
        for part in ast.walk(node.slice):
            if isinstance(part, ast.Slice) and part.step is not None and not isinstance(part.step, ast.Constant):
                raise DeclinedError("torch has no negative steps")
        return self._with_parts(node, [node.value])

    def _either(self, node: ast.expr) -> Expression:
        return self.array(node) or self.code.concrete(node)

    def _with_parts(self, node: ast.expr, parts: list[ast.expr]) -> Expression:
        """A node with some parts of it as torch says them."""
        return self.code.concrete(node, {p: self.array(p) or self.wrapped(p) or self.plain(p) for p in parts})

    def _option(self, keyword: ast.keyword) -> Hole:
        if keyword.arg is None or keyword.arg not in {"dtype", "device"}:
            raise DeclinedError("the tensor has other options")
        return templates.keyword(keyword.arg, dtype(self.code, keyword.value) or self.code.concrete(keyword.value))

    def _external(self, node: ast.expr) -> str:
        value = self.code.value(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
        return value.name if isinstance(value, External) else ""

    def _is_new(self, node: ast.expr) -> bool:
        """Whether an array has memory of its own."""
        if isinstance(node, ast.Call) and self._external(node.func).startswith("numpy."):
            return self._external(node.func) not in VIEWS
        return isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare))


def user(code: Code, node: ast.AST) -> str:
    """What uses a value, as a report calls it: the function that gets it, its method, or the statement."""
    around = code.tree.parents[node]
    while isinstance(around, (ast.Attribute, ast.keyword, ast.Starred, ast.Tuple, ast.List)):
        if isinstance(around, ast.Attribute):
            return f"`.{around.attr}`"
        around = code.tree.parents[around]
    if isinstance(around, ast.Call):
        called = around.func
        return f"`.{called.attr}()`" if isinstance(called, ast.Attribute) else f"`{code.text(called)}()`"
    words = {ast.Return: "the caller", ast.For: "a loop", ast.If: "a branch", ast.Subscript: "an index"}
    return words.get(type(around), "other code")
