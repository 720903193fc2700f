"""EXP615 unsupported-operator: an operator that runs with real tensors only."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.values import ClassValue, Const, External
from exportlint.analysis.facts import Call
from exportlint.analysis.facts.plain import ClassName
from exportlint.analysis.torch.public_names import public_name
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, always, before
from exportlint.findings import Fix
from exportlint.fixes.arrays.array_flow import without_dlpack
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import is_docstring
from exportlint.fixes.errors import DeclinedError
from exportlint.registry import rule

SUBCLASS = Claim(non_strict=always(ERROR), strict=before((2, 9)))
CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))
NESTED = "keep the rows in one padded tensor, with a mask"
IMPLEMENTED_SINCE_2_9 = Claim(non_strict=before((2, 9)), strict=before((2, 9)))
IMPLEMENTED_SINCE_2_13 = Claim(non_strict=before((2, 13)), strict=before((2, 13)))
IMPLEMENTED_SINCE_2_15 = Claim(non_strict=before((2, 15)), strict=before((2, 15)))
CLAIMS = {
    "torch.bincount": IMPLEMENTED_SINCE_2_9,
    "torch.Tensor.bincount": IMPLEMENTED_SINCE_2_9,
    "torch.unique_consecutive": IMPLEMENTED_SINCE_2_9,
    "torch.Tensor.unique_consecutive": IMPLEMENTED_SINCE_2_9,
    "torch.quantize_per_tensor": IMPLEMENTED_SINCE_2_13,
    "torch.combinations": IMPLEMENTED_SINCE_2_15,
    "torch.Tensor.to_mkldnn": IMPLEMENTED_SINCE_2_15,
}
MADE = Claim(non_strict=always(ERROR), strict={(2, 4): WARNING, (2, 6): None})
CLASS_OF_FAKES = frozenset({"torch.Tensor.type", "torch.Tensor.__new__"})
"""Calls that are recorded where the code takes `type(x)`."""
INSTEAD = {
    "torch.Tensor.type": "use `x.type_as(y)` or `x.to(y.dtype)`",
    "torch.Tensor.__new__": "use `torch.clone`, `torch.as_tensor` or `x.new_tensor`",
    "torch.nested.nested_tensor": NESTED,
    "torch.nested.as_nested_tensor": NESTED,
    "torch.nested.nested_tensor_from_jagged": NESTED,
    "torch.ao.quantization.quantize_dynamic": "export the float model, and quantize the program",
    "torch.quantization.quantize_dynamic": "export the float model, and quantize the program",
    "torch.ao.nn.quantized.dynamic": "export the float model, and quantize the program",
    "torch.quantize_per_channel": "use `torch.fake_quantize_per_channel_affine`",
    "torch.quantize_per_tensor": "use `torch.fake_quantize_per_tensor_affine`",
    **dict.fromkeys(
        ("torch.bincount", "torch.Tensor.bincount"), "count with `F.one_hot(x, n).sum(0)`, for a fixed number `n`"
    ),
    **dict.fromkeys(
        ("torch.unique_consecutive", "torch.Tensor.unique_consecutive"), "use `torch.unique`, or compare neighbors"
    ),
    "torch.linalg.lstsq": "use `torch.linalg.pinv(a) @ b`",
    "torch.nn.functional.ctc_loss": "compute the loss outside the model",
    "torch.ctc_loss": "compute the loss outside the model",
    "torch.nn.CTCLoss": "compute the loss outside the model",
    "torch.combinations": "index with constants that `itertools.combinations` gives",
    "torch.lobpcg": "use `torch.linalg.eigh`",
    "torch.utils.dlpack.to_dlpack": "return the tensor, and convert it outside",
    "torch.to_dlpack": "return the tensor, and convert it outside",
    "torch.Tensor.to_mkldnn": "leave the layout to the runtime",
    "torch.Tensor.as_subclass": "keep plain tensors in the model, and call functions on them",
    "torch.Tensor._make_subclass": "keep plain tensors in the model, and call functions on them",
    "torch.Tensor.apply_": "use torch operators",
    "torch.Tensor.map_": "use torch operators",
    **{
        f"torch.sparse_{kind}_tensor": "compute with dense tensors, or convert one: `x.to_sparse_csr()`"
        for kind in ("csr", "csc", "bsr", "bsc", "compressed")
    },
}


@rule("EXP615", "unsupported-operator", Call)
def unsupported_operator(fact: Call, context: Context) -> Iterator[Report]:
    """`torch.nested.nested_tensor([a, b])`, `torch.linalg.lstsq(a, b)`."""
    severity = context.severity(_claim(fact))
    instead = INSTEAD.get(fact.name)
    is_plain = (
        fact.name == "torch.Tensor.type" and External("torch.Tensor") in fact.positional
    )  # refused in strict mode
    if severity is None or fact.guarded or instead is None or is_plain or _combines_nothing(fact):
        return
    if fact.name in CLASS_OF_FAKES:
        yield Report(
            severity, "`type(x)` is the class of fake tensors while torch.export traces: it makes no tensors", instead
        )
        return
    name = fact.name.rpartition(".")[2]
    what = "a dynamically quantized module" if name == "dynamic" else f"`{public_name(fact.name)}`"
    message = f"{what} has no implementation for the fake tensors that torch.export traces with"
    yield Report(severity, message, instead, fix=lambda code: _fix(code, fact))


def _claim(fact: Call) -> Claim:
    if fact.name in CLASS_OF_FAKES:
        return MADE if fact.name == "torch.Tensor.__new__" else CLAIM
    return SUBCLASS if _makes_subclass(fact) else CLAIMS.get(fact.name, CLAIM)


def _combines_nothing(fact: Call) -> bool:
    """Whether it is `combinations` of single elements, which needs no mask."""
    size = fact.keyword("r") or next(iter(fact.positional[1:]), None)
    return fact.name == "torch.combinations" and size in {Const(0), Const(1)}


def _makes_subclass(fact: Call) -> bool:
    """Whether a tensor becomes one of a class of the project: strict mode can do that."""
    return "subclass" in fact.name and any(isinstance(value, ClassName) for value in fact.positional)


def _fix(code: Code, fact: Call) -> Fix:
    """None of the successors refuses all that the operator refuses, so none is safe."""
    call = code.node(ast.Call)
    if fact.name == "torch.combinations":
        return _pairs(code, call)
    if fact.name == "torch.linalg.lstsq":
        return _solution(code, call)
    if fact.name in {"torch.nested.nested_tensor", "torch.nested.as_nested_tensor"}:
        return _padded(code, call)
    if fact.name == "torch.Tensor.as_subclass":
        return _plain(code, call)
    if fact.name in {"torch.to_dlpack", "torch.utils.dlpack.to_dlpack"}:
        around = code.tree.parents[call]
        if isinstance(around, ast.Call) and around.args == [call] and not around.keywords and len(call.args) == 1:
            return without_dlpack(code, around, call.args[0])
    raise DeclinedError("no torch operator does the same")


def _plain(code: Code, call: ast.Call) -> Fix:
    """A tensor that stays plain. Its class may say nothing of its own."""
    if not isinstance(call.func, ast.Attribute) or len(call.args) != 1:
        raise DeclinedError("the class is not known")
    subclass = code.value(call.args[0])
    if isinstance(subclass, ClassValue):
        body = subclass.definition.node.body
        if subclass.definition.node.keywords or not all(isinstance(s, ast.Pass) or is_docstring(s) for s in body):
            raise DeclinedError("the class has methods that plain tensors do not have")
    elif subclass != External("torch.Tensor"):
        raise DeclinedError("the class is not known")
    message = "Keep a plain tensor: code that tests for the class sees the difference"
    return code.fix(message, code.replace(call, call.func.value), safe=False)


def _pairs(code: Code, call: ast.Call) -> Fix:
    if len(call.args) != 1 or call.keywords or not isinstance(call.args[0], (ast.Name, ast.Attribute, ast.Subscript)):
        raise DeclinedError("it is not about pairs, or its operand would be computed twice")
    pairs = code.make(
        "{x}[{triu_indices}({x}.shape[0], {x}.shape[0], 1).T]",
        x=call.args[0],
        triu_indices=code.name("torch.triu_indices", call),
    )
    return code.fix("Index with all pairs", code.replace(call, pairs), safe=False)


def _solution(code: Code, call: ast.Call) -> Fix:
    taken = code.tree.parents[call]
    if len(call.args) != 2 or call.keywords or not isinstance(taken, ast.Attribute) or taken.attr != "solution":
        raise DeclinedError("more than the solution is used")
    pinv, (first, second) = code.name("torch.linalg.pinv", call), call.args
    product = code.make("{pinv}({first}) @ {second}", pinv=pinv, first=first, second=second)
    return code.fix("Multiply by the pseudo-inverse", code.replace(taken, product), safe=False)


def _read_once(code: Code, call: ast.Call) -> ast.Name | None:
    """Where the variable is read that gets what a call gives, if it is read in one place and gets nothing else."""
    statement, function = code.tree.parents[call], code.tree.function(call)
    name = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(name, ast.Name) or function is None:
        return None
    names = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == name.id]
    return next(n for n in names if n is not name) if len(names) == 2 else None


def _padded(code: Code, call: ast.Call) -> Fix:
    """Rows that become one padded tensor anyway, at once or by way of a variable."""
    used = _read_once(code, call) or call
    method = code.tree.parents[used]
    padding = code.tree.parents[method]
    is_padded = (
        isinstance(method, ast.Attribute) and method.attr == "to_padded_tensor" and isinstance(padding, ast.Call)
    )
    if not is_padded or not isinstance(padding, ast.Call) or len(padding.args) != 1 or padding.keywords:
        raise DeclinedError("the rows do not form one padded tensor")
    if len(call.args) != 1 or call.keywords:
        raise DeclinedError("the rows have options")
    padded = code.make(
        "{pad_sequence}({rows}, batch_first=True, padding_value={value})",
        pad_sequence=code.name("torch.nn.utils.rnn.pad_sequence", call),
        rows=call.args[0],
        value=padding.args[0],
    )
    if used is call:
        return code.fix("Pad the rows", code.replace(padding, padded), safe=False)
    return code.fix("Pad the rows", code.replace(call, padded), code.replace(padding, used), safe=False)
