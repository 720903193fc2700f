"""How two values differ."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .lazily import pytree, torch
from .pristine import undisturbed
from .texts import short, with_article
from .varying import children_of, zipped

TOLERANCES: Mapping[str, float] = {"float64": 1e-7, "complex128": 1e-7, "float16": 1e-2, "bfloat16": 5e-2}
"""By which part of the largest number results may differ. Those of eight bits differ by an eighth."""


@undisturbed
def difference(one: Any, other: Any, tolerance: float | None) -> tuple[str, float | None] | None:
    """How a value of the program, `other`, is not that of the eager model: in words, and the largest one of numbers."""
    ours, structure = pytree.tree_flatten(one)
    theirs, their_structure = pytree.tree_flatten(other)
    if structure != their_structure:
        return _form_difference(one, other, "result"), None
    worst: tuple[str, float | None] | None = None
    for i, (a, b) in enumerate(zipped(ours, theirs)):
        found = _leaf_difference(a, b, tolerance)
        if found is not None and (worst is None or (found[1] or 0.0) > (worst[1] or 0.0)):
            worst = (found[0] if len(ours) == 1 else f"result {i}: {found[0]}"), found[1]
    return worst


@undisturbed
def says_nothing(value: Any) -> str:
    """Why a result agrees with whatever has its form: it holds no numbers. Empty if it holds some."""
    leaves = [leaf for leaf in pytree.tree_leaves(value) if leaf is not None]
    if not leaves:
        return "eager returns nothing but None" if value is None else "eager returns nothing"
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    if len(tensors) < len(leaves) or any(tensor.device.type == "meta" for tensor in tensors):
        return ""
    if not any(tensor.numel() for tensor in tensors):
        return "eager returns empty tensors"
    return "eager returns nothing but NaN" if all(map(_is_only_nan, tensors)) else ""


def _is_only_nan(tensor: Any) -> bool:
    tensor = _plain(tensor)
    is_number = tensor.is_floating_point() or tensor.is_complex()
    return is_number and tensor.layout == torch.strided and bool(tensor.isnan().all())


def _form_difference(one: Any, other: Any, path: str) -> str:
    """Where two values, which are not made of the same containers, are not."""
    ours, theirs = children_of(one), children_of(other)
    if type(one) is not type(other) or ours is None or theirs is None:
        return f"{path} is {with_article(one)} in eager, {with_article(other)} in the program"
    if [key for key, _ in ours] != [key for key, _ in theirs]:
        return f"{path} has {len(ours)} items in eager, {len(theirs)} in the program" + (
            "" if len(ours) != len(theirs) else ", with different keys"
        )
    for (key, mine), (_, its) in zipped(ours, theirs):
        if pytree.tree_structure(mine) != pytree.tree_structure(its):
            return _form_difference(mine, its, f"{path}[{key!r}]")
    return f"{path} has a different structure"


def _leaf_difference(one: Any, other: Any, tolerance: float | None) -> tuple[str, float | None] | None:
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return _plain_difference(one, other)
    if isinstance(other, torch._subclasses.FakeTensor):
        return "the program gives a FakeTensor, which leaked out of the trace and has no numbers", None
    for what in ("dtype", "shape", "device", "layout"):
        ours, theirs = getattr(one, what), getattr(other, what)
        if ours != theirs:
            ours, theirs = (tuple(s) if what == "shape" else s for s in (ours, theirs))
            return f"eager gives the {what} {ours}, the program {theirs}", None
    if one.device.type == "meta" or one.numel() == 0:
        return None
    return _number_difference(_plain(one.detach()), _plain(other.detach()), tolerance)


def _plain(tensor: Any) -> Any:
    """A tensor without the methods of its class. Where these say what it holds, it stays what it is."""
    if type(tensor) is torch.Tensor or type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        return tensor
    return torch.Tensor.as_subclass(tensor, torch.Tensor)


def _plain_difference(one: Any, other: Any) -> tuple[str, float | None] | None:
    if type(one) is not type(other):
        return f"eager gives {with_article(one)}, the program {with_article(other)}", None
    try:
        same = bool(one == other) or bool(one != one and other != other)
        if not same and getattr(type(one), "__eq__", None) is object.__eq__:
            return difference(vars(one), vars(other), None) if hasattr(one, "__dict__") else None
    except Exception:
        return None
    return None if same else (f"eager gives {short(one)}, the program {short(other)}", None)


def _number_difference(one: Any, other: Any, tolerance: float | None) -> tuple[str, float | None] | None:
    if one.is_quantized:
        one, other = one.dequantize(), other.dequantize()
    if one.layout is not torch.strided:
        one, other = one.to_dense(), other.to_dense()
    kind = str(one.dtype).rsplit(".", 1)[-1]
    if one.is_complex():
        one, other = torch.view_as_real(one.resolve_conj()), torch.view_as_real(other.resolve_conj())
    if not one.is_floating_point():
        differ = one != other
        if not bool(differ.any()):
            return None
        far = (one.to(torch.float64) - other.to(torch.float64)).abs().max().item()
        return f"{int(differ.sum())} of {one.numel()} numbers differ, by up to {far:.6g}", far
    if bool((one == other).all()):  # not `torch.equal`, which the user's code may have replaced
        return None
    part = tolerance if tolerance is not None else TOLERANCES.get(kind, 0.125 if "float8" in kind else 1e-4)
    one, other = one.to(torch.float64), other.to(torch.float64)
    same = (one == other) | (one.isnan() & other.isnan())
    apart = torch.where(same, torch.zeros_like(one), (one - other).abs())
    finite = one[one.isfinite()]
    largest = finite.abs().max().item() if finite.numel() else 1.0
    differ = ~(apart <= part * largest)
    if not bool(differ.any()):
        return None
    far = apart.max().item()
    if math.isnan(far) or math.isinf(far):
        return f"{int(differ.sum())} of {one.numel()} numbers differ, some are not finite", None
    return (
        f"{int(differ.sum())} of {one.numel()} numbers differ, by up to {far:.6g} (the largest is {largest:.6g})",
        far,
    )
