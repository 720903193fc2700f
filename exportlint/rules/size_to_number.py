"""EXP402 size-to-number: Python makes a plain number of a size that varies from call to call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.facts.sizes import SizeConversion
from exportlint.claims import INFO, WARNING, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.parentheses import source
from exportlint.fixes.edit.template import same
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.shapes.symbolic_forms import SymbolicForm
from exportlint.registry import rule

NUMBER = Claim(non_strict=always(WARNING), strict=always(None))
BOTH = Claim(non_strict=always(WARNING), strict=always(WARNING))
POWER = Claim(non_strict=always(None), strict=always(WARNING))
MATH_POWER = Claim(non_strict={(2, 4): WARNING, (2, 9): None}, strict=always(WARNING))
NAMED = Claim(non_strict=always(INFO), strict=always(INFO))
TEXT = Claim(non_strict=always(None), strict={(2, 4): None, (2, 13): WARNING})
ROUNDED = Claim(non_strict=always(INFO), strict=always(None))
STRICT_KEEPS = frozenset({
    "len()", "int()", "float()", "math.sqrt()", "format specification", "np.arange()", "np.zeros()", "np.ones()",
    "np.full()", "np.empty()", "np.identity()", "np.eye()", "np.tri()", "np.tile()", "np.repeat()", "np.reshape()",
    "np.broadcast_to()", "np.indices()", "np.ndarray.repeat()", "np.ndarray.reshape()",
})  # fmt: skip
"""What strict mode has a symbolic form of, or makes no number of."""
TEXTS = frozenset({"str()", "repr()", "%s", "format() without a format specification", "f-string"})
"""What TorchDynamo makes no text of a size with; it does with `str.format`, and with a size alone in an f-string."""
WHOLE = frozenset({
    "len()", "int()", "float()", "round()", "divmod()", "operator.index()", "bin()", "hex()", "oct()", "chr()",
    "int.bit_length()", "`%` formatting", "format()", "format specification",
})  # fmt: skip
FORMATS = frozenset({"`%` formatting", "format()", "format specification"})
HELP = {
    "`%` formatting": 'use an f-string without a format specification: `f"{n}"`',
    "format()": 'use an f-string without a format specification: `f"{n}"`',
    "format specification": 'drop the format specification: `f"{n}"`',
    "len()": "use `.shape[0]`",
    "int()": "use integer arithmetic: `n // 2` for `int(n / 2)`, `n * 3 // 2` for `int(n * 1.5)`; drop `int(n)`",
    "float()": "drop the `float()`: arithmetic works on the size itself",
    "divmod()": "use `n // 2` and `n % 2`",
    "operator.index()": "use the size as it is",
    "math.sqrt()": "use `n ** 0.5`",
    "np.prod()": "use `x.numel()` or `math.prod`",
    "np.sqrt()": "use `n ** 0.5`",
}


@rule("EXP402", "size-to-number", SizeConversion)
def size_to_number(fact: SizeConversion, context: Context) -> Iterator[Report]:
    """`len(x)`, `int(x.shape[0] * 0.5)`, `float(n)`, `math.sqrt(n)`, `np.prod(x.shape)`, `"%d" % n`, `str(n)`."""
    if fact.target not in WHOLE | TEXTS and not fact.target.startswith(("math.", "np.", "torch.", "Tensor.")):
        return
    if not fact.is_float and (fact.target == "round()" or not fact.varies):
        return
    if not fact.varies and fact.target != "int()":
        return
    severity, refusal = context.declared_severity(
        context.severity(_claim(fact)), fact.declared, fixed=not fact.is_float
    )
    if severity is not None and fact.target == "round()":
        yield Report(
            severity,
            "`round()` of a size: " + (refusal or "`Dim.AUTO` keeps it dynamic, but a named `Dim` fails"),
            "use integer arithmetic: `(n + 1) // 2`",
        )
    elif severity is not None and fact.target in TEXTS:
        yield Report(
            severity,
            "strict mode cannot make text of a dynamic size here: export fails",
            'use an f-string without a format specification: `f"{n}"`',
        )
    elif severity is not None and fact.refused:
        yield Report(
            severity,
            f"`{fact.target}` cannot be traced with a dynamic size: torch.export supports it with static shapes only",
            "move it out of the exported model, or export with static shapes",
        )
    elif severity is not None:
        when = "" if fact.varies else " (if this dimension is meant to be dynamic)"
        yield Report(
            severity,
            f"{_shown(fact.target)} turns a size into a plain number: "
            + (refusal or f"the exported program accepts only that size{when}"),
            HELP.get(fact.target, "keep the size as it is, or use a function that supports symbolic sizes"),
            fix=None if fact.target in FORMATS else _fix,
        )


def _claim(fact: SizeConversion) -> Claim:
    if not fact.varies:
        return ROUNDED
    if fact.target == "round()":
        return NAMED
    if fact.target in TEXTS:
        return TEXT
    if fact.target == "math.pow()":
        return MATH_POWER
    if fact.target == "np.prod()":
        return POWER
    return NUMBER if fact.target in STRICT_KEEPS else BOTH


def _shown(target: str) -> str:
    return target if target in FORMATS - {"format()"} else f"`{target}`"


def _fix(code: Code) -> Fix:
    form = SymbolicForm(code)
    call = form.outermost(code.node(ast.Call))
    symbolic = form.of(call)
    if same(symbolic, code.concrete(call)):
        raise DeclinedError("it has no symbolic form")
    return code.fix(f"Replace with `{source(symbolic)}`", code.replace(call, symbolic), safe=form.exact)
