"""What the functions of an operator return: whether it fits together, and what the operator takes."""

from __future__ import annotations

from typing import Literal

from exportlint.analysis.domain.operand_forms import dtypes_differ, ranks_differ
from exportlint.analysis.domain.values import (
    Const,
    Dict,
    Python,
    Scalar,
    Sequence,
    Size,
    Tensor,
    Tuple,
    Union,
    Unknown,
    Value,
)
from exportlint.analysis.facts.control_flow import BodyMismatch
from exportlint.analysis.models.torch.control_flow.bodies import Site, is_int, leaves

Property = Literal["structure", "type", "size", "dtype", "rank", "carry dtype", "carry shape", "condition"]
Skeleton = tuple[object, ...] | None


def check_outputs(site: Site, role: str, value: Value, *, ints: bool, none: bool = False) -> bool:
    """Whether all that a function returns are tensors, and `ints` or None where those are taken, or may be."""
    for leaf in leaves(value):
        if isinstance(leaf, Size) and site.operator == "torch.cond":
            return refuse(site, "size", f"{role} returns a size")
        noun = _noun(leaf)
        if noun is not None and not (none and noun == "None") and not (ints and is_int(leaf)):
            return refuse(site, "type", f"{role} returns {noun}")
    return True


def _noun(value: Value) -> str | None:
    """What a value is called that is surely no tensor."""
    if isinstance(value, Const):
        return "None" if value.value is None else f"the {type(value.value).__name__} `{value.value!r}`"
    if isinstance(value, Python) and value.type in {"int", "float", "bool", "str"}:
        return f"a Python {value.type}"
    return "a Python float" if isinstance(value, Scalar) and value.kind == "float" else None


def check_structure(site: Site, names: tuple[str, str], values: tuple[Value, Value]) -> bool:
    """Whether two values have the same containers with as many items; also false where that is not known."""
    one, other = (_skeleton(value) for value in values)
    if one is None or other is None:
        return False
    if one == other or {one, other} == {
        ("leaf",),
        ("tuple", ("leaf",)),
    }:  # a tuple of one tensor is taken for the tensor
        return True
    described = " and ".join(f"{name} {_describe(value)}" for name, value in zip(names, values, strict=True))
    return refuse(site, "structure", described)


def _skeleton(value: Value) -> Skeleton:
    if isinstance(value, Tuple):
        inner = [_skeleton(item) for item in value.items]
        return None if None in inner else ("list" if value.mutable else "tuple", *inner)
    if isinstance(value, Dict) and value.rest is None:
        inner = [_skeleton(item) for _, item in value.entries]
        return None if None in inner else ("dict", tuple(sorted(str(k) for k, _ in value.entries)), *inner)
    return None if isinstance(value, (Unknown, Union, Sequence, Dict)) else ("leaf",)


def _describe(value: Value) -> str:
    if isinstance(value, Tuple):
        return f"returns a {'list' if value.mutable else 'tuple'} of {len(value.items)}"
    if isinstance(value, Dict):
        return "returns a dictionary with " + ", ".join(f"`{key}`" for key, _ in value.entries)
    return "returns a tensor" if isinstance(value, Tensor) else "returns a number"


def check_branches(site: Site, names: tuple[str, str], values: tuple[Value, Value]) -> bool:
    """Whether two outputs of two functions may be the same tensor for the operator: of one dtype and rank."""
    one, other = values
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        if _dtypes_differ(one, other):
            return refuse(site, "dtype", f"{names[0]} and {names[1]} return tensors of different dtypes")
        if one.form and other.form and ranks_differ(one.form, other.form):
            return refuse(site, "rank", f"{names[0]} and {names[1]} return tensors of different ranks")
        return True
    if isinstance(one, Tensor) is not isinstance(other, Tensor) and all(
        isinstance(v, Tensor) or is_int(v) for v in values
    ):
        return refuse(site, "type", f"one of {names[0]} and {names[1]} returns a tensor, the other an int")
    return True


def check_carry(site: Site, role: str, carried: Value, returned: Value) -> bool:
    """Whether what is carried from one step to the next stays what it is."""
    if isinstance(carried, Tensor) and isinstance(returned, Tensor):
        if _dtypes_differ(carried, returned):
            return refuse(site, "carry dtype", f"{role} returns a tensor with a different dtype than its operand")
        old, new = carried.form, returned.form
        if old and new and (ranks_differ(old, new) or (new.resized and new.operand == old.operand)):
            return refuse(site, "carry shape", f"{role} returns a tensor with a different shape than its operand")
    elif isinstance(carried, Scalar) and isinstance(returned, Tensor):
        return refuse(site, "type", f"{role} is given an int and returns a tensor")
    return True


def _dtypes_differ(one: Tensor, other: Tensor) -> bool:
    if one.kind is not None and other.kind is not None and one.kind != other.kind:
        return True
    return one.form is not None and other.form is not None and dtypes_differ(one.form, other.form)


def refuse(site: Site, what: Property, problem: str) -> bool:
    """Record what does not fit; false."""
    site.frame.emit(
        BodyMismatch,
        site.node,
        None,
        operator=site.operator,
        what=what,
        problem=problem,
        compared=site.compared,
    )
    return False
