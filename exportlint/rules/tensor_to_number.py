"""EXP202 tensor-to-number: Python needs the number that a tensor holds."""

from __future__ import annotations

from collections.abc import Iterator

from exportlint.analysis.facts import Conversion
from exportlint.analysis.values import Scalar
from exportlint.claims import ERROR, Claim, Context, Report, always
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(ERROR), strict={(2, 4): ERROR, (2, 6): None})
INDEX = Claim(non_strict=always(ERROR), strict={(2, 4): ERROR, (2, 13): None})
MATH = Claim(non_strict=always(ERROR), strict=always(ERROR))
POWER = Claim(non_strict={(2, 4): ERROR, (2, 13): None}, strict=always(ERROR))
BUILTINS = {
    "int()": "keep it a tensor: `.to(torch.int64)`",
    "float()": "drop the `float()`: arithmetic works on the 0-d tensor",
    "complex()": "keep it a tensor: `torch.complex`",
    "operator.index()": "index with the tensor itself",
    "hex()": "format outside of the model",
    "oct()": "format outside of the model",
    "bin()": "format outside of the model",
    "chr()": "format outside of the model",
    "max() of one tensor": "use `x.max()`",
    "min() of one tensor": "use `x.min()`",
}


@rule("EXP202", "tensor-to-number", Conversion)
def tensor_to_number(fact: Conversion, context: Context) -> Iterator[Report]:
    """`int(t)`, `float(t)`, `math.sqrt(t)`, `operator.index(t)`, `max(t)`."""
    is_math = fact.target.startswith(("math.", "np."))
    help_text = "use the function of the same name in `torch`" if is_math else BUILTINS.get(fact.target)
    severity = context.severity(_claim(fact))
    if help_text is None or severity is None or fact.guarded:
        return
    name, _, rest = fact.target.partition(" ")
    yield Report(severity, f"`{name}`{' ' + rest if rest else ''} needs the number behind tensor data", help_text)


def _claim(fact: Conversion) -> Claim:
    target = fact.target
    if target == "math.sqrt()" and isinstance(fact.operand, Scalar):
        return CLAIM  # strict mode has a symbolic square root
    if target == "math.pow()":
        return POWER  # non-strict mode has a symbolic power
    if target.startswith(("math.", "np.")) or target in {"hex()", "oct()", "bin()", "chr()", "complex()"}:
        return MATH
    return INDEX if target == "operator.index()" else CLAIM
