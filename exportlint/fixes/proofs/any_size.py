"""Whether code can be traced for any size of a dimension, as `torch.cond` does with both ways of a condition on it.

`require_any_size` declines code that takes a part of such a dimension, `require_any_count` code that takes one of as
many rows as data says, and `require_alone` code in which it meets other tensors.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from exportlint.analysis.domain.values import Const, Python, Tensor
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.tree import indices
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.observed_values import operands, operation

_CREATING = frozenset({"zeros", "ones", "full", "empty", "rand", "randn", "arange", "eye", "tensor", "linspace"})
_OF_PARTS = frozenset({
    "view", "reshape", "unflatten", "split", "tensor_split", "chunk", "topk", "kthvalue", "narrow", "select", "unfold",
    "pixel_shuffle", "pixel_unshuffle",
})  # fmt: skip
"""Operations that refuse, or guard, the sizes that are too small or do not divide."""
_FREE = frozenset({"view", "reshape", "unflatten", "pixel_shuffle", "pixel_unshuffle"})
"""Those that take a size that only data tells."""


def require_any_size(code: Code, ways: Sequence[ast.AST]) -> None:
    """Raises DeclinedError if a way takes a part of a dimension whose size varies.

    Python runs the way that fits the size. torch.export traces both of them with one symbol for the size, and then
    refuses `x[3]` for an example of two rows, or adds a guard that leaves the other way no size.
    """
    for way in ways:
        for part in ast.walk(way):
            held = code.value(part.value) if isinstance(part, ast.Subscript) else None
            if isinstance(held, Tensor) and _takes_a_part(code, part, held.shape.varying):  # type: ignore[arg-type]
                raise DeclinedError("a branch works for some sizes only")
            if isinstance(part, ast.Call) and operation(code, part) in _OF_PARTS and _states_a_size(code, part):
                raise DeclinedError("a branch works for some sizes only")


def require_any_count(code: Code, ways: Sequence[ast.AST]) -> None:
    """Raises DeclinedError if a way needs rows of what data selected: torch.export asks whether there are as many.

    Measured with torch 2.13: `x[0]`, `x[-1]`, `topk`, `kthvalue`, `narrow`, `split` and `chunk` of such a tensor raise
    in a function of `torch.cond`, and some of them where it compiles in eager. `x[:3]`, `max` and `sort` do not.
    """
    for part in (part for way in ways for part in ast.walk(way)):
        if isinstance(part, ast.Subscript):
            takes = _takes_a_part(code, part, _counted(code, part.value), slices=False)
        elif isinstance(part, ast.Call) and operation(code, part) in _OF_PARTS - _FREE:
            takes = any(_counted(code, given) for given in operands(code, part)[:1])
        else:
            continue
        if takes:
            raise DeclinedError("a branch needs a number of rows that depends on data")


def _counted(code: Code, node: ast.expr) -> frozenset[int]:
    """The dimensions whose size data says of a tensor that the ways are given. What a way selects itself is traced."""
    held = code.value(node)
    return held.dynamic if isinstance(node, ast.Name) and isinstance(held, Tensor) else frozenset()


def require_alone(code: Code, ways: Sequence[ast.AST]) -> None:
    """Raises DeclinedError if a way may have its tensor meet others, which fit the one size that was asked for."""
    names: set[str] = set()
    for part in (part for way in ways for part in ast.walk(way)):
        if isinstance(part, ast.Name) and isinstance(code.value(part), Tensor):
            names.add(part.id)
        is_own = isinstance(part, ast.Attribute) and ast.unparse(part.value) == "self"
        if isinstance(part, ast.Attribute) and is_own and isinstance(code.value(part), Tensor):
            names.add(ast.unparse(part))
        if isinstance(part, ast.Call) and (operation(code, part) is None or operation(code, part) in _CREATING):
            raise DeclinedError("a branch may work for one size only")
    if len(names) > 1:
        raise DeclinedError("a branch may work for one size only")


def _takes_a_part(code: Code, subscript: ast.Subscript, dims: Collection[int], *, slices: bool = True) -> bool:
    """Whether an index states which part it takes of one of some dimensions: an item, or, with `slices`, several."""
    at = 0
    for item in indices(subscript):
        value = code.value(item) if not isinstance(item, ast.Slice) else None
        if isinstance(value, Const) and value.value is None:
            continue
        if isinstance(value, Const) and value.value is ...:
            return bool(dims) and slices
        is_whole = isinstance(item, ast.Slice) and (not slices or (item.lower is None and item.upper is None))
        is_mask = isinstance(value, Tensor) and value.kind == "bool"
        if at in dims and not is_whole and not is_mask and _states(code, item):
            return True
        at += 1
    return False


def _states(code: Code, item: ast.expr) -> bool:
    """Whether an index has a number in it, or is one that nobody knows."""
    if not isinstance(item, ast.Slice):
        return not isinstance(code.value(item), Tensor)
    bounds = [bound for bound in (item.lower, item.upper, item.step) if bound is not None]
    held = [code.value(bound) for bound in bounds]
    # `torch.sym_min` gives a scalar
    return any(isinstance(value, Const) or (isinstance(value, Python) and value.type != "scalar") for value in held)


def _states_a_size(code: Code, call: ast.Call) -> bool:
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return any(
        isinstance(value := code.value(part), Const) and isinstance(value.value, int) and value.value > 1
        for argument in given
        for part in (argument.elts if isinstance(argument, (ast.Tuple, ast.List)) else [argument])
    )
