"""EXP106 tensor-index: a Python container, or an argument that must be a number, is chosen by tensor data."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.values import Scalar, Tensor
from exportlint.analysis.facts import Conversion
from exportlint.analysis.facts.tracing import DataIndex
from exportlint.claims import ERROR, Claim, Context, Report, always, before
from exportlint.findings import Fix, TorchVersion
from exportlint.fixes.control_flow.element_loops import elements_fix
from exportlint.fixes.control_flow.truth import condition_fix
from exportlint.fixes.edit.attempts import declined, first_of
from exportlint.fixes.edit.code import Code
from exportlint.fixes.numbers.distinct_values import distinct_values_fix
from exportlint.fixes.numbers.index_lists import index_list_fix
from exportlint.fixes.numbers.index_select import selection_fix
from exportlint.fixes.numbers.indexed_lists import indexed_list_fix
from exportlint.fixes.numbers.one_hot import one_hot_fix
from exportlint.fixes.numbers.quotients import divmod_fix
from exportlint.fixes.numbers.ranges import range_numbers_fix
from exportlint.fixes.numbers.sign_checks import sign_checks_fix
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(ERROR))
STORED_AT = Claim(non_strict=before((2, 15)), strict=before((2, 15)))
STORED_SLICE = Claim(non_strict=always(ERROR), strict=before((2, 13)))
SLICE = Claim(non_strict=before((2, 13)), strict=before((2, 13)))
NUMBER = Claim(non_strict=before((2, 9)), strict=always(None))
MOVED = Claim(non_strict=before((2, 13)), strict=always(ERROR))
WRITTEN = Claim(
    non_strict={(2, 4): ERROR, (2, 6): None, (2, 13): ERROR}, strict={(2, 4): ERROR, (2, 6): None, (2, 13): ERROR}
)
PLACES = {"written": WRITTEN, "stored": STORED_SLICE, "unchecked": SLICE, "number": NUMBER, "moved": MOVED}
CACHED = Claim(non_strict=always(ERROR), strict=always(None))
LONE = Claim(non_strict=before((2, 15)), strict=always(ERROR))
LISTS = {
    "index list": CLAIM,
    "lone index list": LONE,
    "lone index list of an assignment": STORED_AT,
}
SLICES_ANYWHERE: TorchVersion = (2, 13)
"""The first torch that can start and end a slice at a number whose sign it does not know."""
NARROW = "use `narrow`, or check with `torch._check` that the number is not negative and fits"
TARGETS = {
    "list index": "index into a Python list or module list",
    "list slice": "slice of a Python list",
    "array index": "index into a NumPy array",
    "list repetition": "length of a Python list",
    "dict key": "dictionary key",
    "set element": "element of a set",
    "cache key": "argument of a cached function",
    "hash()": "hash",
    "index of an assignment": "index of an assignment",
    "slice bound": "slice bound",
    "index of a tensor": "index of a tensor",
    **dict.fromkeys(LISTS, "item of a list of indices"),
    "dim argument": "dimension of an operator",
    "number argument": "argument of an operator that needs a Python number",
    "function argument": "argument of a Python function that needs a Python number",
    "string repetition": "length of a string",
    "arithmetic": "operand of arithmetic on truth values",
    "exponent": "exponent of a number",
    "~": "operand of `~`",
    "divmod()": "operand of `divmod()`",
}
HELP = dict.fromkeys(LISTS, "index with a tuple, `x[i, j]`") | {
    "index list": "index with one tensor, such as `torch.stack([i, j])`",
}
REFUSED = {
    "set element": "a program has no sets: which numbers are equal depends on data",
    "dim argument": "the shape of the result would depend on data",
    "number argument": "the operator needs the number while it is traced",
    "list repetition": "how many items there are would depend on data",
    "lone index list": "a list with a tensor counts as a tuple of indices",
    "lone index list of an assignment": "a list with a tensor counts as a tuple of indices",
}
"""Why there is no rewrite for a target of any form."""


@rule("EXP106", "tensor-index", Conversion, DataIndex)
def tensor_index(fact: Conversion | DataIndex, context: Context) -> Iterator[Report]:
    """`self.layers[i]`, `[a, b][i]`, `table[n.item()]`, `x.sum(dim=d.item())`."""
    if isinstance(fact, DataIndex):
        yield from _in_older_torch(fact, context)
        return
    what = TARGETS.get(fact.target)
    severity = context.severity(_claim(fact))
    if what is None or severity is None or fact.guarded:
        return
    yield Report(
        severity,
        f"{what} is read from a tensor: torch.export does not know its value",
        HELP.get(fact.target, "stack the choices and use `index_select`, or choose by a Python value"),
        fix=lambda code: _fix(code, fact),
    )


def _fix(code: Code, fact: Conversion) -> Fix:
    asked = code.expression
    if isinstance(asked, ast.Compare) and fact.target in {"set element", "dict key"}:
        return condition_fix(code, fact)
    if fact.target == "index list":
        return index_list_fix(code, fact)
    last = declined(REFUSED.get(fact.target, "the program does not have the number"))
    return first_of(
        code,
        fact,
        divmod_fix,
        one_hot_fix,
        range_numbers_fix,
        *([elements_fix, distinct_values_fix] if fact.target == "set element" else []),
        indexed_list_fix,
        selection_fix,
        lambda code, _: last(code),
    )


def _in_older_torch(fact: DataIndex, context: Context) -> Iterator[Report]:
    # A number without bounds cannot even place a view in older torch, but `x.nonzero().shape[0] - 1` can.
    is_unbounded = isinstance(fact.operand, Scalar) and fact.operand.unbounded
    severity = context.severity(CLAIM if fact.place == "written" and is_unbounded else PLACES[fact.place])
    if severity is None or fact.guarded:
        return
    is_old = context.version < SLICES_ANYWHERE
    if fact.place == "written":
        yield Report(
            severity,
            "a view that begins or ends at a number read from a tensor is written while gradients are recorded",
            NARROW
            if is_old
            else "check with `torch._check` that the number is not negative, or export under `torch.no_grad()`",
            fix=None if is_old else lambda code: sign_checks_fix(code, fact),
        )
        return
    what = "index of a tensor" if fact.place == "number" else "slice bound"
    if fact.place == "number":
        help_text = "use `index_select`"
    elif fact.place == "moved" and is_old:
        help_text = NARROW
    elif fact.place == "moved":
        help_text = "slice in two steps, `x[n:][:, 1:]`, or check with `torch._check` that it is not negative"
    else:
        help_text = (
            "read it into a variable with `.item()`, and check with `torch._check` that it is not negative and fits"
        )
    yield Report(severity, f"{what} is read from a tensor: torch.export does not know its value", help_text)


def _claim(fact: Conversion) -> Claim:
    if fact.target == "cache key":
        return CACHED
    if fact.target in LISTS:
        return LISTS[fact.target]
    is_stored_at = fact.target == "index of an assignment" and isinstance(fact.operand, Tensor)
    return STORED_AT if is_stored_at and fact.operand.kind != "bool" else CLAIM
