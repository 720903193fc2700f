"""Which comparisons of program and model can show what a warning claims, and which show anything at all."""

from __future__ import annotations

from dataclasses import dataclass

from exportlint.verify.results import Comparison, Kind, Run


@dataclass(frozen=True, slots=True)
class Shown:
    """A disagreement of one of the kinds `by` confirms the claim; all of `needed` must agree to refute it.

    Without any that is needed, the claim is about something that verify does not vary, and is never refuted.
    """

    by: frozenset[Kind]
    needed: frozenset[Kind]

    def is_shown_by(self, comparison: Comparison) -> bool:
        """Whether a disagreement is about the claim. A program that refuses inputs does so for their sizes, mostly."""
        return comparison.kind in self.by or (comparison.agreement == "narrower" and "size" in self.by)


def _shown(by: tuple[Kind, ...], needed: tuple[Kind, ...] = ()) -> Shown:
    return Shown(frozenset((*by, *needed)), frozenset(needed))


_SHOWN = {
    # The values of tensors decide: other values, or inputs that eager refuses.
    "EXP1": _shown(("example",), ("values", "refused")),
    "EXP2": _shown((), ("example", "values")),
    # State: what one call leaves to the next, and what it writes to.
    "EXP3": _shown(("example", "values"), ("again", "state")),
    # A check of what the trace saw passes with any values, which only shows with some that eager refuses.
    "EXP301": _shown(("example",), ("values", "again", "state", "refused")),
    # It is no state: nothing can be learnt of it, which a call alone does not show.
    "EXP313": _shown(("example", "values", "global"), ("again", "state")),
    "EXP309": _shown(("example", "again", "state"), ("gradients",)),
    "EXP310": _shown(("example", "again", "state"), ("gradients",)),
    # Sizes: verify's own, and those of the user's other inputs.
    "EXP4": _shown(("values",), ("size",)),
    "EXP404": _shown(("example", "values"), ("size",)),
    # The text of a size is the name of a symbol, also on the example.
    "EXP405": _shown(("example", "values"), ("size",)),
    "EXP5": _shown(("example", "values", "device"), ("again",)),
    # Time, identity and random numbers may come out alike by chance, or differ by less than what is tolerated.
    "EXP206": _shown(("example", "values", "again")),
    "EXP502": _shown(("example", "values", "again")),
    "EXP503": _shown(("example", "values", "again", "time")),
    "EXP505": _shown(("example", "values", "again")),
    "EXP601": _shown(("example", "values", "again", "state", "identity")),
    # The world otherwise: of another environment, dtype or layout only some are tried.
    "EXP504": _shown(("example", "values", "again", "environment")),
    "EXP506": _shown(("example", "values")),
    "EXP507": _shown(("example", "values", "device", "default dtype")),
    "EXP509": _shown(("example", "values", "again", "mode")),
    "EXP510": _shown(("example", "values")),
    "EXP511": _shown(("example", "values", "gradients")),
    # The program took another way while it was traced.
    "EXP6": _shown(("again", "state"), ("example", "values")),
    "EXP604": _shown(("again", "state", "refused"), ("example", "values")),
    "EXP607": _shown(("example",), ("gradients",)),
    "EXP608": _shown(("example",), ("gradients",)),
    "EXP617": _shown(("example",), ("gradients",)),
    "EXP7": _shown((), ("example", "values")),
    "EXP703": _shown(("example", "values", "argument")),
    "EXP704": _shown(("example", "values", "argument")),
    # About the call of torch.export in a script, which is not the one that verify makes.
    "EXP8": _shown(("example", "values", "size")),
    "EXP812": _shown(("example", "values", "identity")),
    "EXP9": _shown(("again", "state"), ("example", "values")),
}


def shown(code: str) -> Shown:
    """What can show the claim of the warnings of a rule: its own entry in the table, or its family's."""
    return _SHOWN.get(code) or _SHOWN.get(code[:4]) or Shown(frozenset(), frozenset())


def disagreements(run: Run) -> list[Comparison]:
    """The comparisons that do not agree, without those that only follow from others."""
    found = [c for c in run.comparisons if c.agreement in ("diverges", "narrower")]
    seen = {(c.kind, c.agreement) for c in found}
    return [c for c in found if not any((kind, c.agreement) in seen for kind in _FOLLOWS.get(c.kind, _EXAMPLE))]


def kept(run: Run) -> list[Comparison]:
    """What the program keeps as it was at export, without that being anything against it."""
    return [c for c in run.comparisons if c.agreement == "baked"]


_EXAMPLE: tuple[Kind, ...] = ("example",)
NUMBERS: tuple[Kind, ...] = ("example", "values", "again")
_FOLLOWS: dict[Kind, tuple[Kind, ...]] = {
    "example": (),
    **dict.fromkeys(("gradients", "decomposed", "reloaded"), NUMBERS),
}
"""What a disagreement follows from. All else than these does from the example: if that does not agree, nothing will."""


def agreed(run: Run) -> set[Kind]:
    """The kinds of which all was compared, and agreed to the last digit: a tolerance may hide what a warning claims."""
    doubtful = {
        c.kind
        for c in run.comparisons
        if c.agreement in ("diverges", "narrower", "skipped") or (c.difference or 0.0) > 0.0
    }
    return {c.kind for c in run.comparisons if c.agreement == "agrees"} - doubtful
