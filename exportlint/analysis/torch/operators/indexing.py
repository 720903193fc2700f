"""Operators that select or write elements by index."""

from __future__ import annotations

from exportlint.analysis.torch.operator import each, operator

OPERATORS = (
    *each("scatter scatter_add", shape="same"),
    *each("index_select gather", shape="selected"),
    operator("topk", shape="topmost"),
)
