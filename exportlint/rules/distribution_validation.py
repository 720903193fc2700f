"""EXP209 distribution-validation: a distribution checks its arguments, which are tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import (
    FALSE,
    Const,
    Tensor,
    Value,
)
from exportlint.analysis.facts import Call
from exportlint.analysis.torch.public_names import public_name
from exportlint.claims import ERROR, INFO, Claim, Context, Report, always, before
from exportlint.findings import Fix, Severity
from exportlint.fixes.edit.code import Code
from exportlint.fixes.export_calls.calls import with_argument
from exportlint.registry import rule

SWITCHED_OFF = {(2, 4): INFO, (2, 13): ERROR}
"""Up to 2.9, the first trace of TorchDynamo in a process switches validation off."""
CLAIM = Claim(non_strict=before((2, 15)), strict=SWITCHED_OFF)
MATRIX = Claim(non_strict=always(ERROR), strict=SWITCHED_OFF)
"""Validation branches on whether a matrix is positive definite; torch 2.15 asserts all else in the graph."""
VALUE = Claim(non_strict=before((2, 15)), strict={(2, 4): INFO, (2, 13): ERROR, (2, 15): None})
POSITIVE_DEFINITE = frozenset({"MultivariateNormal", "Wishart"})
PREFIX = "torch.distributions."
WITHOUT_ARGUMENTS = frozenset({"Independent", "TransformedDistribution", "kl_divergence", "Transform", "constraints"})
"""Names in `torch.distributions` that check no tensors of their own."""


@rule("EXP209", "distribution-validation", Call)
def distribution_validation(fact: Call, context: Context) -> Iterator[Report]:
    """`Normal(mean, std)`, `Categorical(logits=x)` without `validate_args=False`."""
    name = fact.name.rpartition(".")[2]
    severity = context.severity(_claim(fact, name))
    if severity is None or fact.guarded or not fact.name.startswith(PREFIX):
        return
    if name in METHODS:
        yield from _of_method(fact, severity)
        return
    if not name[:1].isupper() or name in WITHOUT_ARGUMENTS or fact.keyword("validate_args") == FALSE:
        return
    given = (*fact.positional, *(value for _, value in fact.keywords))
    in_strict = context.mode == "strict" and given and all(_is_number(value) for value in given)
    if any(_is_data(value) for value in given) or in_strict:
        yield Report(
            severity,
            f"`{public_name(fact.name)}` checks the values of its arguments, which are not known during export",
            "pass `validate_args=False`",
            fix=_fix,
        )


METHODS = frozenset({"log_prob", "cdf"})


def _claim(fact: Call, name: str) -> Claim:
    if name in METHODS:
        return VALUE
    return MATRIX if name in POSITIVE_DEFINITE and fact.keyword("scale_tril") is None else CLAIM


def _is_data(value: Value, *, known: bool = True) -> bool:
    """Whether it surely is a tensor; `known`: one whose values tracing knows will do."""
    return all(isinstance(o, Tensor) and not o.assumed and (known or not o.known) for o in options(value))


def _is_number(value: Value) -> bool:
    """Whether it is a number of Python: strict mode traces the check of the tensor that it becomes."""
    return isinstance(value, Const) and type(value.value) in (int, float)


def _of_method(fact: Call, severity: Severity) -> Iterator[Report]:
    """`self.prior.log_prob(x)`."""
    if any(_is_data(value, known=False) for value in fact.positional):
        yield Report(
            severity,
            f"`{fact.name.rpartition('.')[2]}` of a distribution checks the values it is given, "
            "which are not known during export",
            f"create the `{public_name(fact.name.rpartition('.')[0])}` with `validate_args=False`",
        )


def _fix(code: Code) -> Fix:
    call = code.node(ast.Call)
    message = "Switch validation off: invalid values are no longer rejected"
    for keyword in call.keywords:
        if keyword.arg == "validate_args":
            return code.fix(message, code.replace(keyword.value, code.make("False")), safe=False)
    return code.fix(message, with_argument(code, call, False, "validate_args"), safe=False)
