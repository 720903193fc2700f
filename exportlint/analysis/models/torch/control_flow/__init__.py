"""Operators that take functions: `torch.cond`, `while_loop`, `scan`, `map`, `associative_scan`."""

from __future__ import annotations

import ast
from collections.abc import Callable

from exportlint.analysis.domain.values import Value
from exportlint.analysis.eval.arguments import Arguments
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.models.torch.control_flow.branches import cond
from exportlint.analysis.models.torch.control_flow.loops import associative_scan, map_, scan, while_loop

_INTERNAL = "torch._higher_order_ops"

OPERATORS: dict[str, Callable[[Frame, Arguments, ast.AST], Value]] = {
    "torch.cond": cond,
    f"{_INTERNAL}.cond": cond,
    f"{_INTERNAL}.cond.cond": cond,
    "functorch.experimental.control_flow.cond": cond,
    "torch.while_loop": while_loop,
    f"{_INTERNAL}.while_loop": while_loop,
    f"{_INTERNAL}.while_loop.while_loop": while_loop,
    f"{_INTERNAL}.scan": scan,
    f"{_INTERNAL}.scan.scan": scan,
    f"{_INTERNAL}.map": map_,
    f"{_INTERNAL}.map.map": map_,
    "functorch.experimental.control_flow.map": map_,
    f"{_INTERNAL}.associative_scan": associative_scan,
    f"{_INTERNAL}.associative_scan.associative_scan": associative_scan,
}
"""What calls of them do, by their qualified names."""
