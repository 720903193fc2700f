"""`contextlib`."""

from __future__ import annotations

import ast

from exportlint.analysis.domain.values import NONE, PYTHON, Sequence, Tuple, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.with_and_try import SUPPRESSES, catches_errors_of_export
from exportlint.analysis.library_functions import function, functions

functions("contextlib.ExitStack contextlib.AsyncExitStack", strict="refuses", traced_from=(2, 13))


@function("contextlib.suppress", strict="refuses", traced_from=(2, 13))
def _suppress(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return SUPPRESSES if catches_errors_of_export(Tuple(arguments.positional)) else PYTHON


@function("contextlib.nullcontext")
def _null_context(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return Sequence(arguments.get(0, "enter_result") or NONE, "generator")  # what `with … as` binds is given so
