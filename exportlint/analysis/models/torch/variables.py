"""`torch.autograd.Variable`, which older code wraps tensors in: it gives the tensor."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import UNKNOWN, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.library_functions import function


@function("torch.autograd.Variable", strict="refuses")
def _variable(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return arguments.get(0, "data") or UNKNOWN
