"""The way of arrays through a function: from the tensors that they are made of to the tensors made of them.

`torch.from_numpy(np.sqrt(x.numpy()))` becomes `torch.sqrt(x)`, through variables as well.

Never safe: dtypes are promoted otherwise, gradients flow, and memory is no longer shared with an array.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from exportlint.findings import Fix
from exportlint.fixes.arrays.arrays import METADATA, READS, Arrays, user
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.template import same
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.numbers.read_numbers import item
from exportlint.fixes.proofs.observed_values import builtin, tensor

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression


def computed_by_torch(code: Code) -> Fix:
    """A fix that computes with torch what the function around the finding computes with numpy.

    Raises:
        DeclinedError: torch cannot say it, or an array leaves the function.
    """
    function = code.tree.function(code.expression)
    if function is None:
        raise DeclinedError("the arrays are outside functions")
    flow = _Flow(code)
    flow.block(function.body)
    if not flow.edits:
        raise DeclinedError("it is not known how the array is used")
    message = "Compute with torch, whose dtypes and gradients may differ"
    if flow.leaves:
        message += ", and return tensors instead of arrays"
    return code.fix(message, *flow.edits, safe=False)


def without_dlpack(code: Code, made: ast.Call, original: ast.expr) -> Fix:
    """The tensor itself in place of one that shares its memory by way of DLPack. Raises DeclinedError."""
    if tensor(code, original) is None:
        raise DeclinedError("it may be an array")
    message = "Use the tensor itself; unlike `from_dlpack` in eager, this accepts a tensor that requires gradients"
    return code.fix(message, code.replace(made, original), safe=False)


class _Flow:
    """The statements of a function, one after the other, with the variables that hold arrays."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.arrays = Arrays(code)
        self.edits: list[Draft] = []
        self.leaves = False

    def block(self, statements: Iterable[ast.stmt]) -> None:
        """Collect what changes in statements."""
        for statement in statements:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                continue
            if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
                self._assignment(statement, statement.value)
            elif isinstance(statement, ast.AugAssign):
                self._rewritten(statement.value)
            elif isinstance(statement, ast.Return) and statement.value is not None:
                self._returned(statement.value)
            else:
                self._others(statement)

    def _assignment(self, statement: ast.Assign | ast.AnnAssign, value: ast.expr) -> None:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        names = {target.id for target in targets if isinstance(target, ast.Name)}
        match targets, value:
            case [ast.Tuple(elts=elements)], ast.Tuple(elts=values) if len(elements) == len(values) and all(
                isinstance(element, ast.Name) for element in elements
            ):
                held = [self._rewritten(each) for each in values]
                for element, is_array in zip(elements, held, strict=True):
                    assert isinstance(element, ast.Name)
                    self.arrays.names -= {element.id}
                    self.arrays.names |= {element.id} if is_array else set()
                return
        several = self.arrays.several(value)
        if several is not None:
            match targets:
                case [ast.Tuple(elts=elements)] if all(isinstance(element, ast.Name) for element in elements):
                    self.edits.append(self.code.replace(value, several))
                    self.arrays.names |= {element.id for element in elements if isinstance(element, ast.Name)}
                    return
            raise DeclinedError("it is not known how the arrays of a tuple are used")
        if self._rewritten(value):
            if len(names) < len(targets):
                raise DeclinedError("the array is kept")
            self.arrays.names |= names
            return
        for target in targets:
            if isinstance(target, ast.Subscript):
                self._rewritten(target.value)
            elif not isinstance(target, ast.Name):
                self._expression(target)
        self.arrays.names -= names

    def _returned(self, value: ast.expr) -> None:
        """What a model gives back: a program can only give tensors."""
        function = self.code.tree.function(value)
        if not isinstance(function, ast.FunctionDef) or function.name != "forward":
            self._expression(value)
            return
        for part in value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value]:
            self.leaves |= self._rewritten(part)

    def _rewritten(self, value: ast.expr) -> bool:
        """Note what becomes of a value, and say whether it is an array."""
        found = self.arrays.array(value)
        if found is None:
            self._expression(value)
        elif not same(found, self.code.concrete(value)):
            self.edits.append(self.code.replace(value, found))
        return found is not None

    def _number(self, node: ast.expr) -> Expression | None:
        """What `float` or `int` makes of an array, None if an expression is something else."""
        kind = builtin(self.code, node)
        if not isinstance(node, ast.Call) or kind not in {"float", "int"} or len(node.args) != 1:
            return None
        source = self.arrays.array(node.args[0])
        return item(self.code, source, kind) if source is not None else None

    def _others(self, statement: ast.AST) -> None:
        """Expressions first, then the blocks, in which variables may come to hold arrays."""
        for child in ast.iter_child_nodes(statement):
            if isinstance(child, ast.expr):
                self._expression(child)
            elif isinstance(child, ast.stmt):
                self.block([child])
            else:
                self._others(child)

    def _expression(self, node: ast.expr) -> None:
        """What is not an array, but may be made of one."""
        found = self.arrays.wrapped(node)
        if found is not None:
            self.edits.append(self.code.replace(node, found))
            return
        number = self._number(node)
        if number is not None:
            self.edits.append(self.code.replace(node, number))
            return
        if isinstance(node, ast.Subscript) and self.arrays.array(node.slice) is not None:
            self._rewritten(node.slice)  # `x[order]`
            self._expression(node.value)
            return
        if self._asks_truth(node) and self._rewritten_truth(node):
            return
        if self.arrays.array(node) is not None:
            raise DeclinedError(f"{user(self.code, node)} uses the array, and has no known form on tensors")
        known = isinstance(node, ast.Attribute) and node.attr in METADATA | READS
        if known and isinstance(node, ast.Attribute) and self.arrays.array(node.value) is not None:
            self._rewritten(node.value)
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self._expression(child)
            elif isinstance(child, (ast.keyword, ast.comprehension)):
                self._others(child)

    def _asks_truth(self, node: ast.expr) -> bool:
        """Whether a statement asks only whether an expression is true, which a tensor of one element says as well."""
        around = self.code.tree.parents[node]
        if isinstance(around, (ast.If, ast.IfExp, ast.While)):
            return around.test is node
        if isinstance(around, ast.UnaryOp):
            return isinstance(around.op, ast.Not) and self._asks_truth(around)
        return isinstance(around, ast.BoolOp) and self._asks_truth(around)

    def _rewritten_truth(self, node: ast.expr) -> bool:
        """Note what becomes of an array that a condition asks for, and say whether it is one."""
        return self.arrays.array(node) is not None and self._rewritten(node)
