"""Sizes of tensors that arguments of the constructor decide, written as it writes them.

`sizes_in_init` gives `dim` for `self.linear(x.flatten(1)).mean(0)` where `__init__` has
`self.linear = nn.Linear(4, dim)`.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass

from exportlint.analysis.domain.values import TorchModule, Value
from exportlint.analysis.torch.layers import find_layer
from exportlint.analysis.torch.registry import find
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.numbers.operands import REDUCTIONS
from exportlint.fixes.proofs.observed_values import may_be_tensor, operands, operation, tensor

WIDTHS = {"Linear": (1, "out_features"), "Embedding": (1, "embedding_dim"), "EmbeddingBag": (1, "embedding_dim")}
"""The argument that is the last size of what a layer returns, by its place and its name."""

Sizes = tuple[ast.expr | int, ...]


def sizes_in_init(
    code: Code, node: ast.expr, init: ast.FunctionDef | None, own: Collection[ast.expr] = ()
) -> Sizes | None:
    """The sizes of a tensor as expressions that `__init__` can evaluate anywhere; empty also if it has those of `own`.

    None if they are not known. Raises DeclinedError if only the last of them is.
    """
    return _Search(code, init, own).sizes(node)


def written(sizes: Sizes) -> str:
    """The same text for the same sizes."""
    return ", ".join(str(size) if isinstance(size, int) else ast.unparse(size) for size in sizes)


@dataclass(frozen=True, slots=True)
class _Search:
    code: Code
    init: ast.FunctionDef | None
    own: Collection[ast.expr]
    seen: frozenset[str] = frozenset()
    """The variables that are being looked at."""

    def sizes(self, node: ast.expr) -> Sizes | None:
        """The sizes of an operand; none if it broadcasts to those of any other, or it is `own`."""
        if node in self.own:
            return ()
        held = tensor(self.code, node)
        if held is not None and held.shape.rank is not None:
            numbers = tuple(dim.number for dim in held.shape.dims if dim.number is not None)
            if len(numbers) == held.shape.rank:
                return numbers
        match node:
            case ast.Name(id=name) if name in self.seen:
                return ()
            case ast.Name(id=name) if values := _bound(self.code, node):
                return _same([self._inside(name).sizes(value) for value in values])
            case ast.BinOp(left=left, op=op, right=right) if not isinstance(op, ast.MatMult):
                return _same([self.sizes(left), self.sizes(right)])
            case ast.IfExp(body=one, orelse=other):
                return _same([self.sizes(one), self.sizes(other)])
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return self.sizes(inner)
            case ast.Subscript(value=whole, slice=ast.Constant(value=int(at))) if not isinstance(at, bool):
                return self._alone(node, whole)
            case ast.Call() as call if (found := self._of_call(call)) is not None:
                return found
        return None if may_be_tensor(self.code, node) else ()

    def _of_call(self, call: ast.Call) -> Sizes | None:
        name, given = operation(self.code, call), operands(self.code, call)
        if name is None or not given:
            return None
        shape = find(name).shape
        if shape == "same":
            return self.sizes(given[0])
        if shape == "elementwise":
            return _same([self.sizes(part) for part in (*given, *(k.value for k in call.keywords))])
        drops = [k for k in call.keywords if not (k.arg == "keepdim" and isinstance(k.value, ast.Constant))]
        keeps = any(isinstance(k.value, ast.Constant) and k.value.value for k in call.keywords if k not in drops)
        rest = [*given[1:], *(k.value for k in drops)]
        is_leading = name in REDUCTIONS and len(rest) == 1 and _is_leading(rest[0]) and not keeps
        return self._alone(call, given[0]) if is_leading else None

    def _alone(self, node: ast.expr, whole: ast.expr) -> Sizes | None:
        """The last size of a tensor, if it is all that is left. Raises DeclinedError if others may be."""
        last, held = self._last(whole), tensor(self.code, node)
        if last and (held is None or held.shape.rank != 1):
            raise DeclinedError(f"`{self.code.text(node)}` may have more than one dimension")
        return last or None

    def _last(self, node: ast.expr) -> Sizes | None:
        """The last size of a tensor."""
        match node:
            case ast.Name(id=name) if name in self.seen:
                return ()
            case ast.Name(id=name) if values := _bound(self.code, node):
                return _same([self._inside(name)._last(value) for value in values])
            case ast.BinOp(left=left, op=op, right=right) if not isinstance(op, ast.MatMult):
                known = [last for last in (self._last(left), self._last(right)) if last is not None]
                return _same([*known]) if known else None
            case ast.Call() as call:
                module = _applied(self.code.value(call.func))
                if module is not None:
                    return None if self.init is None else _width(module, self.init)
                given = operands(self.code, call)
                if given and find(operation(self.code, call) or "").shape == "same":
                    return self._last(given[0])
        return None

    def _inside(self, name: str) -> _Search:
        return _Search(self.code, self.init, self.own, self.seen | {name})


def _applied(value: Value) -> TorchModule | None:
    """The layer that decides the last size of what a module returns."""
    if not isinstance(value, TorchModule) or value.hooks:
        return None
    if value.name == "torch.nn.Sequential":
        for item in reversed(value.items or ()):
            layer = find_layer(item.name) if isinstance(item, TorchModule) else None
            if layer is None or layer.shape != "same":
                return _applied(item)
    return value


def _width(module: TorchModule, init: ast.FunctionDef) -> Sizes | None:
    layer = find_layer(module.name)
    place, name = WIDTHS.get(layer.name if layer is not None else "", (0, ""))
    made = module.created_at
    if not name or not isinstance(made, ast.Call) or made not in ast.walk(init):
        return None
    keywords = [k.value for k in made.keywords if k.arg == name]
    width = keywords[0] if keywords else made.args[place] if len(made.args) > place else None
    return (width,) if width is not None and _is_lasting(width, init) else None


def _is_lasting(node: ast.expr, init: ast.FunctionDef) -> bool:
    """Whether an expression is the same anywhere in `__init__`: numbers and parameters, and arithmetic on them."""
    parameters = {one.arg for one in (*init.args.posonlyargs, *init.args.args, *init.args.kwonlyargs)}
    stored = {n.id for n in ast.walk(init) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    simple = (ast.Name, ast.Constant, ast.BinOp, ast.operator, ast.expr_context)
    return names <= parameters - stored and all(isinstance(part, simple) for part in ast.walk(node))


def _is_leading(node: ast.expr) -> bool:
    """Whether a reduction goes over the first dimension, or the first ones."""
    match node:
        case ast.Constant(value=0) if node.value is not False:
            return True
        case ast.Tuple(elts=items) | ast.List(elts=items):
            numbers = [item.value for item in items if isinstance(item, ast.Constant)]
            return bool(items) and numbers == list(range(len(items)))
    return False


def _bound(code: Code, node: ast.Name) -> list[ast.expr]:
    """All that its function binds a variable to; nothing if it is bound in other ways than by assignments."""
    function = code.tree.function(node)
    named = code.tree.contents(function if function is not None else code.tree.root).named(node.id)
    stores = [use for use in named if not isinstance(use.ctx, ast.Load)]
    bound = [code.tree.parents[store] for store in stores]
    values = [
        b.value
        for b, s in zip(bound, stores, strict=True)
        if (isinstance(b, ast.Assign) and b.targets == [s]) or isinstance(b, ast.AugAssign)
    ]
    return values if len(values) == len(stores) else []


def _same(found: list[Sizes | None]) -> Sizes | None:
    """The sizes of operands that are broadcast, if all of them are known, and they are the same."""
    known = [sizes for sizes in found if sizes is not None]
    distinct = {written(sizes): sizes for sizes in known if sizes}
    if len(known) < len(found) or len(distinct) > 1:
        return None
    return next(iter(distinct.values()), ())
