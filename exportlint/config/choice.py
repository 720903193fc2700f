"""Which rules the selectors of several layers of settings choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from exportlint.config.fixing import FixPolicy
from exportlint.config.toml import Layer
from exportlint.registry import expand, find_rule, preview_codes, specificity

_SELECTING = ("select", "extend-select")

ALWAYS = frozenset({"EXP001", "EXP003", "EXP004", "EXP006"})
"""Rules that `select` does not take away; `ignore` does."""


def selected(layers: Sequence[Layer]) -> frozenset[str]:
    """The rules to check."""
    chosen = _chosen(layers, _SELECTING, "ignore", always=ALWAYS)
    return chosen if _is_preview(layers) else chosen - preview_codes()


@dataclass(frozen=True, slots=True)
class Notice:
    """What to change in a setting that can be used all the same. `file` is None if no file has it."""

    key: str
    text: str
    file: Path | None

    def __str__(self) -> str:
        return f"`{self.key}`: {self.text}"


def notices(layers: Sequence[Layer]) -> tuple[Notice, ...]:
    """What to change about the rules that settings name."""
    preview = _is_preview(layers)
    found = (
        Notice(key, text, layer.file)
        for layer in layers
        for key in (*_SELECTING, "ignore")
        for selector in layer.values.get(key, ())
        if (text := _noted(key, selector, preview=preview))
    )
    return tuple(dict.fromkeys(found))


def _noted(key: str, selector: str, *, preview: bool) -> str:
    found = find_rule(selector)
    if found is None:
        return ""
    if selector in found.former:
        return f"`{selector}` is now `{found.name if '-' in selector else found.code}`"
    if key == "ignore":
        return ""
    if found.is_preview and not preview:
        return f"`{selector}` has no effect, because the rule is in preview: set `preview = true`"
    return f"`{selector}` is deprecated: {found.deprecated}" if found.deprecated else ""


def _is_preview(layers: Sequence[Layer]) -> bool:
    return next((layer.values["preview"] is True for layer in reversed(layers) if "preview" in layer.values), False)


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
