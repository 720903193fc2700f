"""EXP208 data-dependent-operator: an operator of torch that gives Python a value that depends on data."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from exportlint.analysis.facts import Fact, HostRead
from exportlint.analysis.torch.public_names import public_name
from exportlint.analysis.torch.registry import find
from exportlint.claims import ERROR, Claim, Context, Report, always, before
from exportlint.findings import Fix
from exportlint.fixes.control_flow.checks import assertion, title
from exportlint.fixes.control_flow.conditions import tensor_condition
from exportlint.fixes.control_flow.truth import condition_fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.numbers.one_hot import one_hot_fix
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))
TRACED_SINCE_2_13 = Claim(non_strict=before((2, 13)), strict=before((2, 13)))
TRACED_SINCE_2_15 = Claim(non_strict=before((2, 15)), strict=before((2, 15)))
BY_VERSION = {None: CLAIM, (2, 13): TRACED_SINCE_2_13}
"""By the first torch in which an operator no longer reads."""
OF_SOME_CALLS = {"_assert": TRACED_SINCE_2_15, "tensor_split": TRACED_SINCE_2_13}
"""Operators that read some operands only."""
INSTEAD = {
    "equal": "use `(x == y).all()` and keep it a tensor",
    "allclose": "use `torch.isclose(x, y).all()` and keep it a tensor",
    "one_hot": "pass `num_classes`",
    "_assert": 'use `torch._assert_async(condition, "message")`',
    "is_nonzero": "use `x != 0` and choose with `torch.where`",
    "cov": "compute it from `x - x.mean()` with `torch.matmul`",
    "corrcoef": "compute it from `x - x.mean()` with `torch.matmul`",
    **dict.fromkeys(
        ("gaussian_nll_loss", "GaussianNLLLoss"), "write the loss by hand, without the check of the variance"
    ),
    **dict.fromkeys(("quantile", "nanquantile"), "sort, and interpolate between the neighbors"),
    "tensor_split": "pass a list of numbers",
    "assert_close": "check outside the model",
    "trunc_normal_": "initialise parameters in `__init__`",
    "narrow": "slice: `x[start : start + length]`",
    **dict.fromkeys(
        ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm"),
        "set a `momentum`, or export in evaluation mode",
    ),
    "TransformerEncoder": "pass `is_causal=True` or `is_causal=False` with the mask",
    "TransformerDecoder": "pass `tgt_is_causal=True` or `tgt_is_causal=False` with the mask",
    "Transformer": "pass `src_is_causal` and `tgt_is_causal` with the masks",
}


DESCRIBED = "call it outside of the model, or make it an operator with a fake kernel: `torch.library.custom_op`"


@rule("EXP208", "data-dependent-operator", HostRead)
def data_dependent_operator(fact: HostRead, context: Context) -> Iterator[Report]:
    """`torch.equal`, `torch.allclose`, `F.one_hot` without `num_classes`."""
    name = fact.api.rpartition(".")[2]
    instead = DESCRIBED if fact.described else INSTEAD.get(name)
    severity = context.severity(CLAIM if fact.described else _claim(name))
    if severity is None or fact.guarded or instead is None:
        return
    shown = fact.api if fact.described else public_name(fact.api)
    message = f"`{shown}` needs the values of a tensor while torch.export traces it"
    fix = None if fact.described else FIXES.get(name)
    yield Report(severity, message, instead, fix=None if fix is None else lambda code: fix(code, fact))


def _claim(name: str) -> Claim:
    return OF_SOME_CALLS.get(name) or BY_VERSION[find(name).reads_before]


def _fix_assert(code: Code, _: Fact) -> Fix:
    call = code.node(ast.Call)
    if not call.args or any(keyword.arg != "message" for keyword in call.keywords):
        raise DeclinedError("the condition is not known")
    condition = tensor_condition(code, call.args[0]).tensor
    message = next((code.concrete(m) for m in (*call.args[1:], *(k.value for k in call.keywords))), None)
    check = assertion(code, call, condition, message)
    return code.fix(title("AssertionError"), code.replace(call, check), safe=False)


def _fix_narrow(code: Code, _: Fact) -> Fix:
    call = code.node(ast.Call)
    is_method = isinstance(call.func, ast.Attribute) and len(call.args) == 3
    tensor = call.func.value if is_method and isinstance(call.func, ast.Attribute) else call.args[0]
    given = call.args if is_method else call.args[1:]
    if len(given) != 3 or call.keywords or not isinstance(given[0], ast.Constant):
        raise DeclinedError("the dimension is not known")
    dim = given[0].value
    if not isinstance(dim, int) or dim < 0:
        raise DeclinedError("the dimension is counted from the end")
    template = "{tensor}[" + ":, " * dim + "{start} : {start} + {length}]"
    part = code.make(template, tensor=tensor, start=given[1], length=given[2])
    return code.fix("Slice instead, which allows an end beyond the tensor", code.replace(call, part), safe=False)


FIXES: dict[str, Callable[[Code, Fact], Fix]] = {
    "equal": condition_fix, "allclose": condition_fix, "is_nonzero": condition_fix,
    "_assert": _fix_assert, "one_hot": one_hot_fix, "narrow": _fix_narrow,
}  # fmt: skip
