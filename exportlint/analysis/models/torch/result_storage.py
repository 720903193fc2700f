"""What the result of an operator has to do with the tensor it was made of: storage, dtype, rank.

Only looked at in the functions that operators run (`torch.cond`'s branches), which may not return what they are given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from exportlint.analysis.domain.operand_forms import Form, combined
from exportlint.analysis.domain.values import (
    TRUE,
    Const,
    External,
    Origin,
    Sequence,
    Tensor,
    Tuple,
    Value,
)
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.tensor_results import elementwise
from exportlint.analysis.torch import table
from exportlint.analysis.torch.dtypes import dtype_name
from exportlint.analysis.torch.operator import Operator, ShapeRule
from exportlint.analysis.torch.registry import find

KEEPS_RANK: frozenset[ShapeRule | None] = frozenset(
    {"same", "swapped", "transposed", "reversed", "mirrored", "permuted"}
)


def related(frame: Frame, api: table.Api, receiver: Tensor | None, arguments: Arguments, result: Value) -> Value:
    """The result of an API of torch, told whose storage it has and how it compares to the operand it is made of."""
    if not frame.engine.region:
        return result
    first = receiver if receiver is not None else arguments.get(0, "input")
    rest = arguments.positional if receiver is not None else arguments.positional[1:]
    record = find(api.name)
    form = _form(record.shape, first, rest, arguments)
    is_view = isinstance(first, Tensor) and is_alias(record, first)

    def relate(tensor: Tensor) -> Tensor:
        made = replace(tensor, form=_typed(form, first, tensor, arguments))
        return replace(made, region=first.region) if is_view and isinstance(first, Tensor) else made

    return _on_tensors(result, relate)


def _on_tensors(value: Value, function: Callable[[Tensor], Tensor]) -> Value:
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, Tuple):
        return replace(value, items=tuple(_on_tensors(item, function) for item in value.items))
    if isinstance(value, Sequence):
        return replace(value, item=_on_tensors(value.item, function))
    return value


def is_alias(record: Operator, tensor: Tensor) -> bool:
    """Whether the result of an operator surely has the memory of the tensor; inputs of a module are contiguous."""
    is_input = tensor.origin is Origin.INPUT and bool(tensor.name)
    return record.storage == "view" or (record.storage == "contiguous" and is_input)


def _form(shape: ShapeRule | None, first: Value | None, rest: tuple[Value, ...], arguments: Arguments) -> Form | None:
    if shape in {"joined", "stacked"}:
        tensors = first.items if isinstance(first, Tuple) else ()
        forms = [item.form if isinstance(item, Tensor) else None for item in tensors]
        joined = combined(forms, keeps_dtype=True) if len(forms) > 1 else None
        if joined is None or joined != forms[0]:
            return None
        return joined.deeper(1) if shape == "stacked" else joined.resize()
    form = first.form if isinstance(first, Tensor) else None
    if form is None:
        return None
    if shape == "elementwise":
        return elementwise((first, *rest)) if first is not None else None
    if shape in KEEPS_RANK:
        return form.computed(keeps_dtype=True)
    if shape == "reduced":
        return _reduced(form, rest, arguments)
    if shape == "flattened" and not rest and not arguments.keywords:
        return form.collapse(1)
    if shape == "viewed" and rest == (Const(-1),):
        return form.collapse(1)
    return form.deeper(1) if shape == "unsqueezed" else None


def _reduced(form: Form, rest: tuple[Value, ...], arguments: Arguments) -> Form | None:
    dim = rest[0] if rest else arguments.keywords.get("dim") or arguments.keywords.get("axis")
    if dim is None:
        return form.collapse(0)
    if not isinstance(dim, Const) or not isinstance(dim.value, int):
        return None
    keeps = rest[1] if len(rest) > 1 else arguments.keywords.get("keepdim")
    return form.deeper(-1) if keeps is None else form.resize() if keeps == TRUE else None


def _typed(form: Form | None, first: Value | None, tensor: Tensor, arguments: Arguments) -> Form | None:
    """The form with the dtype that the result has."""
    if form is None:
        return None
    dtype = arguments.keywords.get("dtype")
    if isinstance(dtype, External):
        return replace(form, dtype=dtype_name(dtype.name))
    same = isinstance(first, Tensor) and first.kind == tensor.kind
    return form if same else replace(form, dtype="bool" if tensor.kind == "bool" else None)
