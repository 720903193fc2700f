"""EXP203 numpy-bridge: a traced tensor is handed to numpy."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts import HostRead
from exportlint.analysis.facts.environment import BakedUse
from exportlint.analysis.library_functions import find as find_function
from exportlint.analysis.torch.registry import find
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.arrays.array_flow import computed_by_torch
from exportlint.fixes.eager_only.unused import left_out
from exportlint.fixes.edit.attempts import first_of
from exportlint.fixes.edit.code import Code
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict=always(None))
REFUSED = Claim(non_strict=always(ERROR), strict=always(ERROR))
HELD = Claim(non_strict=always(None), strict={(2, 4): None, (2, 13): WARNING})


@rule("EXP203", "numpy-bridge", HostRead, BakedUse)
def numpy_bridge(fact: HostRead | BakedUse, context: Context) -> Iterator[Report]:
    """`x.numpy()`, `np.exp(x)`, `np.asarray(x)`; in strict mode `x * self.scale`, a number that numpy computed."""
    if isinstance(fact, BakedUse):
        yield from _held(fact, context)
        return
    arrays = find_function(fact.api).arrays
    severity = context.severity(REFUSED if arrays == "refused" else CLAIM)
    is_bridge = find(fact.api).host == "array" or fact.api.startswith("np.") or arrays is not None
    if severity is None or fact.guarded or not is_bridge:
        return
    if fact.api == "np.ndarray":
        call = "arithmetic with a NumPy array"
    elif fact.api == "np.ndarray.__getitem__":
        call = "an index into a NumPy array"
    else:
        call = f"`.{fact.api}()`" if find(fact.api).host == "array" else f"`{fact.api}()`"
    yield Report(
        severity,
        f"{call} converts a traced tensor to NumPy, which torch.export cannot trace",
        "use the torch operator, or wrap the computation in `torch.library.custom_op`",
        fix=lambda code: _fix(code, fact, context),
    )


def _held(fact: BakedUse, context: Context) -> Iterator[Report]:
    """What numpy computed before the trace began is a tensor for strict mode, with data that the program lacks."""
    severity = context.severity(HELD) if fact.source == "numpy" and not fact.guarded else None
    if severity is None:
        return
    message = (
        "a NumPy value from outside the traced code: strict mode traces it as a tensor whose value is not in the "
        "exported program"
    )
    yield Report(severity, message, "convert it where it is computed, with `float()`, `int()` or `torch.from_numpy()`")


def _fix(code: Code, fact: HostRead, context: Context) -> Fix:
    return first_of(
        code,
        fact,
        lambda code, _: left_out(code, code.expression, context.version),
        lambda code, _: computed_by_torch(code),
    )
