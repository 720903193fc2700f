"""Which parameters of a function are tensors, judged by uses that nothing else allows."""

from __future__ import annotations

import ast

TENSOR_ONLY = frozenset({
    "shape", "size", "dim", "ndim", "view", "reshape", "unsqueeze", "squeeze", "permute", "transpose", "contiguous",
    "flatten", "expand", "expand_as", "detach", "numel", "dtype", "device", "long", "float", "half", "to", "cpu", "cuda",
    "sum", "mean", "std", "var", "softmax", "sigmoid", "tanh", "relu", "exp", "log", "sqrt", "pow", "abs", "clamp",
    "masked_fill", "masked_fill_", "masked_select", "gather", "scatter", "scatter_", "repeat", "chunk", "unbind",
    "argmax", "argmin", "topk", "any", "all", "max", "min", "norm", "matmul", "bmm", "mm", "t", "T", "item", "tolist",
    "new_zeros", "new_ones", "new_full", "new_tensor", "type_as", "is_cuda", "requires_grad", "bool", "int", "eq", "ne",
    "lt", "gt", "le", "ge", "nonzero", "unfold", "narrow", "cumsum", "index_select", "roll", "flip", "is_floating_point",
    "add_", "mul_", "sub_", "div_", "copy_", "fill_", "zero_", "clamp_", "clone", "data_ptr", "numpy", "data", "double",
    "requires_grad_", "retain_grad", "bernoulli", "repeat_interleave", "stride", "is_contiguous", "unique", "logical_not",
    "isnan", "byte", "bfloat16", "element_size", "storage", "untyped_storage", "neg", "movedim", "swapaxes", "tile",
})  # fmt: skip
"""Members of a tensor that say what their owner is: no number, string, list, dictionary or module has them."""

NOT_MODULES = frozenset({"float", "half", "to", "cpu", "cuda", "double", "bfloat16", "requires_grad_"})
"""Members that an `nn.Module` has as well, so that they say nothing alone."""


def tensor_parameters(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> frozenset[str]:
    """Names of parameters that the body uses as only a tensor can be used."""
    names = {a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    found: set[str] = set()
    body = node.body if isinstance(node.body, list) else [node.body]
    for statement in body:
        for child in ast.walk(statement):
            if isinstance(child, ast.Attribute) and isinstance(child.value, ast.Name):
                if child.value.id in names and child.attr in TENSOR_ONLY - NOT_MODULES:
                    found.add(child.value.id)
            elif isinstance(child, ast.Subscript) and isinstance(child.value, ast.Name) and child.value.id in names:
                if isinstance(child.slice, ast.Tuple) and any(isinstance(e, ast.Slice) for e in child.slice.elts):
                    found.add(child.value.id)
            elif isinstance(child, ast.BinOp) and isinstance(child.op, ast.MatMult):
                found.update(s.id for s in (child.left, child.right) if isinstance(s, ast.Name) and s.id in names)
            elif isinstance(child, ast.Call):
                found.update(_passed_to_an_operator(child, names))
    return frozenset(found)


def _passed_to_an_operator(call: ast.Call, names: set[str]) -> set[str]:
    """`F.relu(x)`, `torch.cat([x, y])`, `self.layer(x)`: the first argument is a tensor."""
    if not call.args or not isinstance(call.func, ast.Attribute) or not isinstance(call.func.value, ast.Name):
        return set()
    owner = call.func.value.id
    if owner not in {"F", "torch", "self"} or (owner == "torch" and call.func.attr in NOT_OPERATORS):
        return set()
    if owner == "self":
        return set()
    first = call.args[0]
    candidates = first.elts if isinstance(first, ast.List | ast.Tuple) else [first]
    return {c.id for c in candidates if isinstance(c, ast.Name) and c.id in names}


NOT_OPERATORS = frozenset({
    "zeros", "ones", "arange", "full", "empty", "rand", "randn", "tensor", "as_tensor", "linspace", "eye", "device",
    "manual_seed", "is_tensor", "Tensor", "randint", "_check", "_assert", "typename", "Size", "finfo", "no_grad",
})  # fmt: skip
