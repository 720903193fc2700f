"""Operators that make one element of many."""

from __future__ import annotations

from exportlint.analysis.torch.operator import each, operator

OPERATORS = (
    *each("all any argmax argmin max mean median min nanmedian nansum prod sum", shape="reduced"),
    *each("amax amin nanmean", shape="reduced", backward="untraced"),
    *each("std std_mean", shape="reduced", compared=("correction",), backward="untraced"),
    *each("var var_mean", shape="reduced", compared=("correction",)),
    operator("cov", compared=("correction",)),
    operator("norm", shape="reduced", compared=("p",), backward="untraced"),
    operator("logsumexp", shape="reduced", needs="nonempty", backward="untraced"),
    operator("quantile", compared=("q",), backward="untraced", reads_before=(2, 13)),
    operator("nanquantile", reads_before=(2, 13)),
    operator("histc", plain=("bins",)),
    *each("histogram histogramdd", varying="refused", plain=("bins",)),
    operator("gradient", varying="fixed"),
    operator("diff", shape="resized", plain=("n",)),
)
