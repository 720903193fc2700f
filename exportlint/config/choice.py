"""Which rules the selectors of several layers of settings choose."""

from __future__ import annotations

from collections.abc import Sequence

from exportlint.config.fixing import FixPolicy
from exportlint.config.toml import Layer
from exportlint.registry import expand, specificity

ALWAYS = frozenset({"EXP001", "EXP003", "EXP004", "EXP006"})
"""Rules that `select` does not take away; `ignore` does."""


def selected(layers: Sequence[Layer]) -> frozenset[str]:
    """The rules to check."""
    return _chosen(layers, ("select", "extend-select"), "ignore", always=ALWAYS)


def _chosen(
    layers: Sequence[Layer], on: tuple[str, str], off: str, *, always: frozenset[str] = frozenset()
) -> frozenset[str]:
    """The codes that two settings choose, the first of them anew in each layer, and that a third takes away.

    Narrowing the first does not take away those of `always`: what to look for must not hide that a file was not
    looked at.
    """
    chosen = expand("ALL")
    for layer in layers:
        values = layer.values
        if on[0] in values:
            chosen &= always
        changes = [(selector, True) for key in on for selector in values.get(key, ())]
        changes += [(selector, False) for selector in values.get(off, ())]
        for selector, wanted in sorted(changes, key=lambda change: specificity(change[0])):
            chosen = chosen | expand(selector) if wanted else chosen - expand(selector)
    return chosen


def fix_policy(layers: Sequence[Layer]) -> FixPolicy:
    """Which fixes the settings leave, and how safe these make them."""
    codes: dict[str, frozenset[str]] = {"extend-safe-fixes": frozenset(), "extend-unsafe-fixes": frozenset()}
    changes = [
        (specificity(selector), key, selector)
        for key in codes
        for layer in layers
        for selector in layer.values.get(key, ())
    ]
    for _, key, selector in sorted(changes):
        codes = {
            other: held | expand(selector) if other == key else held - expand(selector) for other, held in codes.items()
        }
    return FixPolicy(_chosen(layers, ("fixable", "extend-fixable"), "unfixable"), *codes.values())


def codes_of(selectors: Sequence[str]) -> frozenset[str]:
    """The codes that selectors stand for together."""
    return frozenset().union(*map(expand, selectors))
