"""What functions return of which people say what they do."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from exportlint.analysis.described_functions import DescribedFunction
from exportlint.analysis.domain.lattice import tensors_in
from exportlint.analysis.domain.shape import UNSHAPED
from exportlint.analysis.domain.values import NONE, UNKNOWN, Python, Value
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.tensor_results import result


def described_value(
    frame: Frame, described: DescribedFunction, name: str, node: ast.AST, operands: Iterable[Value]
) -> Value:
    """What a function gives of operands, by its description."""
    if described.returns == "unknown":
        return UNKNOWN
    if described.returns == "none":
        return NONE
    if described.returns not in {"tensor", "like"}:
        return Python(described.returns)
    given = tuple(operands)
    first = next((tensor for value in given for tensor in tensors_in(value)), None)
    if described.returns == "tensor" or first is None:
        made = result(frame, node, name, given, None, UNSHAPED)
    else:
        made = result(frame, node, name, given, first.kind, first.shape).but(dtype=first.dtype)
    return made.but(assumed=False, trail=frame.trail(node, f"returned by `{name}`", made.trail))
