"""EXP205 tensor-copy: a tensor or module is copied or serialised by Python."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts import Copy
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, always
from exportlint.registry import rule

DEEP = Claim(
    non_strict={(2, 4): ERROR, (2, 6): None, (2, 9): ERROR},
    strict=always(ERROR),
)
SAVE = Claim(non_strict=always(ERROR), strict=always(ERROR))
SHALLOW = Claim(non_strict={(2, 4): None, (2, 6): WARNING, (2, 9): ERROR}, strict=always(ERROR))
CLAIMS = {"copy.copy": SHALLOW, "torch.save": SAVE}


@rule("EXP205", "tensor-copy", Copy)
def tensor_copy(fact: Copy, context: Context) -> Iterator[Report]:
    """`copy.deepcopy(x)`, `copy.copy(x)`, `pickle.dumps(x)`, `torch.save(x, path)`."""
    severity = context.severity(CLAIMS.get(fact.api, DEEP))
    if severity is None or fact.guarded:
        return
    yield Report(
        severity,
        f"`{fact.api}` of a traced tensor or of a module with parameters: there is no data to copy",
        "use `x.clone()` for a tensor; copy modules in `__init__`",
    )
