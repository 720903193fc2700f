"""What the parameters of a function are, judged by uses that nothing else allows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from exportlint.analysis import table
from exportlint.analysis.interpreter.frame import Frame
from exportlint.analysis.outline import dotted
from exportlint.analysis.values import External

TENSOR_ONLY = frozenset({
    "shape", "size", "dim", "ndim", "view", "reshape", "unsqueeze", "squeeze", "permute", "transpose",
    "contiguous", "flatten", "expand", "expand_as", "detach", "numel", "dtype", "device", "long", "float", "half",
    "to", "cpu", "cuda", "sum", "mean", "std", "var", "softmax", "sigmoid", "tanh", "relu", "exp", "log", "sqrt",
    "pow", "abs", "clamp", "masked_fill", "masked_fill_", "masked_select", "gather", "scatter", "scatter_",
    "repeat", "chunk", "unbind", "argmax", "argmin", "topk", "any", "all", "max", "min", "norm", "matmul", "bmm",
    "mm", "t", "T", "item", "tolist", "new_zeros", "new_ones", "new_full", "new_tensor", "type_as", "is_cuda",
    "requires_grad", "bool", "int", "eq", "ne", "lt", "gt", "le", "ge", "nonzero", "unfold", "narrow", "cumsum",
    "index_select", "roll", "flip", "is_floating_point", "add_", "mul_", "sub_", "div_", "copy_", "fill_", "zero_",
    "clamp_", "clone", "data_ptr", "numpy", "data", "double", "requires_grad_", "retain_grad", "bernoulli",
    "repeat_interleave", "stride", "is_contiguous", "unique", "logical_not", "isnan", "byte", "bfloat16",
    "element_size", "storage", "untyped_storage", "neg", "movedim", "swapaxes", "tile",
})  # fmt: skip
"""Members of a tensor that say what their owner is: no number, string, list, dictionary or module has them."""

NOT_MODULES = frozenset({"float", "half", "to", "cpu", "cuda", "double", "bfloat16", "requires_grad_"})
"""Members that an `nn.Module` has as well, so that they say nothing alone."""


CATEGORICAL = frozenset(
    {"Categorical", "OneHotCategorical", "OneHotCategoricalStraightThrough", "RelaxedOneHotCategorical"}
)
"""Distributions whose first argument is no number: it has one dimension at least."""


LIST_ONLY = frozenset({"append", "extend", "insert", "reverse"})
DICT_ONLY = frozenset({"items", "keys", "values", "get", "setdefault", "update"})

Verdict = Literal["tensor", "number", "list", "dict"]


def uses(frame: Frame, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> dict[str, Verdict]:
    """What the body of a function shows its parameters to be; those that it uses in no telling way are left out.

    A tensor is one that is used as only a tensor can be; a number, a list or a dictionary one that is used like one
    and not like a tensor.
    """
    names = {a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    found: dict[str, Verdict] = {}
    wholes: dict[str, str] = {}
    for statement in node.body if isinstance(node.body, list) else [node.body]:
        for child in ast.walk(statement):
            if isinstance(child, (ast.For, ast.comprehension)):
                part, of = child.target, child.iter
                if isinstance(part, ast.Name) and isinstance(of, ast.Name) and of.id in names:
                    wholes[part.id] = of.id
            for name, verdict in _shown(frame, child):
                if (name in names or name in wholes) and (verdict == "tensor" or name not in found):
                    found[name] = verdict
    for name, holder in wholes.items():
        if found.get(name) == "dict" and found.get(holder) != "tensor":
            found[holder] = "list"  # `for sample in batch: sample["image"]`
    return {name: verdict for name, verdict in found.items() if name in names}


def _shown(frame: Frame, node: ast.AST) -> Iterator[tuple[str, Verdict]]:
    """The variables that one node tells something about."""
    if isinstance(node, ast.Attribute):
        if node.attr in TENSOR_ONLY - NOT_MODULES:
            yield from ((name, "tensor") for name in _terms(node.value))
        elif isinstance(node.value, ast.Name) and node.attr in LIST_ONLY | DICT_ONLY:
            yield node.value.id, "list" if node.attr in LIST_ONLY else "dict"
    elif isinstance(node, ast.Subscript):
        is_mask = isinstance(node.slice, (ast.Compare, ast.UnaryOp)) and not _is_number(node.slice)
        if isinstance(node.value, ast.Name):
            yield from _indexed(node, node.value.id)
            if is_mask:
                yield node.value.id, "tensor"
        if is_mask or not isinstance(node.slice, ast.Name):  # a lone index can be a tensor as well as a number
            yield from ((name, "tensor" if is_mask else "number") for name in _terms(node.slice))
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        yield from ((side.id, "tensor") for side in (node.left, node.right) if isinstance(side, ast.Name))
    elif isinstance(node, ast.Call):
        yield from ((name, "tensor") for name in _operands(frame, node))
        yield from _popped(node)
        if isinstance(node.func, ast.Name) and node.func.id == "range":
            yield from ((name, "number") for argument in node.args for name in _terms(argument))
    elif isinstance(node, (ast.Assign, ast.For, ast.comprehension)):
        yield from ((name, "list") for name in _unpacked(node))
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _joined(node)
    elif isinstance(node, ast.Delete):
        owners = [t for t in node.targets if isinstance(t, ast.Subscript) and isinstance(t.value, ast.Name)]
        yield from ((name, "dict" if _is_key(t.slice) else "list") for t in owners for name in _terms(t.value))
    elif isinstance(node, ast.Compare):
        yield from _searched(node)
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
        yield from ((name, "number") for name in _tested(node.test))


def _popped(call: ast.Call) -> Iterator[tuple[str, Verdict]]:
    """`states.pop()`, `batch.pop("mask")`."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "pop" and isinstance(call.func.value, ast.Name):
        yield call.func.value.id, "dict" if call.args and _is_key(call.args[0]) else "list"


def _joined(node: ast.BinOp) -> Iterator[tuple[str, Verdict]]:
    """`states + [x]`: a list takes nothing but a list."""
    for one, other in ((node.left, node.right), (node.right, node.left)):
        if isinstance(one, ast.Name) and isinstance(other, (ast.List, ast.ListComp)):
            yield one.id, "list"


def _is_key(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Invert)


def _unpacked(node: ast.Assign | ast.For | ast.comprehension) -> Iterator[str]:
    """`height, width = size`, `for height, width in sizes`: a variable that holds several things."""
    if isinstance(node, ast.Assign):
        source, targets = node.value, node.targets
    else:
        source, targets = node.iter, [node.target]
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "enumerate":
            targets = [e for t in targets if isinstance(t, ast.Tuple) for e in t.elts[1:]]
            source = source.args[0] if source.args else source
    if isinstance(source, ast.Name) and any(isinstance(target, (ast.Tuple, ast.List)) for target in targets):
        yield source.id


def _indexed(node: ast.Subscript, name: str) -> Iterator[tuple[str, Verdict]]:
    if isinstance(node.slice, ast.Tuple) and any(isinstance(e, ast.Slice) for e in node.slice.elts):
        yield name, "tensor"
    elif isinstance(node.slice, ast.Slice) and isinstance(node.slice.step, ast.UnaryOp):
        yield name, "list"  # no tensor can be sliced backwards
    elif isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        yield name, "dict"


def _searched(node: ast.Compare) -> Iterator[tuple[str, Verdict]]:
    """`"mask" in batch`, `"mask" in batch[0]`: no tensor holds strings."""
    if not isinstance(node.ops[0], (ast.In, ast.NotIn)) or not isinstance(node.left, ast.Constant):
        return
    where = node.comparators[0] if isinstance(node.left.value, str) else None
    if isinstance(where, ast.Name):
        yield where.id, "dict"
    elif isinstance(where, ast.Subscript) and isinstance(where.value, ast.Name):
        yield where.value.id, "list"


def _terms(node: ast.expr) -> Iterator[str]:
    """The variables in an arithmetic expression: `x`, `x + y`, `x > 0`."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.BinOp):
        yield from (*_terms(node.left), *_terms(node.right))
    elif isinstance(node, ast.UnaryOp):
        yield from _terms(node.operand)
    elif isinstance(node, ast.Compare) and not isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
        yield from (name for side in (node.left, *node.comparators) for name in _terms(side))


def _tested(node: ast.expr) -> Iterator[str]:
    """The variables in a condition that would be numbers or flags if nothing else is said of them."""
    if isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _tested(value)
    else:
        yield from _terms(node)


def _operands(frame: Frame, call: ast.Call) -> Iterator[str]:
    """What is passed to an operator of torch where it takes a tensor: `F.relu(x)`, `torch.cat([x, y])`."""
    callee = frame.peek(call.func) if dotted(call.func) else None
    if isinstance(callee, External) and callee.name.startswith("torch.distributions."):
        if callee.name.rpartition(".")[2] in CATEGORICAL:
            candidates = [*call.args[:1], *(k.value for k in call.keywords if k.arg in {"logits", "probs"})]
            yield from (c.id for c in candidates if isinstance(c, ast.Name))
        return
    api = table.lookup(callee.name) if isinstance(callee, External) else None
    if api is None or api.kind != "function" or api.creates or not api.overloads:
        return
    for index, argument in enumerate(call.args):
        wanted = {o.types[index] if index < len(o.types) else "any" for o in api.overloads}
        if wanted <= {"tensor", "tensors"}:
            candidates = argument.elts if isinstance(argument, (ast.List, ast.Tuple)) else [argument]
            yield from (c.id for c in candidates if isinstance(c, ast.Name))
