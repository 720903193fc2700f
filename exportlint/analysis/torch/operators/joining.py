"""Operators that make one tensor of several, or repeat one."""

from __future__ import annotations

from exportlint.analysis.torch.operator import operator

OPERATORS = (
    operator("cat concat concatenate", shape="joined"),
    operator("stack", shape="stacked"),
    operator("repeat", shape="repeated"),
)
