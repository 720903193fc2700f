"""Operators that make one tensor of several, or repeat one."""

from __future__ import annotations

from exportlint.analysis.torch.operator import operator

OPERATORS = (
    operator("cat concat concatenate", shape="joined"),
    operator("stack", shape="stacked", rows="equal"),
    operator("hstack", shape="abreast"),
    operator("vstack row_stack", shape="atop"),
    operator("dstack", shape="behind"),
    operator("nn.utils.rnn.pad_sequence", shape="aligned"),
    operator("meshgrid", shape="grid", storage="view"),
    operator("repeat", shape="repeated"),
    operator("tile", shape="tiled"),
    operator("repeat_interleave", shape="interleaved"),
)
