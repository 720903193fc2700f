"""What operators do to the shape of a tensor, written alike for all that do the same.

`change_of` gives the tensor that an expression is made of, and how its shape differs.
"""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import Const, Scalar, Size, TorchModule
from exportlint.analysis.torch.layers import find_layer
from exportlint.fixes.edit.code import Code
from exportlint.fixes.numbers.operands import REDUCTIONS
from exportlint.fixes.proofs.observed_values import operands, operation, tensor
from exportlint.fixes.proofs.stated_numbers import stated

KEEPING = frozenset({
    "abs", "acos", "asin", "atan", "bool", "celu", "contiguous", "cos", "cosh", "cumprod", "cumsum", "dropout", "elu",
    "erf",
    "exp", "flip", "float", "double", "half", "int", "long", "gelu", "hardtanh", "isfinite", "isinf", "isnan",
    "layer_norm", "leaky_relu", "log", "log1p", "log_softmax", "logical_not", "logsigmoid", "mish", "nan_to_num",
    "normalize", "reciprocal", "relu6", "roll", "rsqrt", "sigmoid", "silu", "sin", "sinh", "softmax", "softplus",
    "sqrt", "square", "tan", "tanh", "to", "tril", "triu", "type",
})  # fmt: skip
"""Operations that give tensors of the shape of their first operand."""
RESHAPING = frozenset({
    "view", "reshape", "flatten", "unflatten", "transpose", "permute", "t", "swapaxes", "movedim", "unsqueeze",
    "squeeze", "expand", "repeat", "tile", "narrow", "select", "pad", "unfold", "repeat_interleave", "index_select",
    "gather", "take", "diagonal",
})  # fmt: skip


def change_of(code: Code, node: ast.expr) -> tuple[ast.expr, str] | None:
    """The tensor that an expression is made of, and how its shape differs; empty where it does not. None if unknown."""
    if isinstance(node, ast.Subscript):
        return node.value, _index(code, node.slice)
    if not isinstance(node, ast.Call):
        return None
    module = code.value(node.func)
    if isinstance(module, TorchModule):
        return _of_module(node, module)
    name, given = operation(code, node), operands(code, node)
    if name is None or not given:
        return None
    rest = [*given[1:], *(keyword.value for keyword in node.keywords)]
    written = ", ".join(map(ast.unparse, [*given[1:], *node.keywords]))
    if name in KEEPING and not any(tensor(code, part) is not None for part in rest):
        return given[0], ""
    if name in REDUCTIONS and rest:
        return given[0], f"reduced({written})"
    if name in REDUCTIONS and name != "norm":
        return given[0], "()"
    return (given[0], f"{name}({written})") if name in RESHAPING else None


def _of_module(node: ast.Call, module: TorchModule) -> tuple[ast.expr, str] | None:
    layer = find_layer(module.name)
    if len(node.args) != 1 or node.keywords:
        return None
    if layer is not None and layer.shape == "same":
        return node.args[0], ""
    sizes = (
        module.created_at.args[:2]
        if layer is not None and layer.name == "Linear" and isinstance(module.created_at, ast.Call)
        else []
    )
    if len(sizes) < 2:
        return None
    wide, narrow = map(ast.unparse, sizes)
    return node.args[0], "" if wide == narrow else f"Linear({narrow})"


def _index(code: Code, index: ast.expr) -> str:
    """An index, written alike for all that take as much: `x[0]` and `x[1]`, `x[:2]` and `x[-2:]`."""
    items = index.elts if isinstance(index, ast.Tuple) else [index]
    found = [_index_item(code, item) for item in items]
    while found and found[-1] == ":":
        found.pop()
    return f"[{', '.join(found)}]" if found else ""


def _index_item(code: Code, item: ast.expr) -> str:
    if isinstance(item, ast.Slice):
        lower, upper = (stated(code, n) if n is not None else None for n in (item.lower, item.upper))
        if item.step is not None or not isinstance(lower or 0, int) or not isinstance(upper or 0, int):
            return ast.unparse(item)
        if item.lower is None and item.upper is None:
            return ":"
        low, high = int(lower or 0), int(upper or 0)
        if (item.lower is None or lower is not None) and upper is not None and 0 <= low <= high:
            return f":{high - low}"
        if item.upper is None and low < 0:
            return f":{-low}"
        return ast.unparse(item)
    value = code.value(item)
    is_integer = isinstance(value, (Scalar, Size)) or (isinstance(value, Const) and type(value.value) is int)
    return "0" if is_integer else ast.unparse(item)
