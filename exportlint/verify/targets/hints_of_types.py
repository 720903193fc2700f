"""What annotations say of arguments: `Float[Tensor, "batch 3 h w"]`, `torch.LongTensor | None`, `list[Tensor]`."""

from __future__ import annotations

import ast
import re

from exportlint.verify.specs import Constant, DictSpec, ListSpec, Spec, TensorSpec
from exportlint.verify.targets.hints_of_words import as_size

_TENSORS = {
    "Tensor": "float32",
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "LongTensor": "int64",
    "IntTensor": "int32",
    "BoolTensor": "bool",
    "ByteTensor": "uint8",
    "TensorType": "float32",
    "Array": "float32",
}
_JAXTYPING = {
    "Float": "float32", "Num": "float32", "Shaped": "float32", "Real": "float32", "Inexact": "float32",
    "Int": "int64", "Integer": "int64", "UInt": "uint8", "Bool": "bool", "Complex": "complex64",
    "Float16": "float16", "Float32": "float32", "Float64": "float64", "BFloat16": "bfloat16", "Int8": "int8",
    "Int16": "int16", "Int32": "int32", "Int64": "int64", "UInt8": "uint8", "Complex64": "complex64",
}  # fmt: skip
_PLAIN: dict[str, tuple[Spec, ...]] = {
    "int": (Constant(2),),
    "float": (Constant(0.5),),
    "bool": (Constant(False), Constant(True)),
    "str": (Constant(""),),
    "None": (Constant(None),),
}
_SEQUENCES = {"list", "List", "Sequence", "Iterable", "Collection", "Sized"}
_MAPPINGS = {"dict", "Dict", "Mapping", "MutableMapping", "OrderedDict"}


def specs_of_type(annotation: ast.expr | None) -> tuple[Spec, ...]:
    """Specs that an annotation allows, in its order, but None last; none where it is unknown or says nothing."""
    match annotation:
        case ast.Constant(value=str() as text):
            try:
                return specs_of_type(ast.parse(text, mode="eval").body)
            except SyntaxError:
                return ()
        case ast.Constant(value=None):
            return _PLAIN["None"]
        case ast.Name() | ast.Attribute():
            return _named(_last(annotation))
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return _none_last(specs_of_type(left) + specs_of_type(right))
        case ast.Subscript(value=outer, slice=inner):
            items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return _subscripted(_last(outer), items)
    return ()


def _last(expression: ast.expr) -> str:
    return expression.attr if isinstance(expression, ast.Attribute) else getattr(expression, "id", "")


def _named(name: str) -> tuple[Spec, ...]:
    if name in _TENSORS:
        return (TensorSpec(_TENSORS[name], ("...",)),)
    if name in _SEQUENCES or name in _MAPPINGS:
        return _subscripted(name, [])
    return _PLAIN.get(name, ())


def _subscripted(outer: str, items: list[ast.expr]) -> tuple[Spec, ...]:
    if outer in _JAXTYPING and len(items) == 2 and isinstance(items[1], ast.Constant):
        return (TensorSpec(_JAXTYPING[outer], _jaxtyped(str(items[1].value))),)
    if outer == "Optional":
        return _none_last(specs_of_type(items[0]) + _PLAIN["None"])
    if outer == "Union":
        return _none_last(tuple(spec for item in items for spec in specs_of_type(item)))
    if outer in ("Annotated", "Final", "Required"):
        return specs_of_type(items[0])
    if outer == "Literal":
        values = [item.value for item in items if isinstance(item, ast.Constant)]
        return tuple(Constant(value) for value in values if isinstance(value, (bool, int, float, str)))
    if outer in _SEQUENCES:
        inner = specs_of_type(items[0])[:1] if items else (TensorSpec("float32", ("...",)),)
        return tuple(ListSpec((spec, spec)) for spec in inner)
    if outer in ("tuple", "Tuple"):
        endless = len(items) == 2 and isinstance(items[1], ast.Constant) and items[1].value is ...
        held = [specs_of_type(item)[:1] for item in (items[:1] * 2 if endless else items)]
        return (ListSpec(tuple(spec for (spec,) in held), is_tuple=True),) if all(held) else ()
    if outer in _MAPPINGS:
        return (DictSpec({}),)
    return _named(outer) if outer in _TENSORS else ()


def _none_last(specs: tuple[Spec, ...]) -> tuple[Spec, ...]:
    return tuple(sorted(specs, key=lambda spec: spec == Constant(None)))


def _jaxtyped(text: str) -> tuple[int | str, ...]:
    """The sizes in `"batch 3 h w"`, where `*rest` and `...` are any number, `_` is any size, `#n` may be one."""
    sizes: list[int | str] = []
    for index, word in enumerate(text.split()):
        word = re.sub(r"^[#?]+|^\w+=", "", word)
        if word.startswith(("*", "...")):
            sizes.append("...")
        else:
            sizes.append(f"any_{index}" if word in ("", "_") else as_size(word, index))
    return tuple(sizes)
