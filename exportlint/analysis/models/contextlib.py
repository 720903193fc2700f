"""`contextlib`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.values import NONE, PYTHON, UNKNOWN, External, Python, Sequence, Tuple, Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.with_and_try import SUPPRESSES, catches_errors_of_export
from exportlint.analysis.facts.tracing import StackedContext
from exportlint.analysis.library_functions import function, functions
from exportlint.analysis.torch import table

STACK = "contextlib.ExitStack"

functions(f"{STACK} contextlib.AsyncExitStack", returns=Python(STACK), strict="refuses", traced_from=(2, 13))
CONTEXTS = frozenset({
    "contextlib.nullcontext", "torch.no_grad", "torch.enable_grad", "torch.set_grad_enabled", "torch.inference_mode",
    "torch.autocast", "torch.amp.autocast", "torch.profiler.record_function", "torch.autograd.profiler.record_function",
    "torch.nn.attention.sdpa_kernel", "torch.device",
})  # fmt: skip
"""What TorchDynamo traces in a `with` of its own, but not when a stack enters it (2.13 and 2.15)."""


@function(f"{STACK}.enter_context")
def _enter_context(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    entered = node.args[0] if isinstance(node, ast.Call) and node.args else None
    names = [] if entered is None else list(_contexts(frame, entered))
    if names and all(table.resolve(one) in CONTEXTS for one in names):
        frame.emit(StackedContext, node, context=names[0])
    return UNKNOWN


def _contexts(frame: Frame, entered: ast.expr) -> Iterator[str]:
    """The names of what may be called to make a context; empty ones for what is not known."""
    if isinstance(entered, ast.IfExp):
        yield from _contexts(frame, entered.body)
        yield from _contexts(frame, entered.orelse)
    else:
        called = frame.peek(entered.func) if isinstance(entered, ast.Call) else None
        yield called.name if isinstance(called, External) else ""


@function("contextlib.suppress", strict="refuses", traced_from=(2, 13))
def _suppress(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return SUPPRESSES if catches_errors_of_export(Tuple(arguments.positional)) else PYTHON


@function("contextlib.nullcontext")
def _null_context(frame: Frame, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return Sequence(arguments.get(0, "enter_result") or NONE, "generator")  # what `with … as` binds is given so
