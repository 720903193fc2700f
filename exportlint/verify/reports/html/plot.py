"""The differences of program and model as a drawing: a bar for each comparison, on a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Sequence

from exportlint.verify.reports.html.parts import text
from exportlint.verify.results import Comparison

_ROW = 20
_LEFT, _WIDTH, _RIGHT = 200, 360, 110
_LOWEST, _HIGHEST = -12, 4
"""Powers of ten at the ends of the scale; what is beyond is drawn at the end."""


def plot(comparisons: Sequence[Comparison]) -> str:
    """The drawing, as SVG; nothing where no comparison has a difference."""
    measured = [c for c in comparisons if c.difference is not None]
    if not measured:
        return ""
    exponents = [_exponent(c.difference) for c in measured if c.difference]
    low = max(_LOWEST, min([*exponents, -6]) - 1)
    high = min(_HIGHEST, max([*exponents, -1]) + 1)
    height = (len(measured) + 1) * _ROW + 8
    bars = "".join(_bar(c, number, low, high) for number, c in enumerate(measured))
    ticks = "".join(
        f'<line x1="{x}" x2="{x}" y1="4" y2="{height - _ROW}"/><text x="{x}" y="{height - 6}">1e{power}</text>'
        for power in range(low, high + 1, max(1, (high - low) // 5))
        for x in [_LEFT + round(_WIDTH * (power - low) / (high - low))]
    )
    width = _LEFT + _WIDTH + _RIGHT
    return (
        f'<svg class="plot" role="img" aria-label="Largest difference of each comparison; the table has the numbers" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"><g class="ticks">{ticks}</g>{bars}</svg>'
    )


def _exponent(difference: float) -> int:
    if not math.isfinite(difference):
        return _HIGHEST
    return max(_LOWEST, min(_HIGHEST, math.floor(math.log10(abs(difference)))))


def _bar(comparison: Comparison, number: int, low: int, high: int) -> str:
    difference = comparison.difference or 0.0
    top = number * _ROW + 6
    if not math.isfinite(difference):
        share = 1.0
    elif difference:
        share = min(1.0, max(0.01, (math.log10(abs(difference)) - low) / (high - low)))
    else:
        share = 0.0
    width = round(_WIDTH * share)
    name = comparison.kind if comparison.label in ("", comparison.kind) else f"{comparison.kind}, {comparison.label}"
    shown = name if len(name) <= 28 else name[:27] + "…"
    return (
        f'<text class="name" x="{_LEFT - 8}" y="{top + 11}">{text(shown)}</text>'
        f'<rect class="{comparison.agreement}" x="{_LEFT}" y="{top}" width="{max(width, 2)}" height="{_ROW - 6}"/>'
        f'<text class="value" x="{_LEFT + max(width, 2) + 6}" y="{top + 11}">{difference:.2g}</text>'
    )
