"""Operators that make one element of many."""

from __future__ import annotations

from exportlint.analysis.torch.operator import each, operator

OPERATORS = (
    *each("all amax amin any argmax argmin max mean median min nanmean nanmedian nansum prod sum", shape="reduced"),
    *each("std var std_mean var_mean", shape="reduced", compared=("correction",)),
    operator("cov", compared=("correction",)),
    operator("norm", shape="reduced", compared=("p",)),
    operator("logsumexp", shape="reduced", needs="every"),
    operator("quantile", compared=("q",)),
    operator("histc", plain=("bins",)),
    *each("histogram histogramdd", varying="refused", plain=("bins",)),
    operator("gradient", varying="fixed"),
    operator("diff", plain=("n",)),
)
