"""`contextlib`."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import NONE, Sequence, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.library_functions import function


@function("contextlib.nullcontext")
def _null_context(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return Sequence(arguments.get(0, "enter_result") or NONE, "generator")  # what `with … as` binds is given so
