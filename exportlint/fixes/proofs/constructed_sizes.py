"""Sizes of tensors that arguments of the constructor decide, written as it writes them.

`sizes_in_init` gives `dim` for `self.linear(x).mean(0)` where `__init__` has `self.linear = nn.Linear(4, dim)`. That a
reduction over the first dimensions leaves no others is taken for granted: what is not so is refused by the code that
writes to a tensor of these sizes.
"""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import TorchModule, Value
from exportlint.analysis.torch.layers import find_layer
from exportlint.fixes.edit.code import Code
from exportlint.fixes.numbers.operands import REDUCTIONS
from exportlint.fixes.proofs.observed_values import operands, operation, tensor
from exportlint.fixes.proofs.shape_changes import KEEPING

WIDTHS = {"Linear": (1, "out_features"), "Embedding": (1, "embedding_dim"), "EmbeddingBag": (1, "embedding_dim")}
"""The argument that is the last size of what a layer returns, by its place and its name."""
SAME = KEEPING | {"clone", "detach", "relu", "clamp", "round", "floor", "ceil", "sign", "neg"}


def sizes_in_init(code: Code, node: ast.expr, init: ast.FunctionDef | None) -> list[ast.expr] | None:
    """The sizes of a tensor as expressions that `__init__` can evaluate anywhere; None if they are not known."""
    return None if init is None else _sizes(code, node, init, frozenset())


def _sizes(code: Code, node: ast.expr, init: ast.FunctionDef, seen: frozenset[str]) -> list[ast.expr] | None:
    match node:
        case ast.Name(id=name) if name not in seen:
            return _agreeing(*(_sizes(code, value, init, seen | {name}) for value in _bound(code, node)))
        case ast.BinOp(left=left, right=right) | ast.IfExp(body=left, orelse=right):
            return _agreeing(*(_sizes(code, side, init, seen) for side in (left, right)))
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return _sizes(code, inner, init, seen)
        case ast.Subscript(value=held, slice=ast.Constant(value=int(at))) if not isinstance(at, bool):
            return _last(code, held, init, seen)
        case ast.Call() as call:
            return _of_call(code, call, init, seen)
    return None


def _of_call(code: Code, call: ast.Call, init: ast.FunctionDef, seen: frozenset[str]) -> list[ast.expr] | None:
    name, given = operation(code, call), operands(code, call)
    if name is None or not given:
        return None
    drops = [k for k in call.keywords if not (k.arg == "keepdim" and isinstance(k.value, ast.Constant))]
    keeps = any(isinstance(k.value, ast.Constant) and k.value.value for k in call.keywords if k not in drops)
    rest = [*given[1:], *(k.value for k in drops)]
    if name in SAME and not any(tensor(code, part) is not None for part in rest):
        return _sizes(code, given[0], init, seen)
    if name in REDUCTIONS and len(rest) == 1 and _is_leading(rest[0]) and not keeps:
        return _last(code, given[0], init, seen)
    return None


def _last(code: Code, node: ast.expr, init: ast.FunctionDef, seen: frozenset[str]) -> list[ast.expr] | None:
    """The last size of a tensor, of which nothing else is left."""
    match node:
        case ast.Name(id=name) if name not in seen:
            return _agreeing(*(_last(code, value, init, seen | {name}) for value in _bound(code, node)))
        case ast.BinOp(left=left, right=right):
            return _agreeing(*(_last(code, side, init, seen) for side in (left, right)))
        case ast.Call() as call:
            module = _applied(code.value(call.func))
            if module is not None:
                return _width(module, init)
            given = operands(code, call)
            if (
                operation(code, call) in SAME
                and given
                and not any(tensor(code, part) is not None for part in given[1:])
            ):
                return _last(code, given[0], init, seen)
    return None


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


def _width(module: TorchModule, init: ast.FunctionDef) -> list[ast.expr] | None:
    layer = find_layer(module.name)
    place, name = WIDTHS.get(layer.name if layer is not None else "", (0, ""))
    made = module.created_at
    if not name or not isinstance(made, ast.Call) or made not in ast.walk(init):
        return None
    keywords = [k.value for k in made.keywords if k.arg == name]
    width = keywords[0] if keywords else made.args[place] if len(made.args) > place else None
    return [width] if width is not None and _is_lasting(width, init) else None


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
    values = [b.value for b, s in zip(bound, stores, strict=True) if isinstance(b, ast.Assign) and b.targets == [s]]
    return values if len(values) == len(stores) else []


def _agreeing(*found: list[ast.expr] | None) -> list[ast.expr] | None:
    """The sizes of an operation: those of the sides that are known, if they are the same."""
    known = [sizes for sizes in found if sizes is not None]
    texts = {", ".join(map(ast.unparse, sizes)) for sizes in known}
    return known[0] if len(texts) == 1 else None
