"""Reads inputs as they are written down: `"float32[batch=2, 3, 224, 224]"`, `"int64[batch, seq=16] < 1000"`."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from exportlint.registry import nearest
from exportlint.verify.dimensions import SpecError, read_size, size_of
from exportlint.verify.specs import Constant, DictSpec, ListSpec, Spec, TensorSpec, tensors_in

DTYPES = (
    "float32", "float64", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "complex64", "complex128", "int64",
    "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64", "bool",
)  # fmt: skip
_ALIASES = {"float": "float32", "double": "float64", "half": "float16", "long": "int64", "int": "int32"}
_NAMED = {"none": None, "null": None, "true": True, "false": False}
_UNORDERED = {"bool", "complex64", "complex128"}

_QUOTED = re.compile(r"""('[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")""")
_SIZE = re.compile(r"(?<=\w)\s*=(?!=)")
_SCALAR = re.compile(r"(?<=\w)\s*\[\s*\]")
_TENSOR = re.compile(r"\s*(torch\.)?(\w+)\s*\[")

_HOW = 'a tensor is written "float32[batch=2, 3]", text "\'text\'"'


def read_specs(
    arguments: Iterable[object], keywords: Mapping[str, object]
) -> tuple[tuple[Spec, ...], dict[str, Spec], dict[str, int]]:
    """Arguments, keywords, and the sizes of the dimensions that are named in them, from values of TOML.

    Raises:
        SpecError: one of them is not a spec, or the sizes of dimensions are missing or contradict each other.
    """
    sizes: dict[str, int] = {}
    args = tuple(read_spec(value, sizes) for value in arguments)
    named = {key: read_spec(value, sizes) for key, value in keywords.items()}
    for tensor in tensors_in((*args, *named.values())):
        for size in tensor.shape:
            size_of(size, sizes)
    return args, named, sizes


def read_spec(value: object, sizes: dict[str, int]) -> Spec:
    """A spec from a value of TOML. The sizes of dimensions that are given in it go into `sizes`.

    Raises:
        SpecError: it is not a spec.
    """
    if isinstance(value, str):
        return _read_text(value, sizes)
    if isinstance(value, Mapping):
        return DictSpec({str(key): read_spec(item, sizes) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return ListSpec(tuple(read_spec(item, sizes) for item in value), isinstance(value, tuple))
    if isinstance(value, bool | int | float) or value is None:
        return Constant(value)
    raise SpecError(f"`{value}` is not an input spec: {_HOW}")


def is_tensor(text: str) -> bool:
    """Whether text is meant as the spec of a tensor."""
    found = _TENSOR.match(text)
    return found is not None and (found[2] in DTYPES or found[2] in _ALIASES or bool(found[1]))


def _read_text(text: str, sizes: dict[str, int]) -> Spec:
    # It is Python, but for `batch=2` and `float32[]`.
    parts = _QUOTED.split(text.strip())
    parts[::2] = [_SCALAR.sub("[()]", _SIZE.sub(":=", part)) for part in parts[::2]]
    try:
        node = ast.parse("".join(parts), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise SpecError(f"`{_line(text)}` cannot be read: {_HOW}") from None
    try:
        return _read(node, sizes)
    except RecursionError:
        raise SpecError(f"`{_line(text)}` is nested too deeply") from None


def _read(node: ast.expr, sizes: dict[str, int]) -> Spec:
    if isinstance(node, ast.Compare):
        return _bounded(node, sizes)
    if isinstance(node, ast.Subscript):
        return _tensor(node, sizes)
    if isinstance(node, ast.List | ast.Tuple):
        return ListSpec(tuple(_read(item, sizes) for item in node.elts), isinstance(node, ast.Tuple))
    if isinstance(node, ast.Dict) and all(isinstance(key, ast.Constant) for key in node.keys):
        keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
        return DictSpec({str(k): _read(item, sizes) for k, item in zip(keys, node.values, strict=True)})
    if isinstance(node, ast.Name) and node.id in _NAMED:
        return Constant(_NAMED[node.id])
    value = _plain(node)
    if isinstance(value, bool | int | float | str) or (isinstance(node, ast.Constant) and value is None):
        return Constant(value)
    text = _shown(node)
    if isinstance(node, ast.Name | ast.Attribute):
        tensor = _dtype(node) in DTYPES
        raise SpecError(
            f"`{text}` is not an input spec: " + (f'write "{text}[2, 3]"' if tensor else f"write text as \"'{text}'\"")
        )
    raise SpecError(f"`{text}` is not an input spec: {_HOW}")


def _plain(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _bounded(node: ast.Compare, sizes: dict[str, int]) -> TensorSpec:
    bounds: dict[str, float] = {}
    for sign, limit in zip(node.ops, node.comparators, strict=True):
        name = {ast.GtE: "low", ast.Lt: "high"}.get(type(sign))
        number = _plain(limit)
        if name is None or name in bounds or not isinstance(node.left, ast.Subscript) or not _is_number(number):
            raise SpecError(
                f"`{_shown(node)}`: write limits after the tensor, as `>= 0`, `< 1000`, or both: `int64[2] >= 0 < 9`"
            )
        bounds[name] = number
    tensor = _tensor(node.left, sizes) if isinstance(node.left, ast.Subscript) else None
    assert tensor is not None
    if tensor.dtype in _UNORDERED:
        raise SpecError(f"`{_shown(node)}`: there are no limits for {tensor.dtype}, leave them out")
    low, high = bounds.get("low"), bounds.get("high")
    if low is not None and high is not None and low >= high:
        raise SpecError(f"`{_shown(node)}`: no number is at least {low} and less than {high}")
    return TensorSpec(tensor.dtype, tensor.shape, low, high)


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]


def _tensor(node: ast.Subscript, sizes: dict[str, int]) -> TensorSpec:
    inner = node.slice
    given: Sequence[ast.expr] = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    return TensorSpec(_known_dtype(node.value), tuple(read_size(size, sizes) for size in given))


def _known_dtype(node: ast.expr) -> str:
    name = _dtype(node)
    if name not in DTYPES:
        hint = nearest(name, (*DTYPES, *_ALIASES), count=1)
        known = ", ".join(f"`{known}`" for known in DTYPES[:4])
        raise SpecError(
            f"`{_shown(node)}` is not a dtype" + (f", did you mean {hint}?" if hint else f": write one such as {known}")
        )
    return name


def _dtype(node: ast.expr) -> str:
    name = _shown(node).removeprefix("torch.")
    return _ALIASES.get(name, name)


def _shown(node: ast.expr) -> str:
    return _line(ast.unparse(node).replace(":=", "=").replace("[()]", "[]"))


def _line(text: str) -> str:
    return " ".join(text.split())
