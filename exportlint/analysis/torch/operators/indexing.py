"""Operators that select or write elements by index."""

from __future__ import annotations

from exportlint.analysis.torch.operator import each, operator

OPERATORS = (
    *each("scatter scatter_add scatter_reduce masked_scatter", shape="same"),
    *each("index_add index_copy index_fill index_put", shape="same"),
    *each("select_scatter slice_scatter index_reduce", shape="same"),
    operator("index_select", shape="selected"),
    operator("gather", shape="indexed"),
    operator("searchsorted", shape="like"),
    operator("topk", shape="topmost"),
)
