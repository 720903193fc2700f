"""Numbers that calls leave behind, kept in buffers without dimensions.

`self.n += 1` becomes `self.n.add_(1)` of `register_buffer("n", torch.tensor(0), persistent=False)`, and `self.on = not
self.on` becomes `self.on.logical_not_()`. As a bound of a slice it is read with `.item()`.

Needs: only the code that is rewritten uses the number, in arithmetic, in conditions or as one index. Never safe: who
reads the attribute gets a tensor, and a condition on it is one on data.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import Const, Python, Scalar, Size, Tensor, Tuple, Value
from exportlint.analysis.domain.values import Sequence as Many
from exportlint.analysis.torch.registry import AUGMENTED
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.edit.tree import indices, takes_all
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.numbers.index_select import chosen_by
from exportlint.fixes.proofs.aliasing import is_consumed
from exportlint.fixes.proofs.observed_values import builtin, may_be_tensor
from exportlint.fixes.state.buffers import Kept

if TYPE_CHECKING:
    from exportlint.fixes.edit.code import Code, Given
    from exportlint.fixes.edit.template import Expression, Statement

Number = int | float | bool

_ASKING = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Return, ast.Assign)
"""What tensors without dimensions can stand in wherever numbers can."""


@dataclass(frozen=True)
class Counted(Kept):
    """A number that calls leave behind. `kind` is its type."""

    kind: type = int

    def drafts(self) -> Iterator[Draft]:
        """What becomes of the uses.

        Raises:
            DeclinedError: it is needed as a Python number, or may become one of another type.
        """
        rest: list[ast.expr] = []
        for use in self.uses:
            subscript = self._indexed(use)
            if not isinstance(use.ctx, ast.Load):  # type: ignore[attr-defined]
                yield from self.written(use)
            elif subscript is not None:
                yield self._selection(subscript, use)
            elif self.kind is bool and self._negation(use) is not None:
                yield self.code.replace(self._negation(use) or use, self.code.make("~{place}", place=self.place(use)))
            elif not self._is_rewritten(use):
                rest.append(use)
        for node, new in self.reads(rest).items():
            yield self.code.replace(node, new)

    def reads(self, uses: Sequence[ast.expr]) -> dict[ast.expr, Expression]:
        """What stands where the number is read. Raises DeclinedError."""
        for use in uses:
            parent = self.code.tree.parents[use]
            is_test = getattr(parent, "test", None) is use
            if isinstance(parent, ast.Slice) and self.kind is int:
                continue
            is_number = isinstance(parent, _ASKING) or is_test or is_consumed(self.code, use)
            if not is_number or is_repetition(self.code, use):
                raise DeclinedError(f"Python needs `{self.code.text(use)}` as a number")
        return super().reads(uses)

    def _read(self, use: ast.expr) -> Expression | None:
        if isinstance(self.code.tree.parents[use], ast.Slice):
            return self.code.make("{place}.item()", place=self.place(use))
        return super()._read(use)

    def written(self, use: ast.expr) -> Iterator[Draft]:
        """What becomes of a statement that binds the number. Raises DeclinedError."""
        statement = self.code.tree.statement(use)
        yield self.code.replace(statement, self._written(use, statement))

    def _negation(self, use: ast.expr) -> ast.expr | None:
        """`not self.on`, as a condition."""
        around = self.code.tree.parents[use]
        is_not = isinstance(around, ast.UnaryOp) and isinstance(around.op, ast.Not)
        is_test = getattr(self.code.tree.parents[around], "test", None) is around
        return around if is_not and is_test else None  # type: ignore[return-value]

    def _is_rewritten(self, use: ast.expr) -> bool:
        statement = self.code.tree.statement(use)
        return self.is_renewed(use) or (isinstance(statement, ast.AugAssign) and statement.target in self.uses)

    def _indexed(self, use: ast.expr) -> ast.Subscript | None:
        """What a number is an index of."""
        parent = self.code.tree.parents[use]
        subscript = self.code.tree.parents[parent] if isinstance(parent, ast.Tuple) else parent
        return subscript if isinstance(subscript, ast.Subscript) and use in indices(subscript) else None

    def _written(self, use: ast.expr, statement: ast.stmt) -> Statement:
        """The statement that changes the buffer in place of one that binds the number."""
        match statement:
            case ast.AugAssign(op=op, value=value) if type(op) in AUGMENTED:
                self._require_number(value)
                if self.kind is bool or (self.kind is int and isinstance(op, (ast.Div, ast.Pow))):
                    raise DeclinedError(f"`{self.code.text(use)}` becomes a number of a different type")
                return self._called(self.place(use), AUGMENTED[type(op)], self.value(value))
            case ast.Assign(targets=[_], value=ast.UnaryOp(op=ast.Not(), operand=operand)) if operand in self.uses:
                return self._called(self.place(use), "logical_not_")
            case ast.Assign(targets=[_], value=value):
                if any(node in self.uses for node in ast.walk(value)):
                    bounded = self._bounded(value)
                    if bounded is not None:
                        return self._called(self.place(use), "copy_", bounded)
                    if not isinstance(value, (ast.BinOp, ast.Compare)) and not self._fits(value):
                        raise DeclinedError(f"`{self.code.text(use)}` may become a Python number again")
                    return self._called(self.place(use), "copy_", self.value(value))
                self._require_number(value)
                return self._called(self.place(use), "fill_", self.value(value))
        raise DeclinedError(f"`{self.code.text(use)}` is assigned together with others")

    def _bounded(self, value: ast.expr) -> Expression | None:
        """`max(self.n * 0.9, low)` as `(self.n * 0.9).clamp(min=low)`; None if it is something else."""
        name = builtin(self.code, value)
        if name not in {"max", "min"} or not isinstance(value, ast.Call) or len(value.args) != 2 or value.keywords:
            return None
        holding = [any(node in self.uses for node in ast.walk(each)) for each in value.args]
        if sum(holding) != 1:
            return None
        number, bound = value.args if holding[0] else reversed(value.args)
        template = "{number}.clamp(min={bound})" if name == "max" else "{number}.clamp(max={bound})"
        return self.code.make(template, number=self.value(number), bound=bound)

    def _require_number(self, node: ast.expr) -> None:
        number = number_of(node)
        if not (fits(Const(number), self.kind) or self._fits(node)):
            raise DeclinedError("it may become a number of a different type")

    def _fits(self, node: ast.expr) -> bool:
        return self.code.surely(lambda value: all(fits(option, self.kind) for option in options(value)), node)

    def _selection(self, subscript: ast.Subscript, use: ast.expr) -> Draft:
        """`x[:, self.i]` with operators that take the index from a tensor."""
        code, items = self.code, indices(subscript)
        dim = items.index(use)
        if not all(map(takes_all, items[:dim] + items[dim + 1 :])):
            raise DeclinedError("it is one of several indices")
        owner, index = subscript.value, code.make("{place}.reshape(1).clone()", place=self.place(use))
        if not may_be_tensor(code, owner):
            return code.replace(*chosen_by(code, subscript, owner, index))
        if isinstance(subscript.ctx, ast.Load):
            template = "{owner}.index_select({dim}, {index}).squeeze({dim})"
            return code.replace(subscript, code.make(template, owner=owner, dim=dim, index=index))
        statement = code.tree.parents[subscript]
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            raise DeclinedError("the indexed value is used in other ways")
        value = statement.value
        if number_of(value) is not None:
            return code.replace(statement, self._called(owner, "index_fill_", dim, index, value))
        row = code.make("{value}.unsqueeze({dim})", value=value, dim=dim)
        return code.replace(statement, self._called(owner, "index_copy_", dim, index, row))

    def _called(self, owner: Given, name: str, *given: Given) -> Statement:
        """The statement `owner.name(given)`."""
        return self.code.statement("{owner}.{name}({*given})", owner=owner, name=name, given=given)


def is_repetition(code: Code, use: ast.expr) -> bool:
    """Whether a number says how often a list or a string is repeated: `[x] * self.n`."""
    around = code.tree.parents[use]
    if not isinstance(around, ast.BinOp) or not isinstance(around.op, ast.Mult):
        return False
    other = around.left if around.right is use else around.right
    held = options(code.value(other))
    return any(isinstance(o, (Many, Tuple)) or (isinstance(o, Const) and isinstance(o.value, str)) for o in held)


def fits(value: Value, kind: type) -> bool:
    """Whether a value is a number of a type, or a tensor that holds one. A whole number also is one of floats."""
    types = (int, float) if kind is float else (kind,)
    if isinstance(value, Const):
        return type(value.value) in types
    if isinstance(value, Tensor):
        return value.zero_dim and (value.kind == kind.__name__ or kind is float)
    if isinstance(value, Scalar):
        return kind is float or value.kind == kind.__name__
    if isinstance(value, Python):
        return value.type in {each.__name__ for each in types}
    return isinstance(value, Size) and (kind is float or (kind is int and value.kind == "int"))


def number_of(node: ast.expr) -> Number | None:
    """The number that a literal is, or an infinity: `float("-inf")`; None for anything else."""
    match node:
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str() as text)], keywords=[]):
            return float(text) if text.strip("+-").lower() in {"inf", "infinity"} else None
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if isinstance(value, (int, float)) else None
